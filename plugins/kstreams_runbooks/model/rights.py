"""The rights that a login needs on a Kafka cluster: one row per call."""

from dataclasses import dataclass
from typing import Literal

Operation = Literal["none", "Describe", "DescribeConfigs", "Read", "Write", "Create", "Alter", "Delete"]
Resource = Literal["", "Topic", "Group", "Cluster", "TransactionalId"]


@dataclass(frozen=True, slots=True)
class Right:
    """One call with the right that it needs.

    `operation` is `none` for a call that every login may make, and `resource` is then empty. `scope` lists topics,
    groups or ids. `used_by` are the commands, DAGs and steps that make the call, `broker` is a broker's response to a
    login without the right, and `answer` the message that a person then reads.
    """

    id: str
    call: str
    request: str
    operation: Operation
    resource: Resource
    scope: str
    used_by: tuple[str, ...]
    broker: str
    answer: str
    source: str

    @property
    def words(self) -> str:
        """The right as a person grants it."""
        return f"{self.operation} on {self.resource}" if self.resource else "none"
