"""Which logins of Airflow are ids: those that this machine's configuration lists for SimpleAuthManager."""

import pytest
from kstreams_runbooks.steps.approval.logins import own_ids

SIMPLE = "airflow.api_fastapi.auth.managers.simple.simple_auth_manager.SimpleAuthManager"
FAB = "airflow.providers.fab.auth_manager.fab_auth_manager.FabAuthManager"


@pytest.mark.parametrize(
    ("manager", "users", "known"),
    [
        (SIMPLE, "admin:admin, oncall:op,approver:op", {"admin", "oncall", "approver"}),
        (SIMPLE, None, set()),
        (None, None, set()),
        (FAB, "admin:admin,oncall:op", set()),
        (None, "oncall:op", {"oncall"}),
    ],
)
def test_ids_that_are_logins(
    monkeypatch: pytest.MonkeyPatch, manager: str | None, users: str | None, known: set[str]
) -> None:
    """A worker that knows no users but the default one may belong to an API server with another auth manager."""
    for name, value in (("AUTH_MANAGER", manager), ("SIMPLE_AUTH_MANAGER_USERS", users)):
        monkeypatch.delenv(f"AIRFLOW__CORE__{name}", raising=False)
        if value is not None:
            monkeypatch.setenv(f"AIRFLOW__CORE__{name}", value)
    assert own_ids() == known
