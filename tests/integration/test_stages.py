"""Stages that change topics and offsets, and their way back, on a real broker: ended anywhere, a rerun ends well."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.decide.instances.verification import topic_drift
from kstreams_runbooks.decide.plans.undo_cards import OtherCard, TakenBack, taken_back
from kstreams_runbooks.errors import Refused, WriteRefused
from kstreams_runbooks.ledger.card_facts import card_facts
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.model.readings.sides import NotedEnd, NotedEnds
from kstreams_runbooks.model.runs.cards import InstanceMoved, OffsetsSet, TopicCreated
from kstreams_runbooks.model.runs.ledger import Card, RunRecord
from kstreams_runbooks.model.runs.object_stages import (
    CreateTopics,
    DeleteGroups,
    DeleteOffsets,
    DeleteRecords,
    DeleteTopics,
    GrowTopics,
    SetOffsets,
)
from kstreams_runbooks.model.runs.plan import Plan, PlanFacts
from kstreams_runbooks.model.runs.stages import OtherStage, Stage, StartAll, StopAll
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets, TopicShape
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.ends import held_of
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from kstreams_runbooks.steps.plan.cards import own_changes
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.stages.announce import Announced
from kstreams_runbooks.steps.stages.moved import MovedGroup, require_seeds
from kstreams_runbooks.steps.stages.offsets import note_ends
from kstreams_runbooks.steps.stages.perform import perform
from kstreams_runbooks.steps.stages.seam import keep_seam
from lab.kafka import topic_of_ten
from lab.members import member_of
from world.given import Kafka
from world.new_ledger import new_ledger
from world.samples import reading


@pytest.fixture
def config(kafka: Kafka) -> dict[str, Any]:
    """The broker's librdkafka configuration."""
    return {"bootstrap.servers": kafka.bootstrap}


@pytest.fixture
def name(config: dict[str, Any]) -> Iterator[str]:
    """A topic of two partitions with ten records in its first one, and names for others that begin like it."""
    given = f"stage-{uuid.uuid4().hex[:8]}"
    topic_of_ten(config, given)
    yield given
    admin = AdminClient(config)
    for topic in admin.list_topics().topics:
        if topic.startswith(given):
            admin.delete_topics([topic])[topic].result()


@pytest.fixture
def run(config: dict[str, Any], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run of a pretended runbook, with a plan that binds the topic."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_SAVED_OFFSETS", str(tmp_path / "saved"))
    ledger = new_ledger(tmp_path / "ledger.db")
    record = ledger.start_run(RunRecord("", "cutover", "r", "orders", "demo", "oncall", False, "", {}, now_ms()))
    made = Run(record, "act", 1, ledger)
    vars(made)["kafka"] = config
    with ClusterReader(config) as reader:
        topics = tuple((one.name, one.topic_id, one.partitions) for one in reader.topics([name]))
    facts = PlanFacts("classic", topics, (), (), static_membership=True, code="c0de")
    plan = Plan("cutover", "orders", "demo", (), (), (), facts, (), (), (), "pretended", "none")
    ledger.store_plan(record.run_key, plan.digest, encode(plan))
    return made


def seen(run: Run, *names: str) -> ApplicationReading:
    """A reading with these topics as the broker has them."""
    with ClusterReader(run.kafka) as reader:
        return replace(reading(), topics=reader.topics(names))


def back(run: Run, *names: str) -> list[TakenBack]:
    """The judgement on each card of the run, last to first."""
    found = []
    for card in reversed(run.ledger.cards(run.key)):
        facts = card_facts(card)
        assert not isinstance(facts, InstanceMoved)
        other = OtherCard(card.seq, card.kind, card.what, card.undo, facts, done=card.done)
        found.append(taken_back(other, seen(run, *names)))
    return found


def undo(run: Run, *names: str) -> list[str]:
    """Take every card of the run back, each twice, as after a kill; the kinds of the stages."""
    cards = {card.seq: card for card in run.ledger.cards(run.key)}
    record = run.ledger.start_run(replace(run.record, dag_id="undo", run_key=""))
    other = replace(run, record=record)
    vars(other)["kafka"] = run.kafka
    stored = run.ledger.plan(run.key)
    assert stored is not None
    run.ledger.store_plan(record.run_key, str(run.ledger.plan_digest(run.key)), stored)
    kinds = []
    for number, one in enumerate((one for one in back(run, *names) if one.stage is not None), 1):
        stage = replace(one.stage, number=number)  # type: ignore[type-var] # every stage is a dataclass
        for _ in range(2):
            perform(other, stage, cards)  # type: ignore[arg-type] # as above
        kinds.append(stage.kind)  # type: ignore[union-attr] # as above
    return kinds


def committed(run: Run, group: str) -> dict[tuple[str, int], tuple[int, str]]:
    """The offsets of a group with their metadata."""
    with ClusterReader(run.kafka) as reader:
        return {one.place: (one.offset, one.metadata) for one in read_saved(reader, group).offsets}


def drift(run: Run, *names: str) -> list[str]:
    """What the guards would say of the topics now."""
    return list(topic_drift(run.plan(), seen(run, *names), own_changes(run)))


def test_a_topic_is_created_once_and_goes_with_the_undo(run: Run, name: str) -> None:
    """Its id is on the card, not in the plan; a rerun finds its own, and the guard sees neither."""
    control, digest = f"{name}-control", run.plan().digest
    stage = CreateTopics(1, (TopicShape(control, 3, 1, (("retention.ms", "60000"),)),))
    for _ in range(2):
        perform(run, stage, {})
    [card] = run.ledger.cards(run.key)
    facts = card_facts(card)
    assert isinstance(facts, TopicCreated)
    [now] = seen(run, control).topics  # type: ignore[misc] # read above
    assert (facts.topic_id, now.partitions) == (now.topic_id, 3)
    assert run.plan().digest == digest
    assert drift(run, name, control) == []
    assert drift(run, name) == [f"topic {control}: gone (id {now.topic_id} of this run)"]
    assert undo(run, name, control) == ["delete_topics"]
    assert seen(run, control).topics == ()
    assert [one.why for one in back(run, name)] == [f"topic {control} does not exist"]


def test_a_create_that_was_killed_before_it_learned_the_id_goes_on(run: Run, name: str) -> None:
    """Killed before the write, and killed after it: the card is there, and has no id."""
    control = f"{name}-control"
    stage = CreateTopics(1, (TopicShape(control, 3, 1),))
    Announced(run, stage).write(control, TopicCreated(stage.topics[0]), "announced")
    assert drift(run, name) == []
    admin = AdminClient(run.kafka)
    admin.create_topics([NewTopic(control, 3, 1)])[control].result()
    [before] = back(run, name, control)
    assert before.stage is None
    assert before.why.startswith("the run ended before it learned the id")
    perform(run, stage, {})
    assert undo(run, name, control) == ["delete_topics"]


def test_a_topic_that_exists_already_is_left_alone(run: Run, name: str) -> None:
    """One sentence, no card, nothing changed."""
    with pytest.raises(WriteRefused, match=f"topic {name}"):
        perform(run, CreateTopics(1, (TopicShape(name, 2, 1),)), {})
    assert run.ledger.cards(run.key) == []
    assert run.ledger.run(run.key).wrote_at_ms is None


def test_a_deleted_topic_comes_back_empty(run: Run, name: str) -> None:
    """With its partitions and settings; the guard expects it gone, and not created again by somebody."""
    for _ in range(2):
        perform(run, DeleteTopics(1, (name,)), {})
    assert seen(run, name).topics == ()
    assert drift(run, name) == []
    [card] = run.ledger.cards(run.key)
    assert (card.kind, card.point_of_no_return, card.stage) == ("topic_deleted", True, 1)
    assert undo(run, name) == ["create_topics"]
    [now] = seen(run, name).topics  # type: ignore[misc] # read above
    assert now.partitions == 2
    assert drift(run, name) == [f"topic {name}: created again (id {now.topic_id}) after this run deleted it"]


def test_growth_and_deleted_records_have_no_way_back(run: Run, name: str) -> None:
    """The card says so before the write; a rerun neither grows nor deletes more."""
    perform(run, DeleteRecords(1, (name,)), {})
    producer = Producer(run.kafka)
    producer.produce(name, "later", partition=0)
    assert producer.flush(10) == 0
    for stage in (DeleteRecords(1, (name,)), GrowTopics(2, ((name, 4),)), GrowTopics(2, ((name, 4),))):
        perform(run, stage, {})
    with ClusterReader(run.kafka) as reader:
        held = held_of(reader, reader.topics([name]))
    assert isinstance(held, tuple)
    assert {(one.partition, one.start, one.end) for one in held if one.partition == 0} == {(0, 10, 11)}
    assert drift(run, name) == []
    assert [(card.kind, card.point_of_no_return) for card in run.ledger.cards(run.key)] == [
        ("records_deleted", True),
        ("topic_grown", True),
    ]
    assert undo(run, name) == []
    assert [one.why for one in back(run, name)] == [
        f"the 4 partitions of topic {name} cannot become 2 again",
        f"deleted records of topic {name} do not come back",
    ]


@pytest.mark.parametrize(
    ("stage", "after"),
    [
        (lambda name, group: SetOffsets(1, group, (name,), "start"), {0: 0, 1: 0}),
        (lambda name, group: SetOffsets(1, group, (name,), "end"), {0: 10, 1: 0}),
        (lambda name, group: DeleteOffsets(1, group, (name,)), {}),
        (lambda _, group: DeleteGroups(1, (group,)), {}),
    ],
    ids=["to the start", "to the end", "deleted", "group deleted"],
)
def test_offsets_come_back_with_their_metadata(
    run: Run, name: str, stage: Callable[[str, str], OtherStage], after: dict[int, int]
) -> None:
    """Also after a second try, which saves nothing anew; a partition without an offset before has none again."""
    group = f"{name}-group"
    admin = AdminClient(run.kafka)
    given = [TopicPartition(name, 0, 7, "AgAAAZ")]
    admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, given)])[group].result()
    before = committed(run, group)
    assert before[name, 0][1].startswith("AgAAAZ")
    for _ in range(2):
        perform(run, stage(name, group), {})
    assert {place[1]: offset for place, (offset, _) in committed(run, group).items()} == after
    [card] = run.ledger.cards(run.key)
    facts = card_facts(card)
    assert Path(getattr(facts, "file", "")).read_text(encoding="utf-8") == f"{name},0,7\n"
    assert undo(run, name) == ["set_offsets"]
    assert committed(run, group)[name, 0] == before[name, 0]


def test_latest_begins_before_a_transaction_that_is_open(run: Run, name: str) -> None:
    """The group has not read its records; a copier ends there too, and goes on with them later."""
    group, held = f"{name}-group", SetOffsets(1, f"{name}-group", (name,), "same", reset="latest")
    producer = Producer({**run.kafka, "transactional.id": f"{name}-open"})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(name, "open", partition=0)
    assert producer.flush(10) == 0
    try:
        note_ends(run, held)
    finally:
        producer.commit_transaction()
    perform(run, held, {})
    assert {place[1]: offset for place, (offset, _) in committed(run, group).items()} == {0: 10, 1: 0}


def test_offsets_like_those_of_a_group_that_lacks_some(run: Run, name: str) -> None:
    """An empty partition begins at its start; one with records is refused, unless that group's beginning is known."""
    group, like = f"{name}-group", f"{name}-like"
    wanted = SetOffsets(1, group, (name,), "group", like=like)
    admin = AdminClient(run.kafka)
    given = [ConsumerGroupTopicPartitions(like, [TopicPartition(name, 1, 0)])]
    admin.alter_consumer_group_offsets(given)[like].result()
    with pytest.raises(Refused, match=f"{name}-0: group {like} has committed no offset"):
        perform(run, wanted, {})
    perform(run, replace(wanted, reset="latest"), {})
    assert {place[1]: offset for place, (offset, _) in committed(run, group).items()} == {0: 0, 1: 0}


def test_offsets_outside_the_log_are_refused_before_anything(run: Run, name: str) -> None:
    """The log has ten records."""
    group = f"{name}-group"
    saved = OffsetsSet(SavedOffsets(group, 1, (CommittedOffset(name, 0, 99),)), ())
    of = Card(
        "cutover/x",
        1,
        "t",
        "s",
        group,
        "w",
        "u",
        "c",
        False,
        False,
        encode(saved),
        1,
        "orders",
        "demo",
        1,
        kind="offsets_set",
    )
    with pytest.raises(WriteRefused, match=f"{name}-0"):
        perform(run, SetOffsets(1, group, (name,), "card", undoes=(1,)), {1: of})
    with pytest.raises(Refused, match="no undo card has those to go back to"):
        perform(run, SetOffsets(1, group, (name,), "card"), {})
    assert run.ledger.cards(run.key) == []


def rehearsal(run: Run, group: str, *stages: Stage) -> Run:
    """A dry run with these stages, of an application that is this group."""
    record = run.ledger.start_run(replace(run.record, run_key="", run_id=f"dry-{uuid.uuid4().hex}", dry_run=True))
    made = replace(run.plan(), stages=stages)
    run.ledger.store_plan(record.run_key, made.digest, encode(made))
    dry = replace(run, record=record)
    vars(dry).update(kafka=run.kafka, application=SimpleNamespace(application_id=group))
    return dry


@pytest.mark.parametrize(
    "stage",
    [
        lambda name, group: SetOffsets(2, group, (name,), "start"),
        lambda name, group: DeleteOffsets(2, group, (name,)),
        lambda _, group: DeleteGroups(2, (group,)),
    ],
    ids=["set", "delete", "delete group"],
)
def test_a_rehearsal_knows_the_stop_before_it(
    run: Run, name: str, stage: Callable[[str, str], OtherStage], caplog: pytest.LogCaptureFixture
) -> None:
    """Without a stop, after a start, and of another group a member refuses, as it does in a real run."""
    group, stop = f"{name}-group", StopAll(1)
    write = stage(name, group)
    with member_of(run.kafka, group, name), caplog.at_level("INFO"):
        perform(rehearsal(run, group, stop, write), write, {})
        assert f"DRY RUN would write after stage 1, which stops the 1 members of group {group}" in caplog.text
        started = StartAll(1, "4.3.1", ())
        for of, stages in ((group, (write,)), (group, (started, write)), ("another", (stop, write))):
            other = rehearsal(run, of, *stages)
            with pytest.raises(WriteRefused, match=rf"group {group} is \w+ with 1 members"):
                perform(other, write, {})
        with pytest.raises(WriteRefused, match=rf"group {group} is \w+ with 1 members"):
            perform(run, write, {})
    assert run.ledger.cards(run.key) == []


def test_a_stage_without_a_step_is_one_sentence(run: Run) -> None:
    """Instances have steps of their own."""
    with pytest.raises(Refused, match=r"stage 3 \(stop every instance.*\) has no step here \(kind stop_all\)"):
        perform(run, StopAll(3), {})


def test_seeds_that_a_broker_has_forgotten_are_there_again_before_the_start(run: Run, name: str) -> None:
    """With the group itself gone, as at the end of its time; an offset of another client is left, and refused."""
    group, admin = f"{name}-group", AdminClient(run.kafka)
    stage, wanted = SetOffsets(1, group, (name,), "seam"), {(name, 0): 7, (name, 1): 0}
    moves = MovedGroup(run.key, stage, StartAll(2, "4.3.1", ()), "the way back")
    keep_seam(run, NotedEnds(1, (NotedEnd(name, 0, 0, 7), NotedEnd(name, 1, 0, 0))))
    perform(run, stage, {})
    require_seeds(run, moves)
    admin.delete_consumer_groups([group])[group].result()
    assert committed(run, group) == {}
    require_seeds(run, moves)
    assert {place: offset for place, (offset, _) in committed(run, group).items()} == wanted
    assert len(run.ledger.cards(run.key)) == 1
    other = [ConsumerGroupTopicPartitions(group, [TopicPartition(name, 0, 9)])]
    admin.alter_consumer_group_offsets(other)[group].result()
    with pytest.raises(Refused, match=rf"{name}-0 at 9 \(seed: 7\)"):
        require_seeds(run, moves)
    assert committed(run, group)[name, 0][0] == 9
