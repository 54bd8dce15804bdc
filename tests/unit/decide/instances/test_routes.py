"""The routes that a shipped copier runs are those that its entry declares, or no change begins."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.instances.check import ready_for_change
from kstreams_runbooks.decide.instances.routes import other_routes
from kstreams_runbooks.model.readings.readings import InstanceReading, Missing, StreamsReading
from kstreams_runbooks.model.verdicts import Outcome
from world.samples import declared, instance, reading

ROUTES = (("sent", "orders"), ("sent-too", "customers"))


def described(*routes: tuple[str, str]) -> str:
    """As Kafka Streams prints it."""
    parts = (
        f"   Sub-topology: {number}\n"
        f"    Source: from-{source} (topics: [{source}])\n      --> copy-{source}\n"
        f"    Processor: copy-{source} (stores: [])\n      --> to-{target}\n      <-- from-{source}\n"
        f"    Sink: to-{target} (topic: {target})\n      <-- copy-{source}\n"
        for number, (source, target) in enumerate(routes)
    )
    return "Topologies:\n" + "\n".join(parts)


def runs(topology: str | Missing, name: str = "orders-1") -> InstanceReading:
    """An instance with this topology."""
    found = instance(name)
    assert isinstance(found.streams, StreamsReading)
    return replace(found, streams=replace(found.streams, topology=topology))


def said(topology: str | Missing, routes: tuple[tuple[str, str], ...] = ROUTES) -> list[str]:
    """The sentences about an instance with this topology."""
    return list(other_routes(runs(topology), declared(routes=routes)))


def test_the_declared_routes_in_any_order() -> None:
    """Nothing to say."""
    assert said(described(*ROUTES)) == []
    assert said(described(*reversed(ROUTES))) == []


@pytest.mark.parametrize(
    ("routes", "copies"),
    [
        (ROUTES[:1], "sent -> orders"),
        ((*ROUTES, ("more", "other")), "more -> other, sent -> orders, sent-too -> customers"),
        ((("sent", "customers"), ("sent-too", "orders")), "sent -> customers, sent-too -> orders"),
    ],
)
def test_other_routes_are_named(routes: tuple[tuple[str, str], ...], copies: str) -> None:
    """Fewer, more, and exchanged ones, whose topics are the same."""
    [sentence] = said(described(*routes))
    assert sentence.startswith(f"orders-1: copies {copies} (declared sent -> orders, sent-too -> customers); correct")


def test_a_topology_that_is_not_known_or_not_a_topology_is_not_taken_for_the_declared_one() -> None:
    """It could copy anything."""
    assert said(Missing("no such metric")) == [
        "orders-1: which routes it copies is not known: no such metric; make it answer"
    ]
    assert said("not a description")[0].startswith("orders-1: copies no route")


def test_any_other_application_has_no_routes() -> None:
    """Whatever it reads and writes."""
    assert said(described(("a", "b")), ()) == []


def test_a_change_begins_only_with_the_declared_routes() -> None:
    """The check refuses."""
    both = reading(runs(described(*ROUTES)), runs(described(ROUTES[0]), "orders-2"))
    verdict = ready_for_change(both, declared(routes=ROUTES), 0, 60_000)
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons[0].startswith("orders-2: copies sent -> orders (declared")
