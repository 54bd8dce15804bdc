"""What was read from a program together with what was declared."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.topology.code_facts import merged
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.declaration import (
    Aggregation,
    Contradiction,
    Declaration,
    DeclaredOperator,
    DeclaredStore,
    DeclaredSuppression,
    DeclaredTopic,
    Memory,
    Serde,
    Window,
)

HOUR, MINUTE = 3_600_000, 60_000
READ = Declaration(
    stores={"counts": DeclaredStore(kind="window", window=Window("tumbling", HOUR, MINUTE), logging=True)},
    suppressions={"closed": DeclaredSuppression("until_window_closes", max_records=10, when_full="shut_down")},
    topics={"orders": DeclaredTopic(joined_with=frozenset(), value_serde=Serde("com.acme.Order", is_class=True))},
    config={"application.id": "app"},
    library=Release("4.3.1"),
    not_read={"config.sasl.jaas.config": "a password"},
)


def _store(read: DeclaredStore, declared: DeclaredStore) -> tuple[DeclaredStore, tuple[Contradiction, ...]]:
    found = merged(Declaration(stores={"s": read}), Declaration(stores={"s": declared}))
    return found.stores["s"], found.contradictions


def test_without_a_declaration_there_is_what_was_read() -> None:
    """And nothing is contradicted."""
    assert merged(READ, None) == READ


def test_what_no_code_shows_is_declared() -> None:
    """The meaning of keys, what may be lost, readers, memory, the fields that no store changes."""
    declared = Declaration(
        stores={"counts": DeclaredStore(key="customer", loss_acceptable=True, ttl_ms=5, aggregate="count")},
        suppressions={"closed": DeclaredSuppression("until_window_closes", max_records=10, keys=7, key_bytes=8)},
        topics={"orders": DeclaredTopic(partitions=4, key="order", readers=("billing",))},
        memory=Memory(1, 2),
        unchanged=frozenset({"join"}),
        auto_create_topics=True,
    )
    found = merged(READ, declared)
    store = found.stores["counts"]
    assert (store.key, store.loss_acceptable, store.ttl_ms) == ("customer", True, 5)
    assert (store.kind, store.window, store.logging) == ("window", Window("tumbling", HOUR, MINUTE), True)
    assert (found.suppressions["closed"].keys, found.suppressions["closed"].when_full) == (7, "shut_down")
    assert (found.topics["orders"].partitions, found.topics["orders"].readers) == (4, ("billing",))
    assert (found.memory, found.unchanged, found.auto_create_topics) == (Memory(1, 2), frozenset({"join"}), True)
    assert (found.config, found.library, found.contradictions) == ({"application.id": "app"}, Release("4.3.1"), ())


def test_what_code_alone_shows_of_a_store_stays_next_to_a_declaration() -> None:
    """No declaration has a field for it."""
    read = DeclaredStore("window", made_by="count", filled_by=frozenset({"n"}), supplier_window_ms=5, caching=True)
    store, wrong = _store(read, DeclaredStore("window", key="customer"))
    assert (store, wrong) == (replace(read, key="customer"), ())


def test_what_was_read_wins_and_each_contradiction_is_named() -> None:
    """With place and both values; a window by its parts."""
    declared = Declaration(
        stores={"counts": DeclaredStore(kind="session", window=Window("tumbling", MINUTE, MINUTE), logging=False)},
        suppressions={"closed": DeclaredSuppression("until_time_limit", time_limit_ms=5)},
        topics={"orders": DeclaredTopic(joined_with=frozenset({"customers"}))},
        config={"application.id": "other", "num.stream.threads": "2", "sasl.jaas.config": "secret"},
        library=Release("3.4.1"),
    )
    found = merged(READ, declared)
    assert {(one.where, one.declared, one.read) for one in found.contradictions} == {
        ("stores.counts.kind", "session", "window"),
        ("stores.counts.window.size_ms", "60000", "3600000"),
        ("stores.counts.logging", "false", "true"),
        ("suppressions.closed.mode", "until_time_limit", "until_window_closes"),
        ("suppressions.closed.time_limit_ms", "5", "not set"),
        ("suppressions.closed.max_records", "not set", "10"),
        ("topics.orders.joined_with", "customers", "none"),
        ("config.application.id", "other", "app"),
        ("config.num.stream.threads", "2", "not set"),
        ("library", "3.4.1", "4.3.1"),
    }
    assert found.stores == READ.stores
    assert found.suppressions == READ.suppressions
    assert found.config == {"application.id": "app", "sasl.jaas.config": "secret"}
    assert found.library == Release("4.3.1")


def test_a_declared_format_says_more_than_a_class() -> None:
    """A format of Kafka is proof, a class is not."""
    json, own = Serde("json", 3), Serde("com.acme.Order", is_class=True)
    store, contradictions = _store(DeclaredStore(value_serde=own), DeclaredStore(value_serde=json))
    assert (store.value_serde, contradictions) == (json, ())
    store, contradictions = _store(DeclaredStore(value_serde=Serde("long")), DeclaredStore(value_serde=json))
    assert store.value_serde == Serde("long")
    assert contradictions == (Contradiction("stores.s.value_serde", "json v3", "long"),)


def test_equal_windows_in_other_words_are_no_contradiction() -> None:
    """A tumbling window advances by its size, and a declaration need not give where the grace is from."""
    read = Window("tumbling", HOUR, MINUTE, advance_ms=HOUR, grace_given=False)
    store, contradictions = _store(
        DeclaredStore(window=read), DeclaredStore(window=replace(read, advance_ms=None, grace_given=True))
    )
    assert (store.window, contradictions) == (read, ())


@pytest.mark.parametrize(
    ("words", "kind", "kept", "contradicted"),
    [
        ("number of orders", "count", "number of orders", False),
        ("sum of amounts", "reduce", "sum of amounts", False),
        ("count", "aggregate", "count", False),
        ("count", "reduce", None, True),
        ("none", "count", None, True),
        ("sum", "none", None, True),
        (None, "aggregate", None, False),
    ],
)
def test_an_aggregate_in_words_is_kept_unless_the_code_is_of_another_kind(
    words: str | None, kind: Aggregation, kept: str | None, contradicted: bool
) -> None:
    """A word may call a count what it means."""
    store, contradictions = _store(DeclaredStore(aggregation=kind), DeclaredStore(aggregate=words))
    assert (store.aggregate, store.aggregation, bool(contradictions)) == (kept, kind, contradicted)


def test_a_person_declares_the_class_of_an_extractor_and_of_a_supplier() -> None:
    """The facts also have the numbers in their objects."""
    shown = "com.acme.Own(limit=7)"
    topic, store = DeclaredTopic(timestamp_extractor=shown), DeclaredStore(supplier=shown)
    declared = Declaration(
        topics={"orders": DeclaredTopic(timestamp_extractor="com.acme.Own")},
        stores={"s": DeclaredStore(supplier="com.acme.Own")},
    )
    found = merged(Declaration(topics={"orders": topic}, stores={"s": store}), declared)
    assert (found.topics["orders"], found.stores["s"], found.contradictions) == (topic, store, ())


@pytest.mark.parametrize(("declared", "wrong"), [("com.acme.ByRegion", 0), ("com.acme.By", 1), ("default", 1)])
def test_a_person_declares_the_class_of_a_partitioner(declared: str, wrong: int) -> None:
    """The facts also have the numbers in its object, which contradict nothing."""
    read = DeclaredOperator(partitioner="com.acme.ByRegion(regions=7)")
    found = merged(
        Declaration(operators={"out": read}), Declaration(operators={"out": DeclaredOperator(partitioner=declared)})
    )
    assert found.operators["out"] == read
    assert len(found.contradictions) == wrong
