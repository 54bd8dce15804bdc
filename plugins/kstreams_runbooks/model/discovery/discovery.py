"""What a cluster shows of applications that nobody has declared yet."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kstreams_runbooks.model.readings.readings import GroupReading, Missing
from kstreams_runbooks.model.releases.path import YesNoUnknown

SightingKind = Literal["application", "perhaps", "other", "unknown"]
Mark = Literal["observed", "guessed", "unknown", "given"]


@dataclass(frozen=True, slots=True)
class Signs:
    """What was seen of one group.

    `committed` is the number of partitions with an offset, by topic, and `stamped` how many of them have the metadata
    that Kafka Streams leaves. `internal` are topics whose names say that they are this group's. `unseen` says why there
    may be more of either, empty where no topic is hidden from this login.
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
    """Whether a group is a Kafka Streams application, and what says so."""

    signs: Signs
    kind: SightingKind
    why: str


@dataclass(frozen=True, slots=True)
class FoundTopology:
    """What a topology description says of an application: topics, and whether it uses formats that have changed.

    `open_sinks` are sinks whose topics a program chooses record by record: the text does not have them. `unreadable` is
    what is to be said of source patterns whose topics are not among `inputs`, because nobody here can read them.
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
    (empty without static membership), `metrics` the URL that answered, `version` what it says it runs.
    """

    host: str
    client: str
    group_instance_id: str = ""
    metrics: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """Everything that was read of one application."""

    signs: Signs
    instances: tuple[FoundInstance, ...]
    topologies: tuple[FoundTopology, ...]
    transactional_ids: frozenset[str] | Missing


@dataclass(frozen=True, slots=True)
class DiscoverOptions:
    """What the person says of every application; None and empty where nothing is said. `newest` is a release.

    `cluster_mark` is guessed where nobody has named the cluster.
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
    """A value of a declaration, where it is from, and what is to be said of it."""

    value: Any
    mark: Mark
    note: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A declaration as far as it can be known: fields by name, `deployer` apart because it has fields of its own."""

    name: str
    fields: Mapping[str, Field]
    deployer: Mapping[str, Field]
