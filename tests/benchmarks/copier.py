"""`python -m benchmarks.copier`: the shipped copier beside a bare Java loop with the same settings and one in Python.

A broker of its own. The programs take turns in each round, into a topic of their own each time. PORT_BASE and RUN_DIR
as everywhere; RECORDS, WIDE (records of the run with 100 partitions), ROUNDS, LATENCY_S, SOAK_MIN (0: no soak).
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from confluent_kafka import Consumer, Producer, TopicPartition
from kstreams_runbooks.model.readings.readings import GroupReading
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.properties import dump
from lab import copier_program, kafka, topic_copier
from lab.settings import Lab
from lab.stack import Parts, stack
from lab.supervise import until

SCHEMA_VERSION = 1
RECORDS, WIDE_RECORDS = 5_000_000, 1_000_000
ROUNDS, LATENCY_S, SOAK_MIN = 3, 60, 30
NARROW, WIDE = 4, 100
RATES = (500, 5_000)
SOAK_RATE, SOAK_FROM_MIN = 5_000, 10
_VALUE = bytes(range(92))
_HEADERS: Any = [("trace", b"0123456789abcdef"), ("source", b"orders")]
_LOOP = Path(__file__).with_name("java") / "CopyLoop.java"
_JVM = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4")
_LIMIT_S = 1_800
_CALL_S = 60
_MB = 1_000_000
# Fractions of larger figures are noise.
_ROUGH = 100
# Those of the copier (docs/topic_copier.md), for both loops.
_SETTINGS = {
    "isolation.level": "read_committed",
    "enable.auto.commit": "false",
    "auto.offset.reset": "none",
    "metadata.max.age.ms": "10000",
    "session.timeout.ms": "6000",
    "heartbeat.interval.ms": "1500",
    "max.poll.records": "1000",
    "linger.ms": "100",
    "compression.type": "lz4",
    "buffer.memory": "67108864",
    "max.request.size": "67108864",
    "transaction.timeout.ms": "5000",
    "commit.interval.ms": "100",
}


@dataclass
class Run:
    """One program that copies one topic: its group is seeded, and it is started and ended by the body of `running`."""

    lab: Lab
    program: str
    source: str
    target: str

    @property
    def group(self) -> str:
        """Its group and the beginning of its transactional ids."""
        return self.target

    def command(self) -> Sequence[str]:
        """Its process."""
        folder, jar = self.lab.run_dir, topic_copier.jar()
        file = folder / f"{self.target}.properties"
        if self.program == "copier":
            route = f"{self.source} -> {self.target}"
            own = {"application.id": self.group, "bootstrap.servers": self.lab.bootstrap, "routes": route}
            file.write_text(dump(own | {"state.dir": str(folder / self.target)}), encoding="latin-1")
            return ("java", *_JVM, "-jar", str(jar), "--config", str(file))
        if self.program == "java":
            own = {"group.id": self.group, "transactional.id": self.group, "bootstrap.servers": self.lab.bootstrap}
            file.write_text(dump(_SETTINGS | own), encoding="latin-1")
            return ("java", *_JVM, "-cp", str(jar), str(_LOOP), str(file), self.source, self.target)
        given = ("--bootstrap", self.lab.bootstrap, "--group", self.group, "--client-id", self.group)
        route = f"{self.source}={self.target}"
        return (sys.executable, str(copier_program.__file__), *given, "--delivery", "exactly_once", route)

    def seed(self, partitions: int) -> None:
        """Begin at 0."""
        offsets = {(self.source, number): 0 for number in range(partitions)}
        topic_copier.seed(self.lab.bootstrap, self.group, offsets, {self.source: self.target})

    def committed(self, reader: ClusterReader) -> int:
        """Records that are copied: the sources have nothing but records, one after another."""
        found = reader.committed([self.group])[self.group]
        return sum(one.offset for one in found.values()) if isinstance(found, dict) else 0


@contextmanager
def running(run: Run) -> Iterator[psutil.Process]:
    """Its process while the body runs."""
    with (run.lab.logs / f"{run.target}.log").open("wb") as log:
        process = subprocess.Popen(run.command(), stdout=log, stderr=subprocess.STDOUT)
    try:
        yield psutil.Process(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def main() -> None:
    """Print the document."""
    lab, started = Lab.of(), os.getloadavg()[0]
    rounds, records = _number("ROUNDS", ROUNDS), _number("RECORDS", RECORDS)
    with stack(lab, Parts(deployed=None, airflow=False, built=True)):
        wide = _number("WIDE", WIDE_RECORDS)
        document: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "load_before": round(started, 1),
            "throughput": {
                f"{partitions} partitions, {count:,} records": throughput(lab, partitions, count, rounds)
                for partitions, count in ((NARROW, records), (WIDE, wide))
                if count
            },
            "latency_ms": {str(rate): latency(lab, rate, _number("LATENCY_S", LATENCY_S)) for rate in RATES},
            "soak": soak(lab, _number("SOAK_MIN", SOAK_MIN)),
        }
        document["load_after"] = round(os.getloadavg()[0], 1)
    print(json.dumps(document, indent=2))


def throughput(lab: Lab, partitions: int, records: int, rounds: int) -> dict[str, Any]:
    """Each program in each round; the ratio is that of the copier to the Java loop, in the second half."""
    source = f"bench-{partitions}"
    kafka.create_topics(lab.bootstrap, [source], partitions, sent_with_times=[source])
    fill(lab.bootstrap, source, partitions, records)
    took: dict[str, list[dict[str, float]]] = {"copier": [], "java": [], "python": []}
    for number in range(rounds):
        for program, found in took.items():
            target = f"{source}-{program}-{number}"
            kafka.create_topics(lab.bootstrap, [target], partitions, sent_with_times=[target])
            found.append(copied(Run(lab, program, source, target), partitions, records))
    warm = [one["warm_per_s"] / floor["warm_per_s"] for one, floor in zip(took["copier"], took["java"], strict=True)]
    return {
        **{
            program: {name: _spread([one[name] for one in found]) for name in found[0]}
            for program, found in took.items()
        },
        "warm_ratio_to_java": _spread(warm),
    }


def copied(run: Run, partitions: int, records: int) -> dict[str, float]:
    """Records a second of the whole and of its second half, processor seconds a million of that half, and both ends."""
    run.seed(partitions)
    marks: dict[str, tuple[float, float, int]] = {}
    began = time.monotonic()
    with ClusterReader({"bootstrap.servers": run.lab.bootstrap}) as reader, running(run) as process:
        while "end" not in marks:
            done, at = run.committed(reader), time.monotonic()
            for name, least in (("first", 1), ("half", records // 2), ("end", records)):
                if done >= least and name not in marks:
                    marks[name] = at, processor_s(process), done
            assert at - began < _LIMIT_S, f"{run.target}: {done:,} of {records:,} are copied"
            time.sleep(0.1)
        rss = process.memory_info().rss / _MB
        stopped = time.monotonic()
        process.send_signal(signal.SIGTERM)
        until(lambda: _is_empty(reader, run.group), 120, f"{run.group} is EMPTY", poll_s=0.05)
        empty_s = time.monotonic() - stopped
    half, end = marks["half"], marks["end"]
    rest = max(1, end[2] - half[2])
    return {
        "first_copy_s": marks["first"][0] - began,
        "per_s": records / (end[0] - marks["first"][0] or 1),
        "warm_per_s": rest / (end[0] - half[0] or 1),
        "warm_processor_s_per_million": (end[1] - half[1]) / rest * 1_000_000,
        "rss_mb": rss,
        "stop_until_empty_s": empty_s,
    }


def latency(lab: Lab, rate: int, seconds: int) -> dict[str, float]:
    """From the producer's time to a read_committed consumer of the target, of the shipped copier."""
    source, target = f"bench-latency-{rate}", f"bench-latency-{rate}-copy"
    kafka.create_topics(lab.bootstrap, [source, target], NARROW, sent_with_times=[source, target])
    run = Run(lab, "copier", source, target)
    run.seed(NARROW)
    took: list[float] = []
    with running(run), sending(lab, source, rate):
        consumer = Consumer(
            {
                "bootstrap.servers": lab.bootstrap,
                "group.id": f"{target}-reads",
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 10,
            }
        )
        consumer.assign([TopicPartition(target, number, 0) for number in range(NARROW)])
        # Warm: what the first half of the time shows is left out.
        begins = time.time() + seconds / 2
        while time.time() < begins + seconds / 2:
            for one in consumer.consume(500, 0.1):
                assert one.error() is None, one.error()
                if time.time() >= begins:
                    took.append(time.time() * 1000 - one.timestamp()[1])
        consumer.close()
    assert took, f"no copy of {source} arrived in {seconds} s"
    cuts = statistics.quantiles(took, n=100)
    return {"records": len(took), "p50": round(cuts[49]), "p99": round(cuts[98])}


def soak(lab: Lab, minutes: int) -> dict[str, float]:
    """Growth of the copier's memory from the tenth minute on; nothing without minutes."""
    if not minutes:
        return {}
    source, target = "bench-soak", "bench-soak-copy"
    kafka.create_topics(lab.bootstrap, [source, target], NARROW, sent_with_times=[source, target])
    run = Run(lab, "copier", source, target)
    run.seed(NARROW)
    readings: list[tuple[float, float]] = []
    with running(run) as process, sending(lab, source, SOAK_RATE):
        began = time.monotonic()
        while (passed := (time.monotonic() - began) / 60) < minutes:
            if passed >= min(SOAK_FROM_MIN, minutes / 2):
                readings.append((passed, process.memory_info().rss / _MB))
            time.sleep(5)
    slope = statistics.linear_regression(*zip(*readings, strict=True)).slope
    return {"minutes": minutes, "rss_mb": round(readings[-1][1]), "mb_per_minute": round(slope, 3)}


@contextmanager
def sending(lab: Lab, topic: str, rate: int) -> Iterator[None]:
    """Records at this rate while the body runs, a hundredth of a second at a time."""
    ends, producer = threading.Event(), Producer({"bootstrap.servers": lab.bootstrap, "linger.ms": 0})

    def send() -> None:
        sent, began = 0, time.monotonic()
        while not ends.wait(0.01):
            for _ in range(int((time.monotonic() - began) * rate) - sent):
                producer.produce(topic, _VALUE, b"%08d" % (sent % 1_000), headers=_HEADERS, partition=sent % NARROW)
                sent += 1
            producer.poll(0)
        producer.flush(30)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


def fill(bootstrap: str, topic: str, partitions: int, records: int) -> None:
    """Records of a hundred bytes with two headers, as many in each partition."""
    settings = {"linger.ms": 50, "queue.buffering.max.messages": 1_000_000, "compression.type": "lz4"}
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, **settings})
    for number in range(records):
        while True:
            try:
                key, partition = b"%08d" % (number % 100_000), number % partitions
                producer.produce(topic, _VALUE, key, partition=partition, headers=_HEADERS)
                break
            except BufferError:
                producer.poll(0.1)
        if number % 10_000 == 0:
            producer.poll(0)
    assert producer.flush(120) == 0


def processor_s(process: psutil.Process) -> float:
    """Of the process so far."""
    times = process.cpu_times()
    return float(times.user + times.system)


def _is_empty(reader: ClusterReader, group: str) -> bool:
    found = reader.group(group)
    return isinstance(found, GroupReading) and found.state.upper() == "EMPTY"


def _number(name: str, default: int) -> int:
    return int(os.environ.get(name) or default) if os.environ.get(name) != "0" else 0


def _spread(values: Sequence[float]) -> dict[str, float]:
    digits = 2 if max(values) < _ROUGH else 0
    named = {"median": statistics.median(values), "min": min(values), "max": max(values)}
    return {**{name: round(value, digits) for name, value in named.items()}, "n": len(values)}


if __name__ == "__main__":
    main()
