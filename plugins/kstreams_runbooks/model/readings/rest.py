"""Topics that a run is about to delete: their ends in several readings, and what else may write to them."""

from collections.abc import Mapping
from dataclasses import dataclass

from kstreams_runbooks.model.readings.readings import GroupReading, Missing


@dataclass(frozen=True, slots=True)
class TopicEnds:
    """One reading of topics: the end of each partition by name (`topic-3`), exclusive.

    `open` are the partitions on which a transaction has not ended, `ongoing` the transactional ids of the application
    with a transaction anywhere. `unknown` has one sentence for each partition that was not read.
    """

    at_ms: int
    ends: Mapping[str, int]
    open: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    ongoing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RestReading:
    """What speaks against a deletion of topics: `noted` are their ends while the group was EMPTY, `looks` those since.

    `used_by` has, by topic, who else uses it, `unknown` one sentence for each fact that could not be read.
    """

    noted: Mapping[str, int]
    looks: tuple[TopicEnds, ...]
    group: GroupReading | Missing
    used_by: Mapping[str, tuple[str, ...]]
    unknown: tuple[str, ...] = ()
