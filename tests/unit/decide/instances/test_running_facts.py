"""Facts that the instances of a running version show become one set, are told apart, or are not used."""

from dataclasses import replace
from typing import Any

from kstreams_runbooks.decide.instances.running import RunningRelease
from kstreams_runbooks.decide.instances.running_facts import differences, of_a_release, with_declared, with_facts
from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.declaration import (
    Declaration,
    DeclaredOperator,
    DeclaredStore,
    DeclaredSuppression,
    DeclaredTopic,
    Serde,
    Window,
)
from kstreams_runbooks.model.topology.facts import FactsReading, NoFacts
from world.samples import OLD
from world.sides import COUNTS

ONE, TWO, THREE = "orders-1", "orders-2", "orders-3"
VERSION = RunningRelease(OLD, COUNTS, (ONE, TWO))
WINDOW = Window("tumbling", 10_000, 0)


def read(store: DeclaredStore | None = None, **changes: Any) -> Declaration:
    """What is read of the program."""
    stores = {"counts": store or DeclaredStore(kind="window", window=WINDOW)}
    return replace(Declaration(stores=stores, library=Release.parse(OLD)), **changes)


def shown(**found: Declaration | Missing) -> dict[str, FactsReading | Missing]:
    """By instance, with `_` for `-`."""
    return {
        name.replace("_", "-"): one if isinstance(one, Missing) else FactsReading(Taken(1, "jolokia"), name, one)
        for name, one in found.items()
    }


def test_instances_with_the_same_facts_are_one_version() -> None:
    """One that does not answer counts for its release, as its description does."""
    [both] = with_facts(VERSION, shown(orders_1=read(), orders_2=read()))
    assert both == replace(VERSION, read=read())
    [alone] = with_facts(VERSION, shown(orders_2=read()))
    assert alone == replace(VERSION, read=read())


def test_without_the_facts_of_every_instance_that_answers_none_are_used() -> None:
    """An instance without the jar may have another window."""
    [found] = with_facts(VERSION, shown(orders_1=read(), orders_2=NoFacts("no MBean in the JVM")))
    assert found == replace(VERSION, unread=("orders-2: no MBean in the JVM",))
    assert with_facts(VERSION, {}) == (VERSION,)


def test_instances_whose_programs_differ_are_two_versions() -> None:
    """The place is named with both values, a window by its part."""
    other = read(DeclaredStore(kind="window", window=replace(WINDOW, size_ms=20_000)))
    wide = replace(VERSION, instances=(ONE, TWO, THREE))
    first, second = with_facts(wide, shown(orders_1=read(), orders_2=other, orders_3=read()))
    assert (first.instances, first.read) == ((ONE, THREE), read())
    assert (second.instances, second.read) == ((TWO,), other)
    assert list(differences(read(), other)) == ["stores.counts.window.size_ms (10000 and 20000)"]


def test_a_fact_that_one_instance_does_not_show_is_not_read() -> None:
    """The instances do not differ by it. A limit that is not set is a fact."""
    typed = read(DeclaredStore(kind="window", window=WINDOW, value_serde=Serde("long")))
    [found] = with_facts(VERSION, shown(orders_1=typed, orders_2=replace(read(), library=None)))
    assert found.read == replace(read(), library=None)
    held = read(suppressions={"closed": DeclaredSuppression("until_window_closes", max_records=10)})
    more = read(suppressions={"closed": DeclaredSuppression("until_window_closes")})
    assert list(differences(held, more)) == ["suppressions.closed.max_records (10 and not set)"]


def test_every_kind_of_difference_has_its_values() -> None:
    """A subject that only one has, a format, topics, the library."""
    one = read(DeclaredStore(value_serde=Serde("long")), topics={"in": DeclaredTopic(joined_with=frozenset())})
    other = read(
        DeclaredStore(value_serde=Serde("string")),
        topics={"in": DeclaredTopic(joined_with=frozenset({"b", "a"})), "out": DeclaredTopic()},
        library=Release.parse("4.3.1"),
    )
    assert list(differences(one, other)) == [
        "library (3.4.1 and 4.3.1)",
        "stores.counts.value_serde (long and string)",
        "topics.out (shown once)",
        "topics.in.joined_with (none and a, b)",
    ]


def test_operators_are_compared_as_far_as_both_show_them() -> None:
    """One that an instance does not show is not read."""
    one = read(operators={"in": DeclaredOperator(offset_reset="earliest"), "out": DeclaredOperator(partitioner="a")})
    other = read(operators={"in": DeclaredOperator(offset_reset="latest")})
    assert list(differences(one, other)) == ["operators.in.offset_reset (earliest and latest)"]
    [found] = with_facts(VERSION, shown(orders_1=one, orders_2=replace(other, operators={})))
    assert found.read is not None
    assert found.read.operators == {}


def test_settings_of_an_instance_are_not_those_of_the_release() -> None:
    """An identity, a directory, and what a runbook sets on the way; a guarantee that is not set is the default."""
    config = {
        "application.id": "orders",
        "state.dir": "/data/1",
        "main.consumer.client.id": "a",
        "upgrade.from": "3.4",
        "num.stream.threads": "2",
    }
    found = of_a_release(read(config=config))
    assert found.config == {
        "application.id": "orders",
        "num.stream.threads": "2",
        "processing.guarantee": "at_least_once",
    }
    assert found.not_read == {}, "a setting that was not read is unknown; these are not compared"
    assert of_a_release(read()) == read()


def test_settings_that_differ_between_instances_are_not_read() -> None:
    """The rest of the facts is; the setting and the instances are named."""
    [found] = with_facts(
        VERSION,
        shown(
            orders_1=read(config={"num.stream.threads": "1", "state.dir": "/1"}),
            orders_2=read(config={"num.stream.threads": "2", "state.dir": "/2"}),
        ),
    )
    assert found.read is not None
    assert (found.read.stores, found.read.config) == (read().stores, None)
    assert found.read.not_read["config"] == "num.stream.threads differs between orders-1, orders-2"
    assert found.unread == (
        "settings: num.stream.threads differs between orders-1, orders-2; give all of them the same",
    )


def test_declared_settings_of_an_instance_stay_next_to_what_was_read() -> None:
    """The settings of the release are those that were read, and a difference is a contradiction."""
    known = Declaration(config={"state.dir": "/data", "application.id": "orders", "num.stream.threads": "1"})
    both = with_declared(read(config={"num.stream.threads": "2"}), known)
    assert both.config == {"state.dir": "/data", "num.stream.threads": "2"}
    assert [(one.declared, one.read) for one in both.contradictions if "threads" in one.where] == [("1", "2")]
    assert with_declared(read(), known).config == known.config
