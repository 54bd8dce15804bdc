"""The first offsets of a copier: as JSON, and as lines for a terminal."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from kstreams_runbooks.model.readings.copying import SeedReading
from kstreams_runbooks.model.verdicts import Verdict
from kstreams_runbooks.model.writes import CommittedOffset

SCHEMA_VERSION: Final = 1


def document(
    reading: SeedReading, cluster: str, verdict: Verdict, offsets: Sequence[CommittedOffset], *, executed: bool
) -> dict[str, Any]:
    """Each partition with its committed offset and the one that was, or would be, committed; null for none."""
    wanted = {one.place: one.offset for one in offsets}
    return {
        "schema_version": SCHEMA_VERSION,
        "copier": reading.copier,
        "cluster": cluster,
        "group": reading.group_id,
        "outcome": verdict.outcome,
        "reasons": list(verdict.reasons),
        "executed": executed,
        "partitions": [
            {
                "topic": one.topic,
                "partition": one.partition,
                "committed": one.committed,
                "offset": wanted.get((one.topic, one.partition)),
                "start": one.start if isinstance(one.start, int) else None,
                "end": one.end if isinstance(one.end, int) else None,
            }
            for one in reading.places
        ],
    }


def as_text(reading: SeedReading, cluster: str, offsets: Sequence[CommittedOffset], *, executed: bool) -> Iterator[str]:
    """A line for each partition, how many are never copied, and what was or would be done."""
    wanted = {one.place: one.offset for one in offsets}
    yield f"copier {reading.copier} @ {cluster}, group {reading.group_id}"
    skipped = 0
    for one in reading.places:
        offset = wanted[one.topic, one.partition]
        committed = "none" if one.committed is None else f"{one.committed:,}"
        if isinstance(one.start, int):
            skipped += max(0, offset - max(one.start, one.committed or 0))
        yield f"  {one.name}: {committed} -> {offset:,} (log {one.start:,} to {one.end:,})"
    if skipped:
        yield f"{skipped:,} offsets are left out: from the committed ones, or the start of the log, to these"
    done = "committed, and read back" if executed else "would be committed (--execute commits them)"
    yield f"{len(wanted):,} offsets {done}"
