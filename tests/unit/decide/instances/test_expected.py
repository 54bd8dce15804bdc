"""A guard sees what somebody else did to a topic, and never what its own run announced."""

import pytest
from kstreams_runbooks.decide.instances.expected import expected_now
from kstreams_runbooks.decide.instances.guards import nothing_drifted
from kstreams_runbooks.decide.instances.verification import change_verified, topic_drift, undo_verified
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.model.readings.readings import TopicReading
from kstreams_runbooks.model.runs.own_changes import NO_CHANGES, OwnChanges, TopicChange
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.rules import upgrade_path_rules
from world.samples import NEW, declared, instance, partition, reading

PLANNED = (("orders", "id-1", 4),)
GROWN = TopicChange("orders", "id-1", 8)
DELETED = TopicChange("orders", "id-1", 0)
ANNOUNCED = TopicChange("control", "", 4, created=True)
CREATED = TopicChange("control", "id-7", 4, created=True)
AGAIN = TopicChange("orders", "id-8", 4, created=True)
LEFT = TopicChange("orders", "id-1", 0, again=True)


def drift(own: tuple[TopicChange, ...], **now: tuple[str, int]) -> list[str]:
    """What is said of topics that the cluster has now, by name: id and partitions."""
    topics = {name: TopicReading(name, *of) for name, of in now.items()}
    return [said for one in expected_now(PLANNED, OwnChanges(own)) for said in one.drift(topics.get(one.name))]


@pytest.mark.parametrize(
    ("own", "now"),
    [
        ((), {"orders": ("id-1", 4)}),
        ((GROWN,), {"orders": ("id-1", 4)}),
        ((GROWN,), {"orders": ("id-1", 8)}),
        ((DELETED,), {"orders": ("id-1", 4)}),
        ((DELETED,), {}),
        ((ANNOUNCED,), {"orders": ("id-1", 4)}),
        ((ANNOUNCED,), {"orders": ("id-1", 4), "control": ("id-7", 4)}),
        ((CREATED,), {"orders": ("id-1", 4), "control": ("id-7", 4)}),
        ((DELETED, AGAIN), {"orders": ("id-8", 4)}),
        # The application creates it again, with the id and the number that come of it.
        ((LEFT,), {"orders": ("id-1", 4)}),
        ((LEFT,), {}),
        ((LEFT,), {"orders": ("id-8", 6)}),
        ((TopicChange("other", "id-5", 8),), {"orders": ("id-1", 4), "other": ("id-5", 8)}),
    ],
)
def test_its_own_change_is_no_drift(own: tuple[TopicChange, ...], now: dict[str, tuple[str, int]]) -> None:
    """Announced and not made yet, or made."""
    assert drift(own, **now) == []


@pytest.mark.parametrize(
    ("own", "now", "said"),
    [
        ((), {}, "topic orders: gone (id id-1 in the plan)"),
        ((), {"orders": ("id-1", 8)}, "topic orders: 8 partitions (in the plan 4)"),
        ((), {"orders": ("id-2", 4)}, "topic orders: recreated (id id-2, in the plan id-1); its records are lost"),
        ((GROWN,), {}, "topic orders: gone (id id-1 in the plan)"),
        ((GROWN,), {"orders": ("id-1", 6)}, "topic orders: 6 partitions (in the plan 4 or 8)"),
        ((DELETED,), {"orders": ("id-2", 4)}, "topic orders: created again (id id-2) after this run deleted it"),
        ((CREATED,), {"orders": ("id-1", 4)}, "topic control: gone (id id-7 of this run)"),
        (
            (CREATED,),
            {"orders": ("id-1", 4), "control": ("id-9", 4)},
            "topic control: recreated (id id-9, of this run id-7); its records are lost",
        ),
        ((ANNOUNCED,), {"orders": ("id-1", 4), "control": ("id-7", 5)}, "topic control: 5 partitions (of this run 4)"),
        ((DELETED, AGAIN), {}, "topic orders: gone (id id-8 of this run)"),
        (
            (DELETED, AGAIN),
            {"orders": ("id-1", 4)},
            "topic orders: recreated (id id-1, of this run id-8); its records are lost",
        ),
    ],
)
def test_what_somebody_else_did_is(own: tuple[TopicChange, ...], now: dict[str, tuple[str, int]], said: str) -> None:
    """With the id and the number that the run brought about, or found."""
    assert drift(own, **now) == [said]


@pytest.fixture
def plan() -> Plan:
    """A bump of the sample application, whose topic has one partition."""
    return bump_plan(reading(), declared(), NEW, upgrade_path_rules(), (), (("max_lag", 1000.0),), "c0de")


def test_guards_and_proofs_take_the_changes_of_the_run(plan: Plan) -> None:
    """The same reading is drift without them."""
    now = reading(instance("orders-1", release=NEW), instance("orders-2", release=NEW))
    grown = OwnChanges((TopicChange("orders", "id-1", 1), TopicChange("control", "id-7", 4, created=True)))
    gone = ["topic control: gone (id id-7 of this run)"]
    assert list(topic_drift(plan, now, grown)) == gone
    assert nothing_drifted(now, plan, "orders-1", 2, own=grown).reasons == tuple(gone)
    assert nothing_drifted(now, plan, "orders-1", 2, own=NO_CHANGES).outcome is Outcome.PROCEED
    for found in (change_verified(now, now, now, plan, grown), undo_verified(now, now, plan, grown)):
        assert found.reasons[:-1] == tuple(gone)
        assert "accept the present topics with `kstreams-runbooks trigger fleet_check" in found.reasons[-1]


def test_offsets_that_the_run_set_may_go_back(plan: Plan) -> None:
    """Only on the topics that its cards name."""
    new = (instance("orders-1", release=NEW), instance("orders-2", release=NEW))
    before, after = reading(*new, partitions=(partition(90),)), reading(*new, partitions=(partition(10, 10),))
    refused = change_verified(before, after, after, plan)
    assert refused.reasons[:-1] == ("orders-0: committed went back from 90 to 10",)
    assert refused.reasons[-1].endswith("judge the application again with `kstreams-runbooks trigger fleet_check`")
    other = OwnChanges(offsets=("elsewhere",))
    assert change_verified(before, after, after, plan, other) == refused
    assert change_verified(before, after, after, plan, OwnChanges(offsets=("orders",))).outcome is Outcome.PROCEED
