"""The topics of a cluster that one topology needs, as they are now, and what a group has not committed on them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing


@dataclass(frozen=True, slots=True)
class TopicsSeen:
    """Topics by full name: `partitions` of those that are visible, and why nothing is known of the `hidden` ones.

    A topic that was looked up and is in neither does not exist. `matching` has, by source pattern, the visible topics
    that it matches, and nothing for a pattern that cannot be matched here; a pattern among the `hidden` may match
    others.
    """

    partitions: Mapping[str, int]
    hidden: Mapping[str, str]
    matching: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class RepartitionsSeen:
    """The repartition topics of a topology that exist, with their ids, and their `uncommitted` partitions.

    Those are the partitions with offsets in the log on which the group has no committed offset; their `records` are
    readable ones if `exact`. `held` are the names of those that a member of the group is assigned, `unknown` has a
    sentence for each fact that could not be read, and `group_state` is the broker's word.
    """

    topics: Mapping[str, str]
    uncommitted: tuple[PartitionLag, ...]
    group_state: str | Missing
    held: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()


# Of a topology without repartition topics.
NO_REPARTITIONS: Final = RepartitionsSeen({}, (), "")
