"""The first check of a cluster that is away: neither red nor news; from the second one on it is."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowSkipException
from kstreams_runbooks.errors import Inconclusive, Unreachable
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.status import KeptStatus
from kstreams_runbooks.steps.run.ending import StepUnreachable
from kstreams_runbooks.steps.status import answers, tasks
from world.new_ledger import new_ledger

AWAY = Unreachable("Kafka at broker:9092: nothing listens on this port")


@pytest.fixture
def left() -> list[dict[str, Any]]:
    """What the task leaves for the later ones."""
    return []


@pytest.fixture
def context() -> dict[str, Any]:
    """Airflow's context of the task; the ledger's fixture fills it."""
    return {}


@pytest.fixture
def ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: list[dict[str, Any]], context: dict[str, Any]
) -> Ledger:
    """A new ledger, a fleet with one cluster, and brokers that are away."""
    ledger = new_ledger(tmp_path / "ledger.db")

    def pull(task_ids: Any, key: str) -> Any:  # noqa: ARG001 - as Airflow calls it
        return left if isinstance(task_ids, list) else {"words": {}}

    def push(key: str, value: dict[str, Any]) -> None:
        if key == answers.ANSWER:
            left.append(value)

    params: dict[str, Any] = {answers.ACKNOWLEDGE: [], answers.REASON: None}
    ti = SimpleNamespace(task_id="read_cluster", xcom_push=push, xcom_pull=pull)
    context.update(ti=ti, params=params, dag_run=SimpleNamespace(conf={}))
    monkeypatch.setattr("kstreams_runbooks.steps.status.answers.get_current_context", lambda: context)
    monkeypatch.setattr(tasks, "load_fleet", lambda: FLEET)
    monkeypatch.setattr(tasks, "kafka_config", lambda _: {})
    monkeypatch.setattr(tasks, "_AGAIN_S", 0)
    monkeypatch.setattr(Ledger, "open", lambda: ledger)

    def away(*_: Any) -> Any:
        raise AWAY

    monkeypatch.setattr(tasks, "read", away)
    return ledger


FLEET: Any = SimpleNamespace(
    entries={}, cluster=lambda _: SimpleNamespace(connection="kafka"), used_clusters=("demo",), not_looked_at=()
)


@pytest.mark.usefixtures("ledger")
def test_a_cluster_that_is_away_at_its_first_check_is_skipped(
    left: list[dict[str, Any]], context: dict[str, Any]
) -> None:
    """Its applications are unknown by the reason that is left; the run is not red."""
    with pytest.raises(AirflowSkipException, match="if the next one cannot read it either, that one fails"):
        tasks.read_cluster.function("demo")
    assert answers.problems_of(left) == {"demo": f"cluster demo was not read: {AWAY}"}
    answers.demand_whole(context, FLEET)


def test_from_the_second_check_on_it_is_red(
    ledger: Ledger, left: list[dict[str, Any]], context: dict[str, Any]
) -> None:
    """The first one has judged its applications."""
    ledger.keep_lag_statuses(
        [KeptStatus("demo", "orders", "unknown", "away", 1, 1, read=False, told="", told_read=True)]
    )
    with pytest.raises(StepUnreachable):
        tasks.read_cluster.function("demo")
    assert "first" not in left[-1]
    with pytest.raises(Inconclusive, match="this check is incomplete: cluster demo was not read: Kafka at broker:9092"):
        answers.demand_whole(context, FLEET)


def test_another_cluster_is_not_its_first_check(ledger: Ledger) -> None:
    """Each cluster has its own."""
    ledger.keep_lag_statuses([KeptStatus("other", "a", "healthy", "", 1, 1, read=True, told="healthy", told_read=True)])
    assert answers.never_checked(ledger, "demo")
    assert not answers.never_checked(ledger, "other")
