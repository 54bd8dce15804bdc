"""The topics of a cluster that one topology needs, as they are now."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TopicsSeen:
    """Topics by full name: `partitions` of those that exist, and why the existence of the `hidden` ones is unknown.

    A topic that was looked for and is in neither does not exist. `matching` has, by source pattern, the visible topics
    that it matches.
    """

    partitions: Mapping[str, int]
    hidden: Mapping[str, str]
    matching: Mapping[str, tuple[str, ...]]
