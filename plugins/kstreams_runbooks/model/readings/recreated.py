"""Topics of an application that were deleted, and perhaps created again, since they were first read."""

from dataclasses import dataclass
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
