"""What a group still has to read, and whether it moves: from committed offsets and last stable offsets only."""

from dataclasses import dataclass

from kstreams_runbooks.model.readings.readings import Missing, PartitionReading


@dataclass(frozen=True, slots=True)
class Lag:
    """Records to read over all partitions, and the partitions for which nobody can say."""

    records: int
    unknown: tuple[str, ...]


def to_read(partition: PartitionReading) -> int | Missing:
    """Offsets between the committed and the last stable offset; a partition never committed has all of its log to read.

    Missing where an end cannot be read, or where the group never committed and the log is not empty of records that
    it should have started from: the caller must not take that for 0.
    """
    if isinstance(partition.stable, Missing):
        return Missing(f"{partition.name}: last stable offset {partition.stable.missing}")
    if isinstance(partition.committed, Missing):
        if isinstance(partition.log_start, Missing):
            return Missing(f"{partition.name}: {partition.committed.missing}, log start {partition.log_start.missing}")
        return max(0, partition.stable - partition.log_start)
    return max(0, partition.stable - partition.committed)


def total_lag(partitions: tuple[PartitionReading, ...]) -> Lag:
    """Sum over the partitions that can be read, with the others named."""
    readings = [(partition, to_read(partition)) for partition in partitions]
    return Lag(
        sum(value for _, value in readings if isinstance(value, int)),
        tuple(value.missing for _, value in readings if isinstance(value, Missing)),
    )


def standing_still(before: tuple[PartitionReading, ...], after: tuple[PartitionReading, ...]) -> tuple[str, ...]:
    """Partitions with something to read at the first reading whose committed offset had not advanced at the second.

    RUNNING and a stable group prove nothing here: a static member can keep an assignment that no longer fits.
    """
    later = {partition.name: partition for partition in after}
    stuck = []
    for partition in before:
        waiting = to_read(partition)
        if isinstance(waiting, Missing) or waiting == 0:
            continue
        now = later.get(partition.name)
        if now is None or isinstance(now.committed, Missing):
            stuck.append(f"{partition.name} ({waiting} to read, committed offset not readable)")
        elif not isinstance(partition.committed, Missing) and now.committed <= partition.committed:
            stuck.append(f"{partition.name} ({waiting} to read, committed stays at {now.committed})")
    return tuple(stuck)
