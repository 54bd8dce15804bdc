"""Whether two topics are equal, as JSON, as text and as an exit code."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.outputs import (
    ComparedOutput,
    OutputComparison,
    OutputsReading,
    RecordsRead,
    ShownRecord,
    UnlikeRecord,
)
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import outside, sentence

SCHEMA_VERSION: Final = 1
_CODES = {Outcome.PROCEED: 0, Outcome.REFUSE: 1}
_WORDS = {Outcome.PROCEED: "EQUAL", Outcome.REFUSE: "DIFFERENT"}
_LONGEST = 120


def exit_code(verdict: Verdict) -> int:
    """0 equal, 1 different, 3 not proven."""
    return _CODES.get(verdict.outcome, Inconclusive.exit_code)


def document(cluster: str, reading: OutputsReading, verdict: Verdict) -> dict[str, Any]:
    """The verdict and the reading; `comparison` is null if the topics were not compared."""
    return {
        "schema_version": SCHEMA_VERSION,
        "cluster": cluster,
        "verdict": verdict.outcome.value,
        "reasons": list(verdict.reasons),
        "taken_at_ms": reading.taken.at_ms,
        "mode": reading.mode,
        "ignored": list(reading.ignored),
        "limits": asdict(reading.limits),
        "bytes_on_disk": reading.bytes,
        "first": asdict(reading.first),
        "second": asdict(reading.second),
        "comparison": None if reading.comparison is None else asdict(reading.comparison),
    }


def as_text(cluster: str, reading: OutputsReading, verdict: Verdict) -> str:
    """The verdict, each reason in a line of its own, what was read, and the examples."""
    return "\n".join(map(sentence, _lines(cluster, reading, verdict)))


def _lines(cluster: str, reading: OutputsReading, verdict: Verdict) -> Iterator[str]:
    word = _WORDS.get(verdict.outcome, verdict.outcome.upper())
    first, second, comparison = reading.first, reading.second, reading.comparison
    yield f"[{first.name} ↔ {second.name} @ {cluster}] {word} ({reading.mode})"
    yield from (f"  {reason}" for reason in verdict.reasons)
    if comparison is None:
        return
    yield f"  {read_line(reading, comparison)}"
    yield from example_lines(reading, comparison)


def read_line(reading: OutputsReading, comparison: OutputComparison) -> str:
    """The records and the offsets of both topics that were read."""
    return f"read: {_read(reading.first, comparison.first)}; {_read(reading.second, comparison.second)}"


def example_lines(reading: OutputsReading, comparison: OutputComparison) -> Iterator[str]:
    """Each example of a difference, with the record of both topics."""
    for example in comparison.examples:
        yield f"    {_example(example)}"
        for name, record in ((reading.first.name, example.first), (reading.second.name, example.second)):
            yield f"      {name}{_record(record)}"


def _read(output: ComparedOutput, read: tuple[RecordsRead, ...]) -> str:
    return f"{sum(one.records for one in read):,} records on {output.offsets:,} offsets of {output.name}"


def _example(example: UnlikeRecord) -> str:
    place = "" if example.place is None else f", at record {example.place:,}"
    where = "" if example.partition is None else f" in partition {example.partition}"
    parts = f" ({', '.join(example.fields or example.parts)})" if example.parts else ""
    return f"{example.kind}{where}{place}{parts}:"


def _record(record: ShownRecord | None) -> str:
    if record is None:
        return ": no record"
    key, value = (
        f"{name} {what}" if part is None else f"{name} {outside(part, _LONGEST)}"
        for name, part, what in (("key", record.key, "null"), ("value", record.value, "null (a tombstone)"))
    )
    headers = ", ".join(
        f"{outside(name, _LONGEST)}={'null' if value is None else outside(value, _LONGEST)}"
        for name, value in record.headers
    )
    return f"-{record.partition}@{record.offset}: {key}, {value}, at {record.timestamp_ms} ms, headers [{headers}]"
