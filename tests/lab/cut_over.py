"""The demo of a cutover: a second side that has caught up, and a group that writes down each record that it reads."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import yaml
from kstreams_runbooks.errors import Unreachable
from world.downstream import NAME, begin_to_read, counts_of, missing_and_doubled, written_down
from world.greening import DAG, GREEN, OUTPUTS, deploy_green

from lab import kafka
from lab.airflow import APPROVER, REQUESTER
from lab.copier import COPIES
from lab.follow import follow
from lab.settings import Lab
from lab.stack import Stack
from lab.supervise import until

APPLICATION: Final = "orders"
OLD: Final = "orders-running"
_WINDOWS: Final = ("orders-windowed", OUTPUTS["orders-windowed"])
# The machine runs twice as much as in the other demos; a commit of both sides is a record for the lag.
LIMITS: Final[Mapping[str, float]] = {"max_lag": 10_000, "max_reading_age_s": 120, "bake_s": 1}
LATE: Final = "the demo holds its inputs for some seconds"
# Shorter than the grace of the windows: caught up at full speed, it drops nothing.
_HISTORY_S: Final = 15
_CLOSED_S, _READ_S = 300, 180


def fields(lab: Lab) -> dict[str, Any]:
    """Of the fleet entry of the first side: it reads control topics, with other limits for a few things."""
    file = lab.config / "applications" / f"{APPLICATION}.yaml"
    limits = yaml.safe_load(file.read_text(encoding="utf-8"))["limits"]
    return {"control": [*COPIES.values()], "limits": {**limits, **LIMITS}}


def prepare(stack: Stack, say: Callable[[str], None]) -> None:
    """Before the run: a second side next to the first, which its runbook starts, and a group that reads the first."""
    stack.start_traffic()
    time.sleep(_HISTORY_S)
    stack.stop_traffic()
    say(f"deploy {GREEN}, and start it with {DAG}")
    deploy_green(stack, **LIMITS)
    run_id = f"demo-green-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}"
    conf = {"application": GREEN, "dry_run": False, "reason": "demo", "accept_late_loss": LATE}
    stack.api(REQUESTER).trigger(DAG, conf, run_id)
    state = follow(stack.api(), DAG, run_id, approver=stack.api(APPROVER))
    if state != "success":
        raise Unreachable(f"run {run_id} of {DAG} is {state} (expected success): kstreams-runbooks evidence {run_id}")
    stack.start_traffic()
    say(f"start {NAME}, which reads {OLD} and writes down each record")
    # The demo's second login approves for all teams.
    begin_to_read(stack, OLD, APPROVER)
    say("wait until the first windows are closed: without one there is nothing to compare")
    until(lambda: all(_closed(stack, one) for one in _WINDOWS), _CLOSED_S, "windows are closed", poll_s=2)


def _closed(stack: Stack, topic: str) -> bool:
    return next(iter(kafka.records(stack.lab.bootstrap, topic)), None) is not None


def read(stack: Stack, say: Callable[[str], None]) -> dict[str, Any]:
    """What the group has read once nothing is sent any more: each running count of each customer exactly once."""
    sent = sum(1 for _ in kafka.records(stack.lab.bootstrap, "sent-orders"))
    say(f"wait until {NAME} has read {sent:,} results")
    kafka.wait_drained(stack.lab.bootstrap, GREEN, say=say)
    deadline = time.monotonic() + _READ_S
    while len(seen := written_down(stack)) < sent and time.monotonic() < deadline:
        time.sleep(2)
    missing, doubled = missing_and_doubled(counts_of(seen))
    return {
        "group": NAME,
        "topics": sorted({one.topic for one in seen}),
        "sent": sent,
        "read": len(seen),
        "missing": missing,
        "doubled": doubled,
    }
