"""`python -m benchmarks.lag_snapshot`: the lag of 500 groups on 10,000 partitions, beside Kafka's own tool, in one run.

A broker of its own, whose own counters (over Jolokia) say how many requests each of the two costs. They alternate, so
that a machine whose speed drifts hits both; both are commands, with the start of Python and of a JVM. PORT_BASE and
RUN_DIR as everywhere, GROUPS and PARTITIONS for another size.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpx
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.lag.lag import LagAsked, read_lag
from lab.kafka_tools import consumer_groups
from lab.settings import CHECKOUT, Lab
from lab.stack import Parts, stack
from lab.supervise import until

SCHEMA_VERSION = 1
GROUPS, PARTITIONS, REPEATS = 500, 10_000, 5
_SIZES = (("GROUPS", GROUPS), ("PARTITIONS", PARTITIONS))
_CALL_S, _READY_S, _AT_ONCE = 120, 120, 50
_JOLOKIA = 7
_COUNTERS = "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=*,version=*"
# What a broker in one process sends to itself.
_OWN = frozenset({"BrokerHeartbeat", "Fetch", "FetchSnapshot", "AllocateProducerIds", "AlterPartition"})


def main() -> None:
    """Print the document; with `once BOOTSTRAP` one snapshot alone, as a command."""
    if sys.argv[1:2] == ["once"]:
        print(json.dumps(snapshot({"bootstrap.servers": sys.argv[2]})))
        return
    lab = Lab.of()
    groups, partitions = sizes()
    with observed_broker(lab) as counted, stack(lab, Parts(deployed=None, airflow=False, built=True)):
        fill(lab.bootstrap, groups, partitions // groups)
        print(json.dumps(measured(lab.bootstrap, counted, groups, partitions)))


def sizes() -> tuple[int, int]:
    """Groups and partitions."""
    groups, partitions = (int(os.environ.get(name) or value) for name, value in _SIZES)
    return groups, partitions


@contextmanager
def observed_broker(lab: Lab) -> Iterator[Callable[[], int]]:
    """A broker that is started in the body tells how many requests it was sent; what it yields asks it."""
    [agent, *_] = sorted((CHECKOUT / "tests/apps/orders/target/releases").glob("*/jolokia-agent-jvm-*.jar"))
    port = lab.ports.base + _JOLOKIA
    os.environ["JAVA_TOOL_OPTIONS"] = f"-javaagent:{agent}=host=127.0.0.1,port={port},discoveryEnabled=false"

    def counted() -> int:
        answer = httpx.get(f"http://127.0.0.1:{port}/jolokia/read/{_COUNTERS}/Count", timeout=30, trust_env=False)
        values = answer.json()["value"]
        return sum(int(one["Count"]) for name, one in values.items() if not _OWN & set(_parts(name)))

    try:
        yield counted
    finally:
        os.environ.pop("JAVA_TOOL_OPTIONS", None)


def _parts(name: str) -> list[str]:
    """The values in a JMX name."""
    return [part.partition("=")[2] for part in name.partition(":")[2].split(",")]


def names(groups: int) -> list[str]:
    """Group ids."""
    return [f"app-{number:03}" for number in range(groups)]


def fill(bootstrap: str, groups: int, each: int) -> None:
    """A topic of `each` partitions for every group, with an offset on each of them."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    first, *others = names(groups)
    # The first commit makes the coordinator's own topic, which takes long beside ten thousand other partitions.
    for some in ([first], *(others[at : at + _AT_ONCE] for at in range(0, len(others), _AT_ONCE))):
        topics = [NewTopic(f"{name}-input", each, 1) for name in some]
        for future in admin.create_topics(topics, request_timeout=_CALL_S).values():
            future.result()
        for name in some:
            until(partial(committed, admin, name, each), _READY_S, f"{name} has its offsets")


def committed(admin: AdminClient, group: str, each: int) -> bool:
    """Whether the coordinator took all of its offsets: a new broker has ten thousand partitions to make first."""
    places = [TopicPartition(f"{group}-input", number, 0) for number in range(each)]
    asked = [ConsumerGroupTopicPartitions(group, places)]
    try:
        answer = admin.alter_consumer_group_offsets(asked)[group].result(_CALL_S).topic_partitions
    except KafkaException:
        return False
    return all(one.error is None for one in answer)


def snapshot(config: Mapping[str, Any]) -> dict[str, Any]:
    """One snapshot in this process: seconds from the connection to the end, what it saw, and the memory at most."""
    began = time.monotonic()
    with ClusterReader(dict(config)) as reader:
        asked = [LagAsked(name, name, {f"{name}-input": "source"}) for name in asked_of(reader)]
        first = read_lag(reader, "bench", asked)
        took = time.monotonic() - began
        began = time.monotonic()
        read_lag(reader, "bench", asked)
        warm = time.monotonic() - began
    known = sum(row.state == "ok" for one in first.applications for row in one.partitions)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": took, "warm_seconds": warm, "partitions": known, "peak_mb": peak}


def asked_of(reader: ClusterReader) -> Sequence[str]:
    """All groups of the cluster."""
    return [group for group, _, _ in reader.groups()]


def measured(bootstrap: str, counted: Callable[[], int], groups: int, partitions: int) -> dict[str, Any]:
    """Both, alternating; the first pair warms the broker up and does not count."""
    ours, theirs = [], []
    for _ in range(REPEATS + 1):
        ours.append(our_command(bootstrap, counted, partitions))
        theirs.append(their_command(bootstrap, counted, partitions))
    ours, theirs = ours[1:], theirs[1:]
    return {
        "schema_version": SCHEMA_VERSION,
        "groups": groups,
        "partitions": partitions,
        "snapshot_command_s": spread([one["command"] for one in ours]),
        "snapshot_read_s": spread([one["seconds"] for one in ours]),
        "snapshot_read_warm_s": spread([one["warm_seconds"] for one in ours]),
        "snapshot_requests": spread([one["requests"] for one in ours]),
        "snapshot_peak_mb": spread([one["peak_mb"] for one in ours]),
        "tool_command_s": spread([one["command"] for one in theirs]),
        "tool_requests": spread([one["requests"] for one in theirs]),
        "ratio_of_commands": spread([a["command"] / b["command"] for a, b in zip(ours, theirs, strict=True)]),
    }


def our_command(bootstrap: str, counted: Callable[[], int], partitions: int) -> dict[str, float]:
    """One snapshot in a process of its own, which takes two: half of its requests are one's."""
    before, began = counted(), time.monotonic()
    command = [sys.executable, "-m", "benchmarks.lag_snapshot", "once", bootstrap]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=_plain())
    took = time.monotonic() - began
    found: dict[str, float] = json.loads(done.stdout)
    assert found["partitions"] == partitions, found
    return {**found, "command": took - found["warm_seconds"], "requests": (counted() - before) / 2}


def their_command(bootstrap: str, counted: Callable[[], int], partitions: int) -> dict[str, float]:
    """`kafka-consumer-groups.sh --all-groups --describe`."""
    before, began = counted(), time.monotonic()
    command = consumer_groups(bootstrap, "--all-groups", "--describe")
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=_plain())
    took = time.monotonic() - began
    rows = sum("-input" in line for line in done.stdout.splitlines())
    assert rows == partitions, f"{rows} rows"
    return {"command": took, "requests": counted() - before}


def _plain() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "JAVA_TOOL_OPTIONS"}


def spread(values: list[float]) -> dict[str, float]:
    """Median, smallest and largest."""
    return {
        "median": round(statistics.median(values), 2),
        "min": round(min(values), 2),
        "max": round(max(values), 2),
        "n": len(values),
    }


if __name__ == "__main__":
    main()
