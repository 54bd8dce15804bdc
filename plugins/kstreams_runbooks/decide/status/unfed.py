"""Whether the control topics of an application get what producers send: by the statuses of its copiers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kstreams_runbooks.decide.status.status import Status, Word
from kstreams_runbooks.wording import first_of

# A copier in one of these copies nothing, or other records than before.
_COPIES_NOT: frozenset[Word] = frozenset({"recreated", "failed", "stalled", "stopped"})
# Of the application itself: what it reads is not its own fault then, and looks well.
_WELL: frozenset[Word] = frozenset({"behind", "healthy"})


@dataclass(frozen=True, slots=True)
class CopierStatus:
    """A copier of an application: the control topics of it that the copier writes, and the copier's own status.

    `unread` are the records that wait in the copier's sources, None if that is not known. `stopped`: its group has no
    member, which a worse word of its status may hide.
    """

    name: str
    owner: str
    topics: tuple[str, ...]
    status: Status
    unread: int | None
    stopped: bool = False


def fed(own: Status, copiers: Iterable[CopierStatus]) -> Status:
    """The status of an application with what its copiers do not copy: `unfed`, or `unknown` if that is not known.

    Its own faults come first, and so does a record that it does not read. A copier that has nothing to copy keeps
    nothing from it.
    """
    if own.word not in _WELL:
        return own
    found = tuple(copiers)
    if still := tuple(_still(found)):
        return Status("unfed", first_of(still))
    if unknown := [one for one in found if one.status.word == "unknown"]:
        return Status("unknown", first_of([f"{_topics(one)}: {_whose(one)} is unknown" for one in unknown]))
    return own


def _still(copiers: Iterable[CopierStatus]) -> Iterator[str]:
    for one in copiers:
        if (one.stopped or one.status.word in _COPIES_NOT) and one.unread != 0:
            waiting = "an unknown number of records wait" if one.unread is None else f"{one.unread:,} records wait"
            yield f"{_topics(one)} does not grow and its sources do: {_whose(one)} is {one.status.word}, {waiting}"


def _topics(one: CopierStatus) -> str:
    return f"control topic {first_of(one.topics)}"


def _whose(one: CopierStatus) -> str:
    return f"copier {one.name} (owner {one.owner})"
