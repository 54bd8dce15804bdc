"""The committed offset of each partition before and after a reset, from a target and what was read of it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kstreams_runbooks.model.offset_targets import OffsetTarget
from kstreams_runbooks.model.readings.input_offsets import InputPartition, MovedOffset
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.times import utc_second
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of

# A value, or why there is none: unknown (Missing), or a question for a person (text).
_Wanted = int | Missing | str


def moved_offsets(targets: Mapping[str, OffsetTarget], read: Iterable[InputPartition]) -> tuple[MovedOffset, ...]:
    """Each partition of the inputs that have a target, with its offset before and after; sorted."""
    rows = (_moved(targets[one.topic], one) for one in read if one.topic in targets)
    return tuple(sorted(rows, key=lambda one: (one.topic, one.partition)))


def may_move(rows: Iterable[MovedOffset]) -> Verdict:
    """Refuse while a person has to decide something, inconclusive if an offset is unknown; one sentence each."""
    rows = tuple(rows)
    if undecided := [one.undecided for one in rows if one.undecided]:
        return Verdict(Outcome.REFUSE, tuple(undecided))
    if unknown := [f"{one.name}: {one.why}" for one in rows if one.why]:
        return Verdict(Outcome.INCONCLUSIVE, tuple(unknown))
    moved = sum(1 for one in rows if one.after != one.before)
    return Verdict(Outcome.PROCEED, (f"{moved:,} of {len(rows):,} partitions get another offset",))


def may_move_now(
    rows: Iterable[MovedOffset], starts: Mapping[tuple[str, int], int | Missing], most_lost: int
) -> Verdict:
    """Whether the offsets still begin in the log, right before they are set: retention goes on after a plan.

    `starts` are read again, by topic and partition. Refuse if more than `most_lost` offsets were deleted since, over
    all partitions; inconclusive if a start is unknown. With proceed, `now_inside` gives the offsets to set.
    """
    unknown: list[str] = []
    lost: list[tuple[str, int]] = []
    for one in rows:
        start = starts.get((one.topic, one.partition), Missing("its start was not read again"))
        if isinstance(start, Missing):
            unknown.append(f"{one.name}: {start.missing}")
        elif one.after is not None and start > one.after:
            lost.append((one.name, start - one.after))
    if unknown:
        return Verdict(Outcome.INCONCLUSIVE, tuple(unknown))
    total = sum(count for _, count in lost)
    named = first_of([f"{name} ({count:,})" for name, count in lost])
    if total > most_lost:
        return Verdict(
            Outcome.REFUSE,
            (
                f"{named}: {total:,} offsets that the plan would read again were deleted since (limit {most_lost:,}): "
                "retention moved the start of the log; trigger a new run, with a larger most_lost if records go on to "
                "be deleted",
            ),
        )
    return Verdict(Outcome.PROCEED, (f"{named}: deleted since the plan, within the limit" if lost else "no loss",))


def may_set(rows: tuple[MovedOffset, ...], planned: tuple[MovedOffset, ...], most_lost: int) -> Verdict:
    """Whether offsets may be set as they were resolved right before that (`rows`), next to those that were `planned`.

    What `may_move` and `may_move_now` demand; refused too if a partition is in one of both alone.
    """
    now, then = {one.name for one in rows}, {one.name for one in planned}
    if other := sorted(now ^ then):
        return Verdict(
            Outcome.REFUSE,
            (f"{first_of(other)}: in the plan or on the cluster alone (expected: in both); trigger a new run",),
        )
    moved = may_move(rows)
    if moved.outcome is not Outcome.PROCEED:
        return moved
    missing = Missing("its start was not read again")
    starts = {(one.topic, one.partition): missing if one.start is None else one.start for one in rows}
    lost = may_move_now(planned, starts, most_lost)
    if lost.outcome is not Outcome.PROCEED:
        return lost
    return Verdict(Outcome.PROCEED, (*moved.reasons, *lost.reasons))


def now_inside(rows: Iterable[MovedOffset], starts: Mapping[tuple[str, int], int | Missing]) -> tuple[MovedOffset, ...]:
    """The rows with starts that were read again: an offset before its start becomes that start."""
    return tuple(_inside_now(one, starts.get((one.topic, one.partition))) for one in rows)


def _inside_now(row: MovedOffset, start: int | Missing | None) -> MovedOffset:
    if not isinstance(start, int) or row.after is None:
        return row
    return replace(row, start=start, after=max(row.after, start))


def _moved(target: OffsetTarget, one: InputPartition) -> MovedOffset:
    start, stable = _known(one.start), _known(one.stable)
    row = MovedOffset(
        one.topic,
        one.partition,
        one.topic_id,
        target.given,
        start=start,
        stable=stable,
        before=None if isinstance(one.committed, Missing) else one.committed,
    )
    for value in (one.start, one.stable, one.committed):
        if isinstance(value, Missing):
            return replace(row, why=value.missing)
    if start is None or stable is None:
        return replace(row, why="its ends were not read")
    if row.before is not None and row.before > stable:
        return replace(row, why=_past_the_end(row.before, stable))
    wanted = _wanted(target, one, start, stable)
    if isinstance(wanted, Missing):
        return replace(row, why=wanted.missing)
    if isinstance(wanted, str):
        return replace(row, undecided=wanted)
    after = min(max(wanted, start), stable)
    return replace(row, wanted=wanted, after=after, remark="; ".join(_remarks(target, one, wanted, start, stable)))


def _wanted(target: OffsetTarget, one: InputPartition, start: int, stable: int) -> _Wanted:
    if target.kind == "undecided":
        return (
            f"{one.name}: the application writes this input too: from earliest its own results are processed twice, at "
            "latest those of others never; take it out of `inputs` of the fleet entry if nothing else writes it, or "
            f'choose a place: trigger reset_and_cleanup with --param \'targets={{"{one.topic}": "PLACE"}}\''
        )
    if target.kind == "time":
        return _at_time(target, one, start, stable)
    if target.kind == "shift":
        if not isinstance(one.committed, int):
            return f"{one.name}: the group has no offset that {target.given} could move; give another target"
        return one.committed + (target.offset or 0)
    if target.kind == "saved" and one.saved is None:
        return f"{one.name}: {target.given} has no offset of it; give a target that has one, such as earliest"
    if target.kind == "offsets" and one.partition not in dict(target.offsets):
        return f"{one.name}: {target.given} names no offset for it (expected one for every partition); add it"
    found = {
        "earliest": start,
        "latest": stable,
        "saved": one.saved,
        "offset": target.offset,
        "offsets": dict(target.offsets).get(one.partition),
    }[target.kind]
    return Missing("the target has no offset") if found is None else found


def _at_time(target: OffsetTarget, one: InputPartition, start: int, stable: int) -> _Wanted:
    if isinstance(one.at_time, int | Missing):
        return one.at_time
    if target.without:
        return start if target.without == "earliest" else stable
    asked = "its time" if target.at_ms is None else utc_second(target.at_ms)
    return (
        f"{one.name}: has no record at or after {asked} (log {start:,} to {stable:,}): a decision is needed; add "
        f"`or latest` (read nothing of it) or `or earliest` (read all of it) to {target.given}"
    )


def _remarks(target: OffsetTarget, one: InputPartition, wanted: int, start: int, stable: int) -> Iterable[str]:
    if wanted < start:
        yield f"{wanted:,} is {start - wanted:,} before the start of the log {start:,}, where it begins instead"
    if wanted > stable:
        yield f"{wanted:,} is {wanted - stable:,} past the last stable offset {stable:,}, which it gets instead"
    if target.kind == "time" and one.at_time is None:
        yield f"no record at or after the time: {target.without}, as decided"
    local = one.local_start
    if isinstance(local, Missing):
        yield f"where the local part of its tiered log begins is unknown: {local.missing}"
    elif local is not None and min(max(wanted, start), stable) < local:
        yield f"tiered: the log begins at {start:,}, on the brokers' disks at {local:,}; the rest is read remotely"


def _past_the_end(before: int, stable: int) -> str:
    return (
        f"committed {before:,} is past its last stable offset {stable:,}: a transaction is open, or the topic was "
        "created again or cut off"
    )


def _known(value: int | Missing) -> int | None:
    return None if isinstance(value, Missing) else value
