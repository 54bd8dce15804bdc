"""What the bean of the shipped copier becomes, and that an answer of another shape is no reading."""

import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from kstreams_runbooks.model.readings.copying import CopierFigures
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.application.copier_figures import BEAN, read_copier_figures

NAME = 'kstreams.runbooks:group="passing",type=topic-copier'
# Read of a copier of release 0.1.0 by Jolokia 2.5.1.
VALUES: dict[str, Any] = {
    "Version": "0.1.0 (Kafka Streams 4.4.0)",
    "Group": "passing",
    "Routes": ["sent -> orders", "sent-too -> customers"],
    "Mode": "same-partition",
    "State": "RUNNING",
    "StartedAtMs": 1_795_234_925_000,
    "Lag": 12,
    "LagReadAtMs": 1_795_234_935_000,
    "CopiedRecords": 500,
    "UntilLeft": -1,
    "LastError": "",
    "LastErrorAtMs": -1,
}


@pytest.fixture
def agent() -> Iterator[Any]:
    """An agent that answers with these beans: its URL, and the beans to change."""
    beans: dict[str, Any] = {NAME: dict(VALUES)}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            status = {"status": 200, "value": beans} if beans else {"status": 404}
            body = json.dumps([{"request": {"type": "read", "mbean": BEAN}, **status}]).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/jolokia", beans
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_every_figure_is_read(agent: Any) -> None:
    """-1 is unknown, and never a number of records."""
    url, beans = agent
    found = read_copier_figures(url, "passing")
    assert isinstance(found, CopierFigures)
    assert (found.version, found.routes) == (VALUES["Version"], ("sent -> orders", "sent-too -> customers"))
    assert (found.lag, found.lag_at_ms, found.copied) == (12, 1_795_234_935_000, 500)
    assert (found.until_left, found.last_error, found.last_error_at_ms) == (None, "", None)
    beans[NAME] |= {"Lag": -1, "LagReadAtMs": -1, "UntilLeft": 7, "LastError": "a\nb", "LastErrorAtMs": 5}
    later = read_copier_figures(url, "passing")
    assert isinstance(later, CopierFigures)
    assert later.lag == Missing("the copier has not read its lag yet")
    assert (later.lag_at_ms, later.until_left, later.last_error) == (None, 7, "a b")


@pytest.mark.parametrize(
    "changes",
    [
        {"Group": None},
        {"Group": "a b"},
        {"Routes": "sent -> orders"},
        {"Routes": ["sent => orders"]},
        {"Lag": "12"},
        {"Lag": -2},
        {"CopiedRecords": True},
        {"UntilLeft": None},
        {"State": "running\n"},
        {"LastError": 5},
    ],
)
def test_a_value_of_another_shape_makes_the_whole_missing(agent: Any, changes: dict[str, Any]) -> None:
    """The rest of such an answer is not reliable either."""
    url, beans = agent
    beans[NAME] |= changes
    found = read_copier_figures(url, "passing")
    assert isinstance(found, Missing)
    assert "the answer is not Jolokia's" in found.missing


def test_another_group_none_and_two_of_one(agent: Any) -> None:
    """A JVM may have several copiers."""
    url, beans = agent
    assert "0 copiers of group orders (expected 1; groups: passing)" in str(read_copier_figures(url, "orders"))
    beans["kstreams.runbooks:group=other,type=topic-copier"] = VALUES | {"Group": "other"}
    assert isinstance(read_copier_figures(url, "other"), CopierFigures)
    beans["kstreams.runbooks:group=third,type=topic-copier"] = VALUES | {"Group": "other"}
    assert "2 copiers of group other" in str(read_copier_figures(url, "other"))
    beans.clear()
    assert "0 copiers of group passing (expected 1; groups: none)" in str(read_copier_figures(url, "passing"))
