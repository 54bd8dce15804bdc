"""The effect of a change on each part of an application, and the rows about its consequences."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from dataclasses import field as dataclass_field
from typing import Literal

from kstreams_runbooks.model.readings.buffers import PolledBuffers
from kstreams_runbooks.model.verdicts import Severity


@dataclass(frozen=True, slots=True)
class ChangeFigures:
    """Readings by full topic name; a topic that is not there was not read.

    `bytes_on_disk` are those of one replica, `records` the offsets in an input (transaction markers included),
    `oldest_ms` the timestamp of the oldest record that an input still has (ms since 1970). `partitions` are counts as
    they are on the cluster, `inputs` the names that were requested as inputs. `buffers` are the suppress buffers of
    each instance that was polled.
    """

    bytes_on_disk: Mapping[str, int] = field(default_factory=dict)
    records: Mapping[str, int] = field(default_factory=dict)
    oldest_ms: Mapping[str, int] = field(default_factory=dict)
    partitions: Mapping[str, int] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    buffers: tuple[PolledBuffers, ...] = ()

    @property
    def records_held(self) -> int | None:
        """Records in all inputs together, None while one of them is not known."""
        if not self.inputs or not set(self.inputs) <= self.records.keys():
            return None
        return sum(self.records[name] for name in self.inputs)

    @property
    def reach_back_to_ms(self) -> int | None:
        """The time since which every input has all its records, None if that is unknown for an input that holds any."""
        if self.records_held is None:
            return None
        reaching = [self.oldest_ms.get(name) for name in self.inputs if self.records[name]]
        return None if None in reaching else max((each for each in reaching if each is not None), default=None)


SubjectKind = Literal[
    "store",
    "internal_topic",
    "kept_topic",
    "operator",
    "source_topic",
    "sink",
    "subtopology",
    "application",
    "suppression",
    "setting",
    "optimization",
    "library",
]
ChangeRunbook = Literal[
    "rolling_bounce",
    "stop_and_restart",
    "library_bump",
    "control_topic_flush",
    "store_migration",
    "suppress_removal",
    "partition_increase",
    "reset_and_cleanup",
    "blue_green_cutover",
]

# A fact that is None is unknown: it has to be declared.
Fact = bool | str | int | None


@dataclass(frozen=True, slots=True)
class Undeclared:
    """One undeclared fact: a field of `where` (such as stores.orders), on the `sides` that lack it.

    Without a field `where` describes the action in words. `reason` is why the reader of the program did not read it,
    empty without a reader. `value`: its value decides; `unchanged` does not answer it.
    """

    where: str
    field: str = ""
    sides: str = ""
    reason: str = dataclass_field(default="", compare=False)
    value: bool = False

    def __str__(self) -> str:
        """`stores.orders.key (old, new)`."""
        return f"{self.where}{self.field and '.'}{self.field}{self.sides and f' ({self.sides})'}"


@dataclass(frozen=True, slots=True)
class Subject:
    """One part of an application and the effect on it: facts by name; `said` are words for its sentences.

    `asked` has, for a fact that is None, the field to declare. `more_said` makes the words that take long, which most
    subjects never need: only a finding has a sentence.
    """

    kind: SubjectKind
    name: str
    facts: Mapping[str, Fact]
    said: Mapping[str, str]
    asked: Mapping[str, tuple["Undeclared", ...]] = field(default_factory=dict)
    more_said: Callable[[], Mapping[str, str]] | None = field(default=None, compare=False)

    def words(self) -> Mapping[str, str]:
        """All words for its sentences."""
        return self.said if self.more_said is None else {**self.said, **self.more_said()}


@dataclass(frozen=True, slots=True)
class ChangeRule:
    """One row: it fires on a subject of kind `on` if all its facts match `fires_when`.

    `message` has the words of the subject in braces. `runbooks` are alternatives, the mildest first; none if no action
    is needed, or if `refuse` is set because no runbook makes it safe. `covers` are rules whose findings on the same
    object, or on the application as a whole, add nothing once this one fires. `data` is the meaning for records, state
    and results, in one clause: every danger and warning has one. `first` is a runbook that proves something before the
    others begin.
    """

    id: str
    on: SubjectKind
    fires_when: Mapping[str, bool | str | int]
    severity: Severity
    message: str
    why: str
    source: str
    runbooks: tuple[ChangeRunbook, ...] = ()
    covers: tuple[str, ...] = ()
    refuse: bool = False
    data: str = ""
    first: str = ""


@dataclass(frozen=True, slots=True)
class ChangeFinding:
    """One rule that fired on one object, with the runbooks that answer it, the mildest first.

    `covered_by` names the stronger rule on the same object, None without one; `data` and `first` are the rule's.
    """

    id: str
    severity: Severity
    object: str
    message: str
    source: str
    runbooks: tuple[ChangeRunbook, ...]
    covered_by: str | None = None
    refuse: bool = False
    data: str = ""
    first: str = ""


@dataclass(frozen=True, slots=True)
class Undecided:
    """A rule that may fire on an object, and the fields to declare for a decision.

    `severity`, `runbooks`, `refuse` and `data` are the rule's; `candidates` are possible counterparts of the
    object, if two or more are equally alike.
    """

    id: str
    severity: Severity
    object: str
    asked: tuple[Undeclared, ...]
    runbooks: tuple[ChangeRunbook, ...]
    candidates: str = ""
    refuse: bool = False
    data: str = ""


@dataclass(frozen=True, slots=True)
class FindingKind:
    """A finding that code makes without a row: what it means, and what to do `then`."""

    id: str
    what: str
    then: str
    source: str


@dataclass(frozen=True, slots=True)
class Procedure:
    """A runbook that is not a DAG yet, as numbered steps for a person."""

    runbook: ChangeRunbook
    what: str
    source: str
    steps: tuple[str, ...]
