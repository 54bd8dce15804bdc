"""The wire to Airflow: what is away, what is no Airflow, what was lost. The API itself: test_trigger_over_rest.py."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.decide.runs.approval import Asking, approval_body
from kstreams_runbooks.errors import BadInput, Unreachable
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.terminal.airflow import client as module
from kstreams_runbooks.terminal.airflow.client import AirflowApi
from kstreams_runbooks.terminal.airflow.connect import airflow_at
from kstreams_runbooks.terminal.airflow.login import PASSWORD, Login
from kstreams_runbooks.terminal.airflow.question import Question, question_of
from kstreams_runbooks.terminal.airflow.wait import wait
from tenacity import wait_none
from world.samples import NEW, declared, reading

LOGIN = Login("oncall", "secret-of-oncall")
Answers = Callable[[str, str], tuple[int, Any]]


class FakeAirflow(ThreadingHTTPServer):
    """An HTTP server on this machine that answers as the test says; a status of 0 closes the connection instead."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.token = "t"  # noqa: S105 - of a fake
        self.answers: Answers = lambda *_: (404, {"detail": "not there"})

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: FakeAirflow

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.server.asked.append(f"{self.command} {self.path}")
        status, body = (
            (201, {"access_token": self.server.token})
            if self.path == "/auth/token"
            else self.server.answers(self.command, self.path)
        )
        if not status:
            self.connection.close()
            return
        text = body if isinstance(body, str) else json.dumps(body)
        self.send_response(status)
        self.send_header("content-type", "text/html" if isinstance(body, str) else "application/json")
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    do_GET = do_POST = _answer  # noqa: N815 - http.server's names

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def airflow(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAirflow]:
    """A server that is up, and a client that does not pause between its tries."""
    monkeypatch.setattr(module, "wait_exponential", lambda **_: wait_none())
    with FakeAirflow() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def test_an_airflow_that_comes_back_is_asked_again(airflow: FakeAirflow) -> None:
    """A lost connection and a gateway that says it is away: reading is tried four times."""
    replies = iter([(0, {}), (503, "away"), (0, {}), (200, {"state": "running"})])
    airflow.answers = lambda *_: next(replies)
    assert AirflowApi(airflow.url, LOGIN).run("library_bump", "r") == {"state": "running"}


def test_an_airflow_that_stays_away_is_one_sentence(airflow: FakeAirflow) -> None:
    """With the address and the setting; the password is in no message."""
    airflow.answers = lambda *_: (502, "bad gateway")
    with pytest.raises(Unreachable, match=r"Airflow does not answer \(HTTP 502\); start it, or correct KSTR") as caught:
        AirflowApi(airflow.url, LOGIN).run("library_bump", "r")
    assert str(caught.value).endswith(f" ({airflow.url})")
    assert "secret" not in str(caught.value)
    assert "secret" not in repr(LOGIN)
    with pytest.raises(Unreachable, match=r"does not answer \(.*refused"):
        AirflowApi("http://127.0.0.1:9", LOGIN).run("library_bump", "r")


@pytest.mark.parametrize("token", ["secret\n", "secret of oncall", "secret-\xf6", "secret-\udcff", "\x7fsecret"])
def test_a_token_that_no_header_takes_is_not_repeated(airflow: FakeAirflow, token: str) -> None:
    """The HTTP library's own error has all of it."""
    for url, login in ((airflow.url, Login(token=token)), ("http://127.0.0.1:9", Login(token=token))):
        with pytest.raises(
            BadInput, match=r"the token for Airflow is empty, or has a blank, .*; correct KSTR.*_TOKEN \("
        ) as caught:
            AirflowApi(url, login).run("library_bump", "r")
        assert "secret" not in str(caught.value)
    assert airflow.asked == []


def test_a_token_of_the_server_that_no_header_takes(airflow: FakeAirflow, monkeypatch: pytest.MonkeyPatch) -> None:
    """What answers is no Airflow."""
    monkeypatch.setattr(airflow, "token", "x\ny")
    with pytest.raises(BadInput, match=r"the token for Airflow is empty, .*; correct KSTR.*_URL \("):
        AirflowApi(airflow.url, LOGIN).run("library_bump", "r")


def test_a_password_that_is_not_utf_8_is_bad_input() -> None:
    """An environment may have any bytes."""
    with pytest.raises(BadInput, match="_PASSWORD has bytes that are not UTF-8; set it again") as caught:
        airflow_at("http://127.0.0.1:9", "oncall", {PASSWORD: "secret-\udcff"})
    assert "secret" not in str(caught.value)


def test_something_else_at_the_address_is_bad_input(airflow: FakeAirflow) -> None:
    """A web server that serves a page for everything."""
    airflow.answers = lambda *_: (200, "<html>welcome</html>")
    with pytest.raises(BadInput, match=r"the server is not the API of Airflow 3 \(HTTP 200 for /api/v2/dags/x"):
        AirflowApi(airflow.url, LOGIN).run("x", "r")


@pytest.mark.parametrize(("there", "expected"), [({"conf": {"a": 1}}, "r"), ({"conf": {"a": 2}}, None), (None, None)])
def test_a_trigger_whose_answer_was_lost_is_looked_for(
    airflow: FakeAirflow, there: dict[str, Any] | None, expected: str | None
) -> None:
    """It is never said twice: a run of that id that was asked for the same is ours, anything else is an error."""

    def answers(method: str, path: str) -> tuple[int, Any]:
        if method == "POST" and path.endswith("/dagRuns"):
            return 0, {}
        return (200, there) if there else (404, {"detail": "not found"})

    airflow.answers = answers
    api = AirflowApi(airflow.url, LOGIN)
    if expected:
        assert api.trigger("library_bump", {"a": 1}, "r") == expected
    else:
        with pytest.raises(Unreachable):
            api.trigger("library_bump", {"a": 1}, "r")
    assert airflow.asked.count("POST /api/v2/dags/library_bump/dagRuns") == 1


def test_an_expired_token_is_fetched_anew(airflow: FakeAirflow) -> None:
    """A wait may be longer than a token's life; a token that was given cannot be made anew."""
    replies = iter([(401, {"detail": "Token Expired"}), (200, {"state": "running"})])
    airflow.answers = lambda *_: next(replies)
    assert AirflowApi(airflow.url, LOGIN).run("library_bump", "r")["state"] == "running"
    assert airflow.asked.count("POST /auth/token") == 2
    airflow.answers = lambda *_: (401, {"detail": "Token Expired"})
    with pytest.raises(BadInput, match=r"the token is refused \(Token Expired\); set KSTREAMS_RUNBOOKS_AIRFLOW_TOKEN"):
        AirflowApi(airflow.url, Login(token="old")).run("library_bump", "r")  # noqa: S106 - no secret


def test_a_wait_outlives_a_restart_of_airflow(airflow: FakeAirflow) -> None:
    """What is away is said once; what came of the run is found afterwards."""
    left = {"outcome": "completed", "sentence": "as planned", "exit_code": 0, "next": [], "manually": []} | {
        "changed": True
    }
    states = iter([(503, "")] * 9 + [(200, {"state": "success"})])

    def answers(_: str, path: str) -> tuple[int, Any]:
        if "xcomEntries" in path:
            return 200, {"value": left}
        return next(states)

    airflow.answers = answers
    said: list[str] = []
    ended = wait(AirflowApi(airflow.url, LOGIN), "library_bump", "r", say=said.append, poll_s=0)
    assert (ended.outcome, ended.exit_code) == ("completed", 0)
    assert len(said) == 1
    assert said[0].endswith("(waiting for it)")


@pytest.mark.parametrize(
    ("url", "user", "environ", "sentence"),
    [
        ("", "oncall", {}, "no address of Airflow: set KSTREAMS_RUNBOOKS_AIRFLOW_URL, or give --airflow-url"),
        ("airflow:8080", "oncall", {}, "address of Airflow: must begin with http:// or https://"),
        ("https://me:secret@host/", "", {}, "address of Airflow: contains a login; set"),
        ("https://host", "", {}, "no login for Airflow: set KSTREAMS_RUNBOOKS_AIRFLOW_USER and"),
        ("https://host", "oncall", {}, "no login for Airflow: set"),
    ],
)
def test_what_is_not_given_is_one_sentence(url: str, user: str, environ: dict[str, str], sentence: str) -> None:
    """With the variable that is missing; a secret that was put into the address is not repeated."""
    with pytest.raises(BadInput, match=sentence) as caught:
        airflow_at(url, user, environ)
    assert "secret" not in str(caught.value)


def test_no_option_takes_a_secret() -> None:
    """What stands on a command line, every process of the machine can read."""
    for name in ("trigger", "runs"):
        options = CliRunner().invoke(cli, [name, "--help"]).stdout.split()
        assert "--airflow-url" in options
        assert not [word for word in options if word.startswith("--") and ("password" in word or "token" in word)]


def question_with(airflow: FakeAirflow, left: Any) -> Question:
    """A question as Airflow keeps it; its task has left this as the present one, None if nothing."""
    plan = bump_plan(reading(), declared(), NEW, upgrade_path_rules(), (), (), "code")
    asking = Asking(declared(), "oncall", "", 0, 1_790_028_800_000, "")
    body = approval_body(asking, plan, 1, "", fleet_limits=(), cards=())
    task = {"task_id": "approve_plan", "dag_id": "library_bump", "dag_run_id": "orders.r"}
    pending = {"task_instance": task, "subject": "[orders @ demo] approve", "body": body, "created_at": "2026"}
    airflow.answers = lambda *_: (404, {"detail": "none"}) if left is None else (200, {"value": json.dumps(left)})
    return question_of(pending, AirflowApi(airflow.url, LOGIN))


def test_who_may_answer_is_read_from_the_approvals_own_text(airflow: FakeAirflow) -> None:
    """Both know its lines by the same labels."""
    question = question_with(airflow, None)
    assert question.may_answer == "approver, admin"
    assert question.until == "2026-09-21 22:13 UTC (00:13 Europe/Berlin)"
    assert question.sentence == (
        "waits for approve_plan: [orders @ demo] approve; may answer: approver, admin; "
        "until 2026-09-21 22:13 UTC (00:13 Europe/Berlin); "
        f"{airflow.url}/dags/library_bump/runs/orders.r/tasks/approve_plan/required_actions"
    )


def test_a_question_that_was_asked_again_is_shown_as_it_is_now(airflow: FakeAirflow) -> None:
    """Airflow keeps the first text: the task leaves the present one, and why an answer did not count."""
    question = question_with(
        airflow,
        {
            "subject": "[orders @ demo] approve now",
            "body": "**Now:** 1 of 2 RUNNING\n\n**Risks:** none",
            "may_answer": "ann",
            "until": "2026-09-21 23:00 UTC",
            "digest": "abc",
            "why": "oncall's answer did not count: four eyes",
        },
    )
    assert question.sentence.startswith(
        "oncall's answer did not count: four eyes; waits for approve_plan: [orders @ demo] approve now; may answer: "
        "ann; until 2026-09-21 23:00 UTC; "
    )
    assert question.text == ("Now: 1 of 2 RUNNING", "Risks: none")
    with pytest.raises(BadInput, match="why of its answer is not in the format of Airflow 3"):
        question_with(airflow, {"why": 7})
