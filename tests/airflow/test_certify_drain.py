"""The drain of a running application: on the terminal, and as a certificate from Airflow.

Through a broker that is restarted and a triggerer that is killed, and never while a record is left.
"""

import json
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import read_ends
from lab import kafka
from lab.afresh import afresh
from lab.application import Deployed
from lab.processes import TRIGGERER, kill_component, start_component
from lab.stack import Stack
from world.endings import COMPLETED, INCONCLUSIVE, NOTHING_CHANGED, begun_other, ended
from world.flushing import ACCEPTED
from world.given import declared_as
from world.runs import command, reached

PAUSED = "the generator is stopped"
# A busy machine may take some seconds to start the command that has to see it open.
TIMEOUT_MS = 15_000


@pytest.fixture(scope="module")
def running(stack: Stack) -> Iterator[Stack]:
    """Two instances, with readings that come soon."""
    afresh(stack, Deployed())
    with declared_as(stack, limits={"gate_interval_s": 0.5, "gate_good_readings": 3}):
        yield stack


def drain(stack: Stack, *options: str) -> tuple[int, dict[str, Any]]:
    """Exit code and document of `drain`."""
    code, text = command(stack, "drain", "orders", "--format", "json", *options)
    return code, json.loads(text)


def output_ends(stack: Stack) -> dict[tuple[str, int], Any]:
    """Where the outputs end."""
    outputs = ("orders-running", "orders-windowed", "orders-enriched", "orders-per-customer")
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        places = [(one.name, number) for one in reader.topics(outputs) for number in range(one.partitions)]
        return {place: ends.end for place, ends in read_ends(reader.librdkafka, places).items()}


def test_what_is_written_to_is_not_drained_and_what_stands_still_is(running: Stack) -> None:
    """With what is left while it goes on; nothing comes out of the application any more once it is drained."""
    running.start_traffic()
    time.sleep(2)
    code, document = drain(running, "--inputs-paused", PAUSED)
    assert (code, document["verdict"]) == (1, "not yet"), document["reasons"]
    running.stop_traffic()
    code, document = drain(running, "--watch", "--inputs-paused", PAUSED)
    assert (code, document["verdict"], document["unread_records"]) == (0, "drained", 0), document["reasons"]
    ends = output_ends(running)
    assert {one["role"] for one in document["partitions"]} == {"source", "repartition"}
    assert [one["what"] for one in document["held_back"]] == [
        "suppress operator orders-windowed-closed",
        "the open windows of orders-windowed-store",
    ]
    assert len(document["instances"]) == 2
    assert all(one["tasks"] and one["state"] == "RUNNING" for one in document["instances"])
    time.sleep(2)
    assert output_ends(running) == ends
    code, document = drain(running)
    assert (code, [one["id"] for one in document["findings"]]) == (3, ["inputs-not-paused"])


def test_a_transaction_that_a_killed_producer_left_is_waited_for(running: Stack) -> None:
    """Nobody can read past it; its coordinator ends it after its own timeout, and it is no finding before."""
    name = f"left-{uuid.uuid4().hex[:8]}"
    settings = {"transactional.id": name, "transaction.timeout.ms": TIMEOUT_MS}
    producer = Producer({"bootstrap.servers": running.lab.bootstrap, **settings})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce("customers", b"never", b"committed", partition=0)
    producer.flush()
    code, document = drain(running, "--inputs-paused", PAUSED)
    assert (code, document["verdict"]) == (1, "not yet")
    [transaction] = document["open_transactions"]
    assert (transaction["name"], transaction["transactional_id"]) == ("customers-0", name)
    assert transaction["timeout_ms"] == TIMEOUT_MS
    code, document = drain(running, "--watch", "--inputs-paused", PAUSED)
    assert (code, document["findings"]) == (0, [])
    producer.purge()


@pytest.mark.long
def test_a_certificate_survives_a_broker_that_restarts_and_a_triggerer_that_dies(running: Stack) -> None:
    """It is given once nothing is left, and looked at once more when it is given."""
    running.start_traffic()
    trial = begun_other(running, "certify_drain", inputs_paused=PAUSED, **ACCEPTED)
    reached(running, trial.run_id, "certify", "deferred")
    kill_component(running, TRIGGERER)
    running.supervisor.stop("broker")
    running.supervisor.start("broker")
    kafka.wait_for_broker(running.lab, running.supervisor)
    start_component(running, TRIGGERER)
    time.sleep(3)
    running.stop_traffic()
    document = ended(trial, state="success", outcome=COMPLETED)
    sentence = document["run"]["outcome_sentence"]
    assert "nothing left to read on" in sentence
    assert f"inputs paused: declared, oncall: {PAUSED}" in sentence
    assert sentence.endswith("no offset has moved since the certificate")


def test_without_a_pause_there_is_no_certificate(running: Stack) -> None:
    """It says what is missing, at once."""
    trial = begun_other(running, "certify_drain")
    document = ended(trial, state="failed", outcome=INCONCLUSIVE)
    assert "nothing states that the inputs stay paused" in document["run"]["outcome_sentence"]


def test_a_drain_that_does_not_end_is_given_up_with_the_last_readings(running: Stack) -> None:
    """By wall clock, with what was left."""
    running.start_traffic()
    trial = begun_other(running, "certify_drain", inputs_paused="nobody has", drain_ceiling_s=4, **ACCEPTED)
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    running.stop_traffic()
    sentence = document["run"]["outcome_sentence"]
    assert "not drained after 4 s (limit drain_ceiling_s)" in sentence
    assert "the last readings: " in sentence


def test_an_application_that_is_stopped_is_read_by_its_offsets(running: Stack) -> None:
    """What came after it stopped is left, by its description, and started again it reads it."""
    running.supervisor.stop(*Deployed().names)
    running.start_traffic()
    time.sleep(2)
    running.stop_traffic()
    code, document = drain(running, "--inputs-paused", PAUSED)
    assert (code, document["verdict"], document["instances"]) == (1, "not yet", []), document["reasons"]
    assert document["unread_records"] > 0
    running.supervisor.start(*Deployed().names)
    code, document = drain(running, "--watch", "--inputs-paused", PAUSED)
    assert (code, document["unread_records"]) == (0, 0), document["reasons"]
