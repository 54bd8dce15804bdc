"""Outputs on a real broker before their records are deleted: who has read them, who wrote them, which policy."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.decide.fleet_graph import fleet_graph
from kstreams_runbooks.decide.reset.outputs import CleanedOutputs, cuts, may_clean
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.card_facts import card_facts
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.reset_outputs import OutputFacts
from kstreams_runbooks.model.runs.cards import RecordsDeleted
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.plan import Plan, PlanFacts
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import read_ends
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.stages.outputs import judged_outputs, require_cleanable
from kstreams_runbooks.steps.stages.perform import perform
from kstreams_runbooks.watch.reset_outputs import read_outputs
from lab.fake_streams import FakeStreams
from lab.kafka import topic_of_ten

APPLICATION, OUT, TABLE, READER = "cleaned-app", "cleaned-out", "cleaned-table", "cleaned-reader"
PLACE = (OUT, 0)
FACTS = PlanFacts("", (), (), (), static_membership=True, code="")


class Cleaned(NamedTuple):
    """A stopped application with two outputs, and its broker."""

    config: dict[str, Any]

    def facts(self, *topics: str, shown: dict[tuple[str, int], int] | None = None) -> OutputFacts:
        """What is read of these topics now, with the ends that a plan has shown."""
        return read_outputs(load_fleet().application(APPLICATION), topics, lambda _: None, shown=shown)

    def judged(self, facts: OutputFacts, *topics: str) -> Verdict:
        """The decision right before the deletion."""
        declared = load_fleet().application(APPLICATION).declared()
        asked = CleanedOutputs(declared, frozenset({OUT, TABLE}), topics)
        return may_clean(asked, facts, fleet_graph([declared]), planned=False)

    def commit(self, offset: int) -> None:
        """As a reader without members."""
        consumer = Consumer({**self.config, "group.id": READER, "enable.auto.commit": False})
        try:
            consumer.commit(offsets=[TopicPartition(*PLACE, offset)], asynchronous=False)
        finally:
            consumer.close()

    def produce(self, records: int) -> None:
        """As the application, without transactions."""
        producer = Producer({**self.config, "enable.idempotence": True})
        for number in range(records):
            producer.produce(OUT, str(number), partition=0)
        assert producer.flush(10) == 0

    def run(self) -> Run:
        """A run of the application, on a ledger of its own."""
        ledger = Ledger.open()
        record = RunRecord("", "reset", "r", APPLICATION, "cleaned", "oncall", False, "", {}, now_ms())
        made = Run(ledger.start_run(record), "delete_records", 1, ledger)
        vars(made).update(kafka=self.config, application=load_fleet().application(APPLICATION))
        return made

    def ends(self) -> tuple[object, object]:
        """Where the first partition begins and ends."""
        with ClusterReader(self.config) as reader:
            found = read_ends(reader.librdkafka, [PLACE])[PLACE]
        return found.start, found.end


@pytest.fixture(scope="module")
def cleaned(broker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cleaned]:
    config: dict[str, Any] = {"bootstrap.servers": broker}
    topic_of_ten(config, OUT)
    admin = AdminClient(config)
    admin.create_topics([NewTopic(TABLE, 1, 1, config={"cleanup.policy": "compact"})])[TABLE].result()
    fleet = FakeStreams(
        tmp_path_factory.mktemp("fleet"), APPLICATION, "Topologies:\n", outputs=(OUT, TABLE), cluster="cleaned"
    )
    fleet.declare()
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(fleet.directory))
        patched.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{fleet.directory / 'ledger.db'}")
        patched.setenv("AIRFLOW_CONN_KAFKA_CLEANED", json.dumps({"conn_type": "kafka", "extra": config}))
        yield Cleaned(config)
    for done in admin.delete_topics([OUT, TABLE]).values():
        done.result()
    admin.delete_consumer_groups([READER])[READER].result()


def test_records_go_up_to_the_ends_shown_once_they_are_read(cleaned: Cleaned) -> None:
    """What a reader has not read is counted; what is written after the plan stays."""
    cleaned.commit(4)
    behind = cleaned.judged(cleaned.facts(OUT), OUT)
    assert behind.outcome is Outcome.REFUSE
    assert f"group {READER} has not read 6 records below the cut (committed 4; limit 0)" in behind.reasons[0]
    cleaned.commit(10)
    facts = cleaned.facts(OUT)
    verdict = cleaned.judged(facts, OUT)
    assert verdict.outcome is Outcome.PROCEED, verdict.reasons
    assert f"read by group {READER}" in verdict.findings[0].message
    shown = cuts(facts)
    assert shown == {PLACE: 10, (OUT, 1): 0}
    cleaned.produce(3)
    again = cleaned.facts(OUT, shown=shown)
    assert cleaned.judged(again, OUT).outcome is Outcome.PROCEED
    assert "producer" in {one.id: one.message for one in cleaned.judged(again, OUT).findings}["outputs-suspect-writer"]


def test_the_stage_goes_up_to_the_ends_of_the_first_plan(cleaned: Cleaned) -> None:
    """A reader that is behind refuses the plan; a rerun of the stage changes nothing more."""
    run = cleaned.run()
    with pytest.raises(Refused, match="has not read 3 records below the cut"):
        judged_outputs(run, [OUT], [OUT, TABLE], [])
    cleaned.commit(13)
    stage, findings = judged_outputs(run, [OUT], [OUT, TABLE], [])
    assert [one.id for one in findings] == ["outputs-cleaned", "outputs-suspect-writer"]
    cleaned.produce(2)
    stage, findings = judged_outputs(run, [OUT], [OUT, TABLE], [])
    assert f"{OUT}-0 below 13" in findings[0].message
    stage = replace(stage, number=1)
    plan = Plan("reset", APPLICATION, "cleaned", (), (), (stage,), FACTS, (), (), (), "pretended", "none")
    run.ledger.store_plan(run.key, plan.digest, encode(plan))
    cleaned.commit(12)
    with pytest.raises(Refused, match="has not read 1 records below the cut"):
        require_cleanable(run)
    cleaned.commit(13)
    require_cleanable(run)
    assert cleaned.ends() == (0, 15)
    for _ in range(2):
        perform(run, stage, {})
        assert cleaned.ends() == (13, 15)
    [card] = run.ledger.cards(run.key)
    facts = card_facts(card)
    assert isinstance(facts, RecordsDeleted)
    assert (facts.first_left, card.point_of_no_return) == (((0, 13), (1, 0)), True)


def test_another_producers_open_transaction_and_a_compacted_topic_refuse(cleaned: Cleaned) -> None:
    """Its records are not below the cut, and it shows another writer."""
    writer = Producer({**cleaned.config, "transactional.id": "neighbour-app-1"})
    writer.init_transactions(10)
    writer.begin_transaction()
    writer.produce(OUT, "open", partition=1)
    writer.flush(5)
    try:
        facts = cleaned.facts(OUT, TABLE)
    finally:
        writer.abort_transaction(10)
    assert cuts(facts)[OUT, 1] == 0
    verdict = cleaned.judged(facts, OUT, TABLE)
    assert verdict.outcome is Outcome.REFUSE
    assert any(f"output {OUT}-1: neighbour-app-1 has a transaction open on it" in one for one in verdict.reasons)
    assert any(f"output {TABLE}: is only compacted" in one for one in verdict.reasons)


def test_a_topic_that_does_not_exist_is_not_known(cleaned: Cleaned) -> None:
    facts = replace(cleaned.facts("cleaned-never"), policies={"cleaned-never": "delete"})
    assert facts.problems[0] == "output cleaned-never: the topic does not exist on the cluster"
