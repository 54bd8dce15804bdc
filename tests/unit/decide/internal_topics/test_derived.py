"""The internal topics of a version: names, replicas, settings by the kind of each store; never a value for a fact."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.internal_topics.derived import internal_topics, prefix_of
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.declaration import (
    Declaration,
    DeclaredStore,
    DeclaredSuppression,
    DeclaredTopic,
    Window,
)
from kstreams_runbooks.model.topology.internal_topics import InternalTopics
from world.sides import COUNTS

DAY = 86_400_000
KEY_VALUE = DeclaredStore(kind="key_value", logging=True, logging_config={}, source_table=False)
# Both operators of a join look into the store of the other side; the third store is that of records without a match.
JOIN = """Topologies:
   Sub-topology: 0
    Source: a (topics: [left])
      --> left-window
    Source: b (topics: [right])
      --> right-window
    Processor: left-window (stores: [this])
      --> left-join
      <-- a
    Processor: right-window (stores: [other])
      --> right-join
      <-- b
    Processor: left-join (stores: [other, unmatched])
      --> none
      <-- left-window
    Processor: right-join (stores: [this, unmatched])
      --> none
      <-- right-window
"""
GLOBAL = """
  Sub-topology: 2 for global store (will not generate tasks)
    Source: zones-source (topics: [zones])
      --> zones-table
    Processor: zones-table (stores: [zones-store])
      --> none
      <-- zones-source
"""
HELD = COUNTS.replace(
    "      --> out\n      <-- by-customer-source\n",
    "      --> hold\n      <-- by-customer-source\n"
    "    Processor: hold (stores: [hold-store])\n      --> out\n      <-- count\n",
).replace("    Sink: out (topic: counted)\n      <-- count\n", "    Sink: out (topic: counted)\n      <-- hold\n")


def declared(store: DeclaredStore = KEY_VALUE, config: dict[str, str] | None = None, **more: Any) -> Declaration:
    """The facts of COUNTS, as a reader of its program has them."""
    facts: dict[str, Any] = {
        "stores": {"counts": store},
        "topics": {"by-customer-repartition": DeclaredTopic(joined_with=frozenset())},
        "config": {"application.id": "app"} if config is None else config,
        "library": Release("4.3.1"),
        "not_read": {"stores.counts.key": "no code shows it"},
    }
    return Declaration(**facts | more)


def of(facts: Declaration, text: str = COUNTS, **inputs: int) -> InternalTopics:
    """The internal topics of an application whose inputs have four partitions."""
    there = inputs or {"orders": 4, "left": 4, "right": 4}
    return internal_topics(parse_topology(text), facts, "app", {name: ((name, one),) for name, one in there.items()})


def settings(found: InternalTopics, name: str) -> dict[str, str]:
    """The settings of one of them."""
    [one] = (one for one in found.topics if one.name == name)
    assert one.settings is not None
    return dict(one.settings)


def asked(found: InternalTopics) -> list[str]:
    """The facts that are asked for."""
    return [str(one) for one in found.unknown]


def test_names_numbers_and_replicas() -> None:
    """The repartition topic and the changelog of a grouping; the brokers' default, or a number."""
    found = of(declared())
    assert [(one.name, one.kind, one.of, one.partitions) for one in found.topics] == [
        ("app-by-customer-repartition", "repartition", "by-customer-repartition", 4),
        ("app-counts-changelog", "changelog", "counts", 4),
    ]
    assert (found.replication, found.unknown, len(found.shapes)) == (-1, (), 2)
    assert {one.replication for one in of(declared(config={"replication.factor": "3"})).shapes} == {3}


def test_a_setting_overrides_the_prefix() -> None:
    """`__internal.override.topic.prefix__`, with which hosted SQL on Kafka Streams names its topics."""
    facts = declared(config={"__internal.override.topic.prefix__": "other"})
    assert prefix_of(facts, "app") == "other"
    assert {one.name.partition("-")[0] for one in of(facts).topics} == {"other"}


@pytest.mark.parametrize(
    ("store", "wanted"),
    [
        (KEY_VALUE, {"cleanup.policy": "compact"}),
        (replace(KEY_VALUE, kind="buffer"), {"cleanup.policy": "compact"}),
        (
            replace(KEY_VALUE, kind="window", retention_ms=130_000, retain_duplicates=False),
            {"cleanup.policy": "compact,delete", "retention.ms": str(130_000 + DAY)},
        ),
        (
            replace(KEY_VALUE, kind="window", retention_ms=10, retain_duplicates=True),
            {"cleanup.policy": "delete", "retention.ms": str(10 + DAY)},
        ),
        (
            replace(KEY_VALUE, kind="session", retention_ms=60_000),
            {"cleanup.policy": "compact,delete", "retention.ms": str(60_000 + DAY)},
        ),
        (
            replace(KEY_VALUE, kind="versioned", history_retention_ms=5_000),
            {"cleanup.policy": "compact", "min.compaction.lag.ms": str(5_000 + DAY)},
        ),
        (replace(KEY_VALUE, logging_config={"max.message.bytes": "9"}), {"max.message.bytes": "9"}),
    ],
)
def test_a_changelog_by_the_kind_of_its_store(store: DeclaredStore, wanted: dict[str, str]) -> None:
    """The settings that the kind, the retention and the store itself give it."""
    assert settings(of(declared(store)), "app-counts-changelog").items() >= wanted.items()


def test_a_join_of_streams() -> None:
    """Each side keeps its records for as long as the window looks; those without a match are compacted."""
    window = Window("join", 10_000, 5_000, after_ms=20_000)
    store = replace(KEY_VALUE, kind="join", window=window)
    facts = declared(stores={"this": store, "other": store, "unmatched": store}, topics={})
    found = of(facts, JOIN)
    kept = str(35_000 + DAY)
    assert found.unknown == ()
    assert settings(found, "app-this-changelog").items() >= {"cleanup.policy": "delete", "retention.ms": kept}.items()
    assert settings(found, "app-other-changelog")["retention.ms"] == kept
    assert settings(found, "app-unmatched-changelog") == {
        "cleanup.policy": "compact",
        "message.timestamp.type": "CreateTime",
    }
    wrong = replace(facts, stores={**facts.stores, "unmatched": replace(store, retain_duplicates=True)})
    assert asked(of(wrong, JOIN)) == ["stores.unmatched.retain_duplicates"]


def test_stores_without_a_changelog() -> None:
    """One without logging, a table whose source topic is reused, and a global one."""
    for store in (replace(KEY_VALUE, logging=False), replace(KEY_VALUE, changelog="orders")):
        assert [one.kind for one in of(declared(store)).topics] == ["repartition"]
    assert "app-zones-store-changelog" not in {one.name for one in of(declared(), COUNTS + GLOBAL).topics}


def test_a_reused_topic_of_a_declared_table() -> None:
    """Without a reader `topology.optimization` and `source_table` decide; the latter is asked for."""
    config = {"topology.optimization": "all"}
    text = """Topologies:
   Sub-topology: 0
    Source: read (topics: [orders])
      --> keep
    Processor: keep (stores: [counts])
      --> none
      <-- read
"""
    by_hand = declared(config=config, not_read={}, topics={})
    table = replace(by_hand, stores={"counts": replace(KEY_VALUE, source_table=True)})
    open_ = replace(by_hand, stores={"counts": replace(KEY_VALUE, source_table=None)})
    assert of(table, text).topics == ()
    assert [one.kind for one in of(by_hand, text).topics] == ["changelog"]
    assert asked(of(open_, text)) == ["stores.counts.source_table"]
    assert [one.certain for one in of(open_, text).topics] == [False]


def test_the_buffer_of_a_suppression() -> None:
    """It is compacted, with the settings that the program gives it; without logging it has none."""
    held = DeclaredSuppression("until_window_closes", logging=True, logging_config={"segment.ms": "1"})
    found = of(declared(suppressions={"hold": held}), HELD)
    assert (
        settings(found, "app-hold-store-changelog").items() >= {"cleanup.policy": "compact", "segment.ms": "1"}.items()
    )
    without = of(declared(suppressions={"hold": replace(held, logging=False)}), HELD)
    assert [one.of for one in without.topics] == ["by-customer-repartition", "counts"]
    open_ = of(declared(suppressions={"hold": replace(held, logging=None, logging_config=None)}), HELD)
    assert asked(open_) == ["suppressions.hold.logging", "suppressions.hold.logging_config"]
    generated = "KTABLE-SUPPRESS-STATE-STORE-0000000004"
    unread = of(declared(), HELD.replace("hold-store", generated))
    assert "suppressions.KTABLE-SUPPRESS-0000000003.logging" in asked(unread)


@pytest.mark.parametrize(
    ("store", "fields"),
    [
        (DeclaredStore(), ["kind", "logging", "logging_config"]),
        (replace(KEY_VALUE, kind="window", retain_duplicates=False), ["retention_ms"]),
        (replace(KEY_VALUE, kind="window", retention_ms=1), ["retain_duplicates"]),
        (replace(KEY_VALUE, kind="session"), ["retention_ms"]),
        (replace(KEY_VALUE, kind="versioned"), ["history_retention_ms"]),
    ],
)
def test_each_missing_fact_of_a_store_is_asked_for(store: DeclaredStore, fields: list[str]) -> None:
    """Its changelog has no settings then, and none of the topics is made of a guess."""
    found = of(declared(store))
    assert sorted(asked(found)) == [f"stores.counts.{name}" for name in fields]
    assert [one.name for one in found.shapes] == ["app-by-customer-repartition"]


def test_settings_and_release_are_asked_for() -> None:
    """Without them no topic has settings; other releases of the library give others."""
    assert asked(of(replace(declared(), config=None))) == ["config"]
    older = of(declared(library=Release("3.3.2")))
    [one] = older.unknown
    assert (str(one), one.reason) == ("library", "3.3.2; settings of internal topics are known of 3.4 to 4.4")
    assert older.shapes == of(declared(library=Release("4.5.0"))).shapes == ()
    assert of(declared(library=Release("4.4.0"))).shapes == of(declared()).shapes != ()
    unread = declared(not_read={"config.replication.factor": "it has a wrong value"})
    assert asked(of(unread)) == ["config.replication.factor"]


def test_a_named_topology_is_not_derived() -> None:
    """Its topics have the name of the topology in theirs."""
    text = COUNTS.replace("Topologies:\n", "Topology: first:\n")
    found = of(declared(), text)
    assert (found.topics, found.shapes) == ((), ())
    assert "named topology" in asked(found)[0]


@pytest.mark.parametrize(
    ("library", "store", "window", "kept_ms"),
    [
        ("3.6.2", {"kind": "window", "supplier_window_ms": 300_000}, ("tumbling", 300_000, 60_000), DAY + 7_200_000),
        ("3.7.0", {"kind": "window", "supplier_window_ms": 300_000}, ("tumbling", 300_000, 60_000), DAY + 360_000),
        ("4.4.0", {"kind": "window", "supplier_window_ms": 300_000}, ("sliding", 300_000, 60_000), DAY + 660_000),
        ("4.4.0", {"kind": "session", "supplier": "Own"}, ("session", 300_000, 60_000), DAY + 360_000),
        ("4.4.0", {"kind": "session", "supplier": "default"}, ("session", 300_000, 60_000), DAY + 7_200_000),
        ("4.4.0", {"kind": "window", "supplier": "InMemoryDslStoreSuppliers"}, ("tumbling", 1, 1), DAY + 7_200_000),
    ],
)
def test_the_window_of_the_operator_decides_over_a_supplier(
    library: str, store: dict[str, Any], window: tuple[Any, int, int], kept_ms: int
) -> None:
    """Since 3.7, of a supplier that the program gives for this store; sliding windows look both ways."""
    facts = replace(KEY_VALUE, retain_duplicates=False, retention_ms=7_200_000, window=Window(*window), **store)
    changelog = settings(of(declared(facts, library=Release(library))), "app-counts-changelog")
    assert changelog["retention.ms"] == str(kept_ms)
