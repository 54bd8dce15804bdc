"""Topics of an application that were deleted, and perhaps created again, since they were first read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

# changelog: the state that it held is on local disks alone. repartition, input: records that were not read are lost.
RecreatedKind = Literal["changelog", "repartition", "input"]


@dataclass(frozen=True, slots=True)
class RecreatedTopic:
    """A topic with another id than expected; `now` is None if it does not exist."""

    name: str
    kind: RecreatedKind
    expected: str
    now: str | None

    @property
    def sentence(self) -> str:
        """The case, with both ids."""
        if self.now is None:
            return f"{self.kind} {self.name} was deleted (id {self.expected}) and does not exist"
        return f"{self.kind} {self.name} was deleted and created again (id {self.now}, expected {self.expected})"


@dataclass(frozen=True, slots=True)
class RecreatedSeen:
    """The recreated `topics` of an application; `accepted` are changelogs that a person accepted, with the reason."""

    topics: tuple[RecreatedTopic, ...]
    accepted: Mapping[str, str] = field(default_factory=dict)
