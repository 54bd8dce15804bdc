"""An instance that does not start on another release goes back by itself only if nothing speaks against it."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.change.without_topology import NOT_COMPARED
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.decide.plans.set_back import FailedStart, may_be_set_back, with_set_back
from kstreams_runbooks.model.local_state import FileTimes, TaskDirectories
from kstreams_runbooks.model.readings.readings import ApplicationReading, Deployment, GroupReading, Missing, Taken
from kstreams_runbooks.model.readings.reset import LocalTimes
from kstreams_runbooks.model.runs.object_stages import CreateTopics
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.verdicts import Finding, Outcome
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets
from kstreams_runbooks.rules import upgrade_path_rules
from world.samples import BOUNCE_1, BOUNCE_2, NEW, OLD, declared, down, instance, reading

GUARD = BOUNCE_1.settings
RULES = upgrade_path_rules()
LIMITS = (("max_lag", 1000.0),)


def bump(now: ApplicationReading, target: str = NEW, **entry: Any) -> Plan:
    """The plan of a bump."""
    return bump_plan(now, declared(**entry), target, RULES, (), LIMITS, "code")


def bounce(now: ApplicationReading, *, at_once: bool = False, restart: bool = False, **settings: str | None) -> Plan:
    """The plan of other settings on the same release, or of a restart."""
    given = {name.replace("_", "."): value for name, value in settings.items()}
    return restart_plan(now, declared(), None, given, (), LIMITS, "code", at_once=at_once, restart=restart)


def backs(plan: Plan, now: ApplicationReading, *, acts: bool = True, **entry: Any) -> tuple[list[int], tuple[str, ...]]:
    """The bounces from which an instance goes back by itself, and the sentences about them."""
    made = with_set_back(plan, now, declared(**entry), RULES, acts=acts)
    return [one.number for one in made.bounces if one.back], made.undo[: len(made.undo) - len(plan.undo)]


def test_the_first_bounce_of_a_bump_goes_back_and_the_last_does_not() -> None:
    """From the second on, 3.4.1 misreads what is written; the sentence has the condition of the files."""
    numbers, said = backs(bump(reading()), reading())
    assert numbers == [1]
    assert said == (
        "by itself: if an instance does not start on 4.3.1 with upgrade.from=3.4, it is set back to 3.4.1 and started, "
        "if its task directories are as at its stop; the run then stops",
    )


def test_the_digest_binds_it_and_a_plan_without_it_stays_as_it_was() -> None:
    """What was approved is what is done."""
    plan = bump(reading())
    assert with_set_back(plan, reading(), declared(), RULES, acts=False).digest == plan.digest
    assert with_set_back(plan, reading(), declared(), RULES, acts=True).digest != plan.digest


def test_other_settings_go_back_without_a_condition() -> None:
    """One library opens its own files; all at once, all of them go back."""
    of_one = "by itself: if an instance does not start on 3.4.1 with num.stream.threads=2, it is set back to 3.4.1 and "
    assert backs(bounce(reading(), num_stream_threads="2"), reading()) == (
        [1],
        (f"{of_one}started; the run then stops",),
    )
    numbers, [said] = backs(bounce(reading(), at_once=True, num_stream_threads="2"), reading())
    assert numbers == [1]
    assert said == (
        "by itself: if no instance starts on 3.4.1 with num.stream.threads=2, all of them are set back to 3.4.1 and "
        "started; the run then stops"
    )


def test_a_path_in_one_bounce_goes_back() -> None:
    """4.1 to 4.2: nothing between them misreads."""
    now = reading(instance("orders-1", release="4.1.1"), instance("orders-2", release="4.1.1"))
    entry: dict[str, Any] = {"releases": ("4.1.1", "4.2.0"), "uses": ()}
    assert backs(bump(now, "4.2.0", **entry), now, **entry)[0] == [1]


def test_a_downgrade_within_one_minor_goes_back_and_one_that_clears_state_does_not() -> None:
    """What was deleted is not as it was."""
    now = reading(instance("orders-1", release="3.9.1"), instance("orders-2", release="3.9.1"))
    for old, numbers in (("3.9.0", [2]), (OLD, [1])):
        entry: dict[str, Any] = {"releases": (old, "3.9.1")}
        assert backs(bump(now, old, **entry), now, **entry)[0] == numbers


@pytest.mark.parametrize(
    "changed",
    [
        {"findings": (Finding(NOT_COMPARED, "danger", "orders", "accepted", "source"),)},
        {"stages": (CreateTopics(1, ()), replace(BOUNCE_1, number=2))},
        {"stages": (replace(BOUNCE_1, must_clear=True),)},
        {"stages": (replace(BOUNCE_1, clear_state=True),)},
        {"stages": (replace(BOUNCE_1, deletes=TaskDirectories(("1_",))),)},
        {"stages": (Bounce(1, OLD, (), again=True),)},
        # Without its guard 3.4.1 misreads what a table aggregation writes.
        {"stages": (Bounce(1, NEW, ()),)},
    ],
)
def test_a_plan_that_takes_the_way_back_away_promises_none(changed: dict[str, Any]) -> None:
    """Near: the same plan as it was made."""
    plan = bump(reading())
    assert backs(replace(plan, **changed), reading()) == ([], ())
    assert backs(plan, reading())[0] == [1]


def test_a_person_who_deploys_is_asked_by_undo() -> None:
    """Its deployer changes nothing itself."""
    assert backs(bump(reading()), reading(), acts=False) == ([], ())


def test_the_bounce_that_takes_the_guard_away_has_no_way_back() -> None:
    """Also in a run that continues an unfinished bump, and as its only bounce."""
    now = reading(*(instance(name, release=NEW, settings=GUARD) for name in ("orders-1", "orders-2")))
    plan = bump(now)
    assert backs(plan, now) == ([], ())
    alone = replace(plan, stages=(replace(plan.bounces[1], number=1),))
    assert not alone.ends_way_back(alone.bounces[0])
    assert backs(alone, now) == ([], ())


BACK = replace(BOUNCE_1, back=True)
TIMES = {"0_0": FileTimes(1, 9), "global": FileTimes(2, 3)}
BEFORE = DeployedInstance("orders-1", OLD, (), OLD)
FAILED = FailedStart(
    (BEFORE,), past=False, noted=(LocalTimes("orders-1", TIMES),), now=(LocalTimes("orders-1", dict(TIMES)),)
)
NOW = reading(down("orders-1", release=NEW, settings=GUARD), instance("orders-2"))


def judged(bounce: Bounce = BACK, failed: FailedStart = FAILED, now: ApplicationReading = NOW) -> str:
    """Why the instance does not go back by itself, empty if it does."""
    verdict = may_be_set_back(bounce, failed, now, RULES)
    return "" if verdict.outcome is Outcome.PROCEED else verdict.text


def test_an_instance_goes_back_on_state_that_is_as_it_was() -> None:
    """Down, on the settings of its bounce, before the point of no return."""
    assert judged() == ""
    none: dict[str, FileTimes] = {}
    stateless = replace(FAILED, noted=(LocalTimes("orders-1", none),), now=(LocalTimes("orders-1", none),))
    assert judged(failed=stateless) == ""


SET_OTHERWISE = reading(down("orders-1", release=NEW), instance("orders-2"))
UNREAD = reading(down("orders-1", release=Missing("no file")), instance("orders-2"))
LIVES = reading(instance("orders-1", release=NEW, settings=GUARD, state="ERROR"), instance("orders-2"))


@pytest.mark.parametrize(
    ("bounce", "failed", "now", "why"),
    [
        (BOUNCE_1, {}, NOW, "the plan that was approved has no way back by itself"),
        (BACK, {"past": True}, NOW, "the run is past its point of no return"),
        (BACK, {"before": ()}, NOW, "what ran before is not known"),
        (BACK, {}, SET_OTHERWISE, "orders-1 is set to release=4.3.1 (expected release=4.3.1, upgrade.from=3.4)"),
        (BACK, {}, UNREAD, "what orders-1 is set to cannot be read: no file"),
        (BACK, {}, LIVES, "the process of orders-1 is not known to be gone"),
        (BACK, {"noted": ()}, NOW, "the task directories of orders-1 are not known to be as at its stop"),
        (
            BACK,
            {"noted": (LocalTimes("orders-1", Missing("no disk")),)},
            NOW,
            "the task directories of orders-1 are not known to be as at its stop",
        ),
        (
            BACK,
            {"now": (LocalTimes("orders-1", Missing("no disk")),)},
            NOW,
            "whether the task directories of orders-1 have changed is not known: no disk",
        ),
        (
            BACK,
            {"now": (LocalTimes("orders-1", {**TIMES, "0_0": FileTimes(1, 10)}),)},
            NOW,
            "the task directories of orders-1 are not known to be as at its stop",
        ),
        (
            BACK,
            {"now": (LocalTimes("orders-1", {"0_0": FileTimes(1, 9)}),)},
            NOW,
            "the task directories of orders-1 are not known to be as at its stop",
        ),
        (
            BACK,
            {"now": (LocalTimes("orders-1", {**TIMES, "0_1": FileTimes(10, 10)}),)},
            NOW,
            "the task directories of orders-1 are not known to be as at its stop",
        ),
    ],
)
def test_each_condition_that_is_missing_leaves_the_way_to_undo(
    bounce: Bounce, failed: dict[str, Any], now: ApplicationReading, why: str
) -> None:
    """One after another, the rest as above; what cannot be read counts as changed."""
    assert judged(bounce, replace(FAILED, **failed), now).startswith(why)


def test_files_that_the_old_release_opens_need_no_proof() -> None:
    """3.9 leaves nothing that 3.4 does not open; the dead client's process is no harm either."""
    older = replace(BACK, release="3.9.1", settings=())
    seen = reading(instance("orders-1", release="3.9.1", state="ERROR"), instance("orders-2"))
    unseen = replace(FAILED, noted=(), now=(LocalTimes("orders-1", Missing("no disk")),))
    assert judged(older, unseen, seen) == ""
    stale = replace(older, undo_deletes=TaskDirectories(("1_",)))
    assert judged(stale, unseen, seen).startswith("the process of orders-1 is not known to be gone")


OFFSETS = SavedOffsets("orders", 1, (CommittedOffset("orders", 0, 7),))
EMPTY = GroupReading(Taken(1, "test"), "orders", "classic", "Empty", ())
BOTH = replace(BOUNCE_2, number=1, release="3.9.1", back=True)
DOWN = tuple(down(name, release="3.9.1") for name in ("orders-1", "orders-2"))
TOGETHER = FailedStart(
    tuple(DeployedInstance(name, OLD, (), OLD) for name in ("orders-1", "orders-2")),
    past=False,
    now=tuple(LocalTimes(name, {}) for name in ("orders-1", "orders-2")),
    at_rest=OFFSETS,
    committed=replace(OFFSETS, at_ms=9),
)


def test_all_go_back_together_if_none_has_read_anything() -> None:
    """The group is EMPTY and has committed nothing since it was."""
    assert judged(BOTH, TOGETHER, reading(*DOWN, group=EMPTY)) == ""


@pytest.mark.parametrize(
    ("failed", "now", "why"),
    [
        ({}, reading(DOWN[0], instance("orders-2", release="3.9.1"), group=EMPTY), "orders-2 may run the new release"),
        ({}, reading(*DOWN, group=reading().group), "group orders has 2 members of the new release"),
        (
            {"committed": SavedOffsets("orders", 9, (CommittedOffset("orders", 0, 8),))},
            reading(*DOWN, group=EMPTY),
            "the new release has committed offsets",
        ),
        (
            {"committed": Missing("no broker")},
            reading(*DOWN, group=EMPTY),
            "whether the new release has committed offsets is not known: no broker",
        ),
        (
            {"at_rest": Missing("not read")},
            reading(*DOWN, group=EMPTY),
            "whether the new release has committed offsets is not known: not read",
        ),
        (
            {"before": (TOGETHER.before[0], replace(TOGETHER.before[1], release="3.5.1"))},
            reading(*DOWN, group=EMPTY),
            "its instances ran different releases or settings before",
        ),
    ],
)
def test_what_the_new_release_may_have_read_leaves_the_way_to_undo(
    failed: dict[str, Any], now: ApplicationReading, why: str
) -> None:
    """Two topologies cannot share a group, and the old one may not read what the new one wrote."""
    assert judged(BOTH, replace(TOGETHER, **failed), now).startswith(why)


def test_a_group_that_cannot_be_read_is_not_empty() -> None:
    unread = replace(reading(*DOWN), group=Missing("no coordinator"))
    assert judged(BOTH, TOGETHER, unread) == "whether the group is empty is not known: no coordinator"


def test_an_unread_deployment_of_another_instance_may_run_the_new_release() -> None:
    second = DOWN[1]
    assert isinstance(second.deployment, Deployment)
    unread = reading(DOWN[0], replace(second, deployment=Missing("no answer")), group=EMPTY)
    assert "orders-2 may run the new release" in judged(BOTH, TOGETHER, unread)
