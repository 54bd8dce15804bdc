"""What answers in Airflow's place, or an Airflow of another kind: one sentence, and never a traceback."""

import copy
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused, RunbookError
from kstreams_runbooks.terminal.airflow.client import AirflowApi
from kstreams_runbooks.terminal.airflow.login import Login

BODIES = {
    "no body": b"",
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

# Every field that the terminal commands read, in one answer for every call.
WELL: dict[str, Any] = {
    "total_entries": 1,
    "dags": [{"dag_id": "library_bump"}],
    "is_paused": False,
    "params": {
        "application": {"value": None, "schema": {"type": "string", "examples": ["orders"]}, "description": "which"},
        "target": {"value": None, "schema": {"type": ["string", "null"], "title": "Target"}, "description": None},
        "dry_run": {"value": True, "schema": {"type": "boolean"}},
    },
    "dag_id": "library_bump",
    "dag_run_id": "run",
    "state": "running",
    "note": "dry run",
    "value": {"exit_code": 0, "outcome": "completed", "sentence": "done", "next": ["GO BACK:"], "manually": ["x"]},
    "dag_runs": [
        {
            "dag_id": "library_bump",
            "dag_run_id": "run",
            "state": "running",
            "conf": {"application": "orders"},
            "triggering_user_name": "ada",
            "start_date": "2026-01-01T00:00:00Z",
            "queued_at": None,
        }
    ],
    "task_instances": [{"task_id": "approve_plan", "state": "awaiting_input"}],
    "hitl_details": [
        {
            "task_instance": {
                "dag_id": "library_bump",
                "dag_run_id": "run",
                "task_id": "approve_plan",
                "state": "awaiting_input",
            },
            "subject": "may it go on?",
            "body": "**Expires:** soon",
            "assigned_users": [{"id": "1", "name": "ada"}],
            "created_at": "2026-01-01T00:00:00Z",
            "options": ["Approve", "Reject"],
            "params": {},
        }
    ],
}
WRONG: tuple[Any, ...] = (["x"], None, 5, "x", {"x": 5})


def places(value: Any) -> Iterator[tuple[Any, ...]]:
    """Where anything is in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (key,)
        yield from ((key, *rest) for rest in places(each))


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

    do_GET = do_POST = do_PATCH = _answer  # noqa: N815 - http.server's names

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""


@pytest.fixture(scope="module")
def airflow() -> Iterator[FakeAirflow]:
    """A server that is up."""
    server = FakeAirflow(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
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


@pytest.mark.parametrize("wrong", [WRONG[0], *(pytest.param(one, marks=pytest.mark.long) for one in WRONG[1:])])
@pytest.mark.parametrize("place", [*places(WELL)], ids=lambda place: ".".join(map(str, place)))
def test_another_type_at_any_place_is_one_sentence(
    airflow: FakeAirflow, place: tuple[Any, ...], wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of `runs`, `trigger --wait`, and of what a person does on the page: an answer, or an error of our own tree."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_AIRFLOW_TOKEN", "t")
    url = ("--airflow-url", f"http://127.0.0.1:{airflow.server_address[1]}")
    trigger = ("trigger", "library_bump", "--application", "orders", "--param", "target=1", "--wait", "--timeout", "0")
    # What the run left is read of one that has ended.
    document = copy.deepcopy(WELL) | {"state": "success" if place[0] == "value" else "running"}
    inner: Any = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = wrong
    airflow.body, airflow.status = json.dumps(document).encode(), 200
    page = (("clear", "run", "approve_plan"), ("reject", "run", "--reason", "too late"), ("trigger", "undo", "run"))
    for words in (("runs", "--open"), trigger, *page):
        raised = CliRunner().invoke(cli, [*words, *url]).exception
        assert raised is None or isinstance(raised, RunbookError | SystemExit), (wrong, words, raised)


def test_a_list_that_never_ends_is_given_up(airflow: FakeAirflow) -> None:
    """Each page has a hundred entries, and says that there are more."""
    airflow.body, airflow.status = json.dumps({"dags": [{"dag_id": "x"}] * 100, "total_entries": 10**9}).encode(), 200
    api = AirflowApi(f"http://127.0.0.1:{airflow.server_address[1]}", Login("oncall", token="t"))  # noqa: S106 - of a fake
    with pytest.raises(Inconclusive, match="lists more than 100 pages of dags"):
        api.dag_ids("x")
