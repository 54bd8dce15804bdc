"""Internal topics that an application has stopped reading, and the unread records in them."""

from dataclasses import replace

from kstreams_runbooks.decide.lag import to_read, total_lag
from kstreams_runbooks.decide.topology.names import may_be_read_back
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of


def up_to_marks(partitions: tuple[PartitionLag, ...], marks: tuple[tuple[str, int], ...]) -> tuple[PartitionLag, ...]:
    """The rows of `marks` (an end each, exclusive) as if their logs ended there: the offsets left up to the mark.

    A row whose last stable offset is before its mark stays as it is: a transaction is open there.
    """
    until = dict(marks)
    return tuple(_up_to(one, until[one.name]) for one in partitions if one.name in until)


def _up_to(one: PartitionLag, mark: int) -> PartitionLag:
    if one.records is None or one.log_start_offset is None or (one.last_stable_offset or 0) < mark:
        return one
    left = max(0, mark - max(one.committed or 0, one.log_start_offset))
    return replace(one, last_stable_offset=mark, log_end_offset=mark, records=left, exact=not left)


def read_up_to(
    partitions: tuple[PartitionLag, ...] | Missing, marks: tuple[tuple[str, int], ...], application: str
) -> Verdict:
    """Proceed if every partition in `marks` is read to its mark (an end, exclusive).

    It is if its committed offset has reached the mark, or if no readable record was counted before the mark
    (`up_to_marks`). A partition that cannot be read, that was never committed although it has records, or whose
    committed offset is past its end is not known: what the offset passed may have been other records.
    """
    if isinstance(partitions, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (f"offsets of {application}: {partitions.missing}",))
    now = {partition.name: partition for partition in partitions}
    behind, unknown = [], []
    for name, mark in marks:
        partition = now.get(name)
        if why := _why_unknown(partition, mark):
            unknown.append(f"{name}{why}")
        elif partition is not None and partition.committed is not None and not _is_read(partition, mark):
            behind.append(f"{name} at {partition.committed:,} of {mark:,}{_open_before(partition, mark)}")
    if unknown:
        return Verdict(Outcome.INCONCLUSIVE, tuple(unknown))
    if behind:
        return Verdict(Outcome.WAIT, (f"{len(behind)} partitions not read to their mark: {first_of(tuple(behind))}",))
    return Verdict(Outcome.PROCEED, (f"{len(marks)} partitions of {application} read to their mark",))


def _why_unknown(one: PartitionLag | None, mark: int) -> str:
    if one is None:
        return " was not read"
    if one.state in {"unknown", "missing"}:
        return f": {one.why}"
    never = one.committed is None and one.log_start_offset != mark
    return ": never committed" if never and not _is_read(one, mark) else ""


def _is_read(one: PartitionLag, mark: int) -> bool:
    """Whether its committed offset has reached the mark, or no readable record was counted before it."""
    if one.committed is not None and one.committed >= mark:
        return True
    return one.exact and not one.records and one.last_stable_offset is not None and one.last_stable_offset >= mark


def _open_before(one: PartitionLag, mark: int) -> str:
    stable = one.last_stable_offset
    return f", where a transaction is open at {stable:,}" if stable is not None and stable < mark else ""


GUIDE = "S. Blee-Goldman, guide to Kafka Streams upgrades (Responsive, Kafka Streams 101), removing repartition topics"


def dropped_topics(
    before: ApplicationReading, after: ApplicationReading, application_id: str
) -> tuple[str, ...] | Missing:
    """Internal topics (full names, sorted) that were read before and are not read after.

    An input that is no longer read was removed on purpose; records in an internal topic are unfinished work. A topic of
    one's own may begin with the application's id too, such as the control topic orders-control.
    """
    for reading in (before, after):
        if isinstance(reading.partitions, Missing):
            return Missing(f"topics that {reading.application} reads: {reading.partitions.missing}")
    gone = read_topics(before) - read_topics(after)
    return tuple(sorted(topic for topic in gone if is_internal(topic, application_id)))


def is_internal(topic: str, application_id: str) -> bool:
    """Whether a topic is named as one that the library makes for the application, and that it reads back."""
    return topic.startswith(f"{application_id}-") and may_be_read_back(topic)


def nothing_left(left: tuple[PartitionLag, ...] | Missing) -> Verdict:
    """Whether all records in topics without a reader had been read before.

    The rows have records, or offsets if they were not counted. Records of an open transaction are not known until it
    ends; those that were deleted unread are not left, and named.
    """
    if isinstance(left, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (left.missing,))
    lag = total_lag(left)
    if lag.unknown:
        return Verdict(Outcome.INCONCLUSIVE, lag.unknown)
    if lag.records:
        counts = tuple(f"{one.name} ({to_read(one):,})" for one in left if to_read(one))
        what = "records" if all(one.exact for one in left if one.records) else "offsets"
        return Verdict(
            Outcome.REFUSE,
            (
                f"{lag.records:,} {what} are left unread in topics that the application no longer reads (expected 0): "
                f"{first_of(counts)}",
            ),
        )
    if opened := tuple(f"{one.name} (from {one.last_stable_offset:,})" for one in left if one.open_transaction):
        why = f"transactions are open in topics that the application no longer reads: {first_of(opened)}"
        return Verdict(Outcome.INCONCLUSIVE, (f"{why} (expected none); once they have ended, clear this step",))
    lost = tuple(f"{one.name} ({one.why})" for one in left if one.why and one.committed is not None)
    remark = (f"not all of it was read: {first_of(lost)}",) if lost else ()
    return Verdict(Outcome.PROCEED, ("nothing is left in the topics that are no longer read", *remark))


def read_topics(reading: ApplicationReading) -> set[str]:
    """Topics that the application reads through its group, none if unknown."""
    return set() if isinstance(reading.partitions, Missing) else {one.topic for one in reading.partitions}
