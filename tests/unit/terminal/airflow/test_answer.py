"""`approve` and `reject`, and what became of the answer, on an Airflow that a test controls."""

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.terminal.airflow import answer as module
from kstreams_runbooks.terminal.airflow.answer import approve, reject
from kstreams_runbooks.terminal.airflow.client import Denied

BOUNCE_2 = ("bounce 2: no way back", "stay on bounce 1")
CHOICE = ("library_bump", "rolling_bounce", "none")
STAGES = ("Stage 1 is done", "Stage 3 is done", "It cannot be done")


class FakeAirflow:
    """One run with one open question, whose task is in `state` after the answer, and has left `error`."""

    url, login = "http://airflow", "oncall"

    def __init__(self, options: Sequence[str], state: str, error: Any = None, denies: str = "", **asked: Any) -> None:
        self.options, self.state = options, state
        self.answered, self.error = "", error
        self.denies, self.asked, self.notes = denies, {"params": {"reason": None}} | asked, list[str]()

    def dag_ids(self, _: str) -> list[str]:
        """The DAG of the run."""
        return ["undo"]

    def find_run(self, *_: object) -> dict[str, Any]:
        """The run."""
        return {"dag_id": "undo", "dag_run_id": "r"}

    def pending(self, *_: str) -> list[dict[str, Any]]:
        """The question, until it has an answer."""
        task = {"dag_id": "undo", "dag_run_id": "r", "task_id": "asks", "state": "awaiting_input"}
        asked = {"task_instance": task, "subject": "asks", "created_at": "", "options": self.options}
        return [] if self.answered and self.state != "asks again" else [asked | self.asked]

    def xcom(self, *place: str) -> Any:
        """Why the task failed."""
        return self.error if self.answered and place[-1] == "error" else None

    def page_of(self, *_: str) -> str:
        """The page of the question."""
        return f"{self.url}/r"

    def answer(self, _dag: str, _run: str, _task: str, option: str, params: Mapping[str, Any]) -> None:
        """Keep the answer, unless this login may not answer."""
        if self.denies == "answer":
            raise Denied("mallory has no right to PATCH")
        self.answered, self.given = option, dict(params)

    def add_note(self, _dag: str, _run: str, text: str) -> None:
        """Keep the note, unless this login may not write one."""
        if self.denies == "note":
            raise Refused("oncall has no right to PATCH")
        self.notes.append(text)

    def tasks(self, *_: str) -> dict[str, Any]:
        """The task that asked."""
        return {"asks": {"state": self.state}}


Answered = Callable[..., tuple[FakeAirflow, Result]]


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Answered:
    """Answer a question from a terminal, as a function of the command, the options and the end of the task."""
    monkeypatch.setattr(module, "_JUDGED_S", 0.0)

    def run(
        command: Any, *words: str, options: Sequence[str], state: str = "success", **other: Any
    ) -> tuple[FakeAirflow, Result]:
        api = FakeAirflow(options, state, **other)
        monkeypatch.setattr(module, "airflow_at", lambda *_: api)
        return api, CliRunner().invoke(command, ["r", *words])

    return run


@pytest.mark.parametrize("options", [("Approve", "Reject"), BOUNCE_2, CHOICE, STAGES])
def test_reject_is_the_last_answer_of_every_question(answered: Answered, options: tuple[str, ...]) -> None:
    """A person who stops a run at night needs no list of answers."""
    api, done = answered(reject, "--reason", "INC-12 is open", options=options, state="failed")
    assert (done.exit_code, api.answered, api.given) == (0, options[-1], {"reason": "INC-12 is open"})


@pytest.mark.parametrize("options", [BOUNCE_2, CHOICE, STAGES, ("library_bump", "none")])
def test_another_way_on_than_approve_has_to_be_named(answered: Answered, options: tuple[str, ...]) -> None:
    """It may have no way back."""
    api, refused = answered(approve, options=options)
    assert (api.answered, "has no answer 'Approve' (answers: " in str(refused.exception)) == ("", True)
    api, done = answered(approve, "--option", options[0], options=options)
    assert (done.exit_code, api.answered) == (0, options[0])


def test_an_answer_whose_task_failed_did_not_count(answered: Answered) -> None:
    """The state has drifted since the question: the sentence of the task is the answer of the command."""
    why = {"sentence": "asks: since it was asked, orders-1 runs 4.3.1 (planned: 3.4.1)", "exit_code": 1}
    _, refused = answered(approve, "--option", BOUNCE_2[0], options=BOUNCE_2, state="failed", error=why)
    assert isinstance(refused.exception, Refused)
    assert str(refused.exception) == (
        f"asks of run r: answered 'bounce 2: no way back', but the task is failed: {why['sentence']}"
    )
    _, killed = answered(approve, options=("Approve", "Reject"), state="failed")
    assert str(killed.exception).endswith("but the task is failed: its log has the reason (http://airflow/r)")
    _, left = answered(reject, "--reason", "INC-12", options=BOUNCE_2, state="upstream_failed")
    assert isinstance(left.exception, Refused)


@pytest.mark.parametrize("state", ["running", "up_for_retry", "restarting"])
def test_a_task_that_has_not_ended_has_not_judged(answered: Answered, state: str) -> None:
    """Airflow tries it again after a system was away."""
    _, unknown = answered(approve, options=("Approve", "Reject"), state=state)
    assert isinstance(unknown.exception, Inconclusive)


APPROVER = {"assigned_users": [{"name": "approver"}]}
WITHOUT_FIELD: dict[str, Any] = {"params": {}} | APPROVER
MARK = "to stop the run without an answer, mark asks (not the run) as failed in Airflow (http://airflow/r)"


def test_an_answer_that_airflow_refuses_leaves_no_note(answered: Answered) -> None:
    """It was never given; the refusal has who may answer, and how the run is stopped all the same."""
    for command in (approve, reject):
        api, refused = answered(
            command, "--reason", "INC-12 is open", options=("Approve", "Reject"), denies="answer", **WITHOUT_FIELD
        )
        assert (api.answered, api.notes) == ("", [])
        assert str(refused.exception) == (
            f"asks of run r: Airflow takes no answer of oncall (may answer: approver); use another login; {MARK}"
        )


def test_a_note_that_fails_does_not_hide_the_answer(answered: Answered) -> None:
    """A login may answer and have no right to write a note: one line on stderr, and the answer's exit code."""
    api, done = answered(
        reject, "--reason", "INC-12", options=("Approve", "Reject"), state="failed", denies="note", **WITHOUT_FIELD
    )
    assert (done.exit_code, api.answered) == (0, "Reject")
    assert done.stdout == "asks of run r: answered 'Reject', the task is failed\n"
    assert done.stderr.splitlines()[-1] == (
        "run r: answered, but the reason is not in the run's note: oncall has no right to PATCH"
    )
    api, _ = answered(reject, "--reason", "INC-12", options=("Approve", "Reject"), state="failed", **WITHOUT_FIELD)
    assert api.notes == ["oncall: Reject at asks: INC-12"]


def test_a_reject_that_does_not_count_reads_how_the_run_is_stopped(answered: Answered) -> None:
    """Airflow takes an answer of an operator if it does not know the id of each approver."""
    api, refused = answered(reject, "--reason", "INC-12", options=("Approve", "Reject"), state="asks again")
    assert api.answered == "Reject"
    assert "asks of run r asks again: " in str(refused.exception)
    assert str(refused.exception).endswith(f"; {MARK}")
    _, approved = answered(approve, options=("Approve", "Reject"), state="asks again")
    assert MARK not in str(approved.exception)


def test_the_question_fits_the_terminal(answered: Answered, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken to its width, without the addresses that its links have."""
    monkeypatch.setenv("COLUMNS", "80")
    body = (
        "**Now:** "
        + "orders-1 RUNNING on 3.4.1, " * 6
        + "\n\n**Plan digest:** `ab12`; in [the run's note](http://airflow/r)"
    )
    _, done = answered(approve, options=("Approve", "Reject"), body=body)
    lines = done.stderr.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[-1] == "Plan digest: ab12; in the run's note"


def test_a_judgement_that_takes_long_is_said_each_ten_seconds(
    answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was silent for half a minute."""
    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: now.__setitem__(0, now[0] + seconds))
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(module, "_JUDGED_S", 30.0)
    _, unknown = answered(approve, options=("Approve", "Reject"), state="running")
    assert [line for line in unknown.stderr.splitlines() if line.startswith("asks: ")] == [
        "asks: running, the answer is not judged yet (10 of 30 s)",
        "asks: running, the answer is not judged yet (20 of 30 s)",
    ]
