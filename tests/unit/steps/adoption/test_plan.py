"""A plan is inconclusive if nothing can compare the copy after the change, when no undo takes that back."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.errors import BadInput, Inconclusive
from kstreams_runbooks.frames.job import REMOTE
from kstreams_runbooks.steps.adoption.plan import WITHOUT_PROOF, require_spark
from kstreams_runbooks.steps.run.run import Run

_CONNECTION = "AIRFLOW_CONN_SPARK_DEFAULT"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No Spark is known to Airflow."""
    for name in (REMOTE, _CONNECTION):
        monkeypatch.delenv(name, raising=False)


def of_form(run: Run, **params: Any) -> Run:
    """The run with this form."""
    return Run(replace(run.record, params=params), "plan", 1, run.ledger)


def test_without_spark_the_plan_names_both_ways_on(run: Run) -> None:
    """The connection, and the field for the reason."""
    with pytest.raises(Inconclusive, match=r"no Airflow connection spark_default \(type spark\), and no SPARK_REMOTE"):
        require_spark(of_form(run))
    with pytest.raises(Inconclusive, match=f"create the connection, or give {WITHOUT_PROOF} a reason$"):
        require_spark(of_form(run))


def test_a_server_a_connection_or_a_reason_is_enough(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them alone."""
    require_spark(of_form(run, **{WITHOUT_PROOF: "no Spark here"}))
    with monkeypatch.context() as with_server:
        with_server.setenv(REMOTE, "sc://127.0.0.1:15002")
        require_spark(of_form(run))
    monkeypatch.setenv(_CONNECTION, '{"conn_type": "spark", "host": "local[2]"}')
    require_spark(of_form(run))


def test_a_connection_whose_jobs_see_no_file_of_this_worker_is_bad_input(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found before the change too."""
    extra = '{"conn_type": "spark", "host": "yarn", "extra": {"deploy-mode": "cluster"}}'
    monkeypatch.setenv(_CONNECTION, extra)
    with pytest.raises(BadInput, match=r"spark_default: deploy-mode cluster \(expected client\)"):
        require_spark(of_form(run))
