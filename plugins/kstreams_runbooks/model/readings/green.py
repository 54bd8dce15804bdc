"""What is known before an application (green) starts next to the one that it is to take over from (blue)."""

from dataclasses import dataclass
from typing import Literal

from kstreams_runbooks.model.readings.readings import Missing

# Of a partition: the first records of the copier's source are in the control topic, are not, or there are none.
Begins = Literal["there", "absent", "empty"]


@dataclass(frozen=True, slots=True)
class GreenHistory:
    """Whether a partition of a control topic begins where that of its source begins.

    `first_ms` is the time of the first record of the source (Unix ms), None without one.
    """

    partition: int
    begins: Begins | Missing
    first_ms: int | None = None


@dataclass(frozen=True, slots=True)
class GreenInput:
    """A topic that green reads, with the history of its control topic.

    `control` is the topic that the copier of blue writes: this one, or the one from which a chained copier copies by
    key. `source` and `copier` are empty if no copier of blue writes it.
    """

    topic: str
    control: str
    source: str
    copier: str
    partitions: tuple[GreenHistory, ...]


@dataclass(frozen=True, slots=True)
class WideTopic:
    """A topic that a chained copier writes; `before` are the partitions of its control topic, 0 if that is absent."""

    topic: str
    control: str
    before: int
    exists: bool


@dataclass(frozen=True, slots=True)
class GreenChain:
    """A copier between the control topics and green. `up` are instances that run, `offsets` topics with offsets of it.

    `shipped` is whether it is the program of this project.
    """

    copier: str
    group_id: str
    shipped: bool
    topics: tuple[WideTopic, ...]
    up: tuple[str, ...]
    offsets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GreenOutput:
    """An output of green with the output of blue that it replaces (empty: its entry names none).

    `partitions` are those of blue's, 0 if that does not exist. `exists` is whether green's does already. `used_by` are
    others that read or write it, or that read by a pattern which it matches.
    """

    topic: str
    stands_for: str
    partitions: int
    exists: bool
    used_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GreenReading:
    """Green as its entry, its topology and its cluster have it, next to blue.

    `group_type` and `protocol` (group.protocol of its settings) are empty if they are not known to the brokers or the
    program. `up` are instances that run, `offsets` topics on which its group has offsets. `patterns` are its sources by
    pattern, `extractors` sinks whose topics only records name. `internal` and `blue_internal` are the exact names of
    the internal topics that each may have, `left` those of green that exist already, `strange` those that another entry
    or group uses, as sentences. `shared` are parts of the deployment that both have, as sentences. `by_person` are
    entries of the way (copier, blue) that a person deploys. `effects` are operators that do something outside of Kafka,
    or may; `accepted` is the reason of the entry why that may happen twice. `late` are stores that may drop other
    records than they did live, as sentences, and `late_accepted` the reason of the form. `lacks` and `unknown_rights`
    are rights of green's own login, `problems` readings that could not be taken. `chain` are copiers between the
    control topics and green, which write topics with `wanted` partitions (0: the form names no number); `uneven`
    accepts any number.
    """

    application: str
    group_id: str
    blue: str
    blue_id: str
    group_type: str
    protocol: str
    up: tuple[str, ...]
    offsets: tuple[str, ...]
    inputs: tuple[GreenInput, ...]
    patterns: tuple[str, ...]
    outputs: tuple[GreenOutput, ...]
    extractors: tuple[str, ...]
    blue_outputs: tuple[str, ...]
    internal: tuple[str, ...]
    blue_internal: tuple[str, ...]
    left: tuple[str, ...]
    strange: tuple[str, ...]
    shared: tuple[str, ...]
    by_person: tuple[str, ...]
    effects: tuple[str, ...]
    accepted: str
    late: tuple[str, ...]
    late_accepted: str
    lacks: tuple[str, ...] = ()
    unknown_rights: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    chain: tuple[GreenChain, ...] = ()
    wanted: int = 0
    uneven: bool = False


@dataclass(frozen=True, slots=True)
class GreenRemains:
    """What a run takes away of green, and who uses it: pairs of a topic and a sentence.

    `not_listed` are sentences about groups that could not be read; `serves` are those about why a side that is retired
    may be the one that serves.
    """

    application: str
    group_id: str
    topics: tuple[str, ...]
    used_by: tuple[tuple[str, str], ...]
    stays: tuple[str, ...] = ()
    not_listed: tuple[str, ...] = ()
    serves: tuple[str, ...] = ()
