"""Internal topics that an application has stopped reading, and what is left in them."""

from kstreams_runbooks.decide.lag import named, to_read, total_lag
from kstreams_runbooks.model.readings import ApplicationReading, Missing, PartitionReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict

GUIDE = "S. Blee-Goldman, guide to Kafka Streams upgrades (Responsive, Kafka Streams 101), removing repartition topics"


def dropped_topics(
    before: ApplicationReading, after: ApplicationReading, application_id: str
) -> tuple[str, ...] | Missing:
    """Internal topics (full names, sorted) that were read before and are not read after.

    An input that is no longer read was taken out on purpose; what lies in an internal topic is work half done.
    """
    for reading in (before, after):
        if isinstance(reading.partitions, Missing):
            return Missing(f"topics that {reading.application} reads: {reading.partitions.missing}")
    gone = read_topics(before) - read_topics(after)
    return tuple(sorted(topic for topic in gone if topic.startswith(f"{application_id}-")))


def nothing_left(left: tuple[PartitionReading, ...] | Missing) -> Verdict:
    """Whether everything in topics that nobody reads any more had been read before; offsets, markers included."""
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
            f"{named(counts)}",
        ),
    )


def read_topics(reading: ApplicationReading) -> set[str]:
    """Topics that the application reads through its group, none where that cannot be said."""
    return set() if isinstance(reading.partitions, Missing) else {one.topic for one in reading.partitions}
