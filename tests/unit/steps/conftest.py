"""A run at its first write, on a real SQLite ledger."""

from pathlib import Path

import pytest
from kstreams_runbooks.decide.bump_plan import bump_plan
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.ledger import RunRecord
from kstreams_runbooks.model.plan import Plan
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.code import code_digest
from kstreams_runbooks.steps.run import Run, now_ms
from samples import NEW, declared, reading


@pytest.fixture
def plan() -> Plan:
    """The plan of a bump, made by the code that runs."""
    now = reading()
    limits, code = (("max_lag", 1000.0),), code_digest("library_bump")
    return bump_plan(now, declared(), NEW, upgrade_path_rules(), (), limits, code)


@pytest.fixture
def run(tmp_path: Path, plan: Plan) -> Run:
    """A run with a stored plan."""
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    record = ledger.start_run(
        RunRecord("library_bump/r", "library_bump", "r", "orders", "demo", "oncall", False, "", {}, now_ms())
    )
    ledger.store_plan(record.run_key, plan.digest, encode(plan))
    return Run(record, "bounce_1_first", 1, ledger)
