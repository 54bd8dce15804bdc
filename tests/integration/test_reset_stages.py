"""The stages of a reset on a real broker: topics go only while nothing writes to them, and come again from zero."""

import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.decide.reset.offsets import moved_offsets
from kstreams_runbooks.decide.reset.radius import may_reset
from kstreams_runbooks.decide.reset.targets import parse_target
from kstreams_runbooks.deployers.supervisord.deployer import SupervisordDeployer
from kstreams_runbooks.errors import Refused, RunbookError, WriteRefused
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.model.readings.reset import BlastRadius, CatchUp
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.object_stages import CreateTopics, DeleteTopics, SaveOffsets, SetOffsets
from kstreams_runbooks.model.runs.plan import Plan, PlanFacts
from kstreams_runbooks.model.runs.stages import ClearState, OtherStage
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.deleted import read_left
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.stages.perform import perform
from kstreams_runbooks.watch.reset_rest import read_topic_ends
from kstreams_runbooks.watch.reset_targets import read_inputs_now
from lab.kafka import topic_of_ten
from lab.members import member_of
from world.given import Kafka
from world.new_ledger import new_ledger
from world.supervised import supervised

pytestmark = pytest.mark.usefixtures("kafka")


@pytest.fixture
def name(kafka: Kafka) -> Iterator[str]:
    """A topic of two partitions with ten records in its first one."""
    config: dict[str, Any] = {"bootstrap.servers": kafka.bootstrap}
    given = f"reset-{uuid.uuid4().hex[:8]}"
    topic_of_ten(config, given)
    yield given
    admin = AdminClient(config)
    if given in admin.list_topics().topics:
        admin.delete_topics([given])[given].result()


@pytest.fixture
def run(kafka: Kafka, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run that binds the topic; its application has a group of its own, which has committed an offset on it."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_SAVED_OFFSETS", str(tmp_path / "saved"))
    config: dict[str, Any] = {"bootstrap.servers": kafka.bootstrap}
    ledger = new_ledger(tmp_path / "ledger.db")
    params = {"gate_good_readings": 2, "gate_interval_s": 0.1}
    record = ledger.start_run(RunRecord("", "reset", "r", "orders", "demo", "oncall", False, "", params, now_ms()))
    made = Run(record, "act", 1, ledger)
    own = load_fleet().application("orders").model_copy(update={"application_id": f"{name}-group"})
    vars(made).update(kafka=config, application=own)
    with ClusterReader(config) as reader:
        topics = tuple((one.name, one.topic_id, one.partitions) for one in reader.topics([name]))
    facts = PlanFacts("classic", topics, (), (), static_membership=True, code="c0de")
    plan = Plan("reset", "orders", "demo", (), (), (), facts, (), (), (), "a reset", "none")
    ledger.store_plan(record.run_key, plan.digest, encode(plan))
    commit(config, f"{name}-group", name)
    return made


def commit(config: dict[str, Any], group: str, topic: str) -> None:
    """An offset of a group without members."""
    admin, given = AdminClient(config), [TopicPartition(topic, 0, 7)]
    admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, given)])[group].result(30)


def stages(name: str) -> tuple[OtherStage, ...]:
    """As a plan has them for one internal topic."""
    group = f"{name}-group"
    return (
        SaveOffsets(1, group, (name,)),
        DeleteTopics(2, (name,), at_rest=True),
        CreateTopics(3, (TopicShape(name, 2, 1),)),
        SetOffsets(4, group, (name,), "start"),
    )


def topic_id(run: Run, name: str) -> str:
    """The id of the topic now."""
    with ClusterReader(run.kafka) as reader:
        [found] = reader.topics([name])
    return found.topic_id


def test_a_topic_comes_again_from_zero(run: Run, name: str) -> None:
    """Each stage twice, as after a kill; the old offset is gone with the old topic, and saved."""
    before = topic_id(run, name)
    for stage in stages(name):
        for _ in range(1 if isinstance(stage, DeleteTopics) else 2):
            perform(run, stage, {})
    assert topic_id(run, name) != before
    with ClusterReader(run.kafka) as reader:
        saved = read_saved(reader, f"{name}-group")
    assert {one.partition: one.offset for one in saved.offsets} == {0: 0, 1: 0}
    [note] = run.ledger.evidence(run.key, kind="note", name="saved offsets", newest=1)
    assert [one["offset"] for one in note.payload["saved"]["offsets"]] == [7]
    assert Path(note.payload["file"]).read_text(encoding="utf-8") == f"{name},0,7\n"


def test_a_deletion_that_was_killed_goes_on(run: Run, name: str) -> None:
    """The topics are gone by then, and there is nothing left to look at."""
    save, delete, *_ = stages(name)
    for stage in (save, delete, delete):
        perform(run, stage, {})
    with ClusterReader(run.kafka) as reader:
        assert read_left(reader, [name], f"{name}-group") == ()
        assert name not in reader.topic_names()


def test_a_place_that_is_committed_keeps_its_offset(run: Run, name: str) -> None:
    """As an undo begins new repartition topics; twice, as after a kill."""
    for _ in range(2):
        perform(run, SetOffsets(1, f"{name}-group", (name,), "unset"), {})
    with ClusterReader(run.kafka) as reader:
        saved = read_saved(reader, f"{name}-group")
    assert {one.partition: one.offset for one in saved.offsets} == {0: 7, 1: 0}


def test_nothing_is_deleted_without_noted_ends(run: Run, name: str) -> None:
    """A task that was marked successful manually has noted none."""
    with pytest.raises(Refused, match="has not noted their ends; clear save_offsets"):
        perform(run, stages(name)[1], {})
    assert run.ledger.cards(run.key) == []


def test_a_topic_that_is_written_stays(run: Run, name: str) -> None:
    """Any producer, also one without idempotence, and any record time."""
    save, delete, *_ = stages(name)
    perform(run, save, {})
    producer = Producer({**run.kafka, "enable.idempotence": False})
    producer.produce(name, "late", partition=0, timestamp=978_307_200_000)
    assert producer.flush(10) == 0
    with pytest.raises(Refused, match=rf"{name}-0: its end moved from 10 to 11 since group {name}-group was EMPTY"):
        perform(run, delete, {})
    assert run.ledger.cards(run.key) == []


def test_offsets_are_saved_once_no_transaction_of_the_application_is_open(run: Run, name: str) -> None:
    """One that writes elsewhere may still commit offsets; ids of other applications do not matter."""
    process = f"{name}-group-{uuid.UUID(int=7)}-1"
    other = f"{name}-out"
    topic_of_ten(run.kafka, other)
    producer = Producer({**run.kafka, "transactional.id": process, "transaction.timeout.ms": 60_000})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(other, "x", partition=0)
    producer.flush(10)
    with ClusterReader(run.kafka) as reader:
        assert read_topic_ends(reader, [name], f"{name}-group").ongoing == (process,)
        assert read_topic_ends(reader, [name], "another").ongoing == ()
    producer.abort_transaction(30)
    perform(run, stages(name)[0], {})
    admin = AdminClient(run.kafka)
    admin.delete_topics([other])[other].result()


def test_a_topic_that_another_group_uses_stays(run: Run, name: str) -> None:
    """It got an offset since the plan."""
    save, delete, *_ = stages(name)
    perform(run, save, {})
    commit(run.kafka, f"{name}-thief", name)
    with pytest.raises(Refused, match=f"group {name}-thief has offsets on it"):
        perform(run, delete, {})
    assert run.ledger.cards(run.key) == []


def test_an_instance_that_something_else_starts_ends_the_run_and_a_rerun_finishes(run: Run, name: str) -> None:
    """Before the deletion, and before offsets are set: the broker would refuse each of them."""
    save, delete, create, first = stages(name)
    group, other = f"{name}-group", f"{name}-other"
    topic_of_ten(run.kafka, other)
    perform(run, save, {})
    with member_of(run.kafka, group, other):
        with pytest.raises(Refused, match=rf"group {group}: \w+, 1 members \(limit 0\): .*; end what was started"):
            perform(run, delete, {})
        assert run.ledger.cards(run.key) == []
    perform(run, delete, {})
    perform(run, create, {})
    with member_of(run.kafka, group, other), pytest.raises(WriteRefused, match=rf"group {group} is \w+ with 1 members"):
        perform(run, first, {})
    assert {card.kind for card in run.ledger.cards(run.key)} == {"topic_deleted", "topic_created"}
    perform(run, first, {})
    with ClusterReader(run.kafka) as reader:
        found = [one.offset for one in read_saved(reader, group).offsets if one.topic == name]
    admin = AdminClient(run.kafka)
    admin.delete_topics([other])[other].result()
    assert found == [0, 0]


def targeted(run: Run, name: str, most_lost: int = 0) -> SetOffsets:
    """The stage that sets offset 2 on the topic, once a plan has shown that."""
    group, text = f"{name}-group", "2"
    rows = moved_offsets(
        {name: parse_target(name, text, now_ms())},
        read_inputs_now(run.application, run.kafka, {name: parse_target(name, text, now_ms())}),
    )
    nothing = dict.fromkeys(
        ("internal", "counts", "unmoved", "tables", "missing_keys", "history", "stores", "outputs", "emptied"), ()
    )
    empty: dict[str, Any] = {**nothing, **dict.fromkeys(("downstream", "readers", "local"), ())}
    taken, left = Taken(now_ms(), "test"), CatchUp(0, at_least=False, seconds=0.0)
    run.decide(
        may_reset, radius=BlastRadius("orders", group, "demo", "offsets", taken, offsets=rows, catch_up=left, **empty)
    )
    return SetOffsets(7, group, (name,), "target", targets=((name, text),), most_lost=most_lost)


def lose(run: Run, name: str, before: int) -> None:
    """As retention does it."""
    admin = AdminClient(run.kafka)
    admin.delete_records([TopicPartition(name, 0, before)])[TopicPartition(name, 0)].result()


def committed(run: Run, name: str) -> dict[int, int]:
    """The offsets of the group on the topic."""
    with ClusterReader(run.kafka) as reader:
        return {one.partition: one.offset for one in read_saved(reader, f"{name}-group").offsets}


def test_a_rerun_begins_where_retention_has_moved_the_log(run: Run, name: str) -> None:
    """What a first try has set is its own; more than the plan allows to lose is refused, and nothing is set."""
    stage = targeted(run, name, most_lost=4)
    perform(run, stage, {})
    assert committed(run, name) == {0: 2, 1: 0}
    lose(run, name, 6)
    perform(run, stage, {})
    assert committed(run, name) == {0: 6, 1: 0}
    lose(run, name, 7)
    with pytest.raises(Refused, match=rf"{name}-0 \(5\): 5 offsets that the plan would read again were deleted since"):
        perform(run, stage, {})
    assert committed(run, name) == {0: 6, 1: 0}


def test_nothing_is_deleted_for_offsets_that_cannot_be_set(
    run: Run, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Retention went on since the plan: that is found before the point of no return."""
    stage, planned = targeted(run, name), run.plan()
    save, delete, *_ = stages(name)
    monkeypatch.setattr(Run, "plan", lambda _: replace(planned, stages=(stage,)))
    perform(run, save, {})
    lose(run, name, 6)
    with pytest.raises(Refused, match="4 offsets that the plan would read again were deleted since"):
        perform(run, delete, {})
    assert run.ledger.cards(run.key) == []
    assert topic_id(run, name)


@contextmanager
def held_by_a_client(state: Path) -> Iterator[str]:
    """Another process has the lock of the directory, as a Kafka Streams client does."""
    code = (
        "import fcntl, sys, time; file = open(sys.argv[1], 'r+'); fcntl.lockf(file, fcntl.LOCK_EX); print(flush=True); "
        "time.sleep(60)"
    )
    command = [sys.executable, "-c", code, str(state / ".lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield "a Kafka Streams client holds"
        finally:
            process.kill()


@contextmanager
def no_directory(state: Path) -> Iterator[str]:
    """A file is in its place."""
    kept = state.rename(state.with_suffix(".kept"))
    state.touch()
    yield f"{state} is not a directory"
    state.unlink()
    kept.rename(state)


@pytest.mark.parametrize(("trouble", "cleared"), [(held_by_a_client, 1), (no_directory, 0)])
def test_state_that_cannot_be_cleared_leaves_offsets_and_topics(
    run: Run, name: str, tmp_path: Path, trouble: Callable[[Path], AbstractContextManager[str]], cleared: int
) -> None:
    """Of the second instance: the first one restores from the changelogs, which are as before. A rerun goes on."""
    group, folder = f"{name}-group", tmp_path / "instances"
    folder.mkdir()
    clear = ClearState(2, seen=True)
    with supervised(folder) as settings:
        states = [one.directory / "state" / group for one in settings.instances]
        for state in states:
            (state / "0_0").mkdir(parents=True)
            (state / ".lock").touch()
        entry = run.application.model_copy(update={"deployer": settings})
        vars(run).update(application=entry, deployer=SupervisordDeployer(settings, application_id=group, dry_run=False))
        before = topic_id(run, name), offsets_of(run, group)
        perform(run, stages(name)[0], {})
        with trouble(states[1]) as said, pytest.raises(RunbookError, match=said):
            perform(run, clear, {})
        assert (topic_id(run, name), offsets_of(run, group)) == before
        assert [not (state / "0_0").exists() for state in states] == [bool(cleared), False]
        assert {card.kind for card in run.ledger.cards(run.key)} <= {"state_cleared"}
        perform(run, clear, {})
        assert not any((state / "0_0").exists() for state in states)


def offsets_of(run: Run, group: str) -> list[tuple[int, int, str]]:
    """Everything that the group has committed."""
    with ClusterReader(run.kafka) as reader:
        return [(one.partition, one.offset, one.metadata) for one in read_saved(reader, group).offsets]


def test_what_is_left_of_a_topic_is_named_and_asking_creates_none(run: Run, name: str) -> None:
    """By broker, and by committed offset; a name that no topic has stays one."""
    absent = f"{name}-absent"
    with ClusterReader(run.kafka) as reader:
        left = read_left(reader, [name, absent], f"{name}-group")
        assert absent not in reader.topic_names()
    assert left == (
        f"broker 1 lists topic {name} (id {topic_id(run, name)})",
        f"group {name}-group has a committed offset on topic {name}",
    )
