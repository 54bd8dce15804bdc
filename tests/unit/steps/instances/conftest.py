"""Instances of a run, without Airflow around the task."""

from types import SimpleNamespace
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def left(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """What the task that requests something of a person leaves in Airflow's XCom, by key, first to last."""
    kept: list[tuple[str, dict[str, Any]]] = []
    ti = SimpleNamespace(xcom_push=lambda key, value: kept.append((key, value)))
    monkeypatch.setattr("kstreams_runbooks.steps.instances.request.get_current_context", lambda: {"ti": ti})
    return kept
