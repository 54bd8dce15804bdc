"""The last line of a step that failed."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.errors import BadInput, Drifted, Inconclusive, Refused, RunbookError, Unreachable
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.steps.run.ending import StepFailed, StepUnreachable, reported
from kstreams_runbooks.steps.run.run import Run, now_ms


class FakeTaskInstance:
    """Keeps what is left with Airflow, as a task instance does."""

    def __init__(self) -> None:
        self.left: dict[str, Any] = {}

    def xcom_push(self, key: str, value: Any) -> None:
        """Keep it."""
        self.left[key] = value


def last_line(
    caplog: pytest.LogCaptureFixture, run: Run | None, error: RunbookError, left: FakeTaskInstance | None = None
) -> str:
    """What a step says last that fails with `error`: in `run`, or before a run is found; the form says dry run."""
    context = {"params": {"application": "orders", "dry_run": True}, "ti": left or FakeTaskInstance()}

    def found(_: object) -> Run:
        if run is None:
            raise error
        return run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "begin", found)
        with pytest.raises((StepFailed, StepUnreachable)), reported(context, "looks"):
            raise error
    return caplog.messages[-1]


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


def test_a_step_that_finds_no_run_claims_only_what_it_knows(caplog: pytest.LogCaptureFixture) -> None:
    """A ledger that is away cannot say what an earlier step has written."""
    assert last_line(caplog, None, BadInput("no such application")) == (
        "[orders @ unknown] DRY RUN REFUSED, nothing was changed: no such application"
    )
    assert last_line(caplog, None, Unreachable("ledger: away")) == "[orders @ unknown] DRY RUN ledger: away"


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
    last_line(caplog, None, BadInput("no such application"), left)
    assert left.left == {"error": {"sentence": "no such application", "exit_code": 2}}


def test_an_airflow_that_takes_no_answer_hides_no_error(
    run: Run, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step ends as it would have, with its own sentence before."""

    def away(*_: object) -> None:
        raise ConnectionError("api-server away")

    monkeypatch.setattr(FakeTaskInstance, "xcom_push", away)
    assert last_line(caplog, run, Inconclusive("no metrics")) == "error could not be stored in Airflow: api-server away"
    assert caplog.messages[-2] == "[orders @ demo] REFUSED, nothing was changed: no metrics"
