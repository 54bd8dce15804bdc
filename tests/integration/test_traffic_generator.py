"""The generator on a real broker: what it sends is what its schedule says, it stops when told, outlives a restart."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from kstreams_runbooks.demo.judge.collected import Collected
from kstreams_runbooks.demo.judge.read import read_topics
from kstreams_runbooks.demo.traffic.schedule import Schedule
from kstreams_runbooks.demo.traffic.topics import topic_names

RUN_BROKER = Path(__file__).resolve().parent.parent / "apps" / "broker" / "bin" / "run-broker"


class Broker(Protocol):
    """What the `kafka` fixture gives."""

    bootstrap: str


def new_topics(bootstrap: str) -> str:
    """Make six empty topics; return their prefix."""
    prefix = f"generator-{uuid.uuid4().hex[:8]}-"
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.create_topics([NewTopic(name, 4, 1) for name in topic_names(prefix).values()]).values():
        future.result()
    return prefix


def start(bootstrap: str, prefix: str, *more: str) -> "subprocess.Popen[str]":
    """Start the command."""
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "kstreams_runbooks.cli",
            "generate-traffic",
            f"--bootstrap={bootstrap}",
            f"--topic-prefix={prefix}",
            *more,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def collected(bootstrap: str, prefix: str) -> Collected:
    """Read everything that was sent."""
    return read_topics({"bootstrap.servers": bootstrap}, topic_names(prefix), settle_s=1, timeout_s=60).collected


def test_what_is_sent_is_what_the_schedule_says(kafka: Broker) -> None:
    """Same settings, same records: every event once, in its order within a partition, in murmur2's partition."""
    prefix = new_topics(kafka.bootstrap)
    began = time.time()
    process = start(kafka.bootstrap, prefix, "--records=2000", "--rate=1000", "--seed=5", "--start-ms=1790000000000")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert time.time() - began >= 2.0
    document = json.loads(out)
    assert (document["orders"], document["customers"]) == (2_000, 150)
    got = collected(kafka.bootstrap, prefix)
    schedule = Schedule(seed=5, rate=1000, customers=100, start_ms=1_790_000_000_000)
    wanted = {
        (order.event, order.order, order.customer, order.amount, order.ts) for order in map(schedule.order, range(2000))
    }
    rows = zip(got.event, got.order, got.customer, got.amount, got.ts, strict=True)
    assert {
        (got.events.texts[event], got.orders.texts[order], got.customers.texts[customer], amount, ts)
        for event, order, customer, amount, ts in rows
    } == wanted
    assert len(got.event) == 2_000
    assert not got.misplaced.counts
    for partition in range(4):
        numbers = [
            int(got.events.texts[event].rpartition("-")[2])
            for event, own in zip(got.event, got.partition, strict=True)
            if own == partition
        ]
        assert numbers == sorted(numbers)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_everything_acknowledged(kafka: Broker, number: signal.Signals) -> None:
    """Exit 0, and as many records in the topic as the document says."""
    prefix = new_topics(kafka.bootstrap)
    process = start(kafka.bootstrap, prefix, "--rate=500")
    time.sleep(4)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    document = json.loads(out)
    assert document["orders"] > 0
    assert len(collected(kafka.bootstrap, prefix).event) == document["orders"]


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator["RestartableBroker"]:
    """Give a broker of this test's own, so that its restart disturbs nobody."""
    broker = RestartableBroker(tmp_path / "broker")
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()


class RestartableBroker:
    """A broker on two free ports, with its data in one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.ports = free_port(), free_port()
        self.bootstrap = f"127.0.0.1:{self.ports[0]}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        log = self.directory.parent / "broker.log"
        with log.open("ab") as out:
            arguments = [str(RUN_BROKER), str(self.directory), *map(str, self.ports)]
            self.process = subprocess.Popen(arguments, stdout=out, stderr=out)
        deadline = time.time() + 90
        while True:
            assert self.process.poll() is None, log.read_text()
            try:
                AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0}).list_topics(timeout=2)
            except KafkaException:
                assert time.time() < deadline, log.read_text()
            else:
                return

    def stop(self) -> None:
        """End the process that was started, and no other."""
        if self.process is not None and self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGTERM)
            self.process.wait(timeout=60)


def free_port() -> int:
    """Return a port that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.long
def test_a_broker_restart_neither_loses_nor_repeats_a_record(own_broker: RestartableBroker) -> None:
    """The generator waits, then catches up with its schedule."""
    prefix = new_topics(own_broker.bootstrap)
    process = start(own_broker.bootstrap, prefix, "--rate=300")
    time.sleep(4)
    own_broker.stop()
    time.sleep(3)
    own_broker.start()
    time.sleep(5)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    document = json.loads(out)
    assert document["orders"] >= 2_000
    got = collected(own_broker.bootstrap, prefix)
    assert len(got.event) == len(got.events) == document["orders"]
