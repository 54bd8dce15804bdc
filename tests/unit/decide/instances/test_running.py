"""Which versions run, by what instances say."""

import pytest
from kstreams_runbooks.decide.instances.running import RunningRelease, one_release, running_releases
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.topology import Topology
from world.samples import NEW, OLD, down, instance, reading
from world.sides import AUDITED, COUNTS


def seen(*texts: str | Missing, releases: tuple[str, ...] = (OLD, OLD)) -> ApplicationReading:
    return reading(
        *(
            instance(f"orders-{number}", release=release, topology=text)
            for number, (text, release) in enumerate(zip(texts, releases, strict=True), 1)
        )
    )


def test_instances_that_say_the_same_are_one_version() -> None:
    """The order of lines is no other topology."""
    turned = COUNTS.replace("  Sub-topology: 0", "  Sub-topology: 9").replace("  Sub-topology: 1", "  Sub-topology: 0")
    both = ("orders-1", "orders-2")
    assert one_release(seen(COUNTS, COUNTS)) == RunningRelease(OLD, COUNTS, both, targets=(Target(OLD),))
    assert len(running_releases(seen(COUNTS, turned))) == 2


def test_a_text_that_many_instances_report_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A description of a thousand nodes takes a moment, and fifty instances report it."""
    texts: list[str] = []

    def counted(text: str) -> Topology:
        texts.append(text)
        return parse_topology(text)

    monkeypatch.setattr("kstreams_runbooks.decide.instances.running.parse_topology", counted)
    assert len(running_releases(seen(COUNTS, COUNTS, AUDITED, releases=(OLD, OLD, NEW)))) == 2
    assert texts == [COUNTS, AUDITED]


def test_one_that_says_nothing_is_of_those_with_its_release() -> None:
    """Down, or without metrics: what it runs is what it is set to."""
    assert one_release(seen(Missing("no metrics"), COUNTS)).instances == ("orders-1", "orders-2")
    nobody = reading(down("orders-1"), down("orders-2"))
    assert one_release(nobody) == RunningRelease(OLD, None, ("orders-1", "orders-2"), targets=(Target(OLD),))
    swapped = Target.of(OLD, {"topic.orders": "control"})
    other = reading(down("orders-1"), down("orders-2", settings=swapped.settings))
    assert one_release(other).targets == (Target(OLD), swapped)


def test_two_releases_are_a_change_under_way() -> None:
    """Nothing is compared with half of it."""
    with pytest.raises(
        Refused, match=r"orders-1 is set to 3\.4\.1; orders-2 is set to 4\.3\.1 \(expected: one release\)"
    ):
        one_release(seen(COUNTS, COUNTS, releases=(OLD, NEW)))
    assert [one.release for one in running_releases(seen(COUNTS, COUNTS, releases=(OLD, NEW)))] == [OLD, NEW]


def test_two_topologies_of_one_release_are_other_settings() -> None:
    """Refused, with which instances."""
    with pytest.raises(Refused, match=r"orders-1 and orders-2 run different topologies of release 3\.4\.1"):
        one_release(seen(COUNTS, AUDITED))


def test_what_cannot_be_read_is_inconclusive() -> None:
    """Never taken for the same as the others."""
    with pytest.raises(Inconclusive, match="orders-2: its topology description cannot be read: line 1: 'cut'"):
        one_release(seen(COUNTS, "cut"))
