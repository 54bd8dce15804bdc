"""The last line of a step that failed."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.errors import (
    BadInput,
    Drifted,
    Inconclusive,
    LoginRefused,
    Refused,
    RunbookError,
    Unreachable,
)
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.steps.run.ending import BEGUN, StepFailed, StepUnreachable, again_in_s, reported
from kstreams_runbooks.steps.run.run import Run, now_ms


class FakeTaskInstance:
    """Keeps what is left with Airflow, as a task instance does."""

    dag_id, run_id = "library_bump", "r"

    def __init__(self, task_id: str = "observe") -> None:
        self.task_id = task_id
        self.left: dict[str, Any] = {}

    def xcom_push(self, key: str, value: Any) -> None:
        """Keep it."""
        self.left[key] = value


def last_line(
    caplog: pytest.LogCaptureFixture, run: Run | None, error: RunbookError, left: FakeTaskInstance | None = None
) -> str:
    """What a step says last that fails with `error`: in `run`, or before a run is found; the form says dry run."""
    params = {"application": "orders", "dry_run": True, "target": "4.3.1", "`touch x`": "y"}
    form = SimpleNamespace(params={"application": None, "dry_run": None, "target": None})
    ti = left or FakeTaskInstance()
    context = {
        "params": params,
        "ti": ti,
        "dag": form,
        "dag_run": SimpleNamespace(run_after=datetime(2026, 11, 20, tzinfo=UTC)),
    }

    def found(_: object) -> Run:
        if run is None:
            raise error
        return run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "begin", found)
        with pytest.raises((StepFailed, StepUnreachable)), reported(context, "looks"):
            raise error
    return caplog.messages[-1]


def test_a_step_keeps_the_tasks_of_its_dag(run: Run) -> None:
    """Also for a check that has no DAG: it names only a task that exists to whoever goes on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "begin", lambda _: run)
        with reported({"dag": SimpleNamespace(task_ids=["observe", "conclude"])}, "looks"):
            pass
    [begun] = run.ledger.evidence(run.key, kind="note", name=BEGUN)
    assert begun.payload["tasks"] == ["observe", "conclude"]


def test_an_error_of_a_dry_run_says_so(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    """Every line of a dry run begins with it, the last one too."""
    dry = replace(run, record=replace(run.record, dry_run=True))
    assert last_line(caplog, dry, Inconclusive("no metrics")) == (
        "[orders @ demo] DRY RUN REFUSED, nothing was changed: no metrics"
    )
    assert last_line(caplog, run, Inconclusive("no metrics")) == (
        "[orders @ demo] REFUSED, nothing was changed: no metrics"
    )


@pytest.mark.parametrize(
    ("error", "level"),
    [
        (Refused("lag 7"), "ERROR"),
        (BadInput("no such release"), "ERROR"),
        (Drifted("topic recreated"), "ERROR"),
        (Inconclusive("no metrics"), "WARNING"),
        (Unreachable("no broker answers"), "WARNING"),
    ],
)
@pytest.mark.usefixtures("holding")
def test_the_last_line_is_as_loud_as_its_cause(
    run: Run, caplog: pytest.LogCaptureFixture, error: RunbookError, level: str
) -> None:
    """A filter of a log for warnings and errors shows why a step ended, whether or not its run was found."""
    for of in (run, None):
        last_line(caplog, of, error)
        assert caplog.records[-1].levelname == level


def test_after_a_write_no_line_says_that_nothing_was_changed(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever reads it would look no further."""
    run.ledger.mark_written(run.key, now_ms())
    assert last_line(caplog, run, Inconclusive("no metrics")) == "[orders @ demo] no metrics"


@pytest.fixture
def holding(monkeypatch: pytest.MonkeyPatch) -> Callable[[Ledger | None], None]:
    """The ledger that a step finds: one of a test, or none."""

    def found(ledger: Ledger | None) -> None:
        monkeypatch.setattr(Ledger, "existing", classmethod(lambda *_: ledger))

    found(None)
    return found


@pytest.mark.usefixtures("holding")
def test_a_step_that_finds_no_run_claims_only_what_it_knows(caplog: pytest.LogCaptureFixture) -> None:
    """A ledger that is away cannot say what an earlier step has written."""
    assert last_line(caplog, None, BadInput("no such application")) == (
        "[orders @ unknown] DRY RUN REFUSED, nothing was changed: no such application"
    )
    assert last_line(caplog, None, Unreachable("ledger: away")) == "[orders @ unknown] DRY RUN ledger: away"


AGAIN = [
    "GO ON: correct what the sentence names, then start a new run (this one cannot go on):",
    "    kstreams-runbooks trigger library_bump --application orders --param target=4.3.1",
]


@pytest.mark.usefixtures("holding")
def test_a_run_that_never_began_has_an_outcome_and_a_next_action(caplog: pytest.LogCaptureFixture) -> None:
    """The command has the form's fields alone; the log of `conclude`, where a person looks, ends with it."""
    left = FakeTaskInstance("conclude")
    last_line(caplog, None, BadInput("no such application"), left)
    assert caplog.messages[-3:] == [
        "[orders @ unknown] DRY RUN REFUSED, nothing was changed: no such application",
        *AGAIN,
    ]
    error = {"sentence": "no such application", "exit_code": 2}
    assert left.left["error"] == error | {"outcome": "refused or rejected, nothing changed", "next": AGAIN}


def test_bad_input_in_the_middle_of_a_run_is_not_its_outcome(
    run: Run, caplog: pytest.LogCaptureFixture, holding: Callable[[Ledger | None], None]
) -> None:
    """Its ledger has to be migrated after a deployment, or a form has lost a field: the run may have changed things."""
    holding(run.ledger)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "same_run", lambda *_: run.record)
        left = FakeTaskInstance("conclude")
        said = last_line(caplog, None, BadInput("ledger demo: its schema is v1 (expected v2)"), left)
    assert said == "[orders @ unknown] DRY RUN ledger demo: its schema is v1 (expected v2)"
    assert left.left["error"].keys() == {"sentence", "exit_code"}


def test_a_ledger_that_goes_away_hides_no_error(
    run: Run, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line with both, no traceback."""

    def away(*_: object) -> None:
        raise Unreachable("ledger: locked")

    monkeypatch.setattr(Ledger, "run", away)
    assert last_line(caplog, run, Inconclusive("no metrics")) == (
        "[orders @ demo] no metrics (this could not be kept: ledger: locked)"
    )


def test_airflow_is_left_why_a_step_failed(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever has only Airflow's API, a CI for example, finds it there; with the exit code of the error tree."""
    left = FakeTaskInstance()
    last_line(caplog, run, Inconclusive("no metrics"), left)
    assert left.left == {"error": {"sentence": "no metrics", "exit_code": 3}}
    last_line(caplog, None, Unreachable("ledger: away"), left)
    assert left.left == {"error": {"sentence": "ledger: away", "exit_code": 4}}


def test_an_airflow_that_takes_no_answer_hides_no_error(
    run: Run, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step ends as it would have, with its own sentence before."""

    def away(*_: object) -> None:
        raise ConnectionError("api-server away")

    monkeypatch.setattr(FakeTaskInstance, "xcom_push", away)
    assert last_line(caplog, run, Inconclusive("no metrics")) == "error could not be stored in Airflow: api-server away"
    assert caplog.messages[-2] == "[orders @ demo] REFUSED, nothing was changed: no metrics"


@pytest.mark.parametrize(
    ("error", "tries", "again"),
    [
        (Unreachable("no broker answers"), 1, 15.0),
        (Unreachable("no broker answers"), 2, 15.0),
        # The last of three tries.
        (Unreachable("no broker answers"), 3, None),
        # It stays refused, wrong or unknown, however often it is tried.
        (LoginRefused("the password of login ada is wrong"), 1, None),
        (BadInput("Airflow connection kafka_demo: not found; create it"), 1, None),
        (Refused("lag 7"), 1, None),
        (Inconclusive("no metrics"), 1, None),
    ],
)
def test_only_a_system_that_may_be_back_is_tried_again(
    run: Run, error: RunbookError, tries: int, again: float | None
) -> None:
    """And the note says when: Airflow's policy sees the type of the exit alone."""
    ti = FakeTaskInstance()
    vars(ti).update(try_number=tries, max_tries=2)
    context = {"ti": ti, "task": SimpleNamespace(retry_delay=timedelta(seconds=15))}
    assert again_in_s(context, error) == again
    noted: list[tuple[str, float | None]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "begin", lambda _: run)
        patch.setattr(
            "kstreams_runbooks.steps.run.ending.note_failed", lambda _, why, wait: noted.append((str(why), wait))
        )
        expected = StepUnreachable if isinstance(error, Unreachable) and type(error) is Unreachable else StepFailed
        with pytest.raises(expected), reported(context, "looks"):
            raise error
    assert noted == [(str(error), again)]
