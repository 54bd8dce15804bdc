"""What is read of an application before its topics get more partitions."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.declaration import Described


@dataclass(frozen=True, slots=True)
class WriterSeen:
    """An entry of the fleet that declares a topic as an output; `routes` are those of the shipped copier."""

    name: str
    routes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class GrowthSeen:
    """What decides which topics grow together, and how.

    `wanted` is the number of partitions, `topics` the inputs that are named to grow (none: all of them), `uneven` a
    person's wish for a number that is not a multiple. `inputs` are the existing topics of each source, as printed, with
    their partitions (a pattern as `<pattern>*`), `there` the internal topics and outputs that exist, by full name;
    `hidden` has why nothing is known of others. `control` are the inputs that are declared as control topics. `writers`
    and `readers` are the entries of the fleet for each input and output, this application apart; `groups` the consumer
    groups that brokers know on a topic that may grow, its own apart, Missing if they cannot be read.
    """

    application: str
    application_id: str
    wanted: int
    described: Described
    group_type: str | Missing
    inputs: Mapping[str, tuple[tuple[str, int], ...]]
    there: Mapping[str, int]
    topics: tuple[str, ...] = ()
    uneven: bool = False
    hidden: Mapping[str, str] = field(default_factory=dict)
    control: tuple[str, ...] = ()
    writers: Mapping[str, tuple[WriterSeen, ...]] = field(default_factory=dict)
    readers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] | Missing = field(default_factory=dict)
