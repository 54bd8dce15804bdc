"""The internal topics that Kafka Streams makes for a topology, and those of a cluster next to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kstreams_runbooks.model.topology.change import Undeclared
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.model.writes import TopicShape

InternalKind = Literal["repartition", "changelog"]
# present: as Kafka Streams would make it. unknown: a fact that decides it is not known, or it is hidden.
InternalState = Literal["present", "missing", "partitions", "settings", "orphaned", "unknown"]


@dataclass(frozen=True, slots=True)
class MadeTopic:
    """One topic that Kafka Streams makes; `of` is the store, or the topic as the description prints it.

    `name` is the full one. `partitions` and `settings` (those of the topic itself, sorted) are None if a fact is
    missing. Whether the library makes it at all is not known if it is not `certain`.
    """

    name: str
    kind: InternalKind
    of: str
    partitions: int | None
    settings: tuple[tuple[str, str], ...] | None
    certain: bool = True


@dataclass(frozen=True, slots=True)
class InternalTopics:
    """All internal topics of one version, by name, and each fact without which one of them is not known.

    `replication` is that of all of them, -1 for the brokers' default; None if it is not known.
    """

    topics: tuple[MadeTopic, ...]
    replication: int | None
    unknown: tuple[Undeclared, ...] = ()

    @property
    def shapes(self) -> tuple[TopicShape, ...]:
        """The topics whose facts are all known, as they are created."""
        return tuple(
            TopicShape(one.name, one.partitions, self.replication, one.settings)
            for one in self.topics
            if one.certain and one.partitions is not None and one.settings is not None and self.replication is not None
        )


@dataclass(frozen=True, slots=True)
class InternalThere:
    """An internal topic of the cluster: `own` are its own settings, `effective` all of them, defaults included."""

    name: str
    topic_id: str
    partitions: int
    replication: int
    own: Mapping[str, str] = field(default_factory=dict)
    effective: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InternalSeen:
    """The topics of a cluster that matter to the internal ones of one application.

    `inputs` has the partitions of each source topic that exists, by the name of its source (a pattern as `<pattern>*`);
    `there` the internal topics by full name, those of no topology too. `hidden` has, by name, why nothing is known of a
    topic.
    """

    inputs: Mapping[str, tuple[tuple[str, int], ...]]
    there: Mapping[str, InternalThere]
    hidden: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference:
    """A part of a topic that is not as Kafka Streams would make it: `partitions`, `replication`, or a setting.

    None: the topic has no value of its own (`there`), or Kafka Streams sets none (`wanted`).
    """

    what: str
    there: str | None
    wanted: str | None


@dataclass(frozen=True, slots=True)
class InternalRow:
    """One internal topic next to the cluster; `wanted` is None for one that nothing of the topology makes."""

    name: str
    kind: InternalKind
    state: InternalState
    wanted: MadeTopic | None
    there: InternalThere | None
    differences: tuple[Difference, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class MissingSource:
    """A source topic that does not exist, with the team that answers for it; `writer` is its fleet entry, if any."""

    name: str
    writer: str
    owner: str


@dataclass(frozen=True, slots=True)
class InternalAnswer:
    """The internal topics of one version next to the cluster. Something `unknown` keeps all of them from being created.

    `findings` has one for each deviation, the worst first.
    """

    rows: tuple[InternalRow, ...]
    sources: tuple[MissingSource, ...]
    unknown: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
