"""Which releases of a found application have facts, and what its draft takes from them."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.discovery.draft import draft
from kstreams_runbooks.decide.discovery.found_facts import found_facts
from kstreams_runbooks.model.discovery.discovery import DiscoverOptions, Found, FoundInstance, Signs
from kstreams_runbooks.model.readings.readings import GroupReading, Missing, Taken
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore
from kstreams_runbooks.model.topology.facts import FactsReading, NoFacts

GROUP = GroupReading(Taken(1, "test"), "orders", "classic", "Stable", ())
SIGNS = Signs("orders", "classic", "Stable", "consumer", GROUP, {"clicks": 4}, 4, ())
OLD, NEW = "3.4.1", "4.3.1"
READ = Declaration(stores={"counts": DeclaredStore(kind="window")}, config={"state.dir": "/1"})
OTHER = Declaration(stores={"counts": DeclaredStore(kind="session")}, config={})


def found(versions: str, *facts: Declaration | Missing) -> Found:
    """Instances that run these releases, and what each shows."""
    clients = [f"client-{number}" for number in range(len(facts))]
    readings = [one if isinstance(one, Missing) else FactsReading(Taken(1, "t"), "c", one) for one in facts]
    instances = tuple(
        FoundInstance("h", client, "", "http://h:1", version)
        for client, version in zip(clients, versions.split(), strict=True)
    )
    return Found(SIGNS, instances, (), frozenset(), dict(zip(clients, readings, strict=True)))


def test_each_release_has_the_facts_of_its_instances() -> None:
    """In the middle of a roll there are two; settings of one instance are in neither."""
    both = found_facts(found(f"{OLD} {NEW} {OLD}", READ, OTHER, READ))
    assert {release: one.stores for release, one in both.items()} == {OLD: READ.stores, NEW: OTHER.stores}
    assert both[OLD].config == {"processing.guarantee": "at_least_once"}


@pytest.mark.parametrize(
    ("versions", "facts"),
    [
        (f"{NEW} {NEW}", (READ, OTHER)),
        (f"{NEW} {NEW}", (READ, NoFacts("no MBean"))),
        (NEW, (Missing("HTTP 403"),)),
        ("4.3.1-acme", (READ,)),
    ],
)
def test_a_release_whose_facts_are_not_those_of_all_is_left_out(
    versions: str, facts: tuple[Declaration | Missing, ...]
) -> None:
    """Different programs, an instance without the jar, one that cannot be read, a library of a vendor."""
    assert found_facts(found(versions, *facts)) == {}


@pytest.mark.parametrize(
    ("config", "value", "mark"),
    [
        ({"processing.guarantee": "exactly_once_v2"}, "exactly_once_v2", "observed"),
        ({}, "at_least_once", "observed"),
        (None, "unknown", "unknown"),
    ],
)
def test_the_guarantee_is_that_of_the_settings(config: dict[str, str] | None, value: str, mark: str) -> None:
    """Without the setting it is the library's default; without settings it is not known."""
    read = replace(READ, config=config)
    field = draft(found(f"{NEW} {NEW}", read, read), DiscoverOptions("demo", NEW)).fields["processing_guarantee"]
    assert (field.value, field.mark) == (value, mark)
    assert draft(found(NEW, NoFacts("none")), DiscoverOptions("demo", NEW)).fields["processing_guarantee"].mark == (
        "unknown"
    )
