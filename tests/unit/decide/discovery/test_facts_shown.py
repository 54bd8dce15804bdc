"""The row of `readiness` about topology facts: instances without the jar, and what stays to be declared."""

from dataclasses import replace

from kstreams_runbooks.decide.discovery.facts_shown import facts_shown
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.discovery.readiness import FactsShown, ReadinessReading
from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.topology.facts import FactsReading, NoFacts
from world.samples import declared, reading

READ = Declaration(
    not_read={
        "stores.a.value_serde": "a lambda",
        "stores.b.v1.value_serde": "a lambda",
        "topics.in.value_serde": "a lambda",
        "topics.in.partitions": "those of the cluster",
        "stores.a.aggregate": "not readable",
        "config.state.dir": "each instance has its own",
        "operators.in.value_serde": "a lambda",
        "stores.b.v1.key_of": "behind a selectKey",
        "topics.in.key_serde.schema_version": "a class",
        "stores.a.supplier": "not readable",
    }
)
LEFT = ("aggregate of 1 store", "key of 1 store", "key_serde of 1 topic", "value_serde of 2 stores, 1 topic")


def shown(**facts: FactsReading | Missing) -> FactsShown:
    """By instance, with `_` for `-`."""
    every = Abilities(instances=True, topology=True, clear=True, act=True, clear_directories=True)
    found = ReadinessReading(reading(), declared(), (), (), every, {})
    return facts_shown(replace(found, facts={name.replace("_", "-"): one for name, one in facts.items()}))


def facts(read: Declaration = READ) -> FactsReading:
    return FactsReading(Taken(1, "jolokia"), "client", read)


def test_what_was_not_read_is_named_by_field() -> None:
    """The cluster has the partitions; settings and operators are not part of a declaration."""
    assert shown(orders_1=facts(), orders_2=facts()) == FactsShown("ready", not_read=LEFT)
    assert shown(orders_1=facts(Declaration())) == FactsShown("ready")


def test_an_instance_without_the_jar_is_missing() -> None:
    """One whose answer cannot be read is unknown, and counts less."""
    without, broken = NoFacts("no MBean in the JVM"), Missing("jolokia http://a: HTTP 403")
    assert shown(orders_1=facts(), orders_2=without) == FactsShown("missing", ("orders-2",), not_read=LEFT)
    unknown = ("orders-1: jolokia http://a: HTTP 403",)
    assert shown(orders_1=broken, orders_2=without) == FactsShown("missing", ("orders-2",), unknown)
    assert shown(orders_1=broken) == FactsShown("not known", unknown=unknown)


def test_without_an_answer_nothing_is_known() -> None:
    """As of an application that is stopped."""
    assert shown() == FactsShown("not known", unknown=("no instance answers",))
