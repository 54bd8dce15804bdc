"""How far a copier has copied, and whether that is exactly what the application behind it has read."""

from collections.abc import Mapping

from kstreams_runbooks.decide.lag import total_lag
from kstreams_runbooks.model.readings.hold import seconds_text
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.times import SECOND_MS
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets
from kstreams_runbooks.wording import first_of


def nearly_copied(
    rows: tuple[PartitionLag, ...] | Missing, most: int, took_ms: int, may_take_ms: int | None
) -> Verdict:
    """Whether at most `most` records are left to copy; refused once the copy has taken longer than `may_take_ms`.

    `rows` are those of the copier's group on its inputs. A compacted input has a limit: once a tombstone is compacted
    away, the copy would keep a key that was deleted. Source: Apache Kafka documentation, "Log Compaction".
    """
    if may_take_ms is not None and took_ms > may_take_ms:
        return Verdict(
            Outcome.REFUSE,
            (
                f"the copy of a compacted input has taken {seconds_text(took_ms / SECOND_MS)} (limit "
                f"{seconds_text(may_take_ms / SECOND_MS)}, half of delete.retention.ms): a key that was deleted "
                "meanwhile may come back; undo this run, raise delete.retention.ms of the input, and trigger it again",
            ),
        )
    if isinstance(rows, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (f"the offsets of the copier: {rows.missing}",))
    lag = total_lag(rows)
    if lag.unknown:
        return Verdict(Outcome.INCONCLUSIVE, lag.unknown)
    if never := [one.name for one in rows if one.committed is None]:
        return Verdict(Outcome.INCONCLUSIVE, (f"{first_of(never)}: the copier has no committed offset there",))
    if lag.records > most:
        return Verdict(Outcome.WAIT, (f"{lag.records:,} records are left to copy (limit {most:,})",))
    return Verdict(Outcome.PROCEED, (f"{lag.records:,} records are left to copy (limit {most:,})",))


def ends_of_copy(
    read: tuple[CommittedOffset, ...], ends: Mapping[tuple[str, int], int], copied: tuple[CommittedOffset, ...]
) -> tuple[CommittedOffset, ...]:
    """The offsets before which a copier ends: all that the application has read, and nothing after it.

    `read` are the offsets of the application, `ends` those of inputs for which no group commits any (global stores).
    `copied` are those of the copier: past one of `read` there are markers alone, which `read_up_to` has proven.
    """
    wanted = {one.place: one.offset for one in read} | dict(ends)
    return tuple(
        CommittedOffset(*one.place, max(one.offset, wanted[one.place])) for one in copied if one.place in wanted
    )


def copied_exactly(until: tuple[CommittedOffset, ...], now: SavedOffsets) -> Verdict:
    """Whether the copier has committed exactly the offsets before which it had to end, on every partition."""
    there = now.by_place()
    past, behind = [], []
    for one in until:
        found = there.get(one.place)
        name = f"{one.topic}-{one.partition}"
        if found is None:
            behind.append(f"{name} (none of {one.offset:,})")
        elif found.offset < one.offset:
            behind.append(f"{name} ({found.offset:,} of {one.offset:,})")
        elif found.offset > one.offset:
            past.append(f"{name} ({found.offset:,}, expected {one.offset:,})")
    if past:
        return Verdict(
            Outcome.REFUSE,
            (
                f"group {now.group_id} has copied past the offsets of the application: {first_of(past)}; an instance "
                "was started without `until`: undo this run",
            ),
        )
    if behind:
        return Verdict(Outcome.WAIT, (f"group {now.group_id} has not copied up to the end: {first_of(behind)}",))
    return Verdict(
        Outcome.PROCEED, (f"group {now.group_id} has copied up to the offsets of the application, and no further",)
    )


def offsets_unmoved(expected: tuple[CommittedOffset, ...], now: SavedOffsets) -> Verdict:
    """Whether a group that is down has exactly these offsets, with their metadata."""
    there = now.by_place()
    moved = []
    for one in expected:
        found = there.get(one.place)
        if found is None or (found.offset, found.metadata) != (one.offset, one.metadata):
            is_now = "none" if found is None else f"{found.offset:,}"
            moved.append(f"{one.topic}-{one.partition} at {is_now} (expected {one.offset:,})")
    if moved:
        return Verdict(
            Outcome.REFUSE,
            (
                f"group {now.group_id} does not have the offsets of this run: {first_of(moved)}; an instance has run "
                "meanwhile, or they were changed: undo this run",
            ),
        )
    return Verdict(Outcome.PROCEED, (f"group {now.group_id} has the {len(expected)} offsets of this run",))
