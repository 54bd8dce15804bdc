"""The figures of a copier, read by an agent as from any application: Jolokia in the same JVM."""

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from lab import kafka
from lab.processes import kill_main_process
from lab.settings import CHECKOUT
from lab.supervise import until
from lab.topic_copier import TERMINATED, started
from world.copied import Begin, OwnBroker, produce, until_setting
from world.ports import COPIER_METRICS, port

pytestmark = pytest.mark.long

_BEAN = "kstreams.runbooks:type=topic-copier,*"
_READ_S = 60


def agent() -> Path:
    """Jolokia, as the orders application has it."""
    return next((CHECKOUT / "tests" / "apps" / "orders" / "target" / "releases").glob("*/jolokia-agent-jvm-*.jar"))


def figures() -> dict[str, Any]:
    """The attributes of the one bean; none while the agent does not answer."""
    address = f"http://127.0.0.1:{port(COPIER_METRICS)}/jolokia/read/{_BEAN}"
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            read: dict[str, dict[str, Any]] = json.load(answer)["value"]
    except (urllib.error.URLError, KeyError):
        return {}
    [attributes] = read.values()
    return attributes


def test_lag_rate_routes_version_and_what_is_left(begin: Begin) -> None:
    """The lag is the lag of the group. It is unknown until it was read once, and an open transaction adds none."""
    copy = begin("a", "b").create().seed()
    copy.send(500, partition=1)
    option = f"-javaagent:{agent()}=host=127.0.0.1,port={port(COPIER_METRICS)}"
    with started(copy.copier("metrics", option)) as copier:
        copy.wait_copied()
        until(lambda: figures().get("LagReadAtMs", -1) > 0, _READ_S, "the lag was read")
        read = figures()
        assert read["Group"] == copy.name
        assert read["Mode"] == "same-partition"
        assert read["Routes"] == [f"{source} -> {target}" for source, target in copy.routes.items()]
        assert read["Version"] == "0.1.0 (Kafka Streams 4.4.0)"
        assert read["State"] == "RUNNING"
        assert read["UntilLeft"] == -1
        assert read["LastError"] == ""
        until(lambda: figures()["CopiedRecords"] == 500, _READ_S, "every record is counted")
        until(lambda: figures()["Lag"] == 0, _READ_S, "the lag is read again")
        assert figures()["LagByTopic"] == dict.fromkeys(copy.routes, 0)
        copy.send(500, partition=2)
        until(lambda: figures()["RecordsPerSecond"] > 0, _READ_S, "the rate is read")
        assert copier.runs


def test_what_is_left_until_the_end(begin: Begin) -> None:
    """Offsets to come, while an open transaction holds them up."""
    copy = begin().create(1).seed()
    option = f"-javaagent:{agent()}=host=127.0.0.1,port={port(COPIER_METRICS)}"
    with copy.transaction() as producer:
        produce(producer, copy.source, 0, 0)
        producer.flush(30)
        copy.send(6)
        copier = copy.copier("metrics", option, until=until_setting({0: 7}, copy.source)).start().wait_running()
        until(lambda: figures().get("UntilLeft") == 7, _READ_S, "seven offsets are left")
        producer.commit_transaction(30)
    assert copier.end() == 0


def test_the_last_error_is_there_while_it_runs_and_while_it_waits_to_end(
    begin_there: Begin, own_broker: OwnBroker
) -> None:
    """Brokers that do not answer, and the reason of an end: an agent reads it before the process is gone."""
    stack = own_broker.stack
    copy = begin_there().create(1).seed()
    options = (f"-javaagent:{agent()}=host=127.0.0.1,port={port(COPIER_METRICS)}", "-Dtopic.copier.pause.s=300")
    copier = copy.copier("metrics", *options, default_api_timeout_ms="5000", request_timeout_ms="3000").start()
    copier.wait_running()
    until(lambda: figures().get("LagReadAtMs", -1) > 0, _READ_S, "the lag was read")
    assert (figures()["LastError"], figures()["LastErrorAtMs"]) == ("", -1)
    kill_main_process(stack, "broker")
    until(lambda: figures()["LastError"], _READ_S, "the error is there")
    read = figures()
    assert read["LastError"].endswith("Start the copier again once the brokers answer.")
    assert read["LastErrorAtMs"] > read["LagReadAtMs"]
    assert read["State"] == "RUNNING"
    stack.supervisor.start("broker")
    kafka.wait_for_broker(stack.lab, stack.supervisor)
    copy.send(5)
    copy.wait_copied()
    copy.grow(copy.source, 2)
    counts = f"{copy.source} has 2 partitions and {copy.target} has 1."
    until(lambda: counts in figures()["LastError"], _READ_S, "the reason is there")
    assert copier.runs
    until(lambda: figures()["LastError"] in copier.last_line, _READ_S, "it is the last line")
    assert copier.terminate() == TERMINATED
    assert counts in copier.last_line
    copy.require_left()
