"""The topics of a cluster that one topology needs, as they are now."""

from collections.abc import Mapping
from dataclasses import dataclass


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
