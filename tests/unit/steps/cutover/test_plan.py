"""A preview: a real run is refused before anything is read, a dry run shows its plan."""

from dataclasses import replace

import pytest
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.steps.cutover.plan import UNPROVEN, require_rehearsal, unproven
from kstreams_runbooks.steps.run.run import Run


def test_a_real_run_is_refused_until_it_is_proven(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one sentence; an environment of tests allows it by name."""
    monkeypatch.setenv(UNPROVEN, "another_runbook")
    with pytest.raises(Refused, match=r"moves no group yet .*; trigger it as a dry run, which shows every stage"):
        require_rehearsal(run)
    require_rehearsal(replace(run, record=replace(run.record, dry_run=True)))
    monkeypatch.setenv(UNPROVEN, "another_runbook,blue_green_cutover")
    require_rehearsal(run)


def test_a_real_run_that_the_environment_allows_is_named_to_its_approver(run: Run) -> None:
    """With the variable; a dry run moves nothing."""
    [finding] = unproven(run)
    assert (finding.severity, finding.object) == ("danger", "blue_green_cutover")
    assert f"{UNPROVEN} in the environment of this Airflow allows real runs" in finding.message
    assert unproven(replace(run, record=replace(run.record, dry_run=True))) == ()
