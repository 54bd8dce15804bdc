"""Preconditions of writes to committed offsets: one sentence for each that does not hold, empty if it holds."""

from collections.abc import Mapping

from kstreams_runbooks.act.topic_checks import before_the_start, no_partition, past_the_end, place_text
from kstreams_runbooks.model.readings.readings import GroupReading, Missing
from kstreams_runbooks.model.readings.states import is_empty
from kstreams_runbooks.model.readings.touched import TopicState
from kstreams_runbooks.model.writes import CommittedOffset
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.wording import first_of

SHARE = "share"


def not_writable(group: GroupReading) -> str:
    """A group whose offsets cannot be changed: brokers take a commit of this project only while it has no member."""
    if group.type == SHARE:
        return (
            f"group {group.group_id} is a share group: it has no committed offsets, and its state cannot be saved; use "
            "kafka-share-groups.sh"
        )
    if not group.members and is_empty(group.state):
        return ""
    members = first_of([f"{one.client_id} on {one.host}" for one in group.members]) or "none listed"
    return (
        f"group {group.group_id} is {group.state} with {len(group.members)} members (needed: Empty, none): {members}; "
        "stop them first"
    )


def lacks_on_group(group_id: str, operations: tuple[str, ...] | Missing, operation: str, right: str) -> str:
    """A right that this login does not have on the group; the brokers' own answer counts if they do not report it."""
    if isinstance(operations, Missing) or operation in operations:
        return ""
    return f"group {group_id}: this login may not do this; grant it {right} on Group {group_id}"


def outside_the_log(wanted: CommittedOffset, state: TopicState, ends: Mapping[Place, tuple[int, int]]) -> str:
    """An offset that no record of the partition has, or will get next."""
    if wanted.place not in ends:
        return no_partition(wanted.place, state)
    start, end = ends[wanted.place]
    return before_the_start(wanted.place, wanted.offset, start) or past_the_end(wanted.place, wanted.offset, end)


def moved(
    group_id: str,
    place: Place,
    now: CommittedOffset | None,
    saved: CommittedOffset | None,
    wanted: CommittedOffset | None,
) -> str:
    """A committed offset that is neither as it was saved nor as it is wanted: another client changed it since.

    If none is committed (it expired, or its group was deleted), nothing unsaved is replaced.
    """
    if now is None or now in {saved, wanted}:
        return ""
    return (
        f"{place_text(place)} of group {group_id}: {_text(now, saved)} is committed (saved {_text(saved, now)}, wanted "
        f"{_text(wanted, now)}): another client changed it since; trigger a new run"
    )


def _text(one: CommittedOffset | None, other: CommittedOffset | None) -> str:
    if one is None:
        return "none"
    same = other is not None and one.offset == other.offset and one != other
    return f"{one.offset:,} with metadata {one.metadata!r} of epoch {one.leader_epoch}" if same else f"{one.offset:,}"
