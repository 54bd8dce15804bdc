"""The judge on a real broker, as a command: 10,000 events, the four faults on copies of the good output."""

import json
import subprocess
import sys
import uuid
from typing import Any, Protocol

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from kstreams_runbooks.demo.judge.windowed import JudgedWindow
from kstreams_runbooks.demo.traffic.schedule import Schedule
from kstreams_runbooks.demo.traffic.topics import OUTPUTS, TopicRole, topic_names
from world.faults import alter, drop, duplicate, of_key, swap
from world.reference_application import (
    PARTITIONS,
    Log,
    empty_log,
    run_application,
    scheduled,
    seeded_merge,
    write_inputs,
)

EVENTS = 10_000
# 400 events/s are 25 s of event time: short windows, so that some of them close
WINDOW = JudgedWindow(size_ms=5_000, grace_ms=4_000)
# Nothing is written while a judge reads.
SETTLED_S = 0.3
FIGURES = ("missing", "extra", "duplicate", "out_of_order")


class Broker(Protocol):
    """What the `kafka` fixture gives."""

    bootstrap: str


@pytest.fixture(scope="module")
def good() -> Log:
    """10,000 events and what the reference application makes of them; not to be changed."""
    log = empty_log()
    schedule = Schedule(seed=7, rate=400, customers=100, start_ms=1_790_000_000_000)
    write_inputs(log, scheduled(schedule, EVENTS))
    run_application(log, WINDOW, seeded_merge(1))
    return log


def copied(log: Log) -> Log:
    """A log of its own to spoil."""
    return {role: [list(entries) for entries in partitions] for role, partitions in log.items()}


def publish(broker: Broker, log: Log) -> str:
    """Write a log into new topics, partition by partition; return their prefix."""
    prefix = f"judge-{uuid.uuid4().hex[:8]}-"
    names = topic_names(prefix)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for future in admin.create_topics([NewTopic(name, PARTITIONS, 1) for name in names.values()]).values():
        future.result()
    producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True, "linger.ms": 20})
    for role, partitions in log.items():
        for partition, entries in enumerate(partitions):
            for key, value in entries:
                producer.produce(names[role], key=key, value=value, partition=partition)
            producer.poll(0)
    assert producer.flush(60) == 0
    return prefix


def verify(broker: Broker, prefix: str, *more: str) -> tuple[int, dict[str, Any]]:
    """Run the command; return its exit code and document."""
    answer = run(
        "verify-traffic",
        f"--bootstrap={broker.bootstrap}",
        f"--topic-prefix={prefix}",
        f"--window-size-ms={WINDOW.size_ms}",
        f"--grace-ms={WINDOW.grace_ms}",
        f"--settle={SETTLED_S}",
        "--format=json",
        *more,
    )
    assert answer.stdout, answer.stderr
    return answer.returncode, json.loads(answer.stdout)


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the project's command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "kstreams_runbooks.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def by_output(document: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """The four figures of each output."""
    return {output["output"]: tuple(output[figure] for figure in FIGURES) for output in document["outputs"]}


def test_a_good_log_is_ok_and_exits_0(kafka: Broker, good: Log) -> None:
    """Every output judged, every figure zero, and the document says what it was reached from."""
    code, document = verify(kafka, publish(kafka, good))
    assert code == 0
    assert by_output(document) == {str(role): (0, 0, 0, 0) for role in OUTPUTS}
    assert (document["schema_version"], document["verdict"], document["orders_seen"]) == (1, "ok", EVENTS)
    expected = {output["output"]: (output["expected"], output["seen"]) for output in document["outputs"]}
    assert expected["running"] == (EVENTS, EVENTS)
    assert expected["per-customer"] == (100, 100)
    assert min(expected["windowed"]) > 0


@pytest.mark.parametrize(
    ("fault", "expected"),
    [("drop", (1, 0, 0, 0)), ("duplicate", (0, 0, 1, 0)), ("alter", (1, 1, 0, 0)), ("swap", (0, 0, 0, 2))],
)
def test_one_fault_in_10000_records_exits_1_with_exactly_this(
    kafka: Broker, good: Log, fault: str, expected: tuple[int, ...]
) -> None:
    """Dropped, duplicated, altered, two swapped; no other output is touched by it."""
    log = copied(good)
    own = of_key(log, TopicRole.RUNNING, b"c-42")
    if fault == "drop":
        drop(log, TopicRole.RUNNING, own[20])
    elif fault == "duplicate":
        duplicate(log, TopicRole.RUNNING, own[20])
    elif fault == "alter":
        alter(log, TopicRole.RUNNING, own[20], lambda value: value.update(sum=value["sum"] + 1))
    else:
        swap(log, TopicRole.RUNNING, own[20][0], own[20][1], own[30][1])
    code, document = verify(kafka, publish(kafka, log))
    figures = by_output(document)
    assert (code, document["verdict"]) == (1, "wrong")
    assert figures.pop("running") == expected
    assert set(figures.values()) == {(0, 0, 0, 0)}
    running = document["outputs"][0]
    assert {offence["key"] for offence in running["offences"]} == {"c-42"}
    assert len(running["offences"]) == sum(expected)


@pytest.mark.parametrize("role", [TopicRole.WINDOWED, TopicRole.ENRICHED, TopicRole.PER_CUSTOMER])
def test_one_altered_record_of_another_output_is_found_there(kafka: Broker, good: Log, role: TopicRole) -> None:
    """The last record of a partition, so that no later one of its key follows."""
    log = copied(good)
    partition = next(index for index, entries in enumerate(log[role]) if entries)
    place = (partition, len(log[role][partition]) - 1)
    alter(log, role, place, lambda value: value.update(count=-1, amount=-1))
    code, document = verify(kafka, publish(kafka, log))
    figures = by_output(document)
    assert code == 1
    assert figures.pop(str(role)) == (1, 1, 0, 0)
    assert set(figures.values()) == {(0, 0, 0, 0)}


def test_an_open_transaction_is_inconclusive_and_its_abort_leaves_no_trace(kafka: Broker, good: Log) -> None:
    """Last stable offset below log end: exit 3. Aborted records are never read."""
    prefix = publish(kafka, good)
    topic = topic_names(prefix)[TopicRole.RUNNING]
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": prefix})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, key=b"c-42", value=b"{}", partition=0)
    producer.flush(30)
    code, document = verify(kafka, prefix)
    assert (code, document["outputs"][0]["verdict"]) == (3, "inconclusive")
    assert f"{topic}-0 has an open transaction" in document["outputs"][0]["reasons"][0]
    producer.abort_transaction(30)
    code, document = verify(kafka, prefix)
    assert code == 0
    assert by_output(document)["running"] == (0, 0, 0, 0)


def test_inputs_that_do_not_come_to_rest_are_inconclusive(kafka: Broker, good: Log) -> None:
    """With less time than it takes to settle nobody can say."""
    code, document = verify(kafka, publish(kafka, good), "--settle=30", "--timeout=3")
    assert code == 3
    assert "moved" in document["outputs"][0]["reasons"][0]


def test_records_deleted_by_retention_are_inconclusive(kafka: Broker, good: Log) -> None:
    """What an input no longer holds cannot be expected."""
    prefix = publish(kafka, good)
    orders = topic_names(prefix)[TopicRole.ORDERS]
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    for future in admin.delete_records([TopicPartition(orders, 1, 100)]).values():
        future.result()
    code, document = verify(kafka, prefix)
    assert (code, document["verdict"]) == (3, "inconclusive")
    assert f"{orders}-1 begins at offset 100" in document["outputs"][0]["reasons"][0]


def test_text_names_the_key_and_the_offset(kafka: Broker, good: Log) -> None:
    """The same for eyes: a table, the reason, the offending record."""
    log = copied(good)
    place = of_key(log, TopicRole.RUNNING, b"c-42")[20]
    alter(log, TopicRole.RUNNING, place, lambda value: value.update(sum=value["sum"] + 1))
    prefix = publish(kafka, log)
    answer = run(
        "verify-traffic",
        f"--bootstrap={kafka.bootstrap}",
        f"--topic-prefix={prefix}",
        f"--window-size-ms={WINDOW.size_ms}",
        f"--grace-ms={WINDOW.grace_ms}",
        f"--settle={SETTLED_S}",
    )
    assert answer.returncode == 1
    assert f"extra: key c-42 {prefix}orders-running-{place[0]}@{place[1]}" in answer.stdout


@pytest.mark.parametrize("command", ["verify-traffic", "generate-traffic"])
def test_bad_input_and_an_absent_broker_are_one_sentence(kafka: Broker, command: str) -> None:
    """A topic that does not exist exits 2 and is named, no broker exits 4, with nothing on stdout."""
    absent = run(command, f"--bootstrap={kafka.bootstrap}", "--topic-prefix=never-made-")
    assert (absent.returncode, absent.stdout) == (2, "")
    assert "never-made-orders" in absent.stderr
    assert len(absent.stderr.splitlines()) == 1
    nobody = run(command, "--bootstrap=127.0.0.1:1")
    assert (nobody.returncode, nobody.stdout) == (4, "")
    assert "127.0.0.1:1" in nobody.stderr
    assert len(nobody.stderr.splitlines()) == 1
