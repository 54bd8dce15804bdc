"""Records in place of offsets, where a run judges what an application has not read.

A committed offset before its partition's end does not show that a record is left: transaction markers, compacted gaps
and, for an exactly-once application, aborted records have offsets too.
"""

from collections.abc import Callable, Mapping
from typing import Any

from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.frames.ranges import MAX_SCAN_RECORDS
from kstreams_runbooks.model.readings.lag import Isolation, PartitionLag, unread_ranges, with_counts
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.lag.count import count_readable
from kstreams_runbooks.observe.lag.first_unread import first_unread
from kstreams_runbooks.observe.lag.unread_counts import Count, FirstOf, UnreadCounts
from kstreams_runbooks.watch.drain.counter import Counter
from kstreams_runbooks.wording import first_of

# How long one reading searches many offsets for a record. Records of an aborted transaction pass at the speed of the
# network, about ten million in this time.
_LOOK_S = 20.0


def isolation_of(entry: Application) -> Isolation:
    """The records that an application gets; if its guarantee is unknown, aborted records are records to process."""
    return "read_committed" if entry.reads_committed else "read_uncommitted"


def count_and_first(entry: Application, kafka: Mapping[str, Any]) -> tuple[Count, FirstOf]:
    """The arguments of UnreadCounts for an application; `kafka` is a librdkafka configuration."""
    isolation = isolation_of(entry)
    return (
        lambda ranges: count_readable(kafka, ranges, isolation=isolation),
        lambda ranges: first_unread(kafka, ranges, _LOOK_S, isolation),
    )


class UnreadRecords:
    """Counts from one reading to the next, for a wait that a failed count does not end.

    `why` is the reason if the last count failed, and the offsets stayed. `kafka` is a librdkafka configuration.
    """

    def __init__(self, entry: Application, kafka: Mapping[str, Any]) -> None:
        self._counts = UnreadCounts(*count_and_first(entry, kafka))
        self.why = ""

    def of(self, rows: tuple[PartitionLag, ...]) -> tuple[PartitionLag, ...]:
        """The rows with records, if they have any and could be counted."""
        self.why = ""
        try:
            return self._counts.of(rows)
        except RunbookError as error:
            self.why = f"unread records are not counted: {error}"
            return rows


def count_once(
    entry: Application,
    kafka: Mapping[str, Any],
    rows: tuple[PartitionLag, ...],
    *,
    most: int = MAX_SCAN_RECORDS,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[PartitionLag, ...] | Missing:
    """The rows with the number of readable records up to their last stable offset; rows with no offset left need none.

    Missing with the reason if they cannot be counted, or have more than `most` offsets: a part proves nothing about the
    rest. `say` receives what takes long, and why. `kafka` is a librdkafka configuration.
    """
    ranges = unread_ranges(one for one in rows if one.records)
    if (offsets := sum(end - start for start, end in ranges.values())) > most:
        names = first_of(tuple(f"{topic}-{number}" for topic, number in sorted(ranges)))
        return Missing(
            f"{names}: {offsets:,} unread offsets are more than one count reads (limit {most:,}); read the topic with "
            "a consumer to see whether records are left"
        )
    try:
        with Counter(kafka, isolation=isolation_of(entry), most=most, say=say) as count:
            return with_counts(rows, count(ranges).readable)
    except RunbookError as error:
        return Missing(f"unread records are not counted: {error}")
