"""What an instance may read that does not answer, while another one does."""

from dataclasses import replace
from operator import attrgetter
from typing import Any

import pytest
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.readings import Deployment, Missing
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.lag import LagAsked
from kstreams_runbooks.watch.silent import targets_of, with_silent
from world.samples import down
from world.sides import COUNTS

ASKED = LagAsked("orders", "orders", {"payments": "source"})


def deployed(name: str, release: str | Missing, *, stated: bool = False, applied: bool = True) -> Deployment:
    deployment = down(name, release=release).deployment
    assert isinstance(deployment, Deployment)
    return replace(deployment, stated=stated, applied=applied)


class Deployer:
    """Says what it is told, and describes one topology, however often a release is asked for."""

    def __init__(self, *deployments: Deployment) -> None:
        """Nothing described yet."""
        self.deployments = deployments
        self.asked: list[Target] = []

    def instances(self) -> tuple[Deployment, ...]:
        """What is deployed."""
        return self.deployments

    def topology_target(self, target: Target) -> Target:
        """Every setting changes it."""
        return target

    def topology(self, target: Target) -> str:
        """What a target reads."""
        self.asked.append(target)
        return COUNTS


def asked_of(*deployments: Deployment) -> LagAsked:
    deployer: Any = Deployer(*deployments)
    return with_silent(ASKED, ("two",), lambda: deployer, TopicNames.of({"orders", "payments"}))


def test_the_same_release_reads_the_same() -> None:
    """Nothing is described."""
    assert asked_of(deployed("one", "v1"), deployed("two", "v1")) == ASKED


@pytest.mark.parametrize("one", [deployed("one", "v2"), deployed("one", "v1", applied=False)])
def test_what_only_the_silent_release_reads_is_read_too(one: Deployment) -> None:
    """In the middle of a roll, where the topic exists; what another is set to and has not started, nobody tells."""
    found = asked_of(one, deployed("two", "v1"))
    assert found.reads == {"orders": "source", "payments": "source"}
    assert not found.lacking


def test_settings_are_part_of_what_a_silent_instance_is_set_to() -> None:
    """As far as a description depends on them."""
    two = deployed("two", "v1")
    set_too = replace(two, settings=(("topology.optimization", "all"),))
    optimized, alone = Target("v1", (("topology.optimization", "all"),)), attrgetter("release_alone")
    one = {"one": deployed("one", "v1"), "two": set_too}
    assert targets_of(("two",), one, alone) == set()
    assert targets_of(("two",), one, lambda target: target) == {optimized}
    both = {"one": deployed("one", "v2"), "two": two, "three": set_too}
    assert targets_of(("two", "three"), both, alone) == {Target("v1")}
    assert targets_of(("two", "three"), both, lambda target: target) == {Target("v1"), optimized}


@pytest.mark.parametrize(
    ("deployments", "why"),
    [
        ((deployed("one", "v1"),), "its deployer does not know it"),
        ((deployed("one", "v1"), deployed("two", Missing("no release"))), "no release"),
        ((deployed("one", "v1"), deployed("two", "v2", stated=True)), "only stated in its declaration"),
    ],
)
def test_where_nobody_knows_its_release_not_all_is_known(deployments: tuple[Deployment, ...], why: str) -> None:
    """Never that nothing reads a topic any more."""
    found = asked_of(*deployments)
    assert found.reads == ASKED.reads
    assert found.lacking.startswith("two does not answer, and what it reads is not known (")
    assert why in found.lacking
    with pytest.raises(Inconclusive):
        targets_of(("two",), {one.instance: one for one in deployments}, attrgetter("release_alone"))
