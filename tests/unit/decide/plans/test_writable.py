"""Rights and healthy topics before the first write: what is denied refuses, what was not read is inconclusive."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.plans.writable import may_write, planned_writes
from kstreams_runbooks.ledger.codec import call_again, encode_call
from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.model.readings.touched import GroupRights, HiddenTopic, TopicState, TouchedReading
from kstreams_runbooks.model.runs.object_stages import (
    AskPerson,
    CreateTopics,
    DeleteGroups,
    DeleteOffsets,
    DeleteRecords,
    DeleteTopics,
    GrowTopics,
    SetOffsets,
)
from kstreams_runbooks.model.runs.plan import Plan, PlanFacts
from kstreams_runbooks.model.runs.stages import Bounce, ClearState, StartAll, StopAll
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.model.writes import PlannedWrite, TopicShape, WriteKind

EVERY = ("ALTER", "CREATE", "DELETE", "DESCRIBE", "READ", "WRITE")
TOPIC = TopicState("in", "id-1", 2, 3, EVERY)
NEW = TopicState("new", "", 0, 0, EVERY)
READING = TouchedReading(Taken(0, "x"), ("DESCRIBE",), True, (), (TOPIC, NEW), (GroupRights("app", EVERY),))
# Kind of write, the operation on its topic and the one on its group.
NEEDED: tuple[tuple[WriteKind, str, str], ...] = (
    ("create_topics", "CREATE", ""),
    ("grow_topics", "ALTER", ""),
    ("delete_topics", "DELETE", ""),
    ("delete_records", "DELETE", ""),
    ("set_offsets", "READ", "READ"),
    ("delete_offsets", "READ", "DELETE"),
    ("delete_groups", "", "DELETE"),
)
ALL = tuple(
    PlannedWrite(kind, ("new" if kind == "create_topics" else "in",) if on_topic else (), "app" if on_group else "")
    for kind, on_topic, on_group in NEEDED
)


def without(operation: str) -> tuple[str, ...]:
    return tuple(one for one in EVERY if one != operation)


def one_of(kind: WriteKind) -> tuple[PlannedWrite, ...]:
    return tuple(write for write in ALL if write.kind == kind)


def test_each_stage_that_writes_is_a_planned_write() -> None:
    """In the order of the plan; a start and a bounce write to nothing, a stop to the group alone."""
    stages = (
        StopAll(1),
        CreateTopics(2, (TopicShape("new", 2),)),
        GrowTopics(3, (("in", 4),)),
        DeleteTopics(4, ("in",)),
        DeleteRecords(5, ("in",)),
        SetOffsets(6, "app", ("in",), "start"),
        DeleteOffsets(7, "app", ("in",)),
        DeleteGroups(8, ("app", "other"), side="green"),
        ClearState(9),
        AskPerson(10, "look", "look again"),
        StartAll(11, "4.3.1", ()),
        Bounce(12, "4.3.1", ()),
    )
    facts = PlanFacts("classic", (("in", "id-1", 2),), (), (), static_membership=True, code="c0de")
    plan = Plan("reset", "orders", "demo", (), (), stages, facts, (), (), (), "a reset", "none")
    stop = PlannedWrite("empty_group", ("in",), "app")
    assert planned_writes(plan, {"": "app"}) == (stop, *ALL, PlannedWrite("delete_groups", (), "other"))
    assert planned_writes(replace(plan, stages=stages[-2:]), {"": "app"}) == ()


def test_a_stop_needs_read_on_the_group_and_healthy_topics_and_no_right_on_them() -> None:
    """Members of stopped instances are removed; the start restores from the topics."""
    stop = (PlannedWrite("empty_group", ("in",), "app"),)
    bare = replace(READING, topics=(replace(TOPIC, operations=()),), groups=(GroupRights("app", ("READ",)),))
    assert may_write(bare, stop).outcome is Outcome.PROCEED
    denied = may_write(replace(bare, groups=(GroupRights("app", ("DESCRIBE",)),)), stop)
    assert (denied.outcome, "may not empty group; grant it Read on Group app" in denied.sentence) == (
        Outcome.REFUSE,
        True,
    )
    sick = may_write(replace(bare, topics=(replace(TOPIC, under_replicated=(1,)),)), stop)
    assert (sick.outcome, "partition 1 with fewer replicas in sync" in sick.sentence) == (Outcome.REFUSE, True)


def test_with_every_right_and_healthy_topics_it_may() -> None:
    assert may_write(READING, ALL).outcome is Outcome.PROCEED
    assert may_write(READING, ()).outcome is Outcome.PROCEED


@pytest.mark.parametrize(("kind", "operation", "_"), [row for row in NEEDED if row[1]])
def test_each_write_needs_its_operation_on_the_topic(kind: WriteKind, operation: str, _: str) -> None:
    """Without it: refused with the right. With it alone: allowed. Not reported: inconclusive."""
    write = one_of(kind)
    name = write[0].topics[0]

    def answer(operations: tuple[str, ...] | Missing) -> tuple[Outcome, str]:
        topics = tuple(replace(one, operations=operations) for one in (TOPIC, NEW))
        verdict = may_write(replace(READING, topics=topics), write)
        return verdict.outcome, verdict.sentence

    outcome, sentence = answer(without(operation))
    assert outcome is Outcome.REFUSE
    assert (
        f"topic {name}: this login may not {kind.replace('_', ' ')}; grant it {operation.title()} on Topic" in sentence
    )
    assert answer((operation,))[0] is Outcome.PROCEED
    assert answer(Missing("an old broker"))[0] is Outcome.INCONCLUSIVE
    denied = tuple(replace(one, operations=without(operation)) for one in (TOPIC, NEW))
    named = may_write(replace(READING, topics=denied, principal="User:ada"), write)
    assert named.sentence == sentence.replace("this login", "login User:ada")


@pytest.mark.parametrize(("kind", "_", "operation"), [row for row in NEEDED if row[2]])
def test_each_write_of_offsets_needs_its_operation_on_the_group(kind: WriteKind, _: str, operation: str) -> None:
    def answer(*groups: GroupRights) -> tuple[Outcome, str]:
        verdict = may_write(replace(READING, groups=groups), one_of(kind))
        return verdict.outcome, verdict.sentence

    outcome, sentence = answer(GroupRights("app", without(operation)))
    assert outcome is Outcome.REFUSE
    assert f"grant it {operation.title()} on Group app" in sentence
    assert answer(GroupRights("app", (operation,)))[0] is Outcome.PROCEED
    assert answer(GroupRights("app", Missing("hidden")))[0] is Outcome.INCONCLUSIVE
    assert answer() == (Outcome.INCONCLUSIVE, "inconclusive: group app was not read")


def test_create_on_the_cluster_is_enough_to_create_a_topic() -> None:
    for operations in (without("CREATE"), Missing("an old broker")):
        topics = (TOPIC, replace(NEW, operations=operations))
        denied = replace(READING, topics=topics)
        assert may_write(denied, one_of("create_topics")).outcome is not Outcome.PROCEED
        assert may_write(replace(denied, cluster=("CREATE",)), one_of("create_topics")).outcome is Outcome.PROCEED
        assert may_write(replace(denied, cluster=Missing("x")), one_of("create_topics")).outcome is not Outcome.PROCEED


def test_brokers_that_delete_no_topics() -> None:
    """Their setting concerns nothing but the deletion of topics."""
    for found, outcome in ((False, Outcome.REFUSE), (Missing("grant DescribeConfigs"), Outcome.INCONCLUSIVE)):
        reading = replace(READING, deletes_topics=found)
        assert may_write(reading, one_of("delete_topics")).outcome is outcome
        others = tuple(write for write in ALL if write.kind != "delete_topics")
        assert may_write(reading, others).outcome is Outcome.PROCEED


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (replace(READING, reassigned=("in-1", "in-1-x-0")), "replicas of in-1 are being moved"),
        (replace(READING, topics=(replace(TOPIC, under_replicated=(0, 1)), NEW)), "in: partitions 0, 1 with fewer"),
        (replace(READING, topics=(replace(TOPIC, leaderless=(1,)), NEW)), "in: partition 1 without a leader"),
    ],
)
def test_a_topic_that_is_not_healthy_is_not_touched(changed: TouchedReading, says: str) -> None:
    verdict = may_write(changed, one_of("grow_topics"))
    assert verdict.outcome is Outcome.REFUSE
    assert says in verdict.sentence
    # A topic that is created has no replicas yet, and the other one is not touched.
    assert may_write(changed, one_of("create_topics")).outcome is Outcome.PROCEED


def test_offsets_that_cannot_be_saved_keep_a_group_from_being_deleted() -> None:
    """A deleted group loses its offsets on hidden topics as well; those of one topic can be deleted."""
    for hidden, says in ((("secret",), "secret; grant it Describe"), (Missing("Describe on Cluster"), "on Cluster")):
        reading = replace(READING, hidden=hidden)
        verdict = may_write(reading, one_of("delete_groups"))
        assert verdict.outcome is Outcome.INCONCLUSIVE
        assert says in verdict.sentence
        assert may_write(reading, one_of("delete_offsets")).outcome is Outcome.PROCEED


def test_missing_is_never_ok() -> None:
    hidden = HiddenTopic("topic in is not visible to this login; grant it Describe on Topic in", name="in")
    for reading, says in (
        (replace(READING, topics=(hidden, NEW)), "grant it Describe on Topic in"),
        (replace(READING, topics=(NEW,)), "topic in was not read"),
        (replace(READING, reassigned=Missing("grant it Describe on Cluster")), "grant it Describe on Cluster"),
    ):
        verdict = may_write(reading, one_of("delete_records"))
        assert verdict.outcome is Outcome.INCONCLUSIVE
        assert says in verdict.sentence
    # What is certain refuses, and what was not read is shown with it.
    both = replace(READING, topics=(replace(TOPIC, operations=()), NEW), reassigned=Missing("not visible"))
    verdict = may_write(both, one_of("delete_records"))
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons[-1] == "not visible"


def test_it_is_decided_again_from_the_evidence() -> None:
    hidden = HiddenTopic("topic in is not visible", name="in")
    for reading in (READING, replace(READING, topics=(hidden, NEW), cluster=Missing("x"), deletes_topics=False)):
        payload = encode_call(may_write, {"reading": reading, "writes": ALL}, may_write(reading, ALL))
        assert call_again(may_write, payload) == payload["result"]
