"""Readings of applications on a cluster that are not declared yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from kstreams_runbooks.model.readings.readings import GroupReading, Missing
from kstreams_runbooks.model.releases.path import YesNoUnknown
from kstreams_runbooks.model.topology.facts import FactsReading

SightingKind = Literal["application", "perhaps", "other", "unknown"]
Mark = Literal["observed", "guessed", "unknown", "given"]


@dataclass(frozen=True, slots=True)
class Signs:
    """Readings of one group.

    `committed` is the number of partitions with an offset, by topic, and `stamped` how many of them have the metadata
    that Kafka Streams leaves. `internal` are topics with names of this group's internal topics. `unseen` is the reason
    why more of either may exist, empty if no topic is hidden from this login.
    """

    group_id: str
    type: str
    state: str
    protocol_type: str
    group: GroupReading | Missing
    committed: Mapping[str, int] | Missing
    stamped: int
    internal: tuple[str, ...]
    unseen: str = ""


@dataclass(frozen=True, slots=True)
class Sighting:
    """Whether a group is a Kafka Streams application, and the evidence for it."""

    signs: Signs
    kind: SightingKind
    why: str


@dataclass(frozen=True, slots=True)
class FoundTopology:
    """An application's topics by its topology description, and whether it uses formats that have changed.

    `open_sinks` are sinks whose topics a program chooses record by record: the text does not have them. `unreadable`
    has remarks on source patterns whose topics are not among `inputs`, because they cannot be matched here.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    open_sinks: tuple[str, ...]
    table_aggregations: YesNoUnknown
    foreign_key_joins: YesNoUnknown
    unreadable: str = ""


@dataclass(frozen=True, slots=True)
class FoundInstance:
    """One process of an application: by its members in the group, by its metrics, or by both.

    `client` is the prefix that the client ids of its threads share, `group_instance_id` is without the thread's number
    (empty without static membership), `metrics` the URL that answered, `version` the release it reports.
    """

    host: str
    client: str
    group_instance_id: str = ""
    metrics: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """All readings of one application; `facts` are the topology facts of its instances, by client.

    `routes` are those that instances of the shipped copier report, from each topic to another one; empty for any other
    program.
    """

    signs: Signs
    instances: tuple[FoundInstance, ...]
    topologies: tuple[FoundTopology, ...]
    transactional_ids: frozenset[str] | Missing
    facts: Mapping[str, FactsReading | Missing] = field(default_factory=dict)
    routes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class DiscoverOptions:
    """The person's input about every application; None and empty if not given. `newest` is a release.

    `cluster_mark` is guessed unless the person names the cluster.
    """

    cluster: str
    newest: str
    ports: tuple[int, ...] = (8778,)
    owner: str | None = None
    operators: tuple[str, ...] = ()
    approvers: tuple[str, ...] = ()
    cluster_mark: Mark = "given"


@dataclass(frozen=True, slots=True)
class Field:
    """A value of a declaration, its origin, and a remark on it."""

    value: Any
    mark: Mark
    note: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A declaration with its known values: fields by name, `deployer` apart because it has fields of its own."""

    name: str
    fields: Mapping[str, Field]
    deployer: Mapping[str, Field]
