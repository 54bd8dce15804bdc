"""How fast an application reads its inputs, by readings that the scheduled check kept."""

from collections.abc import Sequence
from itertools import pairwise

from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import CatchUp, ReadPace
from kstreams_runbooks.model.readings.status import KeptReading
from kstreams_runbooks.model.times import SECOND_MS


def read_pace(kept: Sequence[KeptReading]) -> ReadPace | Missing:
    """The highest pace between two readings in a row, oldest first, with what came in meanwhile.

    A pair counts only if both readings have every offset and every end of the same partitions, and none went back. It
    has to leave as much unread as came in meanwhile: an application at the end of its inputs reads as fast as records
    arrive, which is not how fast it can read.
    """
    found = [pace for pair in pairwise(kept) if (pace := _between(*pair)) is not None]
    if not found:
        return Missing(
            f"its pace was not measured: of {len(kept)} readings of its lag no two in a row have every offset and more "
            "to read than came in"
        )
    read, incoming = max(found)
    return ReadPace(read, incoming, len(found) + 1)


def catch_up(records: int | Missing, pace: ReadPace | Missing, *, at_least: bool = False) -> CatchUp:
    """The time until the inputs are read to their end: records come in while it reads.

    Unknown if it was never seen to read faster than records came in: at an idle application's pace it would never end.
    """
    if isinstance(records, Missing):
        return CatchUp(records, at_least, Missing("the records to read are not known"))
    if not records:
        return CatchUp(records, at_least, 0.0)
    if isinstance(pace, Missing):
        return CatchUp(records, at_least, pace)
    if pace.read_per_s <= pace.incoming_per_s:
        return CatchUp(
            records,
            at_least,
            Missing(
                f"in {pace.readings} readings it read {pace.read_per_s:,.1f} records/s at most, no faster than "
                f"{pace.incoming_per_s:,.1f} records/s came in: how fast it could read was never measured"
            ),
        )
    return CatchUp(records, at_least, records / (pace.read_per_s - pace.incoming_per_s))


def _between(then: KeptReading, now: KeptReading) -> tuple[float, float] | None:
    """Records read and records that came in each second, over all inputs; None if one of them is unknown."""
    before, after = _inputs(then), _inputs(now)
    if not before or before.keys() != after.keys() or now.at_ms <= then.at_ms:
        return None
    read = incoming = left = 0
    for name, row in after.items():
        old = before[name]
        if row.committed is None or old.committed is None or row.log_end_offset is None or old.log_end_offset is None:
            return None
        if row.topic_id != old.topic_id or row.committed < old.committed:
            return None
        read += row.committed - old.committed
        incoming += row.log_end_offset - old.log_end_offset
        left += row.log_end_offset - row.committed
    if not left or left < incoming:
        return None
    seconds = (now.at_ms - then.at_ms) / SECOND_MS
    return read / seconds, incoming / seconds


def _inputs(reading: KeptReading) -> dict[str, PartitionLag]:
    return {row.name: row for row in reading.lag.partitions if row.role == "source"}
