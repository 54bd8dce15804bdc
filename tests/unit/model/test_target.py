"""A target is what an instance is set to: equal by what is set, whatever order the settings came in."""

from dataclasses import replace

from kstreams_runbooks.model.readings.readings import Deployment, Missing
from kstreams_runbooks.model.runs.plan import DeployedInstance
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.target import Target
from world.samples import instance

SETTINGS = (("upgrade.from", "3.4"), ("num.stream.threads", "2"))


def test_the_order_of_settings_makes_no_other_target() -> None:
    """A key of a cache: the same release with the same settings is described once."""
    one, other = Target("4.3.1", SETTINGS), Target.of("4.3.1", dict(reversed(SETTINGS)))
    assert one == other
    assert len({one, other, Target("4.3.1"), Target("3.4.1", SETTINGS)}) == 3
    assert one.text == "release=4.3.1, num.stream.threads=2, upgrade.from=3.4"


def test_what_is_declared_planned_and_left_is_a_target() -> None:
    """Missing for an instance whose release cannot be read."""
    target = Target("4.3.1", SETTINGS)
    assert (
        Bounce(1, "4.3.1", SETTINGS).target == DeployedInstance("orders-1", "4.3.1", SETTINGS, "4.3.1").target == target
    )
    deployment = instance("orders-1", release="4.3.1", settings=SETTINGS).deployment
    assert isinstance(deployment, Deployment)
    assert deployment.target == target
    assert replace(deployment, release=Missing("no release")).target == Missing("no release")
