"""The status of an application after a check compared with the one before, and whether its owner is notified."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from kstreams_runbooks.decide.status.status import Status, Word, without_besides
from kstreams_runbooks.model.readings.status import KeptStatus

_WELL, _UNKNOWN = "healthy", "unknown"
# An application that is unknown when it is seen for the first time: the next check decides whether that is news.
_NOT_YET = ""
# What a run does on purpose. Offsets that it sets back are known by its cards; any other rewind is news at once.
_ON_PURPOSE: frozenset[Word] = frozenset({"stopped", "unfed"})


@dataclass(frozen=True, slots=True)
class Judged:
    """A status of one application at one time; `read` is False if its cluster could not be read."""

    cluster: str
    application: str
    status: Status
    at_ms: int
    read: bool = True


def kept_status(before: KeptStatus | None, judged: Judged) -> KeptStatus:
    """The status to keep from now on: the word, its start, and the last notification about it.

    An application that is healthy when it is seen for the first time is not news, and one that is unknown then is news
    if it still is at the next check: Airflow may have started before the cluster.
    """
    word, at_ms = judged.status.word, judged.at_ms
    now = KeptStatus(
        cluster=judged.cluster,
        application=judged.application,
        word=word,
        sentence=judged.status.sentence,
        since_ms=at_ms,
        at_ms=at_ms,
        read=judged.read,
        told=_WELL if word == _WELL else None,
        told_read=True,
    )
    if before is None:
        return replace(now, told=_NOT_YET) if word == _UNKNOWN else now
    if _again(before, now):
        return now
    told = replace(now, told=before.told or now.told, told_read=before.told_read)
    return replace(told, since_ms=before.since_ms) if before.word == word else told


def during_run(status: Status, run_key: str) -> Status:
    """The status of an application while a run is changing it (empty: none is)."""
    if not run_key or status.word not in _ON_PURPOSE:
        return status
    return replace(status, sentence=f"{status.sentence}; run {run_key} is at work on it")


def _again(before: KeptStatus, now: KeptStatus) -> bool:
    """Whether it is another incident under the same word: topics stay recreated until a person acknowledges them."""
    another = without_besides(before.sentence) != without_besides(now.sentence)
    return before.word == now.word == "recreated" == before.told and another


def to_notify(statuses: Iterable[KeptStatus], at_work: Collection[tuple[str, str]] = ()) -> tuple[KeptStatus, ...]:
    """Statuses with a word that is not the one in the owner's last notification.

    What a run does on purpose is news only once it has ended; `at_work` are applications, by cluster and name, that a
    run is changing.
    """
    return tuple(
        one
        for one in statuses
        if one.word != one.told
        and not (one.word == _UNKNOWN and one.told == _NOT_YET)
        and not (one.word in _ON_PURPOSE and (one.cluster, one.application) in at_work)
    )


def notified(status: KeptStatus) -> KeptStatus:
    """The same once its owner has been notified."""
    return replace(status, told=status.word, told_read=status.read)


def together(changes: Iterable[tuple[KeptStatus, str]]) -> tuple[tuple[KeptStatus, ...], ...]:
    """Changes, each with its owner, as messages: one by one, but one message per owner for a whole cluster.

    A cluster that cannot be read, or can be read again, changes every application on it for the same reason.
    """
    groups: dict[tuple[str, ...], list[KeptStatus]] = {}
    for change, owner in changes:
        whole = not (change.read and change.told_read)
        key = (change.cluster, owner, change.word) if whole else (change.cluster, "", change.application, "alone")
        groups.setdefault(key, []).append(change)
    return tuple(tuple(group) for group in groups.values())
