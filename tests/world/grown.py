"""The orders application behind the shipped copier, its owners accepting every loss; what a growth has done to counts.

The forecast is Spark's. Everything here reads the topics with a consumer, and asks Kafka's partitioner.
"""

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import yaml
from confluent_kafka import Consumer, TopicPartition
from kstreams_runbooks.demo.traffic.partitioner import partition_of
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.growth import ForecastReading, TopicForecast
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe import ClusterReader
from lab import kafka
from lab.afresh import afresh, forget_group
from lab.application import TO_RELEASE, Deployed
from lab.copier import COPIES, TRAFFIC
from lab.shipped_copier import NAME, shipped_copier
from lab.stack import Stack
from lab.supervise import until
from lab.topology_facts import JAR, jar

from world.flushing import ACCEPTED
from world.given import declared_as

DAG = "partition_increase"
BEFORE, AFTER = kafka.PARTITIONS, 12
COPIER = ("orders-passing-1",)
FORM = {"partitions": AFTER, "copier": NAME, **ACCEPTED}
DEPLOYED = Deployed(release=TO_RELEASE, settings={"facts.agent": str(JAR)})
# Records a second that have to reach the inputs.
RATE = 300
# Two applications are read one after the other, on a machine that does more.
_LIMITS = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2, "max_reading_age_s": 120}
_SPARK = "spark_default"
# The suppression's buffer is a store too; no other field of it is declared.
_BUFFER = "orders-windowed-closed-store"
_RUNNING, _CHANGELOG = "orders-running", "orders-orders-running-store-changelog"
_REPARTITIONS = ("orders-orders-by-customer-repartition", "orders-orders-per-customer-repartition")
_KNOWN_S, _RATED_S, _REST_S = 120, 5.0, 300


@contextmanager
def accepting(stack: Stack, *, but: Iterable[str] = ()) -> Iterator[None]:
    """The declaration of the release that runs accepts the loss of every store, `but` these."""
    file = stack.lab.config / "applications" / "orders" / f"{TO_RELEASE}.yaml"
    before = file.read_text(encoding="utf-8")
    declaration = yaml.safe_load(before)
    stores = {**declaration["stores"], _BUFFER: {}}
    declaration["stores"] = {name: {**of, "loss_acceptable": name not in but} for name, of in stores.items()}
    file.write_text(yaml.safe_dump(declaration), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(before, encoding="utf-8")


@contextmanager
def spark_here(stack: Stack) -> Iterator[None]:
    """Airflow's connection for Spark jobs: each is a process of its own on this machine."""
    stack.api().call("POST", "/connections", {"connection_id": _SPARK, "conn_type": "spark", "host": "local[2]"})
    try:
        yield
    finally:
        stack.api().call("DELETE", f"/connections/{_SPARK}")


@contextmanager
def behind_its_copier(stack: Stack) -> Iterator[Stack]:
    """From nothing, under traffic through one instance of the copier; every customer has been counted."""
    jar()
    afresh(stack, DEPLOYED)
    # Its offsets went with the topics; members of an earlier copier may be left.
    forget_group(stack.lab.bootstrap, NAME)
    controls = [*COPIES.values()]
    with accepting(stack), declared_as(stack, limits=_LIMITS, control=controls), shipped_copier(stack, COPIER):
        stack.supervisor.start(TRAFFIC)
        until(lambda: len(_counts(stack)) == stack.parts.customers, _KNOWN_S, "every customer is counted", poll_s=3)
        yield stack


def is_behind_its_copier(stack: Stack) -> bool:
    """Whether the copier is declared now."""
    return (stack.lab.config / "applications" / f"{NAME}.yaml").exists()


def rate(stack: Stack) -> float:
    """Records a second that producers send, once they are `RATE` or more: a loaded machine stands still at times."""
    seen = 0.0

    def enough() -> bool:
        nonlocal seen
        before, began = _sent(stack), time.monotonic()
        time.sleep(_RATED_S)
        seen = (_sent(stack) - before) / (time.monotonic() - began)
        return seen >= RATE

    until(enough, _KNOWN_S, f"{RATE} records a second are sent")
    return seen


def at_rest(stack: Stack) -> None:
    """Nothing is sent, and copier and application have read everything."""
    stack.supervisor.stop(TRAFFIC)
    kafka.wait_drained(stack.lab.bootstrap, NAME)
    kafka.wait_drained(stack.lab.bootstrap, "orders", _REST_S)


def partitions(stack: Stack, topics: Iterable[str] = COPIES.values()) -> dict[str, int]:
    """The number of partitions of each topic."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        return {one.name: one.partitions for one in reader.topics(tuple(topics))}


@dataclass(frozen=True)
class Counted:
    """The counts of one customer in the order of its records, before a growth and after it."""

    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True)
class Growth:
    """A growth at rest: the counts of each customer, what was forecast, and where the topics had ended before."""

    counted: dict[bytes, Counted]
    forecast: TopicForecast
    ends: dict[tuple[str, int], int]

    @property
    def moved(self) -> set[bytes]:
        """Customers that Kafka's partitioner puts elsewhere."""
        return {key for key in self.counted if partition_of(key, BEFORE) != partition_of(key, AFTER)}


def growth(stack: Stack, run_id: str) -> Growth:
    """What a run has grown. No instance runs at that time, so the times of records distinguish before and after."""
    ledger, run_key = Ledger.open(stack.environment()["KSTREAMS_RUNBOOKS_LEDGER"]), f"{DAG}/{run_id}"
    [written, *_] = ledger.evidence(run_key, kind="write", name="grow_topics")
    [kept] = ledger.evidence(run_key, kind="reading", name="growth forecast", newest=1)
    reading = decode(ForecastReading, kept.payload["forecast"])
    assert not isinstance(reading.topics, Missing), reading.topics.missing
    [forecast] = [one for one in reading.topics if one.topic == _CHANGELOG]
    ends = {(topic, part): int(end) for topic, part, end in ledger.recall(run_key, "ends before the growth")}
    return Growth(_counted(stack, written.at_ms), forecast, ends)


def compared(stack: Stack, run_id: str) -> tuple[int, list[str]]:
    """The events that are counted, and everything that is not as forecast, at rest.

    A key that begins anew counts from 1, any other goes on.
    """
    found = growth(stack, run_id)
    events = sum(len(one.before) + len(one.after) for one in found.counted.values())
    wrong = [*_of_counts(found), *_of_forecast(found), *_of_events(stack, found), *_of_places(stack, found.ends)]
    return events, wrong


def _of_counts(found: Growth) -> Iterator[str]:
    for key, one in found.counted.items():
        begins = 1 if key in found.moved or not one.before else one.before[-1] + 1
        if one.before != tuple(range(1, len(one.before) + 1)):
            yield f"{key!r}: counted {one.before[:5]}… before the growth"
        if not one.after:
            yield f"{key!r}: has no record after the growth"
        elif one.after != tuple(range(begins, begins + len(one.after))):
            last = one.before[-1] if one.before else None
            yield f"{key!r}: first counts after the growth {one.after[:5]} (expected from {begins}; before: {last})"


def _of_forecast(found: Growth) -> Iterator[str]:
    sets = {"moved": found.moved, "kept": found.counted.keys() - found.moved}
    for name, share in (("moved", found.forecast.moved), ("kept", found.forecast.kept)):
        if share.keys != len(sets[name]):
            yield f"{share.keys:,} keys forecast as {name}, {len(sets[name]):,} are"
    for placed in found.forecast.examples.get("moved", ()):
        if placed.key.encode() not in found.moved:
            yield f"{placed.key} is forecast as moved and stays"


def _of_events(stack: Stack, found: Growth) -> Iterator[str]:
    """Each event is counted once: none is lost in the hold, and none is counted twice."""
    sent: Counter[bytes] = Counter()
    for record in kafka.records(stack.lab.bootstrap, "sent-orders"):
        sent[json.loads(record.value() or b"{}")["customer"].encode()] += 1
    for key in sorted(sent.keys() | found.counted.keys()):
        one = found.counted.get(key, Counted((), ()))
        if (count := len(one.before) + len(one.after)) != sent[key]:
            yield f"{key!r}: {sent[key]:,} events were sent, and {count:,} are counted"


def _of_places(stack: Stack, ends: dict[tuple[str, int], int]) -> Iterator[str]:
    """No new record is in the old partition of a key; each partition is read. Streams deletes repartition records."""
    for topic in (*COPIES.values(), *_REPARTITIONS):
        filled = set()
        for record in kafka.records(stack.lab.bootstrap, topic):
            place = (topic, record.partition() or 0)
            if (record.offset() or 0) < ends.get(place, 0):
                continue
            filled.add(place[1])
            if partition_of(record.key() or b"", AFTER) != place[1]:
                yield f"{topic}-{place[1]}: has a new record of {record.key()!r}"
        if topic in COPIES.values() and filled != set(range(AFTER)):
            yield f"{topic}: only partitions {sorted(filled)} have new records"
    read = {place for place in _committed(stack) if place[0] in {*COPIES.values(), *_REPARTITIONS}}
    wanted = {(topic, part) for topic in (*COPIES.values(), *_REPARTITIONS) for part in range(AFTER)}
    if wanted - read:
        yield f"nothing is committed of {sorted(wanted - read)[:5]}"


def _committed(stack: Stack) -> set[tuple[str, int]]:
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        committed = reader.committed(["orders"])["orders"]
    assert not isinstance(committed, Missing)
    return {place for place, at in committed.items() if at is not None}


def _counted(stack: Stack, at_ms: int) -> dict[bytes, Counted]:
    before: dict[bytes, list[int]] = {}
    after: dict[bytes, list[int]] = {}
    for record in kafka.records(stack.lab.bootstrap, _RUNNING):
        side = before if record.timestamp()[1] < at_ms else after
        side.setdefault(record.key() or b"", []).append(json.loads(record.value() or b"{}")["count"])
    keys = before.keys() | after.keys()
    return {key: Counted(tuple(before.get(key, ())), tuple(after.get(key, ()))) for key in keys}


def _counts(stack: Stack) -> set[bytes]:
    return {record.key() or b"" for record in kafka.records(stack.lab.bootstrap, _RUNNING)}


def _sent(stack: Stack) -> int:
    """The end offsets of what producers send."""
    found: Any = Consumer({"bootstrap.servers": stack.lab.bootstrap, "group.id": "lab-reads-only"})
    try:
        return sum(
            found.get_watermark_offsets(TopicPartition(topic, part), timeout=10)[1]
            for topic in COPIES
            for part in range(BEFORE)
        )
    finally:
        found.close()
