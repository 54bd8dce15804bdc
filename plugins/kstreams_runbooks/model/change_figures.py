"""What only a cluster tells about a change: sizes, records and how far back its inputs still reach."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ChangeFigures:
    """Readings by full topic name; a topic that is not there was not read.

    `bytes_on_disk` are those of one replica, `records` what an input holds (offsets, transaction markers included),
    `oldest_ms` the timestamp of the oldest record that an input still has (ms since 1970), `partitions` counts as they
    are on the cluster.
    """

    bytes_on_disk: Mapping[str, int] = field(default_factory=dict)
    records: Mapping[str, int] = field(default_factory=dict)
    oldest_ms: Mapping[str, int] = field(default_factory=dict)
    partitions: Mapping[str, int] = field(default_factory=dict)
