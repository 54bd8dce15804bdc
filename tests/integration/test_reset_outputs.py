"""Outputs on a real broker before their records are deleted: who has read them how far, who wrote them, which policy."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.act.topics import TopicWriter
from kstreams_runbooks.decide.fleet_graph import fleet_graph
from kstreams_runbooks.decide.reset.outputs import CleanedOutputs, cuts, may_clean
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.readings.reset_outputs import OutputFacts
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import read_ends
from kstreams_runbooks.watch.reset_outputs import read_outputs
from lab.fake_streams import FakeStreams
from lab.kafka import topic_of_ten

APPLICATION, OUT, TABLE, READER = "cleaned-app", "cleaned-out", "cleaned-table", "cleaned-reader"
PLACE = (OUT, 0)


class Cleaned(NamedTuple):
    """A stopped application with two outputs, and its broker."""

    config: dict[str, Any]

    def facts(self, *topics: str, shown: dict[tuple[str, int], int] | None = None) -> OutputFacts:
        return read_outputs(load_fleet().application(APPLICATION), topics, lambda _: None, shown=shown)

    def judged(self, facts: OutputFacts, *topics: str) -> Verdict:
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

    def ends(self) -> tuple[object, object]:
        with ClusterReader(self.config) as reader:
            found = read_ends(reader.librdkafka, [PLACE])[PLACE]
        return found.start, found.end


@pytest.fixture(scope="module")
def cleaned(broker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cleaned]:
    config = {"bootstrap.servers": broker}
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
    producer = Producer({**cleaned.config, "enable.idempotence": True})
    for number in range(3):
        producer.produce(OUT, str(number), partition=0)
    assert producer.flush(10) == 0
    again = cleaned.facts(OUT, shown=shown)
    assert cleaned.judged(again, OUT).outcome is Outcome.PROCEED
    assert "producer" in {one.id: one.message for one in cleaned.judged(again, OUT).findings}["outputs-suspect-writer"]
    writer = TopicWriter(cleaned.config, dry_run=False)
    ids = {OUT: facts.partitions[0].topic_id}
    assert [one.result for one in writer.delete_records(shown, ids)] == ["already", "done"]
    assert cleaned.ends() == (10, 13)
    assert [one.result for one in writer.delete_records(shown, ids)] == ["already", "already"]


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
