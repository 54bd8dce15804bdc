"""What the scheduled check says of topics and offsets that a run changes itself, on a real broker; no Airflow.

The application has no instance: its topics are known by its id, and its group is Empty, which is "stopped".
"""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.deployers import Deployer
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.fleet import Application, load_fleet
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.status import KeptStatus
from kstreams_runbooks.model.runs.cards import TopicDeleted
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.object_stages import CreateTopics, DeleteTopics, SetOffsets
from kstreams_runbooks.model.runs.plan import Plan, PlanFacts
from kstreams_runbooks.model.runs.stages import OtherStage
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.stages.announce import Announced
from kstreams_runbooks.steps.stages.perform import perform
from kstreams_runbooks.watch.judge import Judgement, judge_fleet
from kstreams_runbooks.watch.settings import CheckSettings
from kstreams_runbooks.watch.status import read_cluster
from lab.kafka import topic_of_ten
from lab.supervise import until
from world.given import Kafka
from world.new_ledger import new_ledger

_CALL_S = 30


def unknown(entry: Application) -> Deployer:
    """No deployer knows the application: its topics are known by its id alone."""
    raise Refused(f"{entry.name}: no deployer knows it")


class Checked:
    """An application with two topics of its own, a run that changes them, and the check, as often as a test wants."""

    def __init__(self, entry: Application, config: dict[str, Any], folder: Path) -> None:
        self.entry, self.config = entry, config
        self.admin = AdminClient(config)
        self.ledger = new_ledger(folder / "ledger.db")
        self.group = entry.application_id
        self.topic, self.other = (f"{self.group}-{name}-repartition" for name in ("a", "b"))
        for name in (self.topic, self.other):
            topic_of_ten(config, name)
        self.run = self.begun("cutover")

    def begun(self, dag_id: str) -> Run:
        """A run with a plan that binds the topics as they are."""
        record = self.ledger.start_run(
            RunRecord("", dag_id, "r", self.entry.name, "demo", "oncall", False, "", {}, now_ms())
        )
        made = Run(record, "act", 1, self.ledger)
        vars(made).update(kafka=self.config, application=self.entry)
        with ClusterReader(self.config) as reader:
            there = reader.topics([self.topic, self.other])
        facts = PlanFacts("classic", tuple((one.name, one.topic_id, one.partitions) for one in there), (), (), True, "")
        plan = Plan(dag_id, self.entry.name, "demo", (), (), (), facts, (), (), (), "pretended", "none")
        self.ledger.store_plan(record.run_key, plan.digest, encode(plan))
        return made

    def check(self, *acknowledged: str) -> KeptStatus:
        """The status after one more check."""
        return self.judged(*acknowledged).statuses[0]

    def judged(self, *acknowledged: str) -> Judgement:
        """What one more check finds."""
        settings, reasons = CheckSettings(apart_seconds=0), dict.fromkeys(acknowledged, "looked after")
        at_ms = read_cluster(self.ledger, "demo", [self.entry], self.config, settings, reasons, unknown).at_ms
        read = {"read_at_ms": {"demo": at_ms}, "problems": {}, "now_ms": at_ms}
        return judge_fleet(self.ledger, [self.entry], settings, **read)  # type: ignore[arg-type]

    def recreate(self) -> None:
        """The run deletes and creates the topic."""
        perform(self.run, DeleteTopics(1, (self.topic,)), {})
        perform(self.run, CreateTopics(2, (TopicShape(self.topic, 2, 1),)), {})

    def recreate_by_hand(self) -> None:
        """Another does it, whom no run knows."""
        self.admin.delete_topics([self.topic])[self.topic].result()
        until(lambda: self.topic not in self.admin.list_topics(timeout=10).topics, _CALL_S, "the topic is gone")
        self.admin.create_topics([NewTopic(self.topic, 2, 1)])[self.topic].result()

    def commit(self, offset: int) -> None:
        """The group commits an offset on its other topic."""
        asked = [ConsumerGroupTopicPartitions(self.group, [TopicPartition(self.other, 0, offset)])]
        self.admin.alter_consumer_group_offsets(asked)[self.group].result(_CALL_S)


@pytest.fixture
def own(kafka: Kafka, tmp_path: Path) -> Iterator[Checked]:
    """An application whose topics were checked once."""
    entry = load_fleet().application("orders")
    mine = f"own{uuid.uuid4().hex[:8]}"
    entry = entry.model_copy(update={"name": mine, "application_id": mine, "inputs": (), "outputs": ()})
    made = Checked(entry, {"bootstrap.servers": kafka.bootstrap}, tmp_path)
    made.commit(5)
    assert made.check().word == "stopped"
    yield made
    for topic in made.admin.list_topics(timeout=10).topics:
        if topic.startswith(mine):
            made.admin.delete_topics([topic])[topic].result()


def test_a_run_that_deletes_and_creates_a_topic_is_no_alarm(own: Checked) -> None:
    """Whether the check comes in between or not; a recreation after it, by anybody else, is one."""
    stages: list[OtherStage] = [DeleteTopics(1, (own.topic,)), CreateTopics(2, (TopicShape(own.topic, 2, 1),))]
    for stage in stages:
        perform(own.run, stage, {})
        assert own.check().word == "stopped"
    own.recreate_by_hand()
    found = own.check()
    assert found.word == "recreated"
    assert f"{own.topic} (id " in found.sentence
    assert own.check(own.entry.name).word == "stopped"
    assert own.check().word == "stopped"


def test_nothing_is_seen_of_a_recreation_between_two_checks(own: Checked) -> None:
    """The cards alone show it; and the ones that take it back, of another run."""
    own.recreate()
    assert own.check().word == "stopped"
    own.run = own.begun("undo")
    own.recreate()
    assert own.check().word == "stopped"


def test_an_id_that_is_on_no_card_is_never_accepted(own: Checked) -> None:
    """Another recreated the topic that a run had announced to delete, or the one that it had created."""
    with ClusterReader(own.config) as reader:
        [before] = reader.topics([own.topic])
    facts = TopicDeleted(TopicShape(own.topic, 2, 1), before.topic_id)
    Announced(own.run, DeleteTopics(1, (own.topic,))).write(own.topic, facts, "deleted")
    assert own.check().word == "stopped"
    own.recreate_by_hand()
    assert [own.check().word for _ in range(2)] == ["recreated"] * 2
    own.check(own.entry.name)
    own.run = own.begun("other")
    own.recreate()
    own.recreate_by_hand()
    assert own.check().word == "recreated"


def test_offsets_that_a_run_sets_back_are_not_rewound(own: Checked) -> None:
    """Until it has ended; what falls after that is."""
    perform(own.run, SetOffsets(1, own.group, (own.other,), "start"), {})
    assert own.check().word == "stopped"
    own.ledger.conclude(own.run.key, "completed", "", now_ms())
    own.commit(4)
    assert own.check().word == "stopped"
    own.commit(2)
    found = own.check()
    assert (found.word, f"{own.other}-0 (from 4 to 2)" in found.sentence) == ("rewound", True)


def test_a_stop_on_purpose_is_told_once_the_run_has_ended(own: Checked) -> None:
    """While it is at work the check says so, and its owner is not told."""
    own.ledger.take_hold(own.run.key, (f"application:demo:{own.entry.name}",), "demo", 1, now_ms(), lambda _: False)
    found = own.judged()
    assert found.changes == ()
    assert found.statuses[0].sentence.endswith(f"; run {own.run.key} is at work on it")
    own.ledger.hold_waits(own.run.key, now_ms())
    assert [one.word for one in own.judged().changes] == ["stopped"]
