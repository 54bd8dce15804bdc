"""A run that went all the way, and what the commands show of its chain."""

import json
from dataclasses import replace
from typing import Any

from click.testing import CliRunner, Result
from kstreams_runbooks.cli import cli
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.runs.ledger import Approval, Card, RunRecord

KEY = "library_bump/r"


def write_run(ledger: Ledger) -> None:
    """Put the run into an empty ledger."""
    record = RunRecord("", "library_bump", "r", "orders", "demo", "oncall", False, "OPS-7", {"target": "4.3.1"}, 1_000)
    ledger.start_run(replace(record, run_after="2026-11-20T10:00:00+00:00", conf_digest="c1"))
    ledger.record(KEY, "observe", 1, "reading", "application", {"lag": 7}, 1_100)
    ledger.record(KEY, "observe", 2, "reading", "application", {"lag": 6}, 1_200)
    ledger.store_plan(KEY, "p1", {"bounces": [1]})
    ledger.remember(KEY, "digest_shown", "p1")
    ledger.approve(Approval(KEY, "approve_plan", "p1", "approver", 1_300, 9_000))
    ledger.take_hold(KEY, ("application:demo:orders",), "demo", 1, 1_400, lambda _: False)
    ledger.write_card(
        Card(
            KEY,
            1,
            "bounce_1_first",
            "bounce 1",
            "orders-1",
            "w",
            "u",
            "c",
            False,
            False,
            {},
            1_500,
            "orders",
            "demo",
            1,
        )
    )
    ledger.mark_written(KEY, 1_500)
    ledger.record(KEY, "bounce_1_first", 1, "reading", "application", {"lag": 5}, 1_600)
    ledger.record(KEY, "verify", 1, "verdict", "change_verified", {"result": {"outcome": "proceed"}}, 1_700)
    ledger.conclude(KEY, "completed", "as planned", 1_800)
    ledger.release_holds(KEY)


def show(*words: str) -> Result:
    """Call `evidence` for the run."""
    return CliRunner().invoke(cli, ["evidence", "r", *words])


def verify(*words: str) -> tuple[int, dict[str, Any]]:
    """Exit code and what the chain shows."""
    result = show("--verify", "--format", "json", *words)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    verdict: dict[str, Any] = json.loads(result.stdout)["verify"]
    return result.exit_code, verdict
