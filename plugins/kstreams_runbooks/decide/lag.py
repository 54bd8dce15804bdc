"""What a group has not read yet, and whether it moves: from committed offsets and last stable offsets only."""

from dataclasses import dataclass

from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing


@dataclass(frozen=True, slots=True)
class Lag:
    """Records to read over all partitions, and a sentence for each partition of which they are not known."""

    records: int
    unknown: tuple[str, ...]


def to_read(partition: PartitionLag) -> int | Missing:
    """Records that the group has not read on a partition: `records` of its row.

    Missing if the row does not have it: the topic is gone, an end cannot be read, or the committed offset is past the
    end. The caller must not take that for 0.
    """
    if partition.records is not None:
        return partition.records
    unread_end = partition.state != "missing" and partition.last_stable_offset is None
    return Missing(f"{partition.name}: {'last stable offset ' if unread_end else ''}{partition.why}")


def total_lag(partitions: tuple[PartitionLag, ...]) -> Lag:
    """Sum over the partitions that can be read; the others are named."""
    readings = [(partition, to_read(partition)) for partition in partitions]
    return Lag(
        sum(value for _, value in readings if isinstance(value, int)),
        tuple(value.missing for _, value in readings if isinstance(value, Missing)),
    )


def standing_still(before: tuple[PartitionLag, ...], after: tuple[PartitionLag, ...]) -> tuple[str, ...]:
    """Partitions with unread records at the first reading whose committed offset had not advanced at the second.

    RUNNING and a stable group prove nothing here: a static member can keep an assignment that no longer fits.
    """
    later = {partition.name: partition for partition in after}
    stuck = []
    for partition in rows_standing_still(before, after):
        now = later.get(partition.name)
        if now is None or now.committed is None:
            stuck.append(f"{partition.name} ({partition.records} to read, committed offset not readable)")
        else:
            stuck.append(f"{partition.name} ({partition.records} to read, committed stays at {now.committed})")
    return tuple(stuck)


def rows_standing_still(before: tuple[PartitionLag, ...], after: tuple[PartitionLag, ...]) -> tuple[PartitionLag, ...]:
    """The rows of the first reading for `standing_still`."""
    later = {partition.name: partition.committed for partition in after}
    return tuple(one for one in before if one.records and _stands(one.committed, later.get(one.name)))


def _stands(before: int | None, now: int | None) -> bool:
    return now is None or (before is not None and now <= before)
