"""The last look at a bump."""

from dataclasses import replace

from kstreams_runbooks.decide.instances.guards import nothing_drifted
from kstreams_runbooks.decide.instances.verification import change_verified, undo_verified
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, TopicReading
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.rules import upgrade_path_rules
from world.samples import BOUNCE_1, NEW, declared, instance, partition, reading

PLAN = bump_plan(reading(), declared(), NEW, upgrade_path_rules(), (), (("max_lag", 10.0),), "code")
DONE = reading(instance("orders-1", release=NEW), instance("orders-2", release=NEW))


def verdict(after: ApplicationReading, earlier: ApplicationReading = DONE) -> tuple[Outcome, str]:
    found = change_verified(reading(), earlier, after, PLAN)
    return found.outcome, " ".join(one for one in found.reasons if not one.startswith("this run cannot prove it"))


def test_what_was_planned_runs_and_nothing_else_changed() -> None:
    """The plain case."""
    assert verdict(DONE)[0] is Outcome.PROCEED


def test_upgrade_from_left_behind_is_no_success() -> None:
    """The second bounce is what ends a bump."""
    half = reading(*(instance(f"orders-{n}", release=NEW, settings=BOUNCE_1.settings) for n in (1, 2)))
    assert verdict(half)[0] is Outcome.REFUSE


def test_a_recreated_topic_is_named_with_both_ids() -> None:
    """Same name, another id: its records are lost."""
    after = replace(DONE, topics=(TopicReading("orders", "id-2", 1),))
    assert verdict(after) == (
        Outcome.REFUSE,
        "topic orders: recreated (id id-2, in the plan id-1); its records are lost",
    )
    assert verdict(replace(DONE, topics=(TopicReading("orders", "id-1", 8),)))[0] is Outcome.REFUSE
    assert verdict(replace(DONE, topics=()))[1].startswith("topic orders: gone")


def test_an_offset_that_went_back_is_named() -> None:
    """Rewound is never fine."""
    assert verdict(replace(DONE, partitions=(partition(committed=50, stable=55),)))[1] == (
        "orders-0: committed went back from 100 to 50"
    )


def test_an_offset_that_is_gone_is_named() -> None:
    """A group that was deleted begins again."""
    assert verdict(replace(DONE, partitions=(partition(committed=None, stable=55),)))[1] == (
        "orders-0: committed offset gone (100 in the plan's reading)"
    )


def test_lag_waits_and_missing_is_inconclusive() -> None:
    """Traffic has peaks; missing data is never OK."""
    assert verdict(replace(DONE, partitions=(partition(committed=100, stable=200),)))[0] is Outcome.WAIT
    assert verdict(replace(DONE, partitions=Missing("timed out")))[0] is Outcome.INCONCLUSIVE
    assert verdict(replace(DONE, partitions=(partition(committed=101, stable=100),)))[0] is Outcome.INCONCLUSIVE
    assert verdict(replace(DONE, topics=Missing("timed out")))[0] is Outcome.INCONCLUSIVE


def test_running_without_progress_is_no_success() -> None:
    """Everything looks as planned, and a partition with records to read stands still."""
    earlier = replace(DONE, partitions=(partition(committed=100, stable=105),))
    assert verdict(replace(DONE, partitions=(partition(committed=100, stable=109),)), earlier) == (
        Outcome.WAIT,
        "no progress on orders-0 (5 to read, committed stays at 100)",
    )
    assert verdict(replace(DONE, partitions=(partition(committed=108, stable=109),)), earlier)[0] is Outcome.PROCEED
    assert verdict(DONE, replace(DONE, partitions=Missing("timed out")))[0] is Outcome.INCONCLUSIVE


def test_a_reading_before_without_offsets_proves_nothing() -> None:
    """What cannot be compared has not been shown not to have gone back."""
    blind = replace(reading(), partitions=Missing("timed out"))
    assert change_verified(blind, DONE, DONE, PLAN).outcome is Outcome.INCONCLUSIVE


def test_restoring_or_without_a_thread_is_not_done() -> None:
    """What the gate looks at is looked at once more."""
    for own, reason in (
        (instance("orders-1", release=NEW, restoring=3), "3 tasks restore"),
        (instance("orders-1", release=NEW, alive_threads=0), "no stream thread alive"),
    ):
        found, why = verdict(reading(own, instance("orders-2", release=NEW)))
        assert found is Outcome.WAIT
        assert reason in why


def test_a_side_without_a_bounce_runs_what_it_ran() -> None:
    """A run may change topics alone: the instances have to be as the plan found them, and are judged by name."""
    was = reading()
    plan = replace(bump_plan(was, declared(), NEW, upgrade_path_rules(), (), declared().limits, "c0de"), stages=())
    assert change_verified(was, was, was, plan).outcome is Outcome.PROCEED
    found = change_verified(was, DONE, DONE, plan)
    assert (found.outcome, found.reasons[0]) == (Outcome.REFUSE, "orders-1 runs 4.3.1 (planned 3.4.1)")
    drift = nothing_drifted(DONE, plan, "", 1)
    assert drift.outcome is Outcome.REFUSE
    assert "(planned as it is, at the start 3.4.1): it was changed" in drift.reasons[0]
    undone = undo_verified(was, was, plan)
    assert (undone.outcome, undone.reasons[0]) == (Outcome.PROCEED, "no instance had to go back")
