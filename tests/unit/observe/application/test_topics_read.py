"""Who of an application has failed, by what its instances serve over HTTP; and that a dead one is only not told."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.model.readings.readings import Missing, TopicReading
from kstreams_runbooks.model.readings.status import KnownTopology
from kstreams_runbooks.observe.application.topics_read import (
    NO_TOPOLOGY_REPORTED,
    poll_instances,
    topics_to_read,
    topics_to_read_again,
)
from kstreams_runbooks.observe.kafka.offsets import Committed, Ends
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.lag import LagAsked, lag_of, topics_read
from kstreams_runbooks.observe.lag.partition_rows import ClusterLook

SAMPLES = Path(__file__).parents[1] / "samples"
_UNREADABLE, _PATTERN = "_unreadable", "_pattern"
_TWICE, _ELSE, _YOUNG = "_twice", "_else", "_young"
_START_MS = 1_795_235_973_344
NAMES = TopicNames.of({"orders", "customers", "orders-by-customer-repartition"})


class _Agent(BaseHTTPRequestHandler):
    """Serves the answer of a real Jolokia agent that was kept as the file that the path names, or no topology."""

    def do_POST(self) -> None:
        """Any question."""
        self.rfile.read(int(self.headers["Content-Length"]))
        name = self.path.strip("/")
        kind = next((each for each in (_UNREADABLE, _PATTERN, _TWICE, _ELSE, _YOUNG) if name.endswith(each)), "")
        body = _changed((SAMPLES / f"{name.removesuffix(kind)}.json").read_text(), kind).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the library's name
        """Nothing."""


def _changed(text: str, kind: str) -> str:
    """Another answer than the one that was kept."""
    if kind == _UNREADABLE:
        assert "Sub-topology: 0" in text
        return text.replace("Sub-topology: 0", "Sub-topology: none of them")
    if kind == _PATTERN:
        assert "(topics: [customers])" in text
        return text.replace("(topics: [customers])", r"(topics: \\p{Lower}+s)")
    parts = json.loads(text)
    clients, runtime = parts[0], parts[1]
    # By the agent's clock, which is years from this machine's: 61 s, or 18 s.
    runtime["timestamp"] = _START_MS // 1000 + (18 if kind == _YOUNG else 62)
    runtime["value"]["StartTime"] = _START_MS
    if kind == _TWICE:
        [bean] = clients["value"].values()
        clients["value"]["kafka.streams:client-id=other,type=stream-metrics"] = bean
    if kind == _ELSE:
        [bean] = clients["value"].values()
        bean["application-id"] = "payments"
    return json.dumps(parts)


@pytest.fixture(scope="module")
def agents() -> Iterator[str]:
    """Base address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Agent) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def entry(name: str, *metrics: str) -> Any:
    """An application with instances that serve there."""
    instances = [SimpleNamespace(name=f"{name}-{number}", metrics=url) for number, url in enumerate(metrics, start=1)]
    deployer = SimpleNamespace(instances=instances)
    return SimpleNamespace(
        name=name,
        application_id="orders",
        inputs=("orders", "customers"),
        reads_committed=False,
        as_deployed=False,
        deployer=deployer,
    )


def asked_of(one: Any) -> LagAsked:
    """The question about an application of which nothing is remembered."""
    return topics_to_read(one, poll_instances([one], NAMES)[one.name])


def test_a_pattern_that_was_told_before_is_matched_anew() -> None:
    """A topic that has come since is read, also where it is hidden; whether one has come may not be known."""
    known = KnownTopology({"zones-a": "source"}, (), 1_000, "d", patterns=("zones-.*",))
    one = entry("orders", "http://127.0.0.1:1")
    again = topics_to_read_again(one, known, TopicNames.of({"zones-a", "zones-b"}, {"zones-late", "other"}))
    assert (set(again.reads or ()), again.lacking) == ({"zones-a", "zones-b", "zones-late"}, "")
    unknown = topics_to_read_again(one, known, TopicNames.of({"zones-a"}, Missing("grant Describe on Cluster")))
    assert "grant Describe on Cluster" in unknown.lacking


def test_an_instance_without_a_streams_client_for_a_minute_has_failed(agents: str) -> None:
    """Its JVM lives and tells when it was started; what the other one tells is taken."""
    found = poll_instances([entry("orders", f"{agents}/jolokia_4.3.1", f"{agents}/jolokia_4.3.1_after_error")], NAMES)
    polled = found["orders"]
    assert len(polled.failed) == 1
    assert polled.failed[0].startswith("orders-2 (no Kafka Streams client in its JVM, which is up for ")
    assert polled.reads is not None
    assert polled.reads["orders"] == "source"
    assert polled.keeps
    assert all(name.startswith("orders-") and name.endswith("-changelog") for name in polled.keeps)


def test_an_instance_that_nobody_reaches_is_not_told_and_has_not_failed() -> None:
    """It may be stopped, or restarting: nobody can say."""
    gone = entry("orders", "http://127.0.0.1:1/jolokia")
    polled = poll_instances([gone], NAMES)["orders"]
    assert (polled.reads, polled.keeps, polled.failed) == (None, (), ())
    asked = asked_of(gone)
    assert (asked.reads, asked.lacking) == (None, NO_TOPOLOGY_REPORTED)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (f"4.3.1{_TWICE}", "2 Kafka Streams clients of orders in the JVM"),
        (f"4.3.1{_ELSE}", "0 Kafka Streams clients of orders in the JVM (expected 1; application ids there: payments)"),
        (f"4.3.1_after_error{_YOUNG}", "no Kafka Streams client in the JVM"),
    ],
)
def test_a_jvm_that_says_nothing_of_this_client_has_not_failed(agents: str, answer: str, said: str) -> None:
    """Two of them, another application's behind a wrong address, none yet: not known, and what was seen is said."""
    one = entry("orders", f"{agents}/jolokia_{answer}")
    polled = poll_instances([one], NAMES)["orders"]
    assert (polled.reads, polled.failed, polled.heard) == (None, (), False)
    asked = asked_of(one)
    assert asked.lacking.startswith(f"{NO_TOPOLOGY_REPORTED}; orders-1: ")
    assert said in asked.lacking


def test_a_description_that_cannot_be_read_hides_no_other_application(agents: str) -> None:
    """The one is not known, with the reason."""
    well = entry("orders", f"{agents}/jolokia_4.3.1")
    odd = entry("odd", f"{agents}/jolokia_4.3.1{_UNREADABLE}")
    found = poll_instances([well, odd], NAMES)
    assert found["orders"].reads is not None
    assert (found["odd"].reads, found["odd"].failed, found["odd"].heard) == (None, (), True)
    asked = asked_of(odd)
    assert (asked.reads, asked.lacking[:55]) == (None, "the topology that an instance reports cannot be read: l")


def test_a_pattern_that_cannot_be_read_is_said_and_the_rest_is_looked_at(agents: str) -> None:
    """Topics by name and those that are declared; which others it reads is not known, and none is called orphaned."""
    well, odd = entry("well", f"{agents}/jolokia_4.3.1"), entry("odd", f"{agents}/jolokia_4.3.1{_PATTERN}")
    known, asked = asked_of(well), asked_of(odd)
    assert known.lacking == ""
    assert asked.lacking.startswith(r"source pattern \p{Lower}+s: cannot be read here")
    assert asked.reads == known.reads
    assert poll_instances([odd], NAMES)["odd"].reads is None
    offset = {("orders", 0): Committed(5, ""), ("payments", 0): Committed(7, "")}
    lag = lag_of(
        asked,
        topics_read(asked, offset, ()),
        ClusterLook(
            {"orders": offset},
            {name: TopicReading(name, "id", 1) for name in ("orders", "payments")},
            {place: Ends(0, 7, 7) for place in offset},
            {"orders": ("classic", "Stable")},
        ),
    )
    rows = {row.name: (row.role, row.state, row.records) for row in lag.partitions if row.state != "missing"}
    assert rows == {"orders-0": ("source", "ok", 2), "payments-0": ("source", "ok", 0)}
    assert (lag.problems, lag.unread) == ((asked.lacking,), None)
