"""Which instance may be touched next.

Covers decide/instances/guards
"""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.instances.guards import nothing_drifted
from kstreams_runbooks.decide.instances.rolling import beyond, in_place, left_behind, others_unwell, restores_nothing
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.model.readings.readings import (
    Deployment,
    GroupReading,
    InstanceReading,
    Missing,
    Start,
    Taken,
    TopicReading,
)
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.rules import upgrade_path_rules
from world.samples import BOUNCE_1, BOUNCE_2, NEW, applied, declared, down, instance, member, reading

DONE = instance("orders-1", release=NEW, settings=BOUNCE_1.settings)
PLAN = bump_plan(reading(), declared(), NEW, upgrade_path_rules(), (), (), "code")


def test_in_place_needs_release_settings_and_effect() -> None:
    """Each of them alone is not enough."""
    assert in_place(DONE, BOUNCE_1, 1_000)
    assert not in_place(DONE, BOUNCE_2, 1_000)
    assert not in_place(instance("orders-1"), BOUNCE_1, 1_000)
    assert not in_place(applied(DONE, value=False), BOUNCE_1, 1_000)
    assert not in_place(applied(DONE, value=Missing("?")), BOUNCE_1, 1_000)
    assert not in_place(down("orders-1", release=NEW), BOUNCE_1, 1_000)


def test_a_dead_client_in_a_live_process_is_not_in_place() -> None:
    """It never comes back by itself, so a rerun restarts it; a JVM that has just started is left to its gate."""
    gone = replace(DONE, streams=Missing("no Kafka Streams client in the JVM", start=Start(1_000, 41)))
    assert in_place(gone, BOUNCE_1, 2_000)
    assert not in_place(gone, BOUNCE_1, 62_000)
    assert not in_place(instance("orders-1", release=NEW, settings=BOUNCE_1.settings, state="ERROR"), BOUNCE_1, 1_000)


def test_no_second_instance_is_stopped_while_another_is_unwell() -> None:
    """But starting one that is down harms nobody."""
    sick = reading(instance("orders-1", state="ERROR"), instance("orders-2"))
    assert others_unwell(sick, "orders-2") == ("orders-1 is in ERROR (expected RUNNING)",)
    assert others_unwell(sick, "orders-1") == ()
    assert others_unwell(reading(down("orders-1"), down("orders-2")), "orders-1") == ()


def test_a_rerun_leaves_an_instance_of_a_later_bounce_alone() -> None:
    """Going back would be an undo."""
    later = instance("orders-1", release=NEW)
    assert beyond(later, BOUNCE_1, PLAN, 1_000)
    assert not beyond(DONE, BOUNCE_1, PLAN, 1_000)


def test_an_instance_left_on_the_old_release_stops_the_run() -> None:
    """Two formats are in use: a person has to look."""
    mixed = reading(instance("orders-1", release=NEW), instance("orders-2"))
    assert "orders-2 runs 3.4.1 while orders-1 is past bounce 1" in left_behind(mixed, "orders-2", BOUNCE_1, PLAN)
    assert left_behind(reading(DONE, instance("orders-2")), "orders-2", BOUNCE_1, PLAN) == ""


def test_nothing_is_touched_once_the_world_has_drifted() -> None:
    """A recreated topic, a stranger in the group, an instance put back to the old release while an approval waited."""
    half = [instance(f"orders-{number}", release=NEW, settings=BOUNCE_1.settings) for number in (1, 2)]
    assert nothing_drifted(reading(*half), PLAN, "orders-1", 2).outcome is Outcome.PROCEED
    assert nothing_drifted(reading(), PLAN, "orders-1", 1).outcome is Outcome.PROCEED
    recreated = replace(reading(*half), topics=(TopicReading("orders", "id-2", 1),))
    assert nothing_drifted(recreated, PLAN, "orders-1", 1).outcome is Outcome.REFUSE
    members = (member("orders-1"), member("orders-2"), member("rogue"))
    joined = reading(*half, group=GroupReading(Taken(1, "t"), "orders", "classic", "Stable", members))
    assert "rogue" in nothing_drifted(joined, PLAN, "orders-1", 1).sentence
    reverted = reading(half[0], instance("orders-2"))
    assert "orders-2 runs 3.4.1" in nothing_drifted(reverted, PLAN, "orders-1", 2).sentence
    assert nothing_drifted(replace(reading(), topics=Missing("?")), PLAN, "x", 1).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("release", ["4.2.0", "3.3.2"])
def test_bounce_1_begins_with_what_ran_when_the_plan_was_made(release: str) -> None:
    """Somebody put another instance to another release while the approval waited: two formats may be in use."""
    changed = reading(instance("orders-1"), instance("orders-2", release=release))
    for name in ("orders-1", "orders-2"):
        verdict = nothing_drifted(changed, PLAN, name, 1)
        assert verdict.outcome is Outcome.REFUSE
        assert f"orders-2 runs {release} with no setting of a runbook" in verdict.reasons[0]


def test_bounce_1_goes_on_beside_what_it_has_brought_over() -> None:
    """In the middle of bounce 1 both the old release and the planned one are as they should be."""
    half = reading(instance("orders-1", release=NEW, settings=BOUNCE_1.settings), instance("orders-2"))
    assert nothing_drifted(half, PLAN, "orders-2", 1).outcome is Outcome.PROCEED


def test_what_is_set_for_the_next_start_does_not_run_yet() -> None:
    """Until it is restarted it runs what it ran; what nobody planned is drift all the same."""
    stage = instance("orders-1", release=NEW, settings=BOUNCE_1.settings, version="3.4.1")
    waiting = reading(applied(stage, value=False), instance("orders-2"))
    assert nothing_drifted(waiting, PLAN, "orders-2", 1).outcome is Outcome.PROCEED
    assert nothing_drifted(reading(stage, instance("orders-2")), PLAN, "orders-2", 1).outcome is Outcome.REFUSE
    strange = applied(instance("orders-1", release=NEW, settings=BOUNCE_1.settings, version="4.2.0"), value=False)
    assert nothing_drifted(reading(strange, instance("orders-2")), PLAN, "orders-2", 1).outcome is Outcome.REFUSE


def test_an_instance_whose_release_cannot_be_read_is_no_drift() -> None:
    """Its deployer says nothing about the release: missing data decides nothing."""
    one = instance("orders-2")
    assert isinstance(one.deployment, Deployment)
    blind = replace(one, deployment=replace(one.deployment, release=Missing("orders-2: no release key")))
    verdict = nothing_drifted(reading(instance("orders-1"), blind), PLAN, "orders-1", 1)
    assert (verdict.outcome, verdict.reasons) == (Outcome.INCONCLUSIVE, ("orders-2: orders-2: no release key",))


def test_certain_drift_refuses_whatever_else_could_not_be_read() -> None:
    """Drift of a topic, the group or another instance; without any, what is missing is inconclusive, and named."""
    silent = replace(instance("orders-2"), deployment=Missing("no answer"))
    nameless = replace(silent, deployment=replace(_deployment("orders-2"), release=Missing("no release key")))
    recreated = (TopicReading("orders", "id-2", 1),)
    for unread in (silent, nameless):
        verdict = nothing_drifted(replace(reading(instance("orders-1"), unread), topics=recreated), PLAN, "orders-1", 1)
        assert verdict.outcome is Outcome.REFUSE
        assert verdict.reasons == ("topic orders: recreated (id id-2, in the plan id-1); its records are lost",)
        other = nothing_drifted(reading(instance("orders-1", release="4.2.0"), unread), PLAN, "orders-2", 1)
        assert [reason.partition(" with")[0] for reason in other.reasons] == ["orders-1 runs 4.2.0"]
    members = (member("orders-1"), member("rogue"))
    joined = reading(instance("orders-1"), silent, group=GroupReading(Taken(1, "t"), "orders", "x", "Stable", members))
    blind = nothing_drifted(replace(joined, topics=Missing("no answer")), PLAN, "orders-1", 1)
    assert [reason.partition(";")[0] for reason in blind.reasons] == [
        "group orders: now a x group (planned classic)",
        "group orders: member rogue-client-StreamThread-1-consumer on /127.0.0.1 belongs to no declared instance",
    ]
    nothing = replace(reading(instance("orders-1"), silent), topics=Missing("no answer"), group=Missing("no answer"))
    assert nothing_drifted(nothing, PLAN, "orders-1", 1) == Verdict(
        Outcome.INCONCLUSIVE,
        ("topics of orders: no answer", "group of orders: no answer", "orders-2: no answer"),
    )
    # What is just being changed is left to its own gate, whether or not it can be read.
    for unread in (silent, nameless):
        in_hand = nothing_drifted(reading(instance("orders-1"), unread), PLAN, "", 1, in_hand=("orders-2",))
        assert in_hand.outcome is Outcome.PROCEED


def _deployment(name: str) -> Deployment:
    found = instance(name).deployment
    assert isinstance(found, Deployment)
    return found


def test_what_a_dead_instance_left_in_the_group_is_no_drift_while_it_leaves() -> None:
    """Without static membership its members stay until their session timeout: a gate waits for that."""
    members = (member("orders-1"), member("orders-2"), member("gone"))
    left = reading(group=GroupReading(Taken(1, "t"), "orders", "classic", "Stable", members))
    assert nothing_drifted(left, PLAN, "orders-1", 1).outcome is Outcome.REFUSE
    assert nothing_drifted(left, PLAN, "orders-1", 1, leaving=True).outcome is Outcome.PROCEED


STOPS = ("KAFKA-16017",)


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        (instance("orders-1"), Outcome.PROCEED),
        (instance("orders-1", restoring=Missing("this release has no such metric")), Outcome.PROCEED),
        (instance("orders-1", restoring=2), Outcome.WAIT),
        (instance("orders-1", state="REBALANCING"), Outcome.WAIT),
        (down("orders-1"), Outcome.PROCEED),
        (instance("orders-1", state="ERROR"), Outcome.PROCEED),
        (replace(instance("orders-1"), streams=Missing("connection refused")), Outcome.INCONCLUSIVE),
    ],
    ids=["runs", "runs without the metric", "restores", "rebalances", "down", "dead", "not read"],
)
def test_an_instance_that_restores_is_not_stopped(given: InstanceReading, outcome: Outcome) -> None:
    """RUNNING shows it, and where there is one a metric; what has ended restores nothing."""
    verdict = restores_nothing(given, STOPS)
    assert verdict.outcome is outcome
    assert outcome is Outcome.PROCEED or "KAFKA-16017" in verdict.text
