"""A seam between two sides of one application: both have read the inputs to the same point, and their ends are noted.

Both sides are read twice while the copier is stopped: all of them once, then their ends are noted, then all of them
again. If nothing is left to read in either reading and no offset differs, all were at rest when the ends were noted.
Topics are compared by their exact names: `orders` and `orders-v2` both live.

A downstream group moves by this seam: it has read the old outputs to the noted ends, and goes on at those of the new
ones. Read is judged by records: behind the last record of a transaction there is a marker, past which no consumer
commits.
"""

from collections.abc import Iterator, Mapping, Sequence

from kstreams_runbooks.decide.drain.certificate import drained
from kstreams_runbooks.decide.drain.marks import read_up_to
from kstreams_runbooks.decide.instances.members import group_is_empty
from kstreams_runbooks.model.readings.cutover import SeamReading, SideDrain
from kstreams_runbooks.model.readings.drain import DrainQuestion, Pause
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.sides import NotedEnd, NotedEnds
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.model.writes import CommittedOffset
from kstreams_runbooks.wording import first_of

_READINGS = 2


def sides_at_rest(sides: tuple[SideDrain, ...], noted: NotedEnds, pause: Pause) -> Verdict:
    """Proceed if all sides were at rest at one moment, with the `noted` ends; wait while one still reads or writes.

    Inconclusive if a part of a reading is not known, if an output was not noted, or if the readings and the note do not
    have one moment in common.
    """
    if not sides:
        return Verdict(Outcome.INCONCLUSIVE, ("no side was read (expected both)",))
    question = DrainQuestion(_READINGS, pause)
    verdicts = [(side, drained((side.earlier, side.now), question)) for side in sides]
    for outcome in (Outcome.REFUSE, Outcome.INCONCLUSIVE, Outcome.WAIT):
        if reasons := tuple(
            f"{side.application}: {reason}"
            for side, verdict in verdicts
            if verdict.outcome is outcome
            for reason in verdict.reasons
        ):
            return Verdict(outcome, reasons, tuple(one for _, verdict in verdicts for one in verdict.findings))
    first, last = max(one.earlier.taken.at_ms for one in sides), min(one.now.taken.at_ms for one in sides)
    if not first <= noted.at_ms <= last:
        return Verdict(
            Outcome.INCONCLUSIVE,
            (
                f"the sides were not read in turns: first readings began until {first} ms, the ends were noted from "
                f"{noted.at_ms} ms on, second readings began from {last} ms on (expected in this order)",
            ),
        )
    if shared := tuple(_shared(sides)):
        return Verdict(Outcome.REFUSE, shared)
    return _as_noted(sides, noted)


def _shared(sides: Sequence[SideDrain]) -> Iterator[str]:
    """Outputs that several sides write: their ends would be those of both."""
    writers: dict[str, list[str]] = {}
    for side in sides:
        for topic in sorted({name.rpartition("-")[0] for name in side.now.sinks}):
            writers.setdefault(topic, []).append(side.application)
    for topic, names in writers.items():
        if len(names) > 1:
            yield f"output {topic}: {' and '.join(names)} write it (expected one side); give one of them another output"


def _as_noted(sides: Sequence[SideDrain], noted: NotedEnds) -> Verdict:
    """Whether the noted ends are those of the readings around them."""
    ends = {_name(one): one.end for one in noted.ends}
    sinks = {name: end for side in sides for name, end in side.now.sinks.items()}
    if lacking := tuple(sorted(sinks.keys() - ends.keys())):
        return Verdict(Outcome.INCONCLUSIVE, (f"{first_of(lacking)}: the end of this output was not noted",))
    differing = [(name, ends[name], end) for name, end in sorted(sinks.items()) if ends[name] != end]
    if moved := tuple(f"{name} ({before:,}, then {end:,})" for name, before, end in differing):
        return Verdict(Outcome.WAIT, (f"written while the ends were noted: {first_of(moved)}",))
    names = ", ".join(one.application for one in sides)
    return Verdict(
        Outcome.PROCEED,
        (f"{names} are at rest: nothing is left to read, and {len(sinks)} partitions of outputs end as noted",),
    )


def _name(one: NotedEnd) -> str:
    return f"{one.topic}-{one.partition}"


def still_at_seam(noted: NotedEnds, now: NotedEnds) -> Verdict:
    """Whether no partition of these outputs has got a record since their ends were noted."""
    there = {(one.topic, one.partition): one.end for one in now.ends}
    if unread := tuple(_name(one) for one in noted.ends if (one.topic, one.partition) not in there):
        return Verdict(Outcome.INCONCLUSIVE, (f"{first_of(unread)}: its end was not read",))
    moved = tuple(
        f"{_name(one)} ends at {end:,} (at the seam: {one.end:,})"
        for one in noted.ends
        if (end := there[one.topic, one.partition]) != one.end
    )
    if moved:
        return Verdict(
            Outcome.REFUSE,
            (f"written since the seam was noted: {first_of(moved)}; find the producer, then undo this run",),
        )
    return Verdict(Outcome.PROCEED, (f"{len(noted.ends)} partitions end as they did at the seam",))


def read_to_seam(reading: SeamReading, noted: tuple[NotedEnd, ...]) -> Verdict:
    """Whether a downstream group, which is down, has read the old outputs exactly to the seam.

    `noted` are the ends of the old outputs that it reads. Only an EMPTY group without an open transaction has its last
    word in its committed offsets. Refused if it has read past the seam.
    """
    empty = group_is_empty(reading.group, reading.group_id)
    if empty.outcome is not Outcome.PROCEED:
        return empty
    if isinstance(reading.open, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (f"transactions of {reading.entry}: {reading.open.missing}",))
    if reading.open:
        names = tuple(f"{one.transactional_id or one.producer_id} on {one.name}" for one in reading.open)
        return Verdict(
            Outcome.WAIT,
            (f"{reading.entry} has an open transaction: {first_of(names)}; its commits are not known before its end",),
        )
    if not noted:
        return Verdict(Outcome.INCONCLUSIVE, (f"{reading.entry}: no output that it reads was noted at the seam",))
    marks = tuple((_name(one), one.end) for one in noted)
    if not isinstance(reading.rows, Missing):
        until = dict(marks)
        past = tuple(
            f"{one.name} at {one.committed:,} (seam: {until[one.name]:,})"
            for one in reading.rows
            if one.name in until and one.committed is not None and one.committed > until[one.name]
        )
        if past:
            return Verdict(
                Outcome.REFUSE,
                (
                    f"group {reading.group_id} has read past the seam: {first_of(past)}; the old side has written "
                    "since then: undo this run",
                ),
            )
    return read_up_to(reading.rows, marks, reading.entry)


def seeds(
    noted: NotedEnds, topics: Sequence[str], partitions: Mapping[str, int]
) -> tuple[CommittedOffset, ...] | Missing:
    """The offsets at which a downstream group goes on: the noted end of every partition of its new topics.

    They are never the latest. `partitions` are the present counts of the topics. Missing if an end was not noted.
    """
    ends = {(one.topic, one.partition): one.end for one in noted.ends}
    found = []
    for topic in topics:
        wanted = {(topic, number) for number in range(partitions.get(topic, 0))}
        if not wanted:
            return Missing(f"topic {topic} was not read")
        own = {place for place in ends if place[0] == topic}
        if lacking := sorted(wanted - own):
            return Missing(f"{topic}-{lacking[0][1]}: its end was not noted at the seam")
        if gone := sorted(own - wanted):
            return Missing(f"{topic}-{gone[0][1]}: was noted at the seam and does not exist now")
        found += [CommittedOffset(*place, ends[place]) for place in sorted(wanted)]
    return tuple(found)


def seeds_stand(rows: tuple[PartitionLag, ...] | Missing, seeds: tuple[CommittedOffset, ...], group_id: str) -> Verdict:
    """Whether a group that is down has its seeds committed; wait if some are gone, and have to be written again.

    Brokers forget the offsets of an EMPTY group after offsets.retention.minutes (KIP-211): it would begin by
    auto.offset.reset. Refused for another offset, which another client has committed, and for a seed below the start of
    its log: retention has deleted what the group has not read.
    """
    if isinstance(rows, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (f"offsets of group {group_id}: {rows.missing}",))
    if not seeds:
        return Verdict(Outcome.INCONCLUSIVE, (f"group {group_id}: no seed is known (expected each partition)",))
    there = {(one.topic, one.partition): one for one in rows}
    unread = [one for one in seeds if one.place not in there or there[one.place].state not in {"ok", "never_committed"}]
    if unread:
        row = there.get(unread[0].place)
        why = (row and row.why) or "it was not read"
        return Verdict(Outcome.INCONCLUSIVE, (f"{unread[0].topic}-{unread[0].partition} of group {group_id}: {why}",))
    other = tuple(
        f"{one.topic}-{one.partition} at {now:,} (seed: {one.offset:,})"
        for one in seeds
        if (now := there[one.place].committed) is not None and now != one.offset
    )
    if other:
        return Verdict(
            Outcome.REFUSE,
            (
                f"group {group_id} is down and has other offsets than its seeds: {first_of(other)}; find who has "
                "committed them, then undo this run",
            ),
        )
    lost = tuple(
        f"{one.topic}-{one.partition} begins at {start:,} (seed: {one.offset:,})"
        for one in seeds
        if (start := there[one.place].log_start_offset) is not None and start > one.offset
    )
    if lost:
        return Verdict(
            Outcome.REFUSE,
            (
                f"group {group_id} has not started, and records behind its seeds were deleted: {first_of(lost)}; undo "
                "this run: the group reads on at the seam of its old topics",
            ),
        )
    if gone := tuple(f"{one.topic}-{one.partition}" for one in seeds if there[one.place].committed is None):
        return Verdict(
            Outcome.WAIT,
            (f"{len(gone)} of {len(seeds)} seeds of group {group_id} are gone (limit 0): {first_of(gone)}",),
        )
    return Verdict(Outcome.PROCEED, (f"group {group_id} has all {len(seeds)} seeds committed",))
