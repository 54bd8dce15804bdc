"""Whether a repartition may go, as JSON, as text and as an exit code."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.partitioning import ComparedTopic, PartitioningReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import outside, sentence

SCHEMA_VERSION: Final = 1
_CODES = {Outcome.PROCEED: 0, Outcome.REFUSE: 1}


def exit_code(verdict: Verdict) -> int:
    """0 each key is with its state, 1 one is not, 3 not proven."""
    return _CODES.get(verdict.outcome, Inconclusive.exit_code)


def document(entry: DeclaredApplication, reading: PartitioningReading, verdict: Verdict) -> dict[str, Any]:
    """The verdict and the reading; `keys` is null if the topics cannot be compared."""
    return {
        "schema_version": SCHEMA_VERSION,
        "application": entry.name,
        "cluster": entry.cluster,
        "verdict": verdict.outcome.value,
        "reasons": list(verdict.reasons),
        "taken_at_ms": reading.taken.at_ms,
        "kind": reading.kind,
        "input": asdict(reading.input),
        "state": asdict(reading.state),
        "keys": None if reading.keys is None else asdict(reading.keys),
    }


def as_text(entry: DeclaredApplication, reading: PartitioningReading, verdict: Verdict) -> str:
    """The verdict, each reason in a line of its own, and what was read."""
    return "\n".join(map(sentence, _lines(entry, reading, verdict)))


def _lines(entry: DeclaredApplication, reading: PartitioningReading, verdict: Verdict) -> Iterator[str]:
    yield f"[{entry.name} @ {entry.cluster}] {verdict.outcome.upper()}: {reading.input.name} → {reading.state.name}"
    yield from (f"  {reason}" for reason in verdict.reasons)
    yield f"  read: {_read(reading.input)}; {_read(reading.state)} ({reading.kind})"
    keys = reading.keys
    if keys is None:
        return
    yield (
        f"  keys: {keys.same:,} with their state, {keys.elsewhere:,} elsewhere, {keys.new:,} without state, "
        f"{keys.absent:,} in the state alone, {keys.several:,} in several partitions; {keys.null_keys:,} null"
    )
    for case, examples in keys.examples.items():
        for one in examples:
            yield f"    {case}: {outside(one.key, 80)}: input {_numbers(one.input)}, state {_numbers(one.state)}"


def _read(topic: ComparedTopic) -> str:
    return f"{topic.offsets - topic.unread:,} of {topic.offsets:,} offsets of {topic.name}"


def _numbers(partitions: tuple[int, ...]) -> str:
    return " and ".join(map(str, partitions)) or "none"
