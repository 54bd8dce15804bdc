"""A step that starts a run of another runbook."""

from types import SimpleNamespace

import pytest
from airflow.sdk.execution_time import task_runner
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.steps.change.start import start_run


def test_a_paused_runbook_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal has the command that unpauses it, as that of `trigger`."""
    monkeypatch.setattr(task_runner.RuntimeTaskInstance, "get_dag", lambda _: SimpleNamespace(is_paused=True))
    with pytest.raises(Refused) as refused:
        start_run("rolling_bounce", "r", {}, "")
    assert str(refused.value) == (
        "runbook rolling_bounce: is paused in Airflow, a run would wait in the queue; unpause it first: "
        "airflow dags unpause rolling_bounce"
    )
