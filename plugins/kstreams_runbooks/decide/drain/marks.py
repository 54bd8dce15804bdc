"""Internal topics that an application has stopped reading, and the unread records in them."""

from kstreams_runbooks.decide.lag import to_read, total_lag
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of


def read_up_to(
    partitions: tuple[PartitionLag, ...] | Missing, marks: tuple[tuple[str, int], ...], application: str
) -> Verdict:
    """Proceed if the committed offset of every partition in `marks` has reached its mark (an end, exclusive).

    A partition that cannot be read, that was never committed although it has records, or whose committed offset is
    past its end is not known: what the offset passed may have been other records.
    """
    if isinstance(partitions, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (f"offsets of {application}: {partitions.missing}",))
    now = {partition.name: partition for partition in partitions}
    behind, unknown = [], []
    for name, mark in marks:
        partition = now.get(name)
        if partition is None:
            unknown.append(f"{name} was not read")
        elif partition.state in {"unknown", "missing"}:
            unknown.append(f"{name}: {partition.why}")
        elif partition.committed is None:
            if partition.log_start_offset != mark:
                unknown.append(f"{name}: never committed")
        elif partition.committed < mark:
            behind.append(f"{name} at {partition.committed:,} of {mark:,}")
    if unknown:
        return Verdict(Outcome.INCONCLUSIVE, tuple(unknown))
    if behind:
        return Verdict(Outcome.WAIT, (f"{len(behind)} partitions not read to their mark: {first_of(tuple(behind))}",))
    return Verdict(Outcome.PROCEED, (f"{len(marks)} partitions of {application} read to their mark",))


GUIDE = "S. Blee-Goldman, guide to Kafka Streams upgrades (Responsive, Kafka Streams 101), removing repartition topics"


def dropped_topics(
    before: ApplicationReading, after: ApplicationReading, application_id: str
) -> tuple[str, ...] | Missing:
    """Internal topics (full names, sorted) that were read before and are not read after.

    An input that is no longer read was removed on purpose; records in an internal topic are unfinished work.
    """
    for reading in (before, after):
        if isinstance(reading.partitions, Missing):
            return Missing(f"topics that {reading.application} reads: {reading.partitions.missing}")
    gone = read_topics(before) - read_topics(after)
    return tuple(sorted(topic for topic in gone if topic.startswith(f"{application_id}-")))


def nothing_left(left: tuple[PartitionLag, ...] | Missing) -> Verdict:
    """Whether all records in topics without a reader had been read before; offsets, markers included."""
    if isinstance(left, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (left.missing,))
    lag = total_lag(left)
    if lag.unknown:
        return Verdict(Outcome.INCONCLUSIVE, lag.unknown)
    if not lag.records:
        return Verdict(Outcome.PROCEED, ("nothing is left in the topics that are no longer read",))
    counts = tuple(f"{one.name} ({to_read(one):,})" for one in left if to_read(one))
    return Verdict(
        Outcome.REFUSE,
        (
            f"{lag.records:,} offsets are left unread in topics that the application no longer reads (expected 0): "
            f"{first_of(counts)}",
        ),
    )


def read_topics(reading: ApplicationReading) -> set[str]:
    """Topics that the application reads through its group, none if unknown."""
    return set() if isinstance(reading.partitions, Missing) else {one.topic for one in reading.partitions}
