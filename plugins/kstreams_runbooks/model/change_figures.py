"""What only a cluster tells about a change: sizes, records and how far back its inputs still reach."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ChangeFigures:
    """Readings by full topic name; a topic that is not there was not read.

    `bytes_on_disk` are those of one replica, `records` what an input holds (offsets, transaction markers included),
    `oldest_ms` the timestamp of the oldest record that an input still has (ms since 1970), `partitions` counts as they
    are on the cluster, `inputs` the names that were asked for as inputs.
    """

    bytes_on_disk: Mapping[str, int] = field(default_factory=dict)
    records: Mapping[str, int] = field(default_factory=dict)
    oldest_ms: Mapping[str, int] = field(default_factory=dict)
    partitions: Mapping[str, int] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()

    @property
    def records_held(self) -> int | None:
        """What all inputs hold together, None while one of them is not known."""
        if not self.inputs or not set(self.inputs) <= self.records.keys():
            return None
        return sum(self.records[name] for name in self.inputs)

    @property
    def reach_back_to_ms(self) -> int | None:
        """From when on every input still has its records, None while one that holds any does not say."""
        if self.records_held is None:
            return None
        reaching = [self.oldest_ms.get(name) for name in self.inputs if self.records[name]]
        return None if None in reaching else max((each for each in reaching if each is not None), default=None)
