"""Which topologies a drain has to look at: what runs, and every release that is set where nobody runs it."""

from dataclasses import replace
from operator import attrgetter

import pytest
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.readings.readings import Deployment, InstanceReading, Missing
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.observe.application.topologies import may_have_run
from world.samples import down, instance

# A deployer whose topology command takes no settings.
RELEASE = attrgetter("release_alone")


def describe(target: Target) -> str:
    """What a deployer prints: a setting names the topic."""
    if target.release == "none":
        raise BadInput("release none: not declared")
    topic = dict(target.settings).get("topic", f"in-{target.release}")
    return f"Topologies:\n  Sub-topology: 0\n    Source: s (topics: [{topic}])\n      --> none\n"


def topologies(*releases: str) -> tuple[Topology, ...]:
    """What these releases are described as."""
    return tuple(parse_topology(describe(Target(release))) for release in releases)


def never(target: Target) -> str:
    raise AssertionError(target)


def running(name: str, release: str) -> InstanceReading:
    return instance(name, release=release, topology=describe(Target(release)))


def unknown(name: str) -> InstanceReading:
    return InstanceReading(name, Missing("the deployer does not know it"), Missing("connection refused"))


def test_what_runs_is_asked_of_nobody_else() -> None:
    """One topology, however many tell it; one that is down and set to the same adds none."""
    seen = (running("one", "v1"), running("two", "v1"), down("three", release="v1"))
    assert may_have_run(seen, never, RELEASE) == topologies("v1")


def test_one_topology_that_two_instances_print_differently_is_one() -> None:
    """Each run of a program prints another address of the same lambda.

    While two topologies run, it would be unknown whose a task is.
    """
    text = describe(Target("v1")).replace("none", "x") + "    Sink: x (extractor class: A$$Lambda/0x1@f)\n      <-- s\n"
    found = may_have_run(
        (instance("one", topology=text), instance("two", topology=text.replace("@f", "@e"))), never, RELEASE
    )
    assert found == (parse_topology(text),)


def test_every_release_that_is_set_may_have_run_last() -> None:
    """Stopped in the middle of a roll: what the other release left behind would be read by it."""
    assert may_have_run((down("one", release="v2"), down("two", release="v1")), describe, RELEASE) == topologies(
        "v1", "v2"
    )
    assert may_have_run((running("one", "v2"), down("two", release="v1")), describe, RELEASE) == topologies("v1", "v2")


def test_a_release_that_is_set_and_not_started_is_told_by_nobody() -> None:
    """One instance still runs what it was started with: what the stopped one is set to may have run as well."""
    one = running("one", "v1")
    assert isinstance(one.deployment, Deployment)
    waits = replace(one, deployment=replace(one.deployment, release="v2", applied=False))
    assert may_have_run((waits, down("two", release="v2")), describe, RELEASE) == topologies("v1", "v2")


@pytest.mark.parametrize(
    ("instances", "why"),
    [
        ((running("one", "v2"), instance("two", topology=Missing("no description"))), "two: no description"),
        ((running("one", "v1"), down("two", release=Missing("no release in it"))), "two: it reports no topology, and"),
        ((down("one", release="v1"), unknown("two")), "is not known (the deployer does not know it)"),
        ((down("one", release="none"),), "no instance reports the topology of none, and describing it failed"),
        ((), "no instance has a release set"),
        ((instance("one", topology="cut off"),), "the topology description cannot be read: line 1: "),
    ],
)
def test_what_nobody_tells_is_missing(instances: tuple[InstanceReading, ...], why: str) -> None:
    """Never what is left of it."""
    found = may_have_run(instances, describe, RELEASE)
    assert isinstance(found, Missing)
    assert why in found.missing


def test_a_release_that_is_only_somebodys_word_proves_nothing() -> None:
    """Another one may have run."""
    one = down("one", release="v2")
    assert isinstance(one.deployment, Deployment)
    found = may_have_run((replace(one, deployment=replace(one.deployment, stated=True)),), describe, RELEASE)
    assert found == Missing(
        "one: its release is only stated in its declaration and was not observed; start it, or declare "
        "deployer.commands.instances"
    )


def test_a_release_may_have_run_with_other_settings() -> None:
    """One that is down reads the topic that its settings name, next to one that runs the release without them."""
    swapped = down("two", release="v1", settings=(("topic", "control"),))
    runs = running("one", "v1")

    def topologies_of(*instances: InstanceReading) -> set[str]:
        found = may_have_run(instances, describe, lambda target: target)
        assert not isinstance(found, Missing)
        return {topic for topology in found for _, node in topology.nodes() for topic in getattr(node, "topics", ())}

    assert topologies_of(runs, swapped) == {"in-v1", "control"}
    assert topologies_of(swapped, down("three", release="v1")) == {"in-v1", "control"}
    assert topologies_of(runs, down("two", release="v1")) == {"in-v1"}
    assert may_have_run((runs, swapped), never, RELEASE) == topologies("v1")
