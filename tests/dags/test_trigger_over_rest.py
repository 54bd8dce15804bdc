"""`trigger` and `runs` against Airflow's own API with its own database; no scheduler, so that a test says what happens.

The same against a scheduler and a real application: tests/airflow/test_trigger_command.py.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from airflow.models import DagModel, DagRun, TaskInstance
from airflow.models.hitl import HITLDetail
from airflow.models.xcom import XComModel
from airflow.utils.session import create_session
from click.testing import CliRunner
from fastapi.testclient import TestClient
from kstreams_runbooks.cli import cli
from kstreams_runbooks.decide.runs.answers import DELETING, options_of
from kstreams_runbooks.errors import Refused, RunbookError
from kstreams_runbooks.terminal.airflow import client as module
from kstreams_runbooks.terminal.airflow.client import AirflowApi
from kstreams_runbooks.terminal.airflow.login import Login
from kstreams_runbooks.terminal.airflow.wait import wait
from sqlalchemy import delete, select, update

URL = "http://testserver"
DAG = "library_bump"
_LOG_LINE = re.compile(r"\d{4}-\d\d-\d\dT\S+ \[\w+ *\]")
TARGET = ("--application", "orders", "--target", "4.3.1")


@pytest.fixture(autouse=True)
def _fresh(server: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """No runs, and the commands find this server as the person on call."""
    pause(yes=False)
    with create_session() as session:
        for model in (HITLDetail, XComModel, TaskInstance, DagRun):
            session.execute(delete(model))
    monkeypatch.setattr(module, "_client", lambda _: server)
    for name, value in (("URL", URL), ("USER", "oncall"), ("PASSWORD", "oncall")):
        monkeypatch.setenv(f"KSTREAMS_RUNBOOKS_AIRFLOW_{name}", value)


def api(login: str = "oncall") -> AirflowApi:
    """The API as a login whose password is its name."""
    return AirflowApi(URL, Login(login, login))


@dataclass(frozen=True)
class Said:
    """What a command answered; `error` is the sentence that `main` would print."""

    exit_code: int
    stdout: str
    stderr: str
    error: str


def command(*arguments: str) -> Said:
    """A command as a terminal runs it, without the log lines of Airflow's API, which is part of this process here."""
    result = CliRunner().invoke(cli, arguments)
    error = result.exception
    if error is not None and not isinstance(error, RunbookError | SystemExit):
        raise error
    code = error.exit_code if isinstance(error, RunbookError) else result.exit_code
    lines = [line for line in result.stdout.splitlines(keepends=True) if not _LOG_LINE.match(line)]
    return Said(code, "".join(lines), result.stderr, str(error or ""))


def in_airflow(change: Callable[[Any, DagRun], None]) -> None:
    """What a scheduler would do to the only run."""
    with create_session() as session:
        change(session, session.scalars(select(DagRun)).one())


def asks(session: Any, run: DagRun) -> None:
    """`approve_plan` is parked with a question."""
    run.state = "running"
    task = session.scalars(select(TaskInstance).where(TaskInstance.task_id == "approve_plan")).one()
    task.state = "awaiting_input"
    body = "**Expires:** 2026-11-21 22:13 UTC; **asked by:** oncall; **may approve:** approver, admin"
    session.add(HITLDetail(ti_id=task.id, subject="approve it", body=body, options=["Approve", "Reject"]))


def ends(state: str, key: str = "return_value", **left: Any) -> Callable[[Any, DagRun], None]:
    """The run ends in a state, and `conclude` has left something, or nothing."""
    if left and key == "return_value":
        left = {"next": [], "manually": [], "changed": False, **left}

    def change(session: Any, run: DagRun) -> None:
        session.execute(delete(HITLDetail))
        run.state = state
        if left:
            XComModel.set(
                key=key, value=left, task_id="conclude", dag_id=DAG, run_id=run.run_id, serialize=True, session=session
            )

    return change


def test_a_run_is_triggered_with_a_readable_id_and_a_note() -> None:
    """A dry run by default; JSON on stdout alone."""
    result = command("trigger", DAG, *TARGET, "--reason", "OPS-7", "--param", "bake_s=5", "--format", "json")
    assert result.exit_code == 0, result.error
    document = json.loads(result.stdout)
    assert document["schema_version"] == 1
    run_id = document["run"]["run_id"]
    assert run_id.startswith("orders.library_bump.20")
    assert run_id.endswith("Z")
    assert result.stderr == f"triggered {run_id}: {URL}/dags/library_bump/runs/{run_id}\n"
    run = api().run(DAG, run_id)
    assert run["conf"] == {"application": "orders", "target": "4.3.1", "bake_s": 5, "dry_run": True, "reason": "OPS-7"}
    assert run["note"] == "dry run: application orders, bake_s 5, target 4.3.1 (OPS-7)"
    assert run["triggering_user_name"] == "oncall"


def test_execute_is_no_dry_run_and_the_text_is_the_id() -> None:
    """For a shell."""
    result = command("trigger", DAG, *TARGET, "--execute", "--run-id", "ci-7")
    assert (result.exit_code, result.stdout) == (0, "ci-7\n")
    assert api().run(DAG, "ci-7")["conf"]["dry_run"] is False


@pytest.mark.parametrize(
    ("runbook", "param", "conf"),
    [
        ("undo", "run=orders.library_bump.r", {"run": "orders.library_bump.r"}),
        ("rolling_bounce", 'settings={"num.stream.threads": 2}', {"settings": {"num.stream.threads": 2}}),
    ],
)
def test_every_runbook_is_triggered_the_same_way(runbook: str, param: str, conf: dict[str, Any]) -> None:
    """Its form says which fields there are and of which type."""
    result = command("trigger", runbook, "--application", "orders", "--param", param, "--run-id", "r")
    assert result.exit_code == 0, result.error
    assert api().run(runbook, "r")["conf"] == {"application": "orders", "dry_run": True, **conf}


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (
            ("library_bmup", *TARGET),
            2,
            f"runbook library_bmup: unknown to Airflow; did you mean library_bump? ({URL})",
        ),
        ((DAG, "--application", "ordres", "--target", "4.3.1"), 2, "application ordres: unknown; did you mean orders?"),
        ((DAG, "--application", "orders"), 2, "library_bump needs target: give --param target=…"),
        ((DAG, *TARGET, "--param", "bake=5"), 2, "--param bake: library_bump has no such field; did you mean bake_s?"),
        (
            (DAG, "--application", "orders", "--target", "4.3"),
            2,
            "--param target: '4.3' is not a release such as 4.3.1; did you mean 4.3.1",
        ),
        ((DAG, *TARGET, "--param", "bake_s=-1"), 2, "Invalid input for param bake_s: -1 is less than the minimum of 0"),
        ((DAG, *TARGET, "--run-id", "a b"), 2, "The run_id provided 'a b' does not match"),
        ((DAG, *TARGET, "--timeout", "5"), 2, "--timeout: is the limit of --wait; give both, or none"),
    ],
)
def test_bad_input_triggers_nothing(arguments: tuple[str, ...], code: int, sentence: str) -> None:
    """One sentence, exit code 2."""
    result = command("trigger", *arguments)
    assert result.exit_code == code
    assert sentence in result.error
    assert "\n" not in result.error
    assert api().open_runs([DAG]) == []


def test_the_same_id_is_triggered_once() -> None:
    """A CI job that runs again does not bump again."""
    arguments = ("trigger", DAG, *TARGET, "--run-id", "ci-7")
    assert command(*arguments).exit_code == 0
    again = command(*arguments)
    assert again.exit_code == 2
    assert again.error == "run ci-7 of library_bump: exists already; give another id, or none"
    assert len(api().open_runs([DAG])) == 1


def test_a_wrong_login_and_one_without_the_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each says what to do; a token that is none, too."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_AIRFLOW_PASSWORD", "wrong")
    result = command("trigger", DAG, *TARGET)
    assert result.exit_code == 2
    assert "login oncall is refused (Invalid credentials); correct KSTREAMS_RUNBOOKS_AIRFLOW_USER" in result.error
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_AIRFLOW_TOKEN", "nonsense")
    assert "the token is refused (Invalid JWT token)" in command("runs").error
    with pytest.raises(Refused, match=f"viewer has no right to POST /api/v2/dags/{DAG}/dagRuns"):
        api("viewer").trigger(DAG, {"application": "orders", "target": "4.3.1"}, "r")


def test_a_paused_runbook_is_not_triggered() -> None:
    """It would wait in the queue, and --wait with it."""
    pause(yes=True)
    result = command("trigger", DAG, *TARGET)
    assert result.exit_code == 1
    assert result.error == (
        f"runbook {DAG}: is paused in Airflow, a run would wait in the queue; unpause it first: "
        f"airflow dags unpause {DAG}"
    )


def pause(*, yes: bool) -> None:
    with create_session() as session:
        session.execute(update(DagModel).values(is_paused=yes))


@pytest.mark.parametrize(
    ("end", "code", "says"),
    [
        (ends("success", outcome="completed", sentence="as planned", exit_code=0), 0, "completed: as planned"),
        (ends("failed", outcome="stopped, changed", sentence="lag", exit_code=1), 1, "stopped, changed: lag"),
        (ends("failed", outcome="inconclusive", sentence="no metrics", exit_code=3), 3, "inconclusive: no metrics"),
        (ends("failed", "error", sentence="application x is disabled", exit_code=2), 2, "failed: application x is dis"),
        (ends("failed"), 3, "failed: Airflow shows failed, but `conclude` left no outcome"),
        (ends("success"), 3, "success: Airflow shows success, but `conclude` left no outcome"),
        (
            ends("success", outcome="stopped, changed", sentence="lag", exit_code=1),
            3,
            "success: Airflow shows success, the run itself stopped, changed: it was marked manually",
        ),
    ],
    ids=["completed", "stopped", "inconclusive", "never began", "marked failed", "marked success", "disagree"],
)
def test_the_exit_code_is_the_outcomes(
    end: Callable[[Any, DagRun], None], code: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `conclude` left decides; the colour alone is never believed. A question is told once, on stderr."""
    seen = 0
    pending = AirflowApi.pending

    def third_time_ends(self: AirflowApi, *arguments: str) -> list[dict[str, Any]]:
        nonlocal seen
        seen += 1
        in_airflow(asks if seen == 1 else end if seen == 3 else lambda *_: None)
        return pending(self, *arguments)

    monkeypatch.setattr(AirflowApi, "pending", third_time_ends)
    monkeypatch.setattr("kstreams_runbooks.terminal.airflow.wait.time.sleep", lambda _: None)
    result = command("trigger", DAG, *TARGET, "--wait")
    assert result.exit_code == code
    assert result.stdout.startswith(says)
    asked = [line for line in result.stderr.splitlines() if line.startswith("waits for approve_plan: approve it")]
    (only,) = asked
    assert "may answer: approver, admin; until 2026-11-21 22:13 UTC; http://testserver/dags/library_bump/runs/" in only


def test_a_wait_that_is_over_before_the_run_is() -> None:
    """A person is needed, or nobody can say yet: two exit codes; the run goes on either way."""
    command("trigger", DAG, *TARGET, "--run-id", "r")
    late = wait(api(), DAG, "r", say=lambda _: None, timeout_s=0, poll_s=0)
    assert (late.exit_code, late.sentence) == (3, "not ended within 0 s (--timeout); the run goes on")
    in_airflow(asks)
    late = wait(api(), DAG, "r", say=lambda _: None, timeout_s=0, poll_s=0)
    assert late.exit_code == 1
    assert "not ended within 0 s: waits for approve_plan: approve it; may answer: approver, admin" in late.sentence
    assert api().run(DAG, "r")["state"] == "running"


def test_the_json_of_a_wait_has_outcome_and_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a CI reads."""
    trigger = AirflowApi.trigger

    def and_end(self: AirflowApi, *arguments: Any) -> str:
        run_id = trigger(self, *arguments)
        in_airflow(ends("failed", outcome="refused or rejected, nothing changed", sentence="no", exit_code=1))
        return run_id

    monkeypatch.setattr(AirflowApi, "trigger", and_end)
    result = command("trigger", DAG, *TARGET, "--wait", "--format", "json")
    document = json.loads(result.stdout)
    assert result.exit_code == document["exit_code"] == 1
    assert (document["outcome"], document["sentence"], document["state"]) == (
        "refused or rejected, nothing changed",
        "no",
        "failed",
    )


PLAN = ["orders-1, orders-2: 3.4.1 → 4.3.1 with upgrade.from=3.4 → 4.3.1; undo sets back 3.4.1", "worst case: " * 20]


@pytest.fixture
def _a_dry_run_with_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run ends as it begins, and `conclude` has left its plan."""
    trigger = AirflowApi.trigger

    def and_end(self: AirflowApi, *arguments: Any) -> str:
        run_id = trigger(self, *arguments)
        in_airflow(ends("success", outcome="dry run", sentence="as planned", exit_code=0, plan=PLAN))
        return run_id

    monkeypatch.setattr(AirflowApi, "trigger", and_end)


@pytest.mark.usefixtures("_a_dry_run_with_a_plan")
@pytest.mark.parametrize("width", ["80", "100", "120"])
def test_a_dry_run_prints_its_plan(width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a look at Airflow or the ledger; the outcome comes last."""
    monkeypatch.setenv("COLUMNS", width)
    lines = command("trigger", DAG, *TARGET, "--wait").stdout.splitlines()
    assert max(map(len, lines)) <= int(width)
    assert " ".join(" ".join(lines).split()).startswith(PLAN[0])
    assert lines[-1] == "dry run: as planned"


@pytest.mark.usefixtures("_a_dry_run_with_a_plan")
def test_the_json_of_a_dry_run_has_its_plan() -> None:
    """The same lines, for a CI."""
    assert json.loads(command("trigger", DAG, *TARGET, "--wait", "--format", "json").stdout)["plan"] == PLAN


ON = ["GO ON: repair it:", "    kstreams-runbooks clear orders.library_bump.r bounce_1_first " + "x" * 100]
BY_HAND = ["MANUALLY, the last change first:", "    supervisorctl restart orders-1"]


def test_an_ended_run_shows_what_comes_next_until_it_was_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under its outcome, a command in one line; a later run that has changed nothing yet leaves it."""
    monkeypatch.setenv("COLUMNS", "80")
    command("trigger", DAG, *TARGET, "--run-id", "orders.library_bump.r", "--execute", "--reason", "OPS-7")
    in_airflow(ends("failed", outcome="stopped, changed", sentence="lag", exit_code=1, next=ON, manually=BY_HAND))
    text = command("runs").stdout.splitlines()
    assert text[2:7] == ["  lag", f"  {ON[0]}", ON[1], f"  {BY_HAND[0]}", BY_HAND[1]]
    command("trigger", "rolling_bounce", "--application", "orders", "--run-id", "later", "--execute")
    first, later = json.loads(command("runs", "--format", "json").stdout)["runs"]
    assert (first["next"], first["manually"], later["changed"]) == (ON, BY_HAND, None)
    command("trigger", "undo", "orders.library_bump.r", "--run-id", "back", "--execute")
    left = {
        "outcome": "completed",
        "sentence": "as before",
        "exit_code": 0,
        "next": [],
        "manually": [],
        "changed": True,
    }
    with create_session() as session:
        session.execute(update(DagRun).where(DagRun.run_id == "back").values(state="success"))
        XComModel.set(
            key="return_value",
            value=left,
            task_id="conclude",
            dag_id="undo",
            run_id="back",
            serialize=True,
            session=session,
        )
    first, _, back = json.loads(command("runs", "--format", "json").stdout)["runs"]
    assert (first["outcome"], first["next"], first["manually"]) == ("stopped, changed", [], [])
    assert (back["undoes"], back["changed"]) == ("orders.library_bump.r", True)


def test_an_undo_needs_the_run_alone() -> None:
    """Its application is that of the run."""
    command("trigger", DAG, *TARGET, "--run-id", "r")
    result = command("trigger", "undo", "r", "--run-id", "back")
    assert result.exit_code == 0, result.error
    assert api().run("undo", "back")["conf"] == {"application": "orders", "run": "r", "dry_run": True}
    assert command("trigger", "undo", f"{DAG}/r#2", "--run-id", "later").exit_code == 0
    assert "has no such run of a runbook" in command("trigger", "undo", "s").error
    assert f"r: {DAG} takes no run, only undo does" in command("trigger", DAG, "r", *TARGET).error
    twice = command("trigger", "undo", "r", "--param", "run=r")
    assert twice.error == "--param run: is the second argument already; give one of them"
    command("trigger", "rolling_bounce", "--application", "orders", "--run-id", "r")
    several = command("trigger", "undo", "r").error
    assert several == "run r: 2 DAGs have it; give one of library_bump/r, rolling_bounce/r"


def test_an_undo_from_the_form_without_an_application_has_that_of_its_run() -> None:
    """In `runs`; an undo of a run that Airflow does not have any more has none."""
    command("trigger", DAG, *TARGET, "--run-id", "r")
    for run_id, of in (("back", "r"), ("lost", "gone")):
        api().trigger("undo", {"run": of, "dry_run": True}, run_id, "")
    shown = {
        one["run_id"]: one["application"] for one in json.loads(command("runs", "--format", "json").stdout)["runs"]
    }
    assert shown == {"r": "orders", "back": "orders", "lost": None}


def test_a_task_is_cleared_with_what_follows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on the page, with the same rights; an unknown task or one that runs is refused."""
    command("trigger", DAG, *TARGET, "--run-id", "r")

    def stopped(session: Any, run: DagRun) -> None:
        run.state = "failed"
        session.execute(update(TaskInstance).values(state="success"))
        late = TaskInstance.task_id.in_(["verify", "conclude"])
        session.execute(update(TaskInstance).where(late).values(state="failed"))

    in_airflow(stopped)
    assert command("clear", "r", "verfy").error == "task verfy: library_bump has no such task; did you mean verify?"
    done = command("clear", "r", "verify")
    assert (done.exit_code, done.stdout) == (0, f"cleared verify and conclude: {URL}/dags/{DAG}/runs/r\n"), done.error
    assert api().run(DAG, "r")["state"] == "queued"
    assert {name for name, task in api().tasks(DAG, "r").items() if task["state"] is None} == {"verify", "conclude"}

    def runs(session: Any, _: DagRun) -> None:
        session.execute(update(TaskInstance).where(TaskInstance.task_id == "verify").values(state="running"))

    in_airflow(runs)
    refused = command("clear", "r", "verify")
    assert (refused.exit_code, "runs now (expected: ended)" in refused.error) == (1, True)
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_AIRFLOW_USER", "viewer")
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_AIRFLOW_PASSWORD", "viewer")
    assert "viewer has no right to POST" in command("clear", "r", "observe").error


def judged(state: str) -> Callable[[Any, DagRun], None]:
    """`approve_plan` has ended in a state, or (awaiting_input) asks again."""

    def change(session: Any, _: DagRun) -> None:
        session.execute(update(TaskInstance).where(TaskInstance.task_id == "approve_plan").values(state=state))
        if state == "awaiting_input":
            session.execute(update(HITLDetail).values(responded_at=None, chosen_options=None))

    return change


@pytest.mark.parametrize(
    ("words", "state", "code", "says"),
    [
        (("approve", "r"), "success", 0, "approve_plan of run r: answered 'Approve', the task is success"),
        (
            ("approve", "r"),
            "awaiting_input",
            1,
            "approve_plan of run r asks again (may answer: approver, admin): the answer",
        ),
        (("approve", "r"), "failed", 1, "answered 'Approve', but the task is failed: its log has the reason"),
        (("approve", "r"), "queued", 3, "whether it counts is not known after 0 s"),
        (("approve", "r"), "up_for_retry", 3, "whether it counts is not known after 0 s"),
        (("reject", "r", "--reason", "too late"), "failed", 0, "answered 'Reject', the task is failed"),
        (("approve", "r", "--option", "Stay"), "success", 2, "has no answer 'Stay' (answers: 'Approve', 'Reject')"),
        (("approve", "r", "--emergency-reason", "all asleep"), "success", 2, "has no field for it; leave it out"),
        (("reject", "r", "--reason", "!"), "success", 2, "--reason: is !, without 3 letters"),
    ],
)
def test_a_question_is_answered_from_a_terminal(
    words: tuple[str, ...], state: str, code: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the text of the question, and whether the answer counts."""
    monkeypatch.setattr("kstreams_runbooks.terminal.airflow.answer._JUDGED_S", 0.0)
    command("trigger", DAG, *TARGET, "--run-id", "r")
    assert command("approve", "r").error.startswith("run r: waits for no answer (expected: one question)")
    in_airflow(asks)
    answer = AirflowApi.answer

    def and_judge(self: AirflowApi, *arguments: Any) -> None:
        answer(self, *arguments)
        in_airflow(judged(state))

    monkeypatch.setattr(AirflowApi, "answer", and_judge)
    done = command(*words)
    assert (done.exit_code, says in (done.error or done.stdout)) == (code, True), done
    if words[0] == "reject" and code == 0:
        assert "asked by: oncall; may approve: approver, admin" in done.stderr
        assert api().run(DAG, "r")["note"].endswith("oncall: Reject at approve_plan: too late")


@pytest.mark.parametrize(
    ("options", "words", "chosen"),
    [
        (DELETING, ("approve", "r"), DELETING[0]),
        (DELETING, ("approve", "r", "--option", "Approve"), DELETING[0]),
        (DELETING, ("approve", "r", "--option", DELETING[0]), DELETING[0]),
        (DELETING, ("reject", "r", "--reason", "too late"), DELETING[1]),
        (options_of(2), ("reject", "r", "--reason", "too late"), "stay on bounce 1"),
        (options_of(2), ("approve", "r"), None),
    ],
)
def test_approve_and_reject_answer_a_point_of_no_return(
    options: tuple[str, str], words: tuple[str, ...], chosen: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script that approves a reset goes on working; the last bounce of a bump has to be named."""
    monkeypatch.setattr("kstreams_runbooks.terminal.airflow.answer._JUDGED_S", 0.0)
    answered: list[str] = []
    monkeypatch.setattr(AirflowApi, "answer", lambda _, *given: answered.append(given[3]))
    command("trigger", DAG, *TARGET, "--run-id", "r")
    in_airflow(asks)
    with create_session() as session:
        session.execute(update(HITLDetail).values(options=list(options)))
    done = command(*words)
    assert answered == ([] if chosen is None else [chosen])
    if chosen is None:
        assert "give --option" in done.error


def test_open_runs_are_listed_with_what_they_wait_for() -> None:
    """Where each stands, who may answer, where; a run that has ended only without --open."""
    command("trigger", DAG, *TARGET, "--run-id", "orders.library_bump.r")
    in_airflow(asks)
    (run,) = json.loads(command("runs", "--open", "--format", "json").stdout)["runs"]
    (question,) = run.pop("waits_for")
    assert (question["task"], question["may_answer"]) == ("approve_plan", "approver, admin")
    assert (run["at"], run["dry_run"], run["asked_by"]) == (["approve_plan"], True, "oncall")
    text = command("runs", "--open").stdout.splitlines()
    assert text[0] == "orders.library_bump.r: running at approve_plan"
    assert text[1].startswith("  DRY RUN library_bump of orders, asked by oncall, since 20")
    assert re.match(r"  for \d+ s: waits for approve_plan: approve it; may answer: approver, admin", text[2])
    assert text[3:] == [
        "   Expires: 2026-11-21 22:13 UTC; asked by: oncall; may approve: approver, admin",
        f"  {URL}/dags/library_bump/runs/orders.library_bump.r",
    ]
    in_airflow(ends("success"))
    nothing = command("runs", "--open")
    assert (nothing.exit_code, nothing.stdout, nothing.stderr) == (0, "", "no run is queued, running or waiting\n")
    assert json.loads(command("runs", "--format", "json").stdout)["runs"][0]["state"] == "success"


def requests(session: Any, run: DagRun) -> None:
    """`bounce_1_first` is parked until a person has deployed an instance."""
    run.state = "running"
    task = session.scalars(select(TaskInstance).where(TaskInstance.task_id == "bounce_1_first")).one()
    task.state = "deferred"
    left = {
        "subject": "[orders @ demo] deploy orders-1",
        "body": "set orders\\-1 to release 4\\.3\\.1",
        "until": "soon",
    }
    leave_question(session, run, left | {"asked_at_ms": 1_700_000_000_000})


def leave_question(session: Any, run: DagRun, left: dict[str, Any]) -> None:
    """What the task leaves, in place of what it left before."""
    XComModel.set(
        key="question",
        value=left,
        task_id="bounce_1_first",
        dag_id=DAG,
        run_id=run.run_id,
        serialize=True,
        session=session,
    )


def test_an_open_run_shows_what_a_person_has_to_deploy() -> None:
    """No answer ends it, so Airflow has no question; once it is done it is not shown any more."""
    command("trigger", DAG, *TARGET, "--run-id", "r")
    in_airflow(requests)
    text = command("runs", "--open").stdout.splitlines()
    assert text[0] == "r: running at bounce_1_first"
    assert re.fullmatch(
        rf"  for \d+ h \d+ min: waits for bounce_1_first: \[orders @ demo\] deploy orders-1; until soon; {URL}/\S+/r",
        text[2],
    )
    assert text[3] == "   set orders-1 to release 4.3.1"
    in_airflow(lambda session, run: leave_question(session, run, {}))
    assert "waits for" not in command("runs", "--open").stdout


@pytest.mark.parametrize("width", ["80", "100", "120"])
def test_an_ended_run_shows_its_outcome(width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never Airflow's "failed"; who asked, when, for how long, and why, within the terminal's width."""
    monkeypatch.setenv("COLUMNS", width)
    command("trigger", DAG, *TARGET, "--run-id", "orders.library_bump.r", "--execute", "--reason", "OPS-7")
    why = "gate of orders-1: [orders-1] state is REBALANCING (expected RUNNING) for 300 of 300 s; changed so far: " * 2
    in_airflow(ends("failed", outcome="stopped, changed", sentence=why, exit_code=1))
    text = command("runs").stdout.splitlines()
    assert text[0] == "orders.library_bump.r: STOPPED, CHANGED"
    assert text[1].startswith("  library_bump of orders, asked by oncall, 20")
    assert max(map(len, text)) <= int(width)
    assert " ".join(why.split()) in " ".join(" ".join(text).split())
    assert "failed" not in "".join(text)


def test_a_run_of_a_paused_runbook_shows_why_it_waits() -> None:
    """It would stay in the queue for ever, and look as if it were about to begin."""
    command("trigger", DAG, *TARGET, "--run-id", "orders.library_bump.r")
    pause(yes=True)
    text = command("runs", "--open").stdout
    assert "orders.library_bump.r: queued\n" in text
    assert "library_bump is paused in Airflow: the run stays queued until it is not:\n    airflow dags unpause" in text


def test_the_scheduled_check_is_not_among_the_runs() -> None:
    """It runs every few minutes, and would hide the runbooks."""
    api("oncall").trigger("fleet_check", {}, "scheduled-like")
    assert json.loads(command("runs", "--format", "json").stdout)["runs"] == []


def test_more_runs_than_a_page_are_all_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many Airflow answers at a time."""
    monkeypatch.setattr(module, "_PAGE", 3)
    client = api()
    for number in range(7):
        client.trigger(DAG, {"application": "orders", "target": "4.3.1"}, f"r-{number}")
    assert len(client.open_runs([DAG])) == 7
    assert [run["dag_run_id"] for run in client.newest_runs([DAG], 2)] == ["r-5", "r-6"]
