"""Whether a control topic has exactly the copies of its input, while both go on to grow behind the ends compared.

A copy keeps times, so retention deletes old records of both topics, each by segments of its own. What is left is
compared: what is gone does not come back, and no run may wait for it.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from kstreams_runbooks.decide.outputs.equal import lacks_answer, left_out, names_of, outputs_are_equal
from kstreams_runbooks.model.readings.outputs import (
    ComparedOutput,
    ExplainedKeys,
    OutputComparison,
    OutputsReading,
    UnlikeKeys,
)
from kstreams_runbooks.model.verdicts import Outcome, Verdict

# The last reason of a copy that is not proven: whether another comparison may prove it.
AGAIN: Final = "clear prove_copy and what follows it"
BACK: Final = (
    "another comparison finds the same: look at docs/adopt_control_topic.md (If the copy is not proven), or go back by "
    "mode abandon: undo this run"
)


def copy_is_proven(reading: OutputsReading) -> Verdict:
    """The verdict on a copy, up to ends that were noted; two topics without a record are equal.

    Proceed: the records that both topics still have are equal; the reasons name what retention has deleted and
    compaction has replaced, which is not compared. Refuse: a difference that neither of them explains. Inconclusive:
    records are behind an open transaction, Spark gave no answer, nothing was compared although something is left in
    both, or a difference that compaction explains only while it runs.

    Compacted topics are compared by the last value of each key. A newer record behind the ends lets compaction remove
    the older ones, in one topic earlier than in the other.

    Source: Apache Kafka documentation, "Log Compaction", `retention.ms` and `delete.retention.ms`.
    """
    left = replace(reading, first=_left(reading.first), second=_left(reading.second))
    found = outputs_are_equal(left, may_be_empty=True)
    comparison = reading.comparison
    if found.outcome is Outcome.REFUSE and comparison is not None and comparison.keys is not None:
        return _by_key(reading, left, comparison, comparison.keys)
    if found.outcome is Outcome.INCONCLUSIVE and comparison is not None and _explains_all(reading, comparison):
        # Judged without the records that have nothing to be compared with: they are none of the other reasons.
        found = outputs_are_equal(replace(left, comparison=replace(comparison, skipped=())), may_be_empty=True)
    return _said(reading, found)


def _left(output: ComparedOutput) -> ComparedOutput:
    """The ranges of what is left, as at rest: neither retention nor growth behind the ends decides."""
    ranges = (replace(one, start=one.start + one.deleted, grown_to=one.end) for one in output.ranges)
    return replace(output, ranges=tuple(ranges))


def _explains_all(reading: OutputsReading, comparison: OutputComparison) -> bool:
    """Whether nothing was compared, and each partition with a record is deleted to its end in the other topic."""
    gone = {
        one.partition for output in (reading.first, reading.second) for one in output.ranges if one.log_start >= one.end
    }
    skipped = {one.partition for one in comparison.skipped}
    return bool(skipped) and not any(comparison.records) and skipped <= gone


def _by_key(reading: OutputsReading, left: OutputsReading, found: OutputComparison, keys: UnlikeKeys) -> Verdict:
    """The verdict on keys that differ, without those that retention or compaction explains."""
    why = found.explained
    unexplained = keys.unlike - _explained(why)
    if unexplained > 0:
        unlike = outputs_are_equal(left, may_be_empty=True).reasons
        if unexplained > why.copied + why.changed:
            return _said(reading, Verdict(Outcome.REFUSE, unlike))
        replaced = (
            f"{unexplained:,} of these keys have a newer record behind these ends: compaction explains that while it "
            "runs, or for a deleted key until it has run in both topics"
        )
        return _said(reading, Verdict(Outcome.INCONCLUSIVE, (*unlike, replaced)))
    equal = replace(keys, missing=0, extra=0, changed=0)
    return _said(reading, outputs_are_equal(replace(left, comparison=replace(found, keys=equal)), may_be_empty=True))


def _said(reading: OutputsReading, found: Verdict) -> Verdict:
    """The verdict with what was not compared, and whether another comparison may prove it."""
    notes = tuple(_not_compared(reading))
    if found.outcome is not Outcome.PROCEED:
        is_over = found.outcome is Outcome.REFUSE or not _may_change(reading)
        return replace(found, reasons=(*found.reasons, *notes, BACK if is_over else AGAIN))
    if notes and not _has_compared(reading):
        nothing = f"nothing is left to compare of {reading.first.name} and {reading.second.name}"
        return replace(found, reasons=(nothing, *left_out(reading), *notes))
    return replace(found, reasons=(*found.reasons, *notes))


def _has_compared(reading: OutputsReading) -> bool:
    """Whether a record of one topic was compared with one of the other."""
    if reading.comparison is None or not any(reading.comparison.records):
        return False
    keys = reading.comparison.keys
    return keys is None or keys.equal + keys.unlike > _explained(reading.comparison.explained)


def _explained(why: ExplainedKeys) -> int:
    return why.superseded + why.deleted


def _not_compared(reading: OutputsReading) -> Iterator[str]:
    """What retention has deleted and compaction has replaced."""
    for output in (reading.first, reading.second):
        if gone := [one for one in output.ranges if one.deleted]:
            yield (
                f"{sum(one.deleted for one in gone):,} offsets of {output.name} ({names_of(output, gone)}) are deleted "
                "since the copy began, and are not compared"
            )
    why = ExplainedKeys() if reading.comparison is None else reading.comparison.explained
    if why.superseded:
        yield (
            f"{why.superseded:,} keys have a newer record behind these ends, and their older ones in one topic alone: "
            "compaction has removed them in the other, they are not compared"
        )
    if why.deleted:
        yield (
            f"{why.deleted:,} keys are in one topic alone, before all records that both have: they are deleted in the "
            "other, and are not compared"
        )


def _may_change(reading: OutputsReading) -> bool:
    """Whether another comparison may decide: what is not known now ends by itself."""
    found = reading.comparison
    if found is None:
        return lacks_answer(reading) or _is_open(reading)
    why = found.explained
    is_replaced = bool(why.copied or why.changed)
    return _is_open(reading) or is_replaced or (bool(found.skipped) and not any(found.records))


def _is_open(reading: OutputsReading) -> bool:
    """Whether an end is behind an open transaction."""
    return any(one.end > one.stable for output in (reading.first, reading.second) for one in output.ranges)
