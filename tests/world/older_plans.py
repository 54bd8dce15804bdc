"""Plans as the release before stages stored them, of every runbook that had one."""

import json
from pathlib import Path
from typing import Any

from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.plan import Plan

_FILE = Path(__file__).parents[1] / "unit" / "ledger" / "samples" / "plans_of_bounces.json"
# By runbook: the plan as it was stored, and the digest that was shown for approval.
PLANS: dict[str, dict[str, Any]] = json.loads(_FILE.read_text(encoding="utf-8"))


def digests_in(ledger: Ledger) -> dict[str, str]:
    """The digests of these plans once they have been stored in a ledger and read from it."""
    found: dict[str, str] = {}
    for runbook, kept in PLANS.items():
        record = RunRecord("", runbook, "r", "orders", "demo", "oncall", False, "", {}, 1_000)
        key = ledger.start_run(record).run_key
        ledger.store_plan(key, kept["digest"], kept["plan"])
        plan: Plan = decode(Plan, ledger.plan(key))
        found[runbook] = plan.digest
    return found
