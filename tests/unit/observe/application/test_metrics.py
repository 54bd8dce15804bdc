"""What Jolokia answers, recorded from running applications, becomes a reading or says why there is none."""

import http.server
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks.model.readings.buffers import SuppressBuffer
from kstreams_runbooks.model.readings.readings import Missing, Start, StreamsReading, Taken
from kstreams_runbooks.observe.application.metrics import read_streams, streams_from
from kstreams_runbooks.wire.limits import ExchangeLimits

SAMPLES = Path(__file__).parents[1] / "samples"
TAKEN = Taken(1_795_234_925_000, "jolokia http://127.0.0.1:1/jolokia")


def sample(name: str) -> dict[str, Any]:
    """Answers by bean of one recorded bulk request."""
    return {part["request"]["mbean"]: part for part in json.loads((SAMPLES / f"jolokia_{name}.json").read_text())}


def client_bean(parts: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Beans of the Streams clients in a sample, and the name of the first."""
    beans = next(part["value"] for part in parts.values() if "stream-metrics" in part["request"]["mbean"])
    return beans, next(iter(beans))


def read(parts: dict[str, Any], application_id: str | None = "orders") -> StreamsReading:
    """A reading that is there."""
    reading = streams_from(parts, TAKEN, application_id)
    assert isinstance(reading, StreamsReading), reading
    return reading


def test_release_without_restore_metrics_says_so() -> None:
    """3.4.1: everything but restore progress, which is missing and not 0."""
    reading = read(sample("3.4.1"))
    assert (reading.state, reading.version, reading.application_id) == ("RUNNING", "3.4.1", "orders")
    assert reading.start == Start(1_795_234_658_919, 5879)
    assert (reading.alive_threads, reading.failed_threads) == (2, 0)
    assert reading.client_id.startswith("orders-")
    assert isinstance(reading.restoring, Missing)
    assert "3.4.1 has no active-restoring-tasks" in reading.restoring.missing
    assert isinstance(reading.restore_remaining, Missing)
    assert isinstance(reading.topology, str)
    assert reading.topology.startswith("Topologies:")


def test_markers_at_the_end_of_a_changelog_are_not_left_to_restore() -> None:
    """4.3.1 under EOS reports 1 or 2 records remaining for ever in tasks that are done: 0 once no task restores."""
    parts = sample("4.3.1")
    tasks = next(part["value"] for part in parts.values() if "stream-task-metrics" in part["request"]["mbean"])
    assert sum(task["restore-remaining-records-total"] for task in tasks.values()) > 0
    reading = read(parts)
    assert (reading.restoring, reading.restore_remaining) == (0, 0)


@pytest.mark.parametrize(("remaining", "expected"), [([70.0, 30.0], 100), ([-1.0, 30.0], -1)])
def test_restore_progress_while_a_task_restores(remaining: list[float], expected: int) -> None:
    """Records to go are summed; -1 (Streams does not know yet) makes the sum unknown, too."""
    parts = sample("4.3.1")
    updater = next(part["value"] for part in parts.values() if "state-updater" in part["request"]["mbean"])
    next(iter(updater.values()))["active-restoring-tasks"] = 2.0
    tasks = next(part["value"] for part in parts.values() if "stream-task-metrics" in part["request"]["mbean"])
    for number, task in enumerate(tasks.values()):
        task["restore-remaining-records-total"] = remaining[number] if number < len(remaining) else 0.0
    reading = read(parts)
    assert (reading.restoring, reading.restore_remaining) == (2, expected)


def test_jvm_that_lives_without_a_client_is_missing_with_its_start() -> None:
    """A client in ERROR closes and takes every bean along: recorded from 4.3.1 after an exception in a processor."""
    reading = streams_from(sample("4.3.1_after_error"), TAKEN, "orders")
    assert isinstance(reading, Missing)
    assert "no Kafka Streams client in the JVM" in reading.missing
    assert "ERROR" in reading.missing
    assert isinstance(reading.start, Start)
    assert reading.start.pid is not None


def test_several_clients_are_told_apart_by_application_id() -> None:
    """The one asked for is taken; without a name, or with two of the same name, nobody can say."""
    parts = sample("4.3.1")
    beans, name = client_bean(parts)
    beans["kafka.streams:type=stream-metrics,client-id=billing-1"] = {**beans[name], "application-id": "billing"}
    assert read(parts).application_id == "orders"
    assert read(parts, "billing").client_id == "billing-1"
    assert read(parts, "billing").restoring != 0, "threads of the other client are not counted for this one"
    several = streams_from(parts, TAKEN, None)
    assert isinstance(several, Missing)
    assert "2 Kafka Streams clients" in several.missing
    neither = streams_from(parts, TAKEN, "payments")
    assert isinstance(neither, Missing)
    assert "0 Kafka Streams clients of payments" in neither.missing
    assert "billing, orders" in neither.missing


def test_metrics_that_a_release_lacks_are_missing_one_by_one() -> None:
    """A release without a count or a description still gives the rest."""
    parts = sample("3.4.1")
    beans, name = client_bean(parts)
    for attribute in ("failed-stream-threads", "topology-description"):
        del beans[name][attribute]
    reading = read(parts)
    assert isinstance(reading.failed_threads, Missing)
    assert isinstance(reading.topology, Missing)
    assert reading.state == "RUNNING"


def with_buffers(name: str, release: str = "4.3.1") -> dict[str, Any]:
    """The answers of a release with those about its suppress buffers, recorded at a level of metrics."""
    part = json.loads((SAMPLES / "jolokia_buffers.json").read_text())[name]
    thread = next(iter(part["value"])).partition("thread-id=")[2].partition("-StreamThread")[0]
    client = read(sample(release)).client_id
    text = json.dumps({**sample(release), part["request"]["mbean"]: part}).replace(thread, client)
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.parametrize(
    ("name", "release", "first"),
    [
        ("3.4.1 DEBUG", "3.4.1", SuppressBuffer("orders-windowed-closed-store", "1_0", 199, 23_843)),
        ("4.3.1 DEBUG", "4.3.1", SuppressBuffer("orders-windowed-closed-store", "1_0", 175, 21_032)),
        ("4.3.1 DEBUG, idle", "4.3.1", SuppressBuffer("orders-windowed-closed-store", "1_0", None, None)),
        ("3.4.1 INFO", "3.4.1", SuppressBuffer("orders-windowed-closed-store", "1_0", None, None)),
    ],
)
def test_suppress_buffers_are_measured_at_debug_alone(name: str, release: str, first: SuppressBuffer) -> None:
    """One for each of four tasks; at INFO, and after a minute without records, every bean is there without a figure."""
    buffers = read(with_buffers(name, release)).buffers
    assert isinstance(buffers, tuple)
    assert len(buffers) == 4
    assert min(buffers, key=lambda one: one.task) == first


def test_buffers_of_another_client_in_the_jvm_are_not_counted() -> None:
    """Threads are called after their client."""
    parts = with_buffers("4.3.1 DEBUG")
    beans, name = client_bean(parts)
    beans["kafka.streams:type=stream-metrics,client-id=billing-1"] = {**beans[name], "application-id": "billing"}
    assert read(parts, "billing").buffers == ()


def test_an_agent_that_hides_the_buffers_hides_nothing_else() -> None:
    """An access policy may allow the other beans alone; no bean at all is no buffer."""
    parts = sample("4.3.1")
    hidden = read(parts)
    assert isinstance(hidden.buffers, Missing)
    assert hidden.state == "RUNNING"
    name, part = with_buffers("4.3.1 DEBUG").popitem()
    refused = read({**parts, name: {"request": part["request"], "status": 403}}).buffers
    assert isinstance(refused, Missing)
    assert "access policy" in refused.missing
    assert read({**parts, name: {"request": part["request"], "status": 404}}).buffers == ()


@pytest.mark.parametrize(("old", "new"), [("task-id=1_0", "task-id=1"), ("closed-store", "closed store")])
def test_a_buffer_with_another_name_than_streams_gives_it_is_no_answer_of_streams(old: str, new: str) -> None:
    """As any other value of another shape."""
    parts = json.loads(json.dumps(with_buffers("4.3.1 DEBUG")).replace(old, new))
    found = streams_from(parts, TAKEN, "orders")
    assert isinstance(found, Missing)
    assert "of a suppress buffer has another name" in found.missing or "a suppress buffer has another" in found.missing


def test_the_thread_of_global_stores_is_none_that_has_tasks() -> None:
    """As 4.3.1 reports it: a task -1_-1 without restore figures, and a bean of its cache without a task."""
    parts = sample("4.3.1")
    tasks = next(part["value"] for part in parts.values() if "stream-task-metrics" in part["request"]["mbean"])
    for name in tasks:
        tasks[name]["dropped-records-total"] = 1.0
    without = read(parts)
    thread = f"kafka.streams:type=stream-task-metrics,thread-id={without.client_id}-GlobalStreamThread"
    tasks[f"{thread},task-id=-1_-1"] = {"process-total": 0.0, "dropped-records-total": 7.0}
    tasks[thread] = {"cache-size-bytes-total": 0.0}
    assert read(parts) == without
    assert isinstance(without.dropped, tuple)


def with_threads(closed: float | None, *, of: str = "orders") -> StreamsReading:
    """A reading of 4.3.1 with what one thread of a client reports of closed tasks, as 4.3.1 answered."""
    parts = sample("4.3.1")
    part = json.loads((SAMPLES / "jolokia_threads.json").read_text())
    client = read(parts).client_id if of == "orders" else of
    [place] = part["value"]
    figures = {} if closed is None else {"task-closed-total": closed}
    part["value"] = {re.sub(r"thread-id=.*-StreamThread", f"thread-id={client}-StreamThread", place): figures}
    return read({**parts, part["request"]["mbean"]: part})


def test_closed_tasks_are_counted_over_the_threads_of_the_client() -> None:
    """The counters of a task go with it: an answer without the figure is not 0."""
    assert with_threads(0.0).closed_tasks == 0
    assert with_threads(3.0).closed_tasks == 3
    for silent in (with_threads(None), with_threads(3.0, of="billing-1"), read(sample("4.3.1"))):
        assert isinstance(silent.closed_tasks, Missing)
        assert "no thread has reported its task-closed-total" in silent.closed_tasks.missing


class _Answers(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Path says what goes wrong."""
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.startswith("/slow"):
            # Without an answer: a handler that fails later would print its traceback into another test.
            assert isinstance(self.server, _Agent)
            self.server.over.wait(10)
            return
        status = 404 if self.path.startswith("/gone") else 200
        body = b"<html>" if self.path.startswith("/other") else (SAMPLES / "jolokia_4.3.1.json").read_bytes()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


class _Agent(http.server.ThreadingHTTPServer):
    # Its end waits for the handlers.
    daemon_threads = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.over = threading.Event()


@pytest.fixture
def agent() -> Iterator[str]:
    """Address of an HTTP server that answers as an agent would."""
    server = _Agent()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.over.set()
    server.shutdown()
    server.server_close()


def test_one_request_reads_a_client(agent: str) -> None:
    """The base URL is enough, with or without Jolokia's path; credentials are not in the source."""
    for url in (f"http://{agent}", f"http://{agent}/jolokia/", f"http://user:secret@{agent}/jolokia"):
        reading = read_streams(url, application_id="orders")
        assert isinstance(reading, StreamsReading)
        assert "secret" not in reading.taken.source


@pytest.mark.parametrize(
    ("path", "why"),
    [("/slow", "no answer within 0.3 s"), ("/gone", "HTTP 404"), ("/other", "not Jolokia's")],
)
def test_agent_that_does_not_answer_is_missing_with_the_reason(agent: str, path: str, why: str) -> None:
    """A timeout, a refusal and a stranger are different things to a person."""
    reading = read_streams(f"http://user:secret@{agent}{path}", limits=ExchangeLimits(silence_s=0.3))
    assert isinstance(reading, Missing)
    assert why in reading.missing
    assert "secret" not in reading.missing


def test_nobody_listens(agent: str) -> None:
    """A stopped instance: connection refused."""
    del agent
    reading = read_streams("http://127.0.0.1:9/jolokia")
    assert isinstance(reading, Missing)
    assert "connection refused" in reading.missing
