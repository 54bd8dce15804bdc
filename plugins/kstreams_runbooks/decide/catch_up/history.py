"""Whether an application that begins with a history has read it, and whether retention was faster than it."""

from collections.abc import Iterator, Mapping

from kstreams_runbooks.decide.lag import total_lag
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of

_HELP = (
    "its results lack them; keep the records for longer (retention.ms), then trigger a new run with --param mode=cancel"
)


def history_read(
    rows: tuple[PartitionLag, ...] | Missing, earlier: Mapping[str, int], used_by: tuple[str, ...], most: int
) -> Verdict:
    """Whether at most `most` records of its inputs are left to read, and none went that it may not have read.

    `rows` are those of its inputs, for each of which an offset was committed before the start. `earlier` are the
    offsets of a look before, by the name of the partition: what was deleted beyond one of them may never have been
    read, wherever the group is now. `used_by` are other users of its outputs, as sentences: refused too.
    """
    if used_by:
        return Verdict(
            Outcome.REFUSE,
            tuple(
                f"{user} (expected: nothing reads it before the cutover): it gets both results; stop that use, then "
                "clear wait_caught_up"
                for user in used_by
            ),
        )
    if isinstance(rows, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (f"the offsets of the application: {rows.missing}",))
    if lost := tuple(_lost(rows, earlier)):
        return Verdict(Outcome.REFUSE, lost)
    lag = total_lag(rows)
    if unknown := (*lag.unknown, *(f"{one.name}: its log start is not known" for one in rows if _start(one) is None)):
        return Verdict(Outcome.INCONCLUSIVE, tuple(dict.fromkeys(unknown)))
    left = f"{lag.records:,} records are left to read (limit {most:,})"
    return Verdict(Outcome.WAIT if lag.records > most else Outcome.PROCEED, (left,))


def nearest_to_start(rows: tuple[PartitionLag, ...]) -> str:
    """The partition whose committed offset is nearest to the start of its log, for a person; empty without one."""
    found = [
        (one.committed - start, one.name)
        for one in rows
        if one.committed is not None and (start := _start(one)) is not None
    ]
    if not found:
        return ""
    ahead, name = min(found)
    return f"{name} is {ahead:,} offsets above the start of its log, the least of all"


def _lost(rows: tuple[PartitionLag, ...], earlier: Mapping[str, int]) -> Iterator[str]:
    gone = [one.name for one in rows if one.state != "unknown" and one.committed is None]
    if gone:
        yield (
            f"{first_of(gone)}: the committed offset is gone ({len(gone)} partitions, expected one on each): where the "
            "application goes on is not known; trigger a new run with --param mode=cancel"
        )
    for one in rows:
        start, before = _start(one), earlier.get(one.name)
        if start is None or one.committed is None:
            continue
        if one.committed < start:
            yield (
                f"{one.name}: {one.committed:,} is committed, and its log begins at {start:,} (expected below): "
                f"{start - one.committed:,} offsets were deleted before they were read; {_HELP}"
            )
        elif before is not None and before < start:
            yield (
                f"{one.name}: {before:,} was committed at the look before, and its log begins at {start:,} now "
                f"(expected below): whether {start - before:,} offsets were read before that is not known; if not, "
                f"{_HELP}"
            )


def _start(row: PartitionLag) -> int | None:
    return row.log_start_offset
