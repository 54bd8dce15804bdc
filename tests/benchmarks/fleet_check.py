"""`make bench-fleet`: one scheduled check of 50 applications and of 500, on one broker.

What the tasks of `fleet_check` call: read_cluster, then judge_fleet, with a ledger of its own. Each application has an
input and a repartition topic of two partitions each, and a stable group of one plain consumer; a fifth of them have
something to read and go on with it between two checks. No instance answers over Jolokia: the first check asks all of
them in vain, after it their topologies are put into the ledger as if they had told them. PORT_BASE and RUN_DIR as
everywhere.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.fleet import Application, load_fleet
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.status import KnownTopology
from kstreams_runbooks.watch.judge import judge_fleet
from kstreams_runbooks.watch.settings import CheckSettings
from kstreams_runbooks.watch.silent_application import declared_digest
from kstreams_runbooks.watch.status import ClusterRead, read_cluster
from lab.settings import Lab
from lab.stack import Parts, stack

SCHEMA_VERSION = 1
SIZES = (50, 500)
REPEATS = 5
_PARTITIONS = 2
# Enough to go on with from check to check.
_RECORDS = 10
_BEHIND = 5
_THREADS = 16
_CREATE_S = 120
_CLUSTER = "bench"


@dataclass
class Member:
    """One application's group: a consumer that stays in it, and where it stands."""

    entry: Application
    consumer: Consumer
    offset: int

    def commit(self) -> None:
        """Commit where it stands, on every partition."""
        self.consumer.commit(
            offsets=[TopicPartition(*place, self.offset) for place in places(self.entry)], asynchronous=False
        )


def topics(entry: Application) -> dict[str, Any]:
    """What it reads, by role."""
    return {f"{entry.name}-in": "source", f"{entry.application_id}-by-key-repartition": "repartition"}


def places(entry: Application) -> list[tuple[str, int]]:
    """Every partition that it reads."""
    return [(topic, number) for topic in topics(entry) for number in range(_PARTITIONS)]


def main() -> None:
    """Print the document."""
    lab = Lab.of()
    os.environ.update(lab.fleet_environment())
    with stack(lab, Parts(deployed=None, airflow=False, built=True)), tempfile.TemporaryDirectory() as folder:
        like = load_fleet().application("orders")
        members: list[Member] = []
        rows = []
        for size in SIZES:
            names = [f"app-{number:03}" for number in range(len(members), size)]
            entries = [like.model_copy(update={"name": name, "application_id": f"{name}-id"}) for name in names]
            members += joined(lab.bootstrap, entries)
            rows.append(measured(lab.bootstrap, members, Path(folder) / f"{size}.db"))
            print(f"{size} applications measured", file=sys.stderr)
        for member in members:
            member.consumer.close()
    growth = rows[-1]["check_s"]["median"] / rows[0]["check_s"]["median"]
    document = {
        "schema_version": SCHEMA_VERSION,
        "fleets": rows,
        "applications_ratio": SIZES[-1] / SIZES[0],
        "check_s_ratio": round(growth, 1),
    }
    print(json.dumps(document, indent=2))


def joined(bootstrap: str, entries: Sequence[Application]) -> list[Member]:
    """Topics with records, and a group for each application that has read them."""
    names = [topic for entry in entries for topic in topics(entry)]
    admin = AdminClient({"bootstrap.servers": bootstrap})
    made = admin.create_topics([NewTopic(name, _PARTITIONS, 1) for name in names], request_timeout=_CREATE_S)
    for future in made.values():
        future.result()
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50})
    for entry in entries:
        for topic, number in places(entry):
            for _ in range(_RECORDS):
                producer.produce(topic, b"x", partition=number)
        producer.poll(0)
    producer.flush()
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(lambda item: member(bootstrap, *item), enumerate(entries)))


def member(bootstrap: str, number: int, entry: Application) -> Member:
    """A consumer that is in the group and reads nothing more."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": entry.application_id,
            "enable.auto.commit": False,
            "session.timeout.ms": 300_000,
            "heartbeat.interval.ms": 60_000,
            "max.poll.interval.ms": 86_400_000,
            "log_level": 0,
        }
    )
    consumer.subscribe(list(topics(entry)))
    while not consumer.assignment():
        consumer.poll(0.2)
    consumer.pause(consumer.assignment())
    made = Member(entry, consumer, _RECORDS if number % _BEHIND else 1)
    made.commit()
    return made


def measured(bootstrap: str, members: Sequence[Member], file: Path) -> dict[str, Any]:
    """The first check, and several of a fleet that is well."""
    ledger, entries = Ledger.open(f"sqlite:///{file}"), [one.entry for one in members]
    config = {"bootstrap.servers": bootstrap}
    first_s, _, first = check(ledger, entries, config)
    remember_topologies(ledger, entries)
    # By the first check nobody is well: the second still asks everybody.
    check(ledger, entries, config)
    before = file.stat().st_size
    checks = []
    for _ in range(REPEATS):
        for one in members:
            if one.offset < _RECORDS:
                one.offset += 1
                one.commit()
        checks.append(check(ledger, entries, config))
    words = {one.word for one in ledger.lag_statuses()}
    assert words == {"healthy"}, words
    assert not any(read.asked for _, _, read in checks), [read.asked for _, _, read in checks]
    return {
        "applications": len(entries),
        "partitions": checks[-1][2].partitions,
        "first_check_s": round(first_s, 2),
        "first_check_requests": first.requests,
        "check_s": spread(seconds for seconds, _, _ in checks),
        "of_it_judging_s": spread(judging for _, judging, _ in checks),
        "requests": spread(read.requests for _, _, read in checks),
        "ledger_bytes_per_reading": round((file.stat().st_size - before) / REPEATS / len(entries)),
    }


def check(ledger: Ledger, entries: Sequence[Application], config: dict[str, Any]) -> tuple[float, float, ClusterRead]:
    """Seconds of one whole check, those of judging, and what reading came to."""
    settings, began = CheckSettings(), time.monotonic()
    read = read_cluster(ledger, _CLUSTER, entries, config, settings)
    # The fleet entries name the demo's cluster.
    here = [entry.model_copy(update={"cluster": _CLUSTER}) for entry in entries]
    half = time.monotonic()
    judge_fleet(
        ledger, here, settings, read_at_ms={_CLUSTER: read.at_ms}, problems={}, now_ms=time.time_ns() // 1_000_000
    )
    return time.monotonic() - began, time.monotonic() - half, read


def remember_topologies(ledger: Ledger, entries: Sequence[Application]) -> None:
    """Put into the last reading what the instances would have told."""
    last = ledger.lag_readings(_CLUSTER, [entry.name for entry in entries], 1)
    known = {}
    for entry in entries:
        [reading] = last[entry.name]
        topology = KnownTopology(topics(entry), (), reading.at_ms, declared_digest(entry))
        known[entry.name] = replace(reading, topology=topology)
    ledger.keep_lag(_CLUSTER, known)


def spread(values: Iterable[float]) -> dict[str, float]:
    """Median, smallest and largest."""
    found = list(values)
    return {
        "median": round(statistics.median(found), 2),
        "min": round(min(found), 2),
        "max": round(max(found), 2),
        "n": len(found),
    }


if __name__ == "__main__":
    main()
