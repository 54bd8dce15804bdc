"""Which topics of an application grow together to a number of partitions, and each reason against it.

 1. The inputs that are named grow, else all inputs that tasks read. A global store is read whole by each instance.
 2. Every input that is joined with one of them grows too, or that fills or looks into the same store: a key has its
    state in the partition of its number. The library checks joins alone.
 3. The numbers of repartition topics (those of foreign-key joins too) and changelogs follow from the inputs
    (decide/internal_topics/numbers.py). One that the program gives does not follow: only a release changes it.
 4. Outputs keep their number: it decides where their keys are; the number of tasks does not.

A fact that is missing makes the answer unknown: no store is taken for absent, and no number for the default.

Source: S. Blee-Goldman, guide to Kafka Streams upgrades (Responsive, Kafka Streams 101), increasing topic partitions;
Kafka Streams developer guide, "Join co-partitioning requirements"; KIP-221 (numbers that a program gives).
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.comparison.content import Content, contents
from kstreams_runbooks.decide.fitting.state_kind import state_kind
from kstreams_runbooks.decide.internal_topics.derived import prefix_of
from kstreams_runbooks.decide.internal_topics.numbers import numbers
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.decide.topology.names import is_changelog
from kstreams_runbooks.decide.topology.partitions import joined_topics, repartition_topics, task_counts
from kstreams_runbooks.decide.topology.upstream import topics_before
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.model.readings.partitioning import KeyPair, StateKind
from kstreams_runbooks.model.topology.declaration import StoreKind
from kstreams_runbooks.model.topology.growth import GrowthSeen
from kstreams_runbooks.wording import first_of, outside

GrownRole = Literal["input", "repartition", "changelog"]


@dataclass(frozen=True, slots=True)
class GrownTopic:
    """A topic by its full name that gets more partitions, and why."""

    name: str
    role: GrownRole
    before: int
    after: int
    why: str


@dataclass(frozen=True, slots=True)
class KeptTopic:
    """A topic that keeps its number of partitions (None: not known), and why."""

    name: str
    partitions: int | None
    why: str


@dataclass(frozen=True, slots=True)
class GrownStore:
    """A store of tasks whose number grows: its keys move.

    `changelog` is the full name of its own, empty without one; `kind` is how the keys of that begin, None if a forecast
    does not read them. `is_accepted`: its declaration accepts the loss of its content.
    """

    name: str
    subtopology: str
    changelog: str
    kind: StateKind | None
    is_accepted: bool


@dataclass(frozen=True, slots=True)
class Closure:
    """What a growth to `wanted` partitions takes. Nothing of it holds if something is `refused` or `unknown`.

    `merged` are sentences about inputs whose new number is not a multiple of the old one.
    """

    wanted: int
    grown: tuple[GrownTopic, ...] = ()
    kept: tuple[KeptTopic, ...] = ()
    stores: tuple[GrownStore, ...] = ()
    tasks: tuple[int, int] = (0, 0)
    merged: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[GrownTopic, ...]:
        """The inputs that grow."""
        return tuple(one for one in self.grown if one.role == "input")

    @property
    def keeps_state(self) -> tuple[str, ...]:
        """Stores whose content may not be lost, by name."""
        return tuple(one.name for one in self.stores if not one.is_accepted)


def closure(seen: GrowthSeen) -> Closure:
    """The topics that grow together, or the reasons why they cannot; BadInput for a text that is not a topology."""
    return _Closing(seen).closed()


@dataclass(slots=True)
class _Closing:
    """The closure while it is made."""

    seen: GrowthSeen
    side: Side = field(init=False)
    own: frozenset[str] = field(init=False)
    sources: set[str] = field(init=False)
    content: Mapping[str, Content] = field(init=False)
    refused: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    # Inputs that grow, each with the reason.
    grow: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        one = parsed(self.seen.described)
        self.side = Side(one.topology, one.described.declaration)
        self.own = repartition_topics(one.topology)
        self.sources = self.side.read(is_global=False) - self.own
        self.content = contents(self.side)

    @property
    def before(self) -> dict[str, int]:
        """Partitions of the inputs that tasks read."""
        return {name: dict(self.seen.inputs[name]).get(name, 0) for name in self.sources if name in self.seen.inputs}

    def closed(self) -> Closure:
        self._readable()
        if not self.refused and not self.unknown:
            self._named()
        if self.refused or self.unknown:
            return self._without_topics()
        now = self._numbers({})
        groups = [*self._groups()]
        later = self._grown_together(groups, now)
        self._reused()
        if self.refused or self.unknown:
            return self._without_topics()
        grown = (*self._inputs(), *self._internal(now, later))
        self._fit(groups, later)
        tasks = [task_counts(self.side.topology, counts) for counts in (now, later)]
        self._tasks_known(tasks)
        if self.refused or self.unknown:
            return self._without_topics()
        return Closure(
            self.seen.wanted,
            grown=grown,
            kept=tuple(self._kept(later)),
            stores=tuple(self._stores(*tasks)),
            tasks=(sum(tasks[0].values()), sum(tasks[1].values())),
            merged=tuple(self._merged()),
        )

    def _without_topics(self) -> Closure:
        return Closure(
            self.seen.wanted,
            refused=tuple(dict.fromkeys(self.refused)),
            unknown=tuple(dict.fromkeys(self.unknown)),
        )

    def _readable(self) -> None:
        """What makes every number unknown."""
        if any(sub.topology for sub in self.side.topology.subtopologies):
            self.unknown.append("a named topology: the names of its internal topics are not derived")
        for pattern in sorted(self.side.patterns):
            self.refused.append(
                f"source pattern {outside(pattern)}: the application reads by a pattern (expected topics by name), and "
                "which topics grow together is not fixed; let it subscribe to names first"
            )
        for name in sorted(self.sources - self.side.patterns - self.before.keys()):
            self.unknown.append(self.seen.hidden.get(name, f"input {name}: its number of partitions is not known"))

    def _named(self) -> None:
        """The inputs to begin with."""
        wanted, before = self.seen.wanted, self.before
        for name in self.seen.topics:
            if name not in before:
                self.refused.append(self._not_an_input(name))
        named = self.seen.topics or tuple(sorted(before))
        for name in named:
            if name in before and before[name] > wanted:
                self.refused.append(
                    f"input {name}: has {before[name]:,} partitions (expected fewer than {wanted:,}): Kafka cannot "
                    "remove partitions; name the inputs that grow (topics), or give another one (partitions)"
                )
            elif name in before and before[name] < wanted:
                self.grow[name] = "named to grow" if self.seen.topics else "an input"
            elif name in before and self.seen.topics:
                self.refused.append(
                    f"input {name}: has {wanted:,} partitions already (expected fewer); give another one (partitions)"
                )
        if not self.grow and not self.refused:
            names = first_of(sorted(before)) or "none"
            self.refused.append(
                f"no input has fewer than {wanted:,} partitions (inputs that tasks read: {names}): nothing would grow; "
                "give another one (partitions)"
            )

    def _not_an_input(self, name: str) -> str:
        inputs = first_of(sorted(self.before)) or "none"
        if name in self.side.read(is_global=True):
            return (
                f"topic {name}: feeds a global store, which every instance reads whole (expected an input of tasks: "
                f"{inputs}); its number of partitions changes no task; give another one (topics)"
            )
        return (
            f"topic {outside(name)}: is not an input of {self.seen.application} (expected one of {inputs}); give "
            "another one (topics)"
        )

    def _numbers(self, grown: Collection[str]) -> dict[str, int]:
        """Partitions of inputs and internal topics by name as printed, once these inputs are grown."""
        inputs = {
            name: tuple((topic, self.seen.wanted if topic in grown else count) for topic, count in topics)
            for name, topics in self.seen.inputs.items()
        }
        counted = numbers(self.side.topology, self.side.declared, inputs)
        self.unknown += [
            f"{fact}: is not known{f' ({fact.reason})' if fact.reason else ''}; declare it, or let the topology facts "
            "show it (docs/facts.md)"
            for fact in counted.unknown
        ]
        return {**{name: self.seen.wanted if name in grown else count for name, count in self.before.items()}} | dict(
            counted.known
        )

    def _groups(self) -> Iterator[frozenset[str]]:
        """Topics whose keys have to be in partitions of one number: those of a join, and those of a store."""
        for group in joined_topics(self.side.topology, self.side.declared.suppressions.keys()):
            yield frozenset(group)
        for store in self.side.store_places:
            # None: behind a pattern, which is refused.
            if (topics := topics_before(self.side.topology, store)) is not None and len(topics) > 1:
                yield topics

    def _grown_together(self, groups: Collection[frozenset[str]], now: Mapping[str, int]) -> dict[str, int]:
        """The numbers once every input has joined `grow` that a group needs."""
        while True:
            later = self._numbers(self.grow)
            changed = {name for name, count in later.items() if now.get(name, count) != count}
            more = {
                name: f"goes with {first_of(sorted(group & changed))}: they are joined, or use one store"
                for group in groups
                if group & changed
                for name in sorted(group & self.sources - self.grow.keys())
                if self.before[name] != self.seen.wanted
            }
            if not more:
                return later
            for name, why in more.items():
                if self.before[name] > self.seen.wanted:
                    self.refused.append(
                        f"input {name}: has {self.before[name]:,} partitions, and {why} (expected "
                        f"{self.seen.wanted:,} or fewer); give another one (partitions)"
                    )
            self.grow |= more

    def _reused(self) -> None:
        """A topic that is a changelog too keeps the rows of moved keys in partitions that nothing reads for them."""
        for store, one in sorted(self.content.items()):
            if one.place == "input" and one.topic in self.grow:
                self.refused.append(
                    f"input {one.topic}: it is the changelog of its own table {store} (reuse.ktable.source.topics, or "
                    "a read-only store): grown, each task would restore rows of keys that have moved away; give the "
                    "table a changelog of its own first (reset_and_cleanup)"
                )
            elif asks := [ask for ask in one.asks if ask.endswith("source_table")]:
                self.unknown.append(f"{asks[0]}: whether the store reuses its input as changelog is not known")

    def _inputs(self) -> Iterator[GrownTopic]:
        for name, why in sorted(self.grow.items()):
            yield GrownTopic(name, "input", self.before[name], self.seen.wanted, why)

    def _internal(self, now: Mapping[str, int], later: Mapping[str, int]) -> tuple[GrownTopic, ...]:
        """Repartition topics and changelogs whose number follows, as they are on the cluster."""
        prefix, grown = prefix_of(self.side.declared, self.seen.application_id), []
        logs = {one.changelog: one for one in self.content.values() if one.changelog}
        for name in sorted((self.own | logs.keys()) & now.keys() & later.keys()):
            full = f"{prefix}-{name}"
            there = self.seen.there.get(full)
            if now[name] == later[name]:
                continue
            if there is None and full in self.seen.hidden:
                self.unknown.append(self.seen.hidden[full])
            elif there is None and (name in self.own or logs[name].place == "changelog"):
                self.unknown.append(
                    f"internal topic {full}: does not exist (expected with {now[name]:,} partitions); start the "
                    "application once, or look at `kstreams-runbooks internal-topics`"
                )
            elif there is not None and there != now[name]:
                self.refused.append(
                    f"internal topic {full}: has {there:,} partitions, and the topology demands {now[name]:,}; bring "
                    "them together first (kstreams-runbooks internal-topics)"
                )
            elif there is not None:
                role: GrownRole = "changelog" if is_changelog(name) and name in logs else "repartition"
                grown.append(GrownTopic(full, role, there, later[name], "its number follows from the inputs"))
        return tuple(grown)

    def _fit(self, groups: Collection[frozenset[str]], later: Mapping[str, int]) -> None:
        """Refuse a group that would have different numbers: the program gives one, or they differ today."""
        for group in dict.fromkeys(groups):
            if not group & self.grow.keys() and not any(self._follows(name, later) for name in group):
                continue
            counts = {name: later[name] for name in sorted(group) if name in later}
            if len(set(counts.values())) <= 1:
                continue
            shown = ", ".join(f"{name} ({count:,})" for name, count in counts.items())
            if fixed := [name for name in counts if self._given(name) is not None]:
                self.refused.append(
                    f"repartition topic {fixed[0]}: its program gives it {self._given(fixed[0]):,} partitions "
                    f"(Repartitioned), and it would not fit the topics that it is joined with: {shown}; a release "
                    f"with {self.seen.wanted:,} comes first, and its internal topics with it"
                )
            else:
                self.refused.append(
                    f"co-partitioning would be broken: {shown} (expected one number, they are joined or use one "
                    "store); give all of them one number"
                )

    def _follows(self, name: str, later: Mapping[str, int]) -> bool:
        full = f"{prefix_of(self.side.declared, self.seen.application_id)}-{name}"
        return name in self.own and self.seen.there.get(full, later.get(name)) != later.get(name)

    def _given(self, name: str) -> int | None:
        topic = self.side.declared.topics.get(name)
        return topic.partitions if name in self.own and topic is not None else None

    def _tasks_known(self, tasks: Collection[Mapping[str, int]]) -> None:
        for sub in self.side.topology.subtopologies:
            if not sub.is_global and any(sub.id not in counts for counts in tasks):
                self.unknown.append(f"subtopology {sub.id}: its number of tasks is not known")

    def _stores(self, now: Mapping[str, int], later: Mapping[str, int]) -> Iterator[GrownStore]:
        prefix = prefix_of(self.side.declared, self.seen.application_id)
        for store, place in sorted(self.side.store_places.items()):
            if now[place] == later[place]:
                continue
            declared = self.side.declared.stores.get(store)
            log = self.content[store].changelog
            yield GrownStore(
                store,
                place,
                f"{prefix}-{log}" if log else "",
                _kind(prefix, log, None if declared is None else declared.kind),
                declared is not None and declared.loss_acceptable,
            )

    def _merged(self) -> Iterator[str]:
        for name in sorted(self.grow):
            if self.seen.wanted % self.before[name]:
                yield (
                    f"input {name}: {self.seen.wanted:,} is not a multiple of its {self.before[name]:,} partitions: a "
                    "new partition gets the keys of several old ones, their records come in another order, and a "
                    "window that is held back may come twice or never"
                )

    def _kept(self, later: Mapping[str, int]) -> Iterator[KeptTopic]:
        readers = self.seen.readers
        for name in sorted(self.side.written() & self.seen.there.keys()):
            who = f"; read by {first_of(readers[name])}" if readers.get(name) else ""
            yield KeptTopic(
                name, self.seen.there[name], f"an output: its keys stay in their partitions, no reader has to grow{who}"
            )
        for name in sorted(self.sources - self.grow.keys()):
            yield KeptTopic(name, self.before[name], "an input that is joined with none of the grown topics")
        for name in sorted(self.side.read(is_global=True)):
            count = dict(self.seen.inputs.get(name, ())).get(name)
            yield KeptTopic(name, count, "feeds a global store, which every instance reads whole")
        for name in sorted(self.own):
            if (given := self._given(name)) is not None:
                yield KeptTopic(
                    f"{prefix_of(self.side.declared, self.seen.application_id)}-{name}",
                    later.get(name, given),
                    "its program gives it this number (Repartitioned): only a release changes it",
                )


def _kind(prefix: str, log: str, declared: StoreKind | None) -> StateKind | None:
    """How the keys of a changelog begin; None without one, or for keys that no forecast reads."""
    if not log:
        return None
    try:
        return state_kind(KeyPair("", f"{prefix}-{log}"), prefix, (declared,))
    except (BadInput, Refused):
        return None
