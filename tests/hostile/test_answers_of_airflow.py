"""What answers in Airflow's place, or an Airflow of another kind: one sentence, and never a traceback."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from kstreams_runbooks.airflow_api.client import AirflowApi
from kstreams_runbooks.airflow_api.login import Login
from kstreams_runbooks.errors import BadInput, Refused, RunbookError

BODIES = {
    "nothing": b"{}",
    "a list": b"[]",
    "a text": b'"hello"',
    "null": b"null",
    "cut off": b'{"dags": [',
    "other types": b'{"dags": 5, "dag_runs": 5, "total_entries": "x", "state": [], "value": "{", "dag_run_id": {}}',
    "empty objects": b'{"dags": [{}], "dag_runs": [{}], "total_entries": 1, "value": "[1"}',
    "not UTF-8": b'{"dags": "\xff"}',
    "deep": b"[" * 200_000,
}


class FakeAirflow(ThreadingHTTPServer):
    """Answers every call with the same bytes and status, and says that they are JSON."""

    body, status = b"", 200


class _Handler(BaseHTTPRequestHandler):
    server: FakeAirflow

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(self.server.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    do_GET = do_POST = _answer  # noqa: N815 - http.server's names

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""


@pytest.fixture(scope="module")
def airflow() -> Iterator[FakeAirflow]:
    """A server that is up."""
    server = FakeAirflow(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("status", [200, 403, 404, 418, 422])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_answers_that_are_none_of_airflows(airflow: FakeAirflow, body: bytes, status: int) -> None:
    """Every call that reads, and the sign-in."""
    airflow.body, airflow.status = body, status
    url = f"http://127.0.0.1:{airflow.server_address[1]}"
    signed_in = AirflowApi(url, Login("oncall", token="t"))  # noqa: S106 - of a fake
    calls = (
        lambda: signed_in.dag_ids("x")[0],
        lambda: signed_in.open_runs(["x"])[0]["dag_run_id"],
        lambda: signed_in.newest_runs(["x"], 5)[0]["dag_run_id"],
        lambda: signed_in.trigger("x", {}, "r").strip("{}")[0],
        lambda: signed_in.run("x", "r")["missing"],
        lambda: (signed_in.xcom("x", "r", "conclude", "return_value") or signed_in.run("x", "r"))["outcome"],
        lambda: AirflowApi(url, Login("oncall", "p")).dag_ids("x")[0],
    )
    for call in calls:
        with pytest.raises((RunbookError, IndexError)) as raised:
            call()
        if isinstance(raised.value, RunbookError):
            assert isinstance(raised.value, BadInput | Refused)
            assert len(str(raised.value)) < 1_000
