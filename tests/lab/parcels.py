"""A second application of another shape: two streams that are merged, a global table, one instance with two threads.

Code chooses the topic that it writes.

Its source is tests/apps/parcels, compiled against the jars of a release of the orders application.
"""

import random
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.application.metrics import read_streams
from kstreams_runbooks.properties import dump, write_atomically

from lab import kafka, topology_facts
from lab.afresh import TELL_APART_S, forget_group
from lab.application import TO_RELEASE
from lab.settings import CHECKOUT
from lab.shipped_copier import agent
from lab.stack import Stack
from lab.supervise import Program, until

NAME, INSTANCE = "parcels", "parcels-1"
STREAMS: Final = ("parcels-scans", "parcels-returns")
DEPOTS: Final = "parcels-depots"
COUNTED: Final = "parcels-counted"
INPUTS: Final = (*STREAMS, DEPOTS)
# The application's own settings, each with its input.
INPUT_SETTINGS: Final = {"topic.scans": STREAMS[0], "topic.returns": STREAMS[1], "topic.depots": DEPOTS}
RATE = 400
_KEYS = 200
_PARTITIONS = 6
# Ports of metrics: the orders application has the first two, its copiers those after them.
_NUMBER = 8
_RUNNING_S = 90
_CALL_S = 30
_READ_S = 60
_SOURCES = CHECKOUT / "tests" / "apps" / "parcels" / "src"
_JVM = ("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


@dataclass
class Scans:
    """What was sent: the scans of each depot, and how often each depot was named."""

    sent: Counter[str] = field(default_factory=Counter)
    named: dict[str, int] = field(default_factory=dict)


@contextmanager
def parcels(stack: Stack) -> Iterator[None]:
    """It runs from nothing, under traffic, and is declared while the body runs; then its output is judged.

    Nothing is lost or twice, no depot is without its name, and the last names of all depots are in use.
    """
    entry = _deploy(stack)
    scans, ends = Scans(), threading.Event()
    _name_depots(stack, scans)
    stack.supervisor.start(INSTANCE)
    until(lambda: _is_running(stack), _RUNNING_S, f"{INSTANCE} is RUNNING", poll_s=0.3)
    sender = threading.Thread(target=_send, args=(stack.lab.bootstrap, scans, ends))
    sender.start()
    try:
        yield
        _name_depots(stack, scans)
    finally:
        ends.set()
        sender.join()
        entry.unlink()
    try:
        _one_each(stack, scans)
        faults = _judged(stack, scans)
        assert faults == []
        assert sum(scans.sent.values()) > 1_000
    finally:
        stack.supervisor.stop(INSTANCE)


def _deploy(stack: Stack) -> Path:
    """Its topics, its classes, its directory, its program and its fleet entry, which is returned; it does not run."""
    lab, directory = stack.lab, stack.lab.instances / INSTANCE
    forget_group(lab.bootstrap, NAME)
    shutil.rmtree(directory, ignore_errors=True)
    (directory / "state").mkdir(parents=True)
    kafka.create_topics(lab.bootstrap, (*STREAMS, COUNTED), partitions=_PARTITIONS, sent_with_times=STREAMS)
    compacted = NewTopic(DEPOTS, num_partitions=1, config={"cleanup.policy": "compact"})
    admin = AdminClient({"bootstrap.servers": lab.bootstrap})
    admin.create_topics([compacted])[DEPOTS].result(_CALL_S)
    port = lab.ports.metrics(_NUMBER)
    base = {
        "application.id": NAME,
        "bootstrap.servers": lab.bootstrap,
        "state.dir": str(directory / "state"),
        "processing.guarantee": "exactly_once_v2",
        "num.stream.threads": "2",
        "auto.offset.reset": "earliest",
    }
    (directory / "base.properties").write_text(dump(base), encoding="latin-1")
    write_atomically(directory / "deployment.properties", dump({"release": TO_RELEASE}))
    files = (str(directory / "base.properties"), str(directory / "deployment.properties"))
    option = f"-javaagent:{agent()}=host=127.0.0.1,port={port},discoveryEnabled=false"
    words = (
        "java",
        *_JVM,
        option,
        f"-javaagent:{topology_facts.jar()}",
        "-cp",
        _classes(stack),
        "parcels.Parcels",
        *files,
    )
    stack.supervisor.add(Program(INSTANCE, words, stop_wait_s=40))
    entry = lab.config / "applications" / f"{NAME}.yaml"
    entry.write_text(yaml.safe_dump(_declared(stack)), encoding="utf-8")
    time.sleep(TELL_APART_S)
    return entry


def _classes(stack: Stack) -> str:
    """The class path of the application, which is compiled once a stack."""
    jars = f"{stack.lab.releases / TO_RELEASE}/*"
    made = stack.lab.run_dir / "parcels"
    if not made.is_dir():
        sources = [str(file) for file in _SOURCES.rglob("*.java")]
        done = subprocess.run(
            ["javac", "--release", "17", "-cp", jars, "-d", str(made), *sources],
            capture_output=True,
            text=True,
            timeout=_READ_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return f"{made}:{jars}"


def _declared(stack: Stack) -> dict[str, Any]:
    """Its fleet entry."""
    lab, directory = stack.lab, stack.lab.instances / INSTANCE
    facts = f"exec java -cp {topology_facts.jar()}:{_classes(stack)} kstreams.runbooks.facts.FactsCommand"
    factory = f'--factory parcels.Parcels::topology --properties <(cat {directory / "base.properties"} "$1")'
    return {
        "application_id": NAME,
        "cluster": "demo",
        "inputs": [*INPUTS],
        "outputs": [COUNTED],
        "input_settings": dict(INPUT_SETTINGS),
        "deployer": {
            "kind": "supervisord",
            "url": lab.supervisor_url,
            "instances": [
                {
                    "name": INSTANCE,
                    "program": INSTANCE,
                    "directory": str(directory),
                    "metrics": lab.metrics_url(_NUMBER),
                    "state_dir": str(directory / "state"),
                }
            ],
            "releases": {TO_RELEASE: str(lab.releases / TO_RELEASE)},
            "topology": ["bash", "-c", f"{facts} {factory}", "topology", "{settings_file}"],
            "settable": [*INPUT_SETTINGS],
            "stop_timeout_s": 60,
            "start_timeout_s": 60,
        },
        "owner": "team-parcels",
        "operators": ["oncall", "admin"],
        "approvers": ["approver", "admin"],
        "production": False,
        "four_eyes": True,
        "static_membership": False,
        "table_aggregations": "no",
        "foreign_key_joins": "no",
        "processing_guarantee": "exactly_once_v2",
        "punctuators": [],
        "limits": {
            "gate_interval_s": 0.5,
            "gate_good_readings": 2,
            "commit_interval_s": 0.1,
            "gate_ceiling_s": 300,
            "bake_s": 1,
            "max_reading_age_s": 120,
        },
    }


def _is_running(stack: Stack) -> bool:
    reading = read_streams(stack.lab.metrics_url(_NUMBER))
    return not isinstance(reading, Missing) and reading.state == "RUNNING"


def _name_depots(stack: Stack, scans: Scans) -> None:
    """Every depot gets its next name."""
    producer = Producer({"bootstrap.servers": stack.lab.bootstrap})
    for number in range(_KEYS):
        depot = f"depot-{number}"
        scans.named[depot] = scans.named.get(depot, 0) + 1
        producer.produce(DEPOTS, f"name-{scans.named[depot]}", key=depot)
    assert producer.flush(_CALL_S) == 0


def _send(bootstrap: str, scans: Scans, ends: threading.Event) -> None:
    """Scans of drawn depots, in turn of both inputs, at a rate, until the end."""
    producer, draw, began = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5}), random.Random(1), time.time()
    number = 0
    while not ends.is_set():
        while number < (time.time() - began) * RATE:
            depot = f"depot-{draw.randrange(_KEYS)}"
            producer.produce(STREAMS[number % 2], f"scan-{number}", key=depot)
            scans.sent[depot] += 1
            number += 1
        producer.poll(0.01)
    assert producer.flush(_CALL_S) == 0


def _one_each(stack: Stack, scans: Scans) -> None:
    """A last scan of every depot, once the application has had time to read the last names."""
    time.sleep(2)
    producer = Producer({"bootstrap.servers": stack.lab.bootstrap})
    for depot in scans.named:
        producer.produce(STREAMS[0], "last", key=depot)
        scans.sent[depot] += 1
    assert producer.flush(_CALL_S) == 0


def _judged(stack: Stack, scans: Scans) -> list[str]:
    """What is wrong in the output: one sentence each."""
    wanted = sum(scans.sent.values())
    until(lambda: _written(stack) >= wanted, _READ_S, f"{COUNTED} has {wanted} results", poll_s=1)
    counts, events, last, faults = dict[str, list[int]](), Counter[str](), dict[str, str](), list[str]()
    for record in kafka.records(stack.lab.bootstrap, COUNTED):
        depot, (scan, name, count) = _text(record.key()), _text(record.value()).split("|")
        counts.setdefault(depot, []).append(int(count))
        last[depot] = name
        events[scan] += 1
        if name == "?":
            faults.append(f"{depot}, {scan}: the global table had no name")
    for depot, sent in sorted(scans.sent.items()):
        if counts.get(depot, []) != [*range(1, sent + 1)]:
            faults.append(f"{depot}: {sent} scans were sent, counts {counts.get(depot, [])[-5:]}")
        if last.get(depot) != f"name-{scans.named[depot]}":
            faults.append(f"{depot}: its last scan has {last.get(depot)}, its name is name-{scans.named[depot]}")
    faults += [f"{scan}: {times} results" for scan, times in events.items() if times > 1 and scan != "last"]
    return faults


def _written(stack: Stack) -> int:
    return sum(1 for _ in kafka.records(stack.lab.bootstrap, COUNTED))


def _text(content: bytes | str | None) -> str:
    assert isinstance(content, bytes)
    return content.decode()
