"""The internal topics of a version as Kafka Streams makes them: names, numbers of partitions, replicas and settings.

What is not known is named, field by field. Nothing has a value in place of a fact.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.comparison.content import contents
from kstreams_runbooks.decide.comparison.setting_facts import REUSE, optimized
from kstreams_runbooks.decide.fitting.counts import External
from kstreams_runbooks.decide.internal_topics.numbers import numbers
from kstreams_runbooks.decide.internal_topics.settings import (
    ADDITIONAL,
    KNOWN_RELEASES,
    REPLICATION,
    ChangelogKind,
    of_changelog,
    of_repartition,
    replication,
)
from kstreams_runbooks.decide.topology.names import is_suppress_buffer, suppression_of
from kstreams_runbooks.decide.topology.partitions import repartition_topics
from kstreams_runbooks.model.releases.release import within
from kstreams_runbooks.model.topology.change import Undeclared
from kstreams_runbooks.model.topology.declaration import DEFAULT, Declaration, DeclaredStore
from kstreams_runbooks.model.topology.internal_topics import InternalTopics, MadeTopic
from kstreams_runbooks.model.topology.topology import Processor, Topology

_PREFIX = "__internal.override.topic.prefix__"
_OPTIMIZATION = "topology.optimization"
_DECIDE = (ADDITIONAL, REPLICATION, _PREFIX, _OPTIMIZATION)


def internal_topics(topology: Topology, declared: Declaration, application_id: str, inputs: External) -> InternalTopics:
    """The internal topics of a version, from the topics that its sources read on the cluster.

    `inputs` are those that exist, with their partitions, by the name of the source (`<pattern>*` for a pattern).
    BadInput for a setting that is not a number. A global store has no changelog of its own, nor has a store without
    logging and a table that reuses its source topic (`topology.optimization`).
    """
    if any(sub.topology for sub in topology.subtopologies):
        named = Undeclared("the names of internal topics of a named topology, which are not derived")
        return InternalTopics((), None, (named,))
    deriving = _Deriving(topology, declared)
    prefix = prefix_of(declared, application_id)
    counted = numbers(topology, declared, inputs)
    copies = replication(deriving.config) if deriving.is_given else None
    topics = [
        MadeTopic(
            f"{prefix}-{topic}",
            "repartition",
            topic,
            counted.known.get(topic),
            of_repartition(deriving.config) if deriving.is_given else None,
        )
        for topic in repartition_topics(topology)
    ]
    held = contents(Side(topology, declared))
    logged = {store: name for store in deriving.stores() if (name := held[store].changelog)}
    topics += [
        MadeTopic(f"{prefix}-{name}", "changelog", store, counted.known.get(name), made.settings, made.certain)
        for store, name in logged.items()
        if (made := deriving.changelog(store)) is not None
    ]
    unknown = (*deriving.unknown, *counted.unknown)
    return InternalTopics(tuple(sorted(topics, key=lambda one: one.name)), copies, tuple(dict.fromkeys(unknown)))


def prefix_of(declared: Declaration, application_id: str) -> str:
    """The part of the names in front of the first dash: the application's id, unless a setting overrides it."""
    return (declared.config or {}).get(_PREFIX, application_id)


@dataclass(frozen=True, slots=True)
class _Made:
    """The settings of a changelog, None if one is not known, and whether there is one at all."""

    settings: tuple[tuple[str, str], ...] | None = None
    certain: bool = True


@dataclass(slots=True)
class _Deriving:
    """What is derived from the facts of one version; `unknown` grows with each fact that is missing."""

    topology: Topology
    declared: Declaration
    unknown: list[Undeclared] = field(default_factory=list)
    config: Mapping[str, str] = field(init=False)
    is_given: bool = field(init=False)
    _users: dict[str, list[Processor]] = field(init=False)

    def __post_init__(self) -> None:
        self.config = self.declared.config or {}
        unread = self.declared.not_read
        left = [f"config.{name}" for name in _DECIDE if f"config.{name}" in unread]
        if self.declared.config is None:
            self.unknown.append(Undeclared("config", reason=unread.get("config", "")))
        self.unknown += [Undeclared("config", name.removeprefix("config."), reason=unread[name]) for name in left]
        library = self.declared.library
        is_known = library is not None and within(library, (KNOWN_RELEASES,))
        if not is_known:
            known = " to ".join(KNOWN_RELEASES.split(".."))
            why = f"settings of internal topics are known of {known}"
            self.unknown.append(Undeclared("library", reason="" if library is None else f"{library}; {why}"))
        self.is_given = self.declared.config is not None and is_known and not left
        self._users = {}
        for sub in self.topology.subtopologies:
            for node in () if sub.is_global else sub.nodes:
                if isinstance(node, Processor):
                    for store in node.stores:
                        self._users.setdefault(store, []).append(node)

    def stores(self) -> list[str]:
        """The stores that may have changelogs."""
        return sorted(self._users)

    def changelog(self, store: str) -> _Made | None:
        """The changelog of a store, None for a store without one."""
        if (suppression := self._suppression(store)) is not None:
            return self._of_suppression(suppression)
        one, where = self.declared.stores.get(store, DeclaredStore()), f"stores.{store}"
        lacking = list(self._lacking(store, one))
        if lacking:
            for name in lacking:
                self._ask(where, name)
            return _Made(certain=one.logging is True and "source_table" not in lacking)
        return _Made(self._settings(self._kind(store, one), one.logging_config or {}, self._kept(one)))

    def _of_suppression(self, name: str) -> _Made | None:
        one, where = self.declared.suppressions.get(name), f"suppressions.{name}"
        if one is not None and one.logging is False:
            return None
        lacking = [part for part in ("logging", "logging_config") if getattr(one, part, None) is None]
        for part in lacking:
            self._ask(where, part)
        if one is None or lacking:
            return _Made(certain="logging" not in lacking)
        return _Made(self._settings("latest", one.logging_config or {}, None))

    def _settings(
        self, kind: ChangelogKind | None, own: Mapping[str, str], kept_ms: int | None
    ) -> tuple[tuple[str, str], ...] | None:
        return None if kind is None or not self.is_given else of_changelog(kind, self.config, own, kept_ms)

    def _suppression(self, store: str) -> str | None:
        """The suppress operator whose buffer a store is, None for another store."""
        operator = suppression_of(store)
        users = {node.name for node in self._users[store]}
        if is_suppress_buffer(store) or (operator in self.declared.suppressions and operator in users):
            return operator
        return None

    def _lacking(self, store: str, one: DeclaredStore) -> Iterator[str]:
        """Fields of a store without which its changelog is not known."""
        if one.logging is None:
            yield "logging"
        if one.logging_config is None:
            yield "logging_config"
        if one.source_table is None and not self.declared.was_read and REUSE in optimized(self.config):
            yield "source_table"
        kind = self._kind(store, one)
        if kind is None:
            yield "kind" if one.kind is None else "retain_duplicates"
        elif kind != "latest" and self._kept(one) is None:
            yield "history_retention_ms" if kind == "versions" else "retention_ms"

    def _kind(self, store: str, one: DeclaredStore) -> ChangelogKind | None:
        """How its changelog is cleaned, None if unknown."""
        if one.kind is None:
            return None
        if one.kind == "join":
            return self._of_join(store, one)
        if one.kind == "window":
            if one.retain_duplicates is None:
                return None
            return "records" if one.retain_duplicates else "windows"
        return "windows" if one.kind == "session" else "versions" if one.kind == "versioned" else "latest"

    def _of_join(self, store: str, one: DeclaredStore) -> ChangelogKind | None:
        """A store of a join of streams: the records of one side, or those of both that found none on the other.

        An operator that has no other store fills the first kind; the second is filled by the two that join.
        """
        is_of_one_side = any(node.stores == {store} for node in self._users[store])
        if one.retain_duplicates and not is_of_one_side:
            return None
        return "records" if is_of_one_side else "latest"

    def _kept(self, one: DeclaredStore) -> int | None:
        """How long a store keeps what it has, by which its changelog is made; None if unknown.

        A join keeps what its window needs, no supplier more. Since 3.7 the operator's window decides for a supplier of
        the program, which may keep more: tests/integration/test_internal_topics.py.
        """
        if one.kind == "versioned":
            return one.history_retention_ms
        if one.kind == "join" and one.retention_ms is None and one.window is not None:
            return one.window.both_ways_ms
        library = self.declared.library
        # A supplier of the type of all stores (dsl.store.suppliers.class) gets its retention from the operator.
        is_own = one.supplier_window_ms is not None or (one.kind == "session" and not _is_of_all(one.supplier))
        if one.window and is_own and library and within(library, ("3.7..",)):
            return one.window.size_ms * (2 if one.window.kind == "sliding" else 1) + one.window.grace_ms
        return one.retention_ms

    def _ask(self, where: str, name: str) -> None:
        reason = self.declared.not_read.get(f"{where}.{name}", self.declared.not_read.get(where, ""))
        self.unknown.append(Undeclared(where, name, reason=reason))


def _is_of_all(supplier: str | None) -> bool:
    return supplier in {None, DEFAULT} or "DslStoreSuppliers" in str(supplier)
