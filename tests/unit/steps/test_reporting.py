"""The last line of a step that failed."""

from dataclasses import replace

import pytest
from kstreams_runbooks.errors import BadInput, Inconclusive, RunbookError, Unreachable
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.steps.reporting import StepFailed, StepUnreachable, reported
from kstreams_runbooks.steps.run import Run, now_ms


def last_line(caplog: pytest.LogCaptureFixture, run: Run | None, error: RunbookError) -> str:
    """What a step says last that fails with `error`: in `run`, or before a run is found; the form says dry run."""
    context = {"params": {"application": "orders", "dry_run": True}}

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
