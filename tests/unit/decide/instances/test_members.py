"""Who is in the group and what it runs."""

from dataclasses import replace

from kstreams_runbooks.decide.instances.members import every_member_runs, members_of
from kstreams_runbooks.model.readings.readings import Deployment, GroupReading, MemberReading, Missing, Taken
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.verdicts import Outcome
from world.samples import BOUNCE_1, BOUNCE_2, NEW, applied, instance, member, reading

BOTH = (
    instance("orders-1", release=NEW, settings=BOUNCE_1.settings),
    instance("orders-2", release=NEW, settings=BOUNCE_1.settings),
)


def test_all_declared_members_on_the_new_release_proceed() -> None:
    """The plain case."""
    verdict = every_member_runs(reading(*BOTH), (BOUNCE_1, BOUNCE_2))
    assert verdict.outcome is Outcome.PROCEED
    assert verdict.reasons == ("all 2 members of orders run 4.3.1, on 2 instances",)


def test_an_undeclared_member_is_inconclusive() -> None:
    """Nobody can read the release of an instance that nobody declared."""
    stranger = MemberReading("m", "orders-99-StreamThread-1-consumer", "/10.0.0.9")
    group = GroupReading(Taken(1, "t"), "orders", "classic", "Stable", (member("orders-1"), stranger))
    verdict = every_member_runs(reading(*BOTH, group=group), (BOUNCE_1,))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "orders-99-StreamThread-1-consumer on /10.0.0.9" in verdict.reasons[0]


def test_an_instance_on_the_old_release_refuses() -> None:
    """One old instance is enough."""
    verdict = every_member_runs(reading(BOTH[0], instance("orders-2")), (BOUNCE_1,))
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons == ("orders-2 runs 3.4.1 (planned 4.3.1)",)


def test_unreadable_metrics_and_an_empty_group_are_inconclusive() -> None:
    """Missing is never OK."""
    blind = replace(BOTH[1], streams=Missing("timed out"))
    assert every_member_runs(reading(BOTH[0], blind), (BOUNCE_1,)).outcome is Outcome.INCONCLUSIVE
    empty = GroupReading(Taken(1, "t"), "orders", "classic", "Empty", ())
    assert every_member_runs(reading(*BOTH, group=empty), (BOUNCE_1,)).outcome is Outcome.INCONCLUSIVE


def test_settings_not_in_effect_refuse() -> None:
    """Written after the process started: the process still runs with the old ones."""
    stale = applied(BOTH[1], value=False)
    verdict = every_member_runs(reading(BOTH[0], stale), (BOUNCE_1,))
    assert verdict.outcome is Outcome.REFUSE


def test_a_client_id_does_not_claim_its_longer_neighbour() -> None:
    """orders-1 is a prefix of orders-10."""
    ten = MemberReading("m", "orders-10-StreamThread-1-consumer", "/h")
    group = GroupReading(Taken(1, "t"), "orders", "classic", "Stable", (ten,))
    assert members_of(group, instance("orders-1", client_id="orders-1")) == ()
    assert members_of(group, instance("orders-10", client_id="orders-10")) == (ten,)


def test_a_static_member_keeps_the_client_id_that_it_first_joined_with() -> None:
    """After its state directory was cleared the client has another id: the declared group.instance.id tells it."""
    stale = replace(member("orders-1"), client_id="orders-1-before-StreamThread-1-consumer", instance_id="orders-1-1")
    neighbour = replace(member("orders-10"), instance_id="orders-10-1")
    group = GroupReading(Taken(1, "t"), "orders", "classic", "Stable", (stale, neighbour))
    own = replace(instance("orders-1"), group_instance_id="orders-1")
    assert members_of(group, own) == (stale,)
    assert members_of(group, instance("orders-1")) == ()


def test_another_release_of_the_same_library_is_told_apart() -> None:
    """Its version says nothing: what is deployed does."""
    wanted = Bounce(1, "build-8", (), NEW)
    both = [
        replace(instance(name, release=NEW), deployment=built(name, "build-8")) for name in ("orders-1", "orders-2")
    ]
    assert every_member_runs(reading(*both), (wanted,)).outcome is Outcome.PROCEED
    left = replace(both[1], deployment=built("orders-2", "build-7"))
    verdict = every_member_runs(reading(both[0], left), (wanted,))
    assert verdict.reasons == ("orders-2 is deployed as build-7 (planned build-8)",)


def built(name: str, release: str) -> Deployment:
    deployment = instance(name, release=release).deployment
    assert isinstance(deployment, Deployment)
    return deployment
