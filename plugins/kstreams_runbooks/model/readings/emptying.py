"""Orphaned topics right before their records are deleted up to the ends of a drain certificate."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CertifiedTopics:
    """What a certificate proves read: the end of each partition (`topic-number`), and the ids of the topics."""

    ends: Mapping[str, int]
    ids: Mapping[str, str]

    def of(self, topic: str) -> dict[int, int]:
        """The end of each partition of one topic, by number."""
        found = (name.rpartition("-") for name in self.ends)
        return {int(number): self.ends[f"{name}-{number}"] for name, _, number in found if name == topic}


@dataclass(frozen=True, slots=True)
class EmptyingSeen:
    """What speaks against it now, by partition name or topic.

    `grown` have the first offset of a readable record at or behind the certified end, `unread` that of one between the
    group's committed offset and the certified end. `readers` have a sentence for each reader of a topic, `unknown` one
    for each fact that could not be read.
    """

    grown: Mapping[str, int]
    unread: Mapping[str, int]
    readers: tuple[str, ...]
    unknown: tuple[str, ...] = ()
