"""Where the content of each store exists: what was read or declared decides, and never the name of a topic.

Covers decide/comparison/content, decide/comparison/left_files, decide/comparison/state/copies
"""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.change.rules import fired
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.content import Content, contents, keeps_files, own_changelogs
from kstreams_runbooks.decide.comparison.left_files import Emptied, emptied
from kstreams_runbooks.decide.comparison.state.persistent import stores
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.declaration import (
    DEFAULT,
    Declaration,
    DeclaredStore,
    DeclaredSuppression,
    Unchanged,
)
from kstreams_runbooks.rules import topology_change_rules

_REUSES = {"application.id": "app", "topology.optimization": "all"}
_TEXT = """Topologies:
   Sub-topology: 0
    Source: prices-source (topics: [prices])
      --> prices
    Processor: prices (stores: [store])
      --> none
      <-- prices-source"""


def _side(store: DeclaredStore | None = None, config: dict[str, str] | None = None, *, read: bool = False) -> Side:
    not_read = {"topics.prices.partitions": "it is that of the cluster"} if read else {}
    return Side(parse_topology(_TEXT), Declaration({"store": store} if store else {}, config=config, not_read=not_read))


_STORE, _TABLE = DeclaredStore("key_value", source_table=False), DeclaredStore("key_value", source_table=True)
_LOGGING = ("stores.store.logging",)


@pytest.mark.parametrize(
    ("store", "config", "read", "content"),
    [
        (None, None, False, Content("store", "unknown", "store-changelog", _LOGGING)),
        (replace(_STORE, logging=True), None, False, Content("store", "changelog", "store-changelog")),
        (replace(_STORE, logging=False), None, False, Content("store", "disk")),
        (replace(_STORE, logging=False, in_memory=True), None, False, Content("store", "memory")),
        (replace(_STORE, logging=False, supplier="lru_map(100)"), None, False, Content("store", "memory")),
        (replace(_STORE, logging=True, in_memory=True), None, False, Content("store", "changelog", "store-changelog")),
        (replace(_STORE, logging=True, changelog="prices"), None, True, Content("store", "input", "prices")),
        (_TABLE, _REUSES, False, Content("store", "input", "prices")),
        # The optimization reuses the topic whether or not the table has logging.
        (replace(_TABLE, logging=False), _REUSES, False, Content("store", "input", "prices")),
        # The program that was read does not pass its settings to the builder.
        (replace(_TABLE, logging=True), _REUSES, True, Content("store", "changelog", "store-changelog")),
        (
            None,
            _REUSES,
            False,
            Content("store", "unknown", "store-changelog", ("stores.store.source_table", *_LOGGING)),
        ),
        (replace(_STORE, logging=True), _REUSES, False, Content("store", "changelog", "store-changelog")),
    ],
)
def test_where_the_content_of_a_store_exists(
    store: DeclaredStore | None, config: dict[str, str] | None, read: bool, content: Content
) -> None:
    """By what is declared of it, or was read; an unknown place names the field that decides it."""
    assert contents(_side(store, config, read=read)) == {"store": content}


@pytest.mark.parametrize(("logging", "place"), [(True, "changelog"), (False, "memory"), (None, "unknown")])
def test_a_suppress_buffer_is_in_memory(logging: bool | None, place: str) -> None:
    """Its changelog is that of the suppression."""
    text = _TEXT.replace("[store]", "[prices-store]")
    suppressed = Declaration(suppressions={"prices": DeclaredSuppression("until_time_limit", 0, logging=logging)})
    [content] = contents(Side(parse_topology(text), suppressed)).values()
    asks = ("suppressions.prices.logging",) if logging is None else ()
    assert (content.place, content.asks) == (place, asks)
    assert bool(own_changelogs(Side(parse_topology(text), suppressed))) is (logging is not False)


def _moved(before: DeclaredStore, after: DeclaredStore, unchanged: frozenset[Unchanged] = frozenset()) -> list[Emptied]:
    old = _side(before, {"application.id": "app", "state.dir": "/a"})
    new = _side(after, {"application.id": "app", "state.dir": "/b"})
    return list(emptied(Compared(old, Side(new.topology, replace(new.declared, unchanged=unchanged)))))


_UNCHANGED: frozenset[Unchanged] = frozenset({"logging"})
_WHY = "state.dir is another one"


@pytest.mark.parametrize(
    ("before", "after", "begins_empty"),
    [
        (False, False, True),
        (False, True, True),
        (True, False, True),
        (True, True, False),
    ],
)
def test_a_store_whose_files_are_left_begins_empty_without_a_changelog_that_has_its_content(
    before: bool, after: bool, begins_empty: bool
) -> None:
    """A changelog that begins with the change has nothing of before."""
    found = _moved(replace(_STORE, logging=before), replace(_STORE, logging=after))
    assert found == ([Emptied("store", _WHY)] if begins_empty else [])


def test_a_topic_that_the_application_reads_restores_a_store_without_a_changelog() -> None:
    """The files are left, and the topic has the content."""
    assert _moved(replace(_STORE, logging=False), replace(_STORE, logging=True, changelog="prices")) == []


def test_a_store_in_memory_leaves_no_files() -> None:
    """A restart loses it, and no directory."""
    in_memory = replace(_STORE, logging=False, in_memory=True)
    assert _moved(in_memory, in_memory) == []
    assert _moved(replace(in_memory, in_memory=False), in_memory) == [Emptied("store", _WHY)]


def test_unknown_logging_is_asked_for_only_if_files_are_left() -> None:
    """To name it unchanged answers nothing, unless one side declares it."""
    assert _moved(_STORE, _STORE) == [Emptied("store", _WHY, _LOGGING)]
    assert _moved(_STORE, _STORE, _UNCHANGED) == [Emptied("store", _WHY, _LOGGING)]
    assert _moved(_STORE, replace(_STORE, logging=True), _UNCHANGED) == []
    assert _moved(replace(_STORE, logging=False), _STORE, _UNCHANGED) == [Emptied("store", _WHY)]
    side = _side(_STORE, {"application.id": "app", "state.dir": "/a"})
    assert list(emptied(Compared(side, side))) == []


def _messages(before: DeclaredStore, after: DeclaredStore) -> dict[str, str]:
    """The findings about the store, each with its sentence."""
    same = {one: replace(store, kind="key_value", key="x") for one, store in (("old", before), ("new", after))}
    both = Compared(*(_side(store, {"application.id": "app"}) for store in same.values()))
    return {one.id: one.message for one in fired(tuple(stores(both)), topology_change_rules()).findings}


@pytest.mark.parametrize(
    ("before", "after", "rule", "words"),
    [
        (
            replace(_STORE, logging=True),
            replace(_STORE, logging=True, changelog="prices"),
            "topic-becomes-changelog",
            "store store restores from topic prices from now on, at the first start too, and each restore copies",
        ),
        (
            replace(_STORE, logging=True, changelog="prices"),
            replace(_STORE, logging=True),
            "changelog-begins-empty",
            "store store no longer restores from topic prices: it restores in full from its changelog, and that lacks",
        ),
        (
            replace(_STORE, logging=True, changelog="prices"),
            replace(_STORE, logging=False),
            "changelog-begins-empty",
            "it has no changelog and begins empty, and that lacks",
        ),
        (
            replace(_STORE, logging=False, timestamped=True),
            replace(_STORE, logging=False, timestamped=False),
            "only-copy-left",
            "it begins empty (its task directories are deleted): leave that change out; switch logging on first",
        ),
        (
            replace(_STORE, logging=False),
            replace(_STORE, logging=False, in_memory=True, supplier="default"),
            "only-copy-left",
            "it begins empty (it is in memory now, where each restart of an instance loses it again)",
        ),
    ],
)
def test_a_sentence_names_the_topic_that_restores_the_store(
    before: DeclaredStore, after: DeclaredStore, rule: str, words: str
) -> None:
    """The topic of the facts, and not one of the store's name."""
    assert words in _messages(before, after)[rule]


_SUPPLIERS = "dsl.store.suppliers.class"
_MEMORY = {_SUPPLIERS: "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers"}


@pytest.mark.parametrize(
    ("store", "config", "library", "read", "has_files"),
    [
        ({"supplier": DEFAULT}, _MEMORY, "3.9.1", True, False),
        ({"supplier": DEFAULT}, {}, "3.9.1", True, True),
        ({"supplier": DEFAULT}, _MEMORY, "3.6.2", True, True),
        ({"supplier": DEFAULT}, {"default.dsl.store": "in_memory"}, "3.9.1", True, True),
        ({"supplier": "org.example.OnDisk"}, _MEMORY, "3.9.1", True, True),
        ({"supplier": DEFAULT, "kind": "buffer"}, _MEMORY, "3.9.1", True, True),
        ({"supplier": DEFAULT}, _MEMORY, "3.9.1", False, True),
        ({"supplier": "InMemory", "in_memory": True}, {}, "3.9.1", True, False),
    ],
)
def test_settings_put_the_stores_in_memory_that_a_program_leaves_to_them(
    store: dict[str, Any], config: dict[str, str], library: str, read: bool, has_files: bool
) -> None:
    """Only code shows what a program leaves to them, and only releases that have the setting heed it."""
    side = _side(replace(_STORE, **store), config, read=read)
    side = replace(side, declared=replace(side.declared, library=Release(library)))
    assert keeps_files(side, "store", side.declared.stores["store"]) is has_files


@pytest.mark.parametrize(
    ("library", "age", "deletes"),
    [
        ("4.3.1", "60000", True),
        ("4.3.1", "0", True),
        ("4.3.1", "-1", False),
        ("4.3.1", None, False),
        # the setting is unknown, or a clean close renews the time
        ("4.2.0", "60000", False),
        ("4.4.0", "60000", False),
    ],
)
def test_a_start_deletes_directories_that_are_old(library: str, age: str | None, deletes: bool) -> None:
    """A store on local disks alone begins empty then, in whatever way instances are stopped."""
    config = {} if age is None else {"state.cleanup.dir.max.age.ms": age}
    side = _side(replace(_STORE, logging=False), config)
    side = replace(side, declared=replace(side.declared, library=Release(library)))
    found = [one.why for one in emptied(Compared(side, side))]
    assert [one.startswith("state.cleanup.dir.max.age.ms=") for one in found] == [True] * deletes
