"""The note of a run through Airflow's own API: written as a login of its own, by a run that has an Airflow connection.

The same from a worker, in a run that is refused: tests/airflow/test_approvals.py. Covers wire/airflow_note.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.models import DagRun
from airflow.utils.session import create_session
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.connections import airflow_address
from kstreams_runbooks.decide.runs.approval import Asking
from kstreams_runbooks.decide.runs.conclusion import Conclusion, RunOutcome
from kstreams_runbooks.decide.runs.next_action import NextAction
from kstreams_runbooks.decide.runs.note import note_of_question
from kstreams_runbooks.errors import BadInput, LoginRefused, Refused, RunbookError, Unreachable
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.steps.run.note import (
    NOT_NOTED,
    WAITS,
    can_note,
    note,
    note_answer,
    note_end,
    note_failed,
    note_never_began,
    note_progress,
)
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.terminal.airflow.client import AirflowApi
from kstreams_runbooks.terminal.airflow.login import Login
from kstreams_runbooks.wire.airflow_note import RunNotes
from lab.fakes import FakeAgent, falls_silent
from sqlalchemy import delete
from world.new_ledger import new_ledger
from world.samples import declared

DAG = "library_bump"
CONNECTION = "kstreams_runbooks_api"
VARIABLE = "AIRFLOW_CONN_KSTREAMS_RUNBOOKS_API"
ACTION = NextAction(("GO ON: repair it:", "    kstreams-runbooks clear r plan"), (), "")
STOPPED = Conclusion(RunOutcome.STOPPED, "lag 20 (limit 10)")
Connect = Callable[..., None]


@pytest.fixture
def connect(listening: int, monkeypatch: pytest.MonkeyPatch) -> Connect:
    """Declares the connection: that of a login that may edit runs, or with other values."""

    def connect(**changed: Any) -> None:
        port = {"host": "127.0.0.1", "port": listening}
        values = {"conn_type": "http", "login": "notes", "password": "secret-of-notes", **port, **changed}
        monkeypatch.setenv(VARIABLE, json.dumps({key: value for key, value in values.items() if value is not None}))

    connect()
    return connect


@pytest.fixture
def api(listening: int) -> AirflowApi:
    """The same API as a person uses it; it has one run, with a note of that person."""
    with create_session() as session:
        session.execute(delete(DagRun))
    found = AirflowApi(f"http://127.0.0.1:{listening}", Login("oncall", "oncall"))
    found.trigger(DAG, {"application": "orders", "target": "4.3.1"}, "r", "OPS-7, seen by ann")
    return found


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """That run at its first step, in a ledger of its own, and a fleet without files."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    (tmp_path / "notifications.yaml").write_text("held_too_long_h: 4\n", encoding="utf-8")
    ledger: Ledger = new_ledger(tmp_path / "ledger.db")
    words = (f"{DAG}/r", DAG, "r", "orders", "demo", "oncall")
    record = ledger.start_run(RunRecord(*words, False, "", {}, 1_790_000_000_000))
    return Run(record, "approve_plan", 1, ledger)


def asks(run: Run) -> None:
    """The run waits for a person."""
    asking = Asking(declared(), "oncall", "", 0, 3_600_000, "")
    note(
        run,
        WAITS,
        lambda _: note_of_question(
            asking, task_id="approve_plan", asks="approve it", lines=(), digest="abc", command="approve r"
        ),
    )


def not_written(run: Run) -> list[str]:
    """Why a note could not be written, each reason once."""
    return [one.payload["why"] for one in run.ledger.evidence(run.key, kind="note", name=NOT_NOTED)]


@pytest.mark.usefixtures("connect")
def test_a_run_shows_its_wait_then_that_it_goes_on_then_its_end(run: Run, api: AirflowApi) -> None:
    """In one block, in front of what a person wrote; a step after a step changes nothing."""
    assert can_note(run)
    asks(run)
    waits = api.run(DAG, "r")["note"]
    assert waits.startswith("▼ **WAITS** at approve_plan: approve it\n\nmay approve: approver, admin; expires ")
    assert waits.endswith("▲ kstreams-runbooks\n\nOPS-7, seen by ann")
    note_progress(run)
    assert api.run(DAG, "r")["note"] == waits
    for task in ("bounce_1_first", "bounce_1_rest"):
        note_progress(Run(run.record, task, 1, run.ledger))
        assert "**GOES ON** at bounce_1_first since" in api.run(DAG, "r")["note"]
    note_end(Run(run.record, "conclude", 1, run.ledger), STOPPED, ACTION)
    ended = api.run(DAG, "r")["note"]
    assert "**STOPPED, CHANGED**" in ended
    assert "**GO ON:** repair it:\n\n```\nkstreams-runbooks clear r plan\n```" in ended
    assert ended.endswith("▲ kstreams-runbooks\n\nOPS-7, seen by ann")
    note_progress(Run(run.record, "plan", 2, run.ledger))
    assert "**GOES ON** at plan since" in api.run(DAG, "r")["note"]
    assert not_written(run) == []


@pytest.mark.usefixtures("connect")
def test_an_answer_that_did_not_count_is_on_the_page_of_the_question(run: Run, api: AirflowApi) -> None:
    """In the note of the task, where it was given; the note of the run stays."""
    note_answer(run, "oncall's answer did not count: oncall may not approve for orders")
    path = f"/dags/{DAG}/dagRuns/r"
    shown = api.call("GET", f"{path}/taskInstances/approve_plan")["note"]
    assert shown.startswith("▼ **oncall's answer did not count:** oncall may not approve for orders\n\nAsked again 20")
    assert api.call("GET", path)["note"] == "OPS-7, seen by ann"
    assert not_written(run) == []


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"password": "wrong-one"}, "Airflow refuses the login notes (HTTP 401); correct its login and password"),
        (
            {"login": "looker", "password": "secret-of-looker"},
            "looker may not edit runs and tasks of library_bump; give it that right",
        ),
        ({"port": 1}, "Airflow at 127.0.0.1:1 does not answer (connection refused; no process listens there)"),
        ({"conn_type": "kafka"}, "type kafka (expected http or https)"),
        ({"password": None}, "has no password; set it"),
        ({"host": "a b"}, "its host has a space, a control character or an"),
        ({"host": "http://me:secret@h"}, "its host contains a login; set the fields login and password instead"),
    ],
)
def test_a_note_that_cannot_be_written_is_said_once_and_fails_nothing(
    run: Run,
    api: AirflowApi,
    connect: Connect,
    caplog: pytest.LogCaptureFixture,
    changed: dict[str, Any],
    sentence: str,
) -> None:
    """One line with the remedy, without a secret; the note stays as it was."""
    connect(**changed)
    asks(run)
    asks(run)
    (line,) = [one for one in caplog.messages if "the run's note is not written" in one]
    assert line.startswith(f"[orders @ demo] the run's note is not written: Airflow connection {CONNECTION}: ")
    assert sentence in line
    assert "secret" not in line
    assert len(not_written(run)) == 1
    assert not can_note(run)
    assert api.run(DAG, "r")["note"] == "OPS-7, seen by ann"


def test_without_the_connection_the_line_says_how_to_make_it(
    run: Run, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """And if no note is wanted, nothing is said."""
    assert not can_note(run)
    asks(run)
    assert f"Airflow connection {CONNECTION}: not found in the environment (AIRFLOW_CONN_…)" in caplog.text
    assert "; create it (type http; host, port, login" in caplog.text
    (tmp_path / "notifications.yaml").write_text("note_connection: null\n", encoding="utf-8")
    caplog.clear()
    asks(run)
    assert caplog.messages == []


def test_an_airflow_that_does_not_answer_costs_a_stated_time(
    run: Run, connect: Connect, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All exchanges together."""
    monkeypatch.setattr("kstreams_runbooks.steps.run.note.RunNotes", partial(RunNotes, most_s=1.0))
    with FakeAgent(falls_silent()) as silent:
        connect(host=silent.url.removesuffix("/jolokia"), port=None)
        asks(run)
    assert "no answer within" in caplog.text


@pytest.mark.usefixtures("connect")
def test_a_persons_long_text_is_left_alone(run: Run, api: AirflowApi, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing of it is cut to make room."""
    api.call("PATCH", f"/dags/{DAG}/dagRuns/r", {"note": "p" * 990})
    asks(run)
    assert "990 characters of other text leave no room in it (limit 1,000); shorten them" in caplog.text
    assert api.run(DAG, "r")["note"] == "p" * 990


@pytest.mark.parametrize(
    ("login", "error", "sentence"),
    [
        ("notes", None, ""),
        ("looker", Refused, "looker may not edit runs and tasks of library_bump, undo; give it that right"),
        ("nobody", BadInput, "refuses the login nobody"),
    ],
)
def test_the_right_is_known_without_a_write(
    connect: Connect, login: str, error: type[RunbookError] | None, sentence: str
) -> None:
    """By a run that does not exist."""
    connect(login=login, password=f"secret-of-{login}")
    notes = RunNotes(CONNECTION, airflow_address(CONNECTION))
    if error is None:
        notes.require_right([DAG, "undo"])
        return
    with pytest.raises(error, match=sentence):
        notes.require_right([DAG, "undo"])


def test_a_page_that_is_no_airflow_is_named(connect: Connect, listening: int) -> None:
    """A wrong path of the right machine, and an address where nothing listens."""
    connect(host=f"http://127.0.0.1:{listening}/elsewhere", port=None)
    with pytest.raises(RunbookError, match=r"does not answer as Airflow 3 does \(HTTP 405\); correct its host"):
        RunNotes(CONNECTION, airflow_address(CONNECTION)).read(DAG, "r")
    connect(port=1)
    with pytest.raises(Unreachable, match="does not answer"):
        RunNotes(CONNECTION, airflow_address(CONNECTION)).read(DAG, "r")


@pytest.mark.parametrize(
    ("changed", "standing", "why"),
    [
        ({}, "ready", "written as notes (connection kstreams_runbooks_api)"),
        (
            {"login": "looker", "password": "secret-of-looker"},
            "missing",
            "looker may not edit runs and tasks of library_bump, rolling_",
        ),
        ({"port": 1}, "not known", "does not answer"),
    ],
)
@pytest.mark.usefixtures("run")
def test_readiness_names_what_keeps_notes_from_being_written(
    connect: Connect, tmp_path: Path, changed: dict[str, Any], standing: str, why: str
) -> None:
    """With the remedy; runbooks work without it, so the exit code is that of the applications."""
    connect(**changed)
    for folder in ("applications", "clusters"):
        (tmp_path / folder).mkdir()
    (tmp_path / "applications" / "orders.yaml").write_text("{}\n")
    result = CliRunner().invoke(cli, ["readiness", "--format", "json"])
    assert result.exit_code == 1
    found = json.loads(result.stdout)["run_note"]
    assert found["standing"] == standing
    assert why in found["why"]


@pytest.mark.usefixtures("connect")
def test_a_failure_is_in_the_note_before_the_run_has_ended(api: AirflowApi, run: Run) -> None:
    """A system that may be back: what it waits for and until when; a refused login: that it stopped."""
    at = replace(run, task_id="observe")
    note_failed(at, Unreachable("Kafka at b1:9092: no answer within 8 s; is the broker up?"), 15.0)
    noted = api.run(DAG, "r")["note"]
    assert "▼ **WAITS** at observe: Kafka at b1:9092: no answer within 8 s; is the broker up?\n\nsince 20" in noted
    assert ", tries again in 15 s\n" in noted
    note_failed(at, LoginRefused("Kafka at b1:9092: the password of login ada is wrong"), None)
    noted = api.run(DAG, "r")["note"]
    assert "**STOPPED** at observe: " in noted
    assert ": Kafka at b1:9092: the password of login ada is wrong" in noted
    assert "tries again" not in noted
    assert "OPS-7, seen by ann" in noted


@pytest.mark.usefixtures("connect")
def test_a_run_that_never_began_has_a_note(api: AirflowApi) -> None:
    """Its form was wrong: no run is in the ledger, and the note has the next action."""
    context = {"ti": SimpleNamespace(task_id="observe", dag_id=DAG, run_id="r")}
    note_never_began(context, BadInput("application order is not in the fleet"), ACTION, None)
    noted = api.run(DAG, "r")["note"]
    assert "**REFUSED OR REJECTED, NOTHING CHANGED**" in noted
    assert "application order is not in the fleet" in noted
    assert "kstreams-runbooks clear r plan" in noted
    note_never_began(context, Unreachable("ledger: away"), None, 15.0)
    assert "**WAITS** at observe: " in api.run(DAG, "r")["note"]
