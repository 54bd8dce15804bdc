"""The rights that a login needs on a Kafka cluster: one row per call."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Operation = Literal["none", "Describe", "DescribeConfigs", "Read", "Write", "Create", "Alter", "Delete"]
Resource = Literal["", "Topic", "Group", "Cluster", "TransactionalId"]
# Whose login makes a call: `test` belongs to no runbook.
LoginRole = Literal["observer", "operator", "spark", "application", "test"]
# Resources of an application. Topics: `inputs` (declared, controls, rules and sources), `globals` (sources of global
# tables), `outputs` (declared), `sinks` (of its topology), `repartition`, `changelogs`, `running` and `brought` (the
# internal topics of the version that runs, and of the one that a run brings), `dropped` (repartition topics of the
# first alone), `still_read` (the other repartition topics), `left` (internal topics that exist and are in neither),
# `empty` (read in place of inputs by a flush), `created_empty` (those that the form does not give), `cleaned` (outputs
# that the form names), `sought` (inputs with a target in it), `undone` (created or deleted by the run that an undo
# takes back), `copied` (sources and targets of a shipped copier). Groups: `group`, `timed_group` (if brokers keep its
# session timeout), `every_group`. Transactional ids:
# `writers` (of what it reads), `own_transactions`, `exactly_once` (its own, if it has any).
On = Literal[
    "inputs",
    "globals",
    "outputs",
    "copies",
    "sinks",
    "repartition",
    "changelogs",
    "left",
    "running",
    "brought",
    "dropped",
    "still_read",
    "empty",
    "created_empty",
    "cleaned",
    "sought",
    "undone",
    "copied",
    "group",
    "timed_group",
    "every_group",
    "cluster",
    "writers",
    "own_transactions",
    "exactly_once",
]


@dataclass(frozen=True, slots=True)
class Right:
    """One call with the right that it needs.

    `operation` is `none` for a call that every login may make, and `resource` is then empty. `scope` lists topics,
    groups or ids. `used_by` are the commands, DAGs and steps that make the call, `broker` is a broker's response to a
    login without the right, and `answer` the message that a person then reads. `by` is whose login makes it, `names`
    are the resources of an application. `names_of` has those of one runbook in their place, or of a runbook with these
    values in its form (`reset_and_cleanup mode=reset`). If it names a runbook and nothing fits the form, a run with
    that form does not make the call.
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
    by: LoginRole = "observer"
    names: tuple[On, ...] = ()
    names_of: Mapping[str, tuple[On, ...]] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """The right as a person grants it."""
        return f"{self.operation} on {self.resource}" if self.resource else "none"
