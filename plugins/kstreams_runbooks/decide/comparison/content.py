"""The place of each store's content: in a changelog, in a topic that is read, on local disks or in memory alone.

Every sentence about a restore, and every step that deletes, moves or abandons local state, asks here. A topic on the
cluster with the name of a changelog proves nothing: it stays when a program switches logging off. Proof is what was
read of the program, or what its owners declare.

Source: Kafka Streams developer guide, State Stores, fault-tolerant state stores; KIP-295 (a table reuses its topic);
Topology#addReadOnlyStateStore; TopologyConfig and InternalTopologyBuilder#connectSourceStoreAndTopic (Apache Kafka).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from kstreams_runbooks.decide.comparison.compared import Compared, Side, fillers
from kstreams_runbooks.decide.comparison.setting_facts import REUSE, optimized, stores_in_memory
from kstreams_runbooks.decide.comparison.state.kinds import is_join_buffer
from kstreams_runbooks.decide.topology.names import changelog_of, is_suppress_buffer, suppression_of
from kstreams_runbooks.model.topology.declaration import DEFAULT, DeclaredStore

# changelog: a topic of its own. input: a topic that the application reads. disk, memory: nothing else has it.
Copy = Literal["changelog", "input", "disk", "memory", "unknown"]


@dataclass(frozen=True, slots=True)
class Content:
    """The place of one store's content.

    `topic` restores it: its changelog as a description prints it, or the full name of an input; empty if no topic
    does. If the place is unknown it is the one that the library makes by default, and `asks` are the fields that decide
    (`stores.orders.logging`).
    """

    store: str
    place: Copy
    topic: str = ""
    asks: tuple[str, ...] = ()
    is_join_buffer: bool = False

    @property
    def changelog(self) -> str:
        """The changelog of its own that it has, or has unless it is declared otherwise; empty without one."""
        return self.topic if self.place in {"changelog", "unknown"} else ""

    def at(self, application_id: str) -> "Content":
        """The same on a cluster: the changelog by its full name."""
        return replace(self, topic=f"{application_id}-{self.topic}") if self.changelog else self

    @property
    def restores(self) -> bool | None:
        """Whether a topic restores it, None if that is not known.

        The changelog of a join's buffer does not (tests/long/test_join_buffers.py).
        """
        return False if self.is_join_buffer else None if self.place == "unknown" else bool(self.topic)

    @property
    def is_on_disks_alone(self) -> bool | None:
        """Whether its files are the only copy, None if that is not known."""
        return self.is_join_buffer or (None if self.place == "unknown" else self.place == "disk")


def contents(side: Side) -> Mapping[str, Content]:
    """The content of each store of one version; a global store is its topic's, and not among them."""
    filled = fillers(side)
    return {store: _content(side, store, filled.get(store, {})) for store in side.store_places}


def own_changelogs(side: Side) -> frozenset[str]:
    """Changelogs that the stores have, or have unless they are declared otherwise; without the application.id."""
    return frozenset(one.changelog for one in contents(side).values() if one.changelog)


def reused_topics(compared: Compared) -> dict[str, str]:
    """The stores whose content is in a topic that is read on one side alone, each with that topic."""
    old, new = contents(compared.before), contents(compared.after)
    return {
        store: (new if new[store].place == "input" else old)[store].topic
        for store in old.keys() & new.keys()
        if (old[store].place == "input") != (new[store].place == "input")
    }


def prefix(side: Side) -> str:
    """What the names of its internal topics begin with on a cluster; empty if its application.id is not known."""
    application_id = (side.declared.config or {}).get("application.id")
    return f"{application_id}-" if application_id else ""


def buffer_of(side: Side, store: str) -> str | None:
    """The suppress operator whose buffer a store is, None for another store."""
    operator = suppression_of(store)
    users = {node.name for node in side.keepers.get(store, ())}
    declared = operator in side.declared.suppressions and operator in users
    return operator if is_suppress_buffer(store) or declared else None


def keeps_files(side: Side, name: str, store: DeclaredStore) -> bool:
    """Whether a store may have files: by what makes it, and by the settings if its program leaves that to them.

    The buffer of a join and the subscriptions of a foreign-key join are on the disk under any setting.
    Source: Apache Kafka, AbstractConfigurableStoreFactory, SubscriptionStoreFactory.
    """
    left_to_settings = side.declared.was_read and store.supplier == DEFAULT and store.kind != "buffer"
    chosen = left_to_settings and name not in side.subscription_stores and stores_in_memory(side.declared)
    return store.on_disk and not chosen


def _content(side: Side, store: str, filled: Mapping[str, bool | None]) -> Content:
    own, declared = changelog_of(store), side.declared.stores.get(store, DeclaredStore())
    if (operator := buffer_of(side, store)) is not None:
        suppression = side.declared.suppressions.get(operator)
        logging = declared.logging if suppression is None else suppression.logging
        return _logged(store, logging, own, f"suppressions.{operator}.logging", in_memory=True)
    if declared.changelog is not None:
        return Content(store, "input", declared.changelog)
    lacking = tuple(_not_known(side, store, declared, filled))
    tables = [topic for topic, is_table in filled.items() if is_table]
    if not lacking and len(tables) == 1 and _reuses(side):
        return Content(store, "input", tables[0])
    if lacking and declared.logging is not False:
        asks = (*lacking, *(() if declared.logging else (f"stores.{store}.logging",)))
        return Content(store, "unknown", own, asks)
    kept = _logged(
        store, declared.logging, own, f"stores.{store}.logging", in_memory=not keeps_files(side, store, declared)
    )
    return replace(kept, is_join_buffer=is_join_buffer(side, store))


def _logged(store: str, logging: bool | None, own: str, field: str, *, in_memory: bool) -> Content:
    if logging is None:
        return Content(store, "unknown", own, (field,))
    if logging:
        return Content(store, "changelog", own)
    return Content(store, "memory" if in_memory else "disk")


def _reuses(side: Side) -> bool:
    """Whether tables have the topics that they read for changelogs; a reader of the program shows that itself."""
    return not side.declared.was_read and REUSE in optimized(side.declared.config or {})


def _not_known(side: Side, store: str, declared: DeclaredStore, filled: Mapping[str, bool | None]) -> Iterator[str]:
    """The field that decides whether a store is a table whose topic is reused."""
    if _reuses(side) and declared.source_table is None and None in filled.values():
        yield f"stores.{store}.source_table"
