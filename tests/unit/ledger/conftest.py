"""A ledger in a real SQLite file, and runs in it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.runs.ledger import RunRecord
from world.new_ledger import new_ledger


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Address of a file that is not there yet."""
    return f"sqlite:///{tmp_path / 'ledger.db'}"


@pytest.fixture
def ledger(url: str) -> Ledger:
    """An empty ledger."""
    return new_ledger(Path(url.removeprefix("sqlite:///")))


@pytest.fixture
def start(ledger: Ledger) -> Callable[..., str]:
    """Starts a run; the answer is its key."""

    def start(run_id: str, dag_id: str = "library_bump", at_ms: int = 1_000) -> str:
        return ledger.start_run(
            RunRecord(
                run_key=f"{dag_id}/{run_id}",
                dag_id=dag_id,
                run_id=run_id,
                application="orders",
                cluster="demo",
                requested_by="oncall",
                dry_run=False,
                reason="ticket 7",
                params={"target": "4.3.1", "limits": {"bake_s": 10}},
                started_at_ms=at_ms,
            )
        ).run_key

    return start
