"""ACLs that the logins of a runbook need, and what a cluster grants."""

from dataclasses import dataclass
from typing import Final, Literal

from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.model.rights import LoginRole, Operation, Resource

Pattern = Literal["literal", "prefixed"]
# ACLs of this principal are those of every login.
EVERYBODY: Final = "User:*"


@dataclass(frozen=True, slots=True)
class Acl:
    """One right of one login: `name` is that of the resource, or with `prefixed` the beginning of names.

    `principal` is empty if the login is not known. `roles` are those that need it, `rows` the calls that do
    (rules/rights.yaml).
    """

    principal: str
    operation: Operation
    resource: Resource
    name: str
    pattern: Pattern = "literal"
    roles: tuple[LoginRole, ...] = ()
    rows: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The right with its resource."""
        beginning = "names that begin with " if self.pattern == "prefixed" else ""
        return f"{self.operation} on {self.resource} {beginning}{self.name}"


@dataclass(frozen=True, slots=True)
class OwnResources:
    """The resources of one application on its cluster.

    `repartition` and `changelogs` are those of every version that a run has to do with, Missing if its topology or the
    cluster is not read: then all of its internal topics are one prefix. `running` are those of the version that runs,
    `brought` of the one that a run brings (None: the same), `left` those that exist without being in the first.
    `writers` are application ids of the fleet that write what it reads. `exactly_once` is None if its processing
    guarantee is not declared. `undone` are the topics that the run which an undo takes back created or deleted,
    `copied` the sources and targets of a shipped copier, `copies` the control topics that any copier writes.
    `is_timed`: brokers keep the session timeout of its group. `loops` are sources that it alone writes.
    """

    application_id: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    repartition: tuple[str, ...] | Missing
    changelogs: tuple[str, ...] | Missing
    sinks: tuple[str, ...] = ()
    globals: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    exactly_once: bool | None = None
    running: tuple[str, ...] | Missing = ()
    brought: tuple[str, ...] | None = None
    left: tuple[str, ...] | Missing = ()
    undone: tuple[str, ...] = ()
    is_timed: bool = False
    copies: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()
    loops: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NeededAcls:
    """The ACLs of one runbook for one application, and what is not exact about them."""

    runbook: str
    application: str
    acls: tuple[Acl, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GrantedAcl:
    """One ACL of the cluster, in Kafka's words (`DESCRIBE_CONFIGS`, `TOPIC`, `PREFIXED`, `ALLOW`)."""

    principal: str
    host: str
    operation: str
    resource: str
    name: str
    pattern: str
    permission: str


# What a login may do with a resource, in Kafka's words: none for one that it may not even Describe.
Operations = tuple[str, ...] | Missing


@dataclass(frozen=True, slots=True)
class GrantedReading:
    """What a cluster grants: the operations of this login as brokers report them, and the ACLs if it may see them.

    `acls` are only read if an answer depends on them. With `unsecured` the brokers have no authorizer.
    """

    taken: Taken
    principal: str
    cluster: Operations
    topics: tuple[tuple[str, Operations], ...] = ()
    groups: tuple[tuple[str, Operations], ...] = ()
    acls: tuple[GrantedAcl, ...] | Missing = ()
    unsecured: bool = False


@dataclass(frozen=True, slots=True)
class RightsAnswer:
    """Of the ACLs of a runbook those that the cluster does not grant, and those that are not known, each with why."""

    runbook: str
    missing: tuple[Acl, ...] = ()
    unknown: tuple[tuple[Acl, str], ...] = ()


def allow_create(operations: Operations) -> bool:
    """Whether they let a login create a topic: they are those on the topic or on the cluster, either is enough."""
    return not isinstance(operations, Missing) and "CREATE" in operations
