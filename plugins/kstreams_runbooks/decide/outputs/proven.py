"""Whether a control topic has exactly the copies of its input, while both go on to grow behind the ends compared."""

from dataclasses import replace

from kstreams_runbooks.decide.outputs.equal import outputs_are_equal
from kstreams_runbooks.model.readings.outputs import ComparedOutput, OutputsReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict

_NEWER = "of a key with a newer value behind these ends, the older value counts as far as compaction has left it"


def copy_is_proven(reading: OutputsReading) -> Verdict:
    """The verdict on a copy, up to ends that were noted; two topics without a record are equal.

    Compacted topics are compared by the last value of each key. They grow, so compaction may remove a value below the
    ends because of a newer one behind them. Without any difference that proves the rest; with one, nothing.
    """
    strict = outputs_are_equal(reading, may_be_empty=True)
    if strict.outcome is not Outcome.INCONCLUSIVE or reading.mode != "latest":
        return strict
    settled = replace(reading, first=_as_at_its_end(reading.first), second=_as_at_its_end(reading.second))
    rest = outputs_are_equal(settled, may_be_empty=True)
    if rest.outcome is not Outcome.PROCEED:
        return strict
    return Verdict(Outcome.PROCEED, (*rest.reasons, _NEWER), rest.findings)


def _as_at_its_end(output: ComparedOutput) -> ComparedOutput:
    return replace(output, ranges=tuple(replace(one, grown_to=one.end) for one in output.ranges))
