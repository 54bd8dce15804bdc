"""The plan and its digest, and the check before it.

Covers decide/plans/basis, decide/plans/leg
"""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.instances.check import ready_for_change
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading, Missing, Taken, TopicReading
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.rules import upgrade_path_rules
from world.samples import BOUNCE_1, NEW, OLD, declared, down, instance, member, partition, reading

GUARDED: dict[str, Any] = {"settings": BOUNCE_1.settings}


def plan_of(
    now: ApplicationReading, target: str = NEW, limits: tuple[tuple[str, float], ...] = (("max_lag", 1000.0),)
) -> Plan:
    return bump_plan(now, declared(), target, upgrade_path_rules(), (), limits, "code")


def test_the_digest_survives_offsets_starts_and_time() -> None:
    """A rerun of an unchanged world makes the same digest."""
    later = replace(reading(partitions=(partition(committed=5),)), taken=Taken(99_000, "elsewhere"))
    assert plan_of(reading()).digest == plan_of(later).digest


@pytest.mark.parametrize(
    "world",
    [
        replace(reading(), topics=(TopicReading("orders", "id-2", 1),)),
        replace(reading(), topics=(TopicReading("orders", "id-1", 2),)),
        reading(
            group=GroupReading(Taken(1, "t"), "orders", "consumer", "Stable", (member("orders-1"), member("orders-2")))
        ),
    ],
)
def test_the_digest_changes_with_the_facts_it_binds(world: ApplicationReading) -> None:
    """A recreated topic, other partition counts, another group type: another plan."""
    assert plan_of(world).digest != plan_of(reading()).digest


def test_the_digest_changes_with_a_limit() -> None:
    """What is approved includes the limits."""
    assert plan_of(reading(), limits=(("max_lag", 5.0),)).digest != plan_of(reading()).digest


def test_a_bump_stopped_after_bounce_1_plans_the_second() -> None:
    """upgrade.from still set: the instance still writes the old format."""
    halfway = reading(*(instance(f"orders-{n}", release=NEW, settings=BOUNCE_1.settings) for n in (1, 2)))
    assert [dict(bounce.settings) for bounce in plan_of(halfway).bounces] == [{"upgrade.from": "3.4"}, {}]


def test_a_new_release_without_upgrade_from_beside_an_old_one_is_refused() -> None:
    """The results may be wrong already."""
    with pytest.raises(Refused, match=r"orders-1 already runs 4\.3\.1 without upgrade\.from"):
        plan_of(reading(instance("orders-1", release=NEW), instance("orders-2")))


@pytest.mark.parametrize("release", ["3.6.2", "4.2.0"])
def test_any_newer_release_without_upgrade_from_beside_an_old_one_is_refused(release: str) -> None:
    """The format changed in 3.5, whatever the target of this run is."""
    with pytest.raises(Refused, match=rf"orders-2 already runs {release} without upgrade\.from=3\.4 beside orders-1"):
        plan_of(reading(instance("orders-1"), instance("orders-2", release=release)))


def test_upgrade_from_of_a_newer_minor_guards_nothing() -> None:
    """With upgrade.from=3.5 an instance writes what 3.4 misreads."""
    mixed = reading(
        instance("orders-1", release=NEW, settings=(("upgrade.from", "3.5"),)),
        instance("orders-2"),
    )
    with pytest.raises(Refused, match=r"orders-1 already runs 4\.3\.1 without upgrade\.from=3\.4"):
        plan_of(mixed)


def test_a_second_bounce_that_another_run_left_half_done_is_finished() -> None:
    """Every instance runs the new release and reads both formats; but there is no plain way back any more."""
    half = plan_of(reading(instance("orders-1", release=NEW), instance("orders-2", release=NEW, **GUARDED)))
    assert [bounce.number for bounce in half.bounces] == [1, 2]
    assert half.undo == ("no plain way back any more: orders-1 writes the new record format already",)


def test_undo_names_the_release_that_ran() -> None:
    """The way back is a release, with what it costs."""
    assert plan_of(reading()).undo[0] == (
        "until bounce 2: every instance back to 3.4.1, local state cleared first (it is restored from the changelogs)"
    )
    restores = ("customers", "orders-counts-changelog")
    named = bump_plan(reading(), declared(), NEW, upgrade_path_rules(), (), (), "code", restores)
    assert named.undo[0].endswith("local state cleared first (it is restored from customers, orders-counts-changelog)")


@pytest.mark.parametrize(
    ("releases", "back"),
    [
        ((OLD, NEW), "3.4.1, the only 3.4 release declared (which one ran before bounce 1 is not known to this run)"),
        (("3.4.0", OLD, NEW), "a 3.4 release (which one ran before bounce 1 is not known to this run)"),
        ((NEW,), "a 3.4 release (which one ran before bounce 1 is not known to this run)"),
    ],
)
def test_undo_of_a_resumed_bump_says_that_the_old_release_is_not_known(releases: tuple[str, ...], back: str) -> None:
    """Only its minor is: upgrade.from=3.4 is no release that a deployer could be given."""
    now = reading(*(instance(f"orders-{n}", release=NEW, **GUARDED) for n in (1, 2)))
    entry = declared(releases=releases)
    made = bump_plan(now, entry, NEW, upgrade_path_rules(), (), (), "code")
    assert made.undo[0].startswith(f"until bounce 2: every instance back to {back}, local state cleared")


def test_unknown_and_equal_targets_are_bad_input() -> None:
    """One sentence, before anything is changed."""
    with pytest.raises(BadInput, match=r"release 9\.9\.9: not declared for orders \(declared 3\.4\.1, 4\.3\.1\)"):
        plan_of(reading(), "9.9.9")
    with pytest.raises(BadInput, match="already runs"):
        plan_of(reading(), OLD)


def test_missing_topics_make_no_plan() -> None:
    """The plan binds topic ids."""
    with pytest.raises(Inconclusive):
        plan_of(replace(reading(), topics=Missing("timed out")))


def judged(now: ApplicationReading, age_ms: int = 0, **changes: object) -> tuple[Outcome, str]:
    verdict = ready_for_change(now, declared(**changes), age_ms, 30_000)
    return verdict.outcome, " ".join(verdict.reasons)


def test_a_healthy_application_is_ready() -> None:
    """Nothing to say against it."""
    assert judged(reading())[0] is Outcome.PROCEED


@pytest.mark.parametrize(
    ("now", "sentence"),
    [
        (
            reading(down("orders-1"), down("orders-2")),
            "application orders: no instance runs (expected 2); start it first",
        ),
        (
            reading(instance("orders-1"), down("orders-2")),
            "orders-2 is DOWN (its process is stopped)",
        ),
        (reading(instance("orders-1", state="REBALANCING"), instance("orders-2")), "REBALANCING (expected RUNNING)"),
        (reading(instance("orders-1", state="ERROR"), instance("orders-2")), "ERROR (expected RUNNING)"),
        (reading(instance("orders-1", failed_threads=2), instance("orders-2")), "2 failed threads (limit 0)"),
        (reading(instance("orders-1", application_id="other"), instance("orders-2")), "application.id other"),
        (
            reading(group=GroupReading(Taken(1, "t"), "orders", "streams", "Stable", ())),
            "is a streams group (KIP-1071)",
        ),
        (reading(group=GroupReading(Taken(1, "t"), "orders", "classic", "Empty", ())), "Empty (expected Stable)"),
        (
            reading(
                group=GroupReading(
                    Taken(1, "t"),
                    "orders",
                    "classic",
                    "Stable",
                    (member("orders-1"), member("orders-2"), member("rogue")),
                )
            ),
            "member rogue-client-StreamThread-1-consumer on /127.0.0.1 belongs to no declared instance",
        ),
    ],
)
def test_what_is_wrong_refuses_with_one_sentence(now: ApplicationReading, sentence: str) -> None:
    """Object, observed, limit, next action."""
    outcome, said = judged(now)
    assert outcome is Outcome.REFUSE
    assert sentence in said


def test_an_old_reading_is_refused() -> None:
    """Nothing is decided from the past."""
    assert judged(reading(), age_ms=31_000) == (
        Outcome.REFUSE,
        "reading of orders: 31 s old (limit 30 s); clear `observe` and what follows it",
    )


def test_a_wrong_declaration_of_membership_is_refused() -> None:
    """The cost and the handling of members hang on it."""
    assert "static_membership: false; correct the declaration" in judged(reading(), static_membership=False)[1]


def test_missing_readings_are_inconclusive() -> None:
    """Missing data is never OK."""
    blind = replace(instance("orders-2"), streams=Missing("metrics of orders-2: connection refused"))
    assert judged(reading(instance("orders-1"), blind))[0] is Outcome.INCONCLUSIVE
    assert judged(replace(reading(), broker=Missing("timed out")))[0] is Outcome.INCONCLUSIVE
    assert judged(reading(partitions=Missing("timed out")))[0] is Outcome.INCONCLUSIVE


def test_auto_create_is_a_danger_finding_also_when_unknown() -> None:
    """Shown in the approval."""
    for auto_create in (True, Missing("not authorized")):
        verdict = ready_for_change(reading(auto_create=auto_create), declared(), 0, 30_000)
        assert [(finding.id, finding.severity) for finding in verdict.findings] == [("auto-create-enabled", "danger")]


def at(release: str, target: str, *others: str, guarantee: str = "exactly_once_v2", **settings: str) -> Plan:
    """The plan of two instances of `release` to `target`, with `others` declared too."""
    deployed = tuple((name.replace("_", "."), value) for name, value in settings.items())
    now = reading(*(instance(f"orders-{n}", release=release, settings=deployed) for n in (1, 2)))
    entry = declared(releases=(release, target, *others), processing_guarantee=guarantee)
    return bump_plan(now, entry, target, upgrade_path_rules(), (), (), "code")


def test_a_guarantee_that_nobody_knows_stops_where_it_would_change_the_way() -> None:
    """Missing data is never OK, and it is asked for only where it matters."""
    with pytest.raises(Inconclusive, match="declare processing_guarantee in the fleet entry"):
        at(OLD, NEW, guarantee="unknown")
    assert at("4.1.1", NEW, guarantee="unknown").bounces[0].release == NEW


def test_a_guarantee_that_a_runbook_has_set_is_known() -> None:
    """It stands in the deployment's settings, and it stays there."""
    settings = (("processing.guarantee", "exactly_once_v2"),)
    now = reading(*(instance(f"orders-{n}", settings=settings) for n in (1, 2)))
    made = plan_of(now)
    assert "missing-guarantee" not in {finding.id for finding in made.findings}
    assert [dict(bounce.settings) for bounce in made.bounces] == [
        {"upgrade.from": "3.4", **dict(settings)},
        dict(settings),
    ]


def test_a_bridge_is_the_first_of_two_runs() -> None:
    """Each run derives its leg from what runs: the plan of the first shows the second."""
    first = at("2.3.1", NEW, "3.9.1", guarantee="at_least_once")
    assert [(one.release, one.settings) for one in first.bounces] == [
        ("3.9.1", (("upgrade.from", "2.3"),)),
        ("3.9.1", ()),
    ]
    assert (first.title, first.then) == ("library bump to 4.3.1, this run to 3.9.1", ("1 bounce: 4.3.1",))
    second = at("3.9.1", NEW, guarantee="at_least_once")
    assert ([one.release for one in second.bounces], second.then) == ([NEW], ())


def test_a_bridge_that_is_not_declared_is_bad_input() -> None:
    """Nobody can deploy it."""
    with pytest.raises(BadInput, match=r"the way leads over 3\.9\.2 .*build that release and add it"):
        at("2.3.1", NEW, guarantee="at_least_once")


def test_an_eos_step_is_a_run_on_the_release_that_runs() -> None:
    """exactly_once is gone in 4.0: the guarantee changes first, then the library, and what was set stays set."""
    first = at(OLD, NEW, guarantee="exactly_once")
    assert [(one.release, one.settings) for one in first.bounces] == [
        (OLD, (("processing.guarantee", "exactly_once_v2"),))
    ]
    assert first.then == ("2 bounces: 4.3.1, upgrade.from=3.4; then 4.3.1",)
    second = at(OLD, NEW, guarantee="exactly_once", processing_guarantee="exactly_once_v2")
    assert [dict(one.settings) for one in second.bounces] == [
        {"processing.guarantee": "exactly_once_v2", "upgrade.from": "3.4"},
        {"processing.guarantee": "exactly_once_v2"},
    ]


def test_a_bounce_left_half_done_from_3_3_goes_on() -> None:
    """With foreign-key joins 3.3 is guarded by upgrade.from=3.4: that is no newer format."""
    half = reading(
        instance("orders-1", release=NEW, settings=(("upgrade.from", "3.4"),)), instance("orders-2", release="3.3.2")
    )
    made = bump_plan(half, declared(releases=("3.3.2", NEW)), NEW, upgrade_path_rules(), (), (), "code")
    assert [dict(bounce.settings) for bounce in made.bounces] == [{"upgrade.from": "3.4"}, {}]


@pytest.mark.parametrize("done", [0, 1, 2])
def test_a_guarantee_that_changes_in_the_bounce_stays_and_is_no_difference_when_it_is_half_done(done: int) -> None:
    """4.0 knows exactly_once_beta as exactly_once_v2 only: bounce 2 keeps it, and so does a run that goes on."""
    switched = (("processing.guarantee", "exactly_once_v2"), ("upgrade.from", "3.4"))
    taken = [instance(f"orders-{n}", release=NEW, settings=switched) for n in range(1, done + 1)]
    left = [instance(f"orders-{n}") for n in range(done + 1, 3)]
    entry = declared(processing_guarantee="exactly_once_beta")
    made = bump_plan(reading(*taken, *left), entry, NEW, upgrade_path_rules(), (), (), "code")
    assert [one.settings for one in made.bounces] == [switched, switched[:1]]


def test_a_guarantee_that_only_the_newer_release_has_does_not_stop_a_bump_that_goes_on() -> None:
    """2.8 calls exactly_once_v2 exactly_once_beta: after bounce 1 the one is set, and the other is still declared."""
    switched = (("processing.guarantee", "exactly_once_v2"), ("upgrade.from", "2.8"))
    entry = declared(releases=("2.8.2", NEW), processing_guarantee="exactly_once_beta")
    fresh = reading(*(instance(f"orders-{n}", release="2.8.2") for n in (1, 2)))
    half = reading(*(instance(f"orders-{n}", release=NEW, settings=switched) for n in (1, 2)))
    for now in (fresh, half):
        made = bump_plan(now, entry, NEW, upgrade_path_rules(), (), (), "code")
        assert [one.settings for one in made.bounces] == [switched, switched[:1]]
