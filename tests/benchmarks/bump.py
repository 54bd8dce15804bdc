"""`make bench-bump`: a library bump beside the same by hand, a stop and restart, and Airflow's own overhead.

Repeats alternate between the runbook and the hand, each from a fresh application under the same traffic, so that a
machine whose speed drifts hits both. The gap is the longest time in which a partition of the restarted instance got no
output. Overhead per task is what is left of a run after its required waits: from asking an instance to stop until its
gate has passed (bake time included), from a question until its answer, and the pause in which `verify` looks for
progress.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.target import Target
from lab import kafka, report
from lab.afresh import afresh
from lab.airflow import APPROVER
from lab.application import FROM_RELEASE, TO_RELEASE, Deployed, wait_running
from lab.follow import follow
from lab.settings import Lab
from lab.stack import Parts, Stack, stack
from world.runs import DAG, evidence, trigger, trigger_other

from benchmarks.parse import parse_seconds

SCHEMA_VERSION = 1
REPEATS = 5
_WARM_UP_S = 10
_SETTLE_S = 10
_LOOK_EVERY_S = 5
_AT_ONCE = "stop_and_restart"
_BOUNCES: tuple[dict[str, str], ...] = ({"upgrade.from": "3.4"}, {})


def by_runbook(made: Stack) -> tuple[list[float], float]:
    """Gaps of every restarted instance in seconds, and overhead per task in seconds."""
    _fresh(made)
    run_id = trigger(made)
    # Asked seldom: each look at the API costs the processor time that the restarted instance needs.
    state = follow(made.api(), DAG, run_id, approver=made.api(APPROVER), poll_s=_LOOK_EVERY_S)
    if state != "success":
        raise SystemExit(f"the bump ended {state}; read its log in {made.lab.logs}")
    document = evidence(made, run_id)
    rolled = report.rolled_in(document)
    time.sleep(_SETTLE_S)
    outputs = kafka.appended(made.lab.bootstrap, "orders-running")
    return [gap for one in rolled if (gap := report.gap(outputs, one)) is not None], _overhead(made, run_id, rolled)


def by_hand(made: Stack) -> list[float]:
    """The same four stops and starts with the same settings, one after another, each once the last is RUNNING."""
    _fresh(made)
    lab, rolled = made.lab, []
    deployer = make_deployer(load_fleet().application("orders"), dry_run=False)
    names = Deployed().names
    for number, settings in enumerate(_BOUNCES, start=1):
        for name in names:
            asked = _now_ms()
            deployer.stop(name)
            deployer.apply(name, Target.of(TO_RELEASE, settings))
            deployer.start(name)
            started = _now_ms()
            wait_running(lab, made.supervisor, names)
            time.sleep(_SETTLE_S)
            rolled.append(report.Rolled(number, name, asked, started, _now_ms()))
    outputs = kafka.appended(lab.bootstrap, "orders-running")
    return [gap for one in rolled if (gap := report.gap(outputs, one)) is not None]


def at_once(made: Stack) -> list[float]:
    """The longest time without output of any partition over a stop and restart that changes nothing, in seconds."""
    _fresh(made, TO_RELEASE)
    run_id = trigger_other(made, _AT_ONCE)
    state = follow(made.api(), _AT_ONCE, run_id, approver=made.api(APPROVER), poll_s=_LOOK_EVERY_S)
    if state != "success":
        raise SystemExit(f"the stop and restart ended {state}; read its log in {made.lab.logs}")
    document = evidence(made, run_id)
    [stopped] = [write["payload"]["requested_ms"] for write in document["writes"] if write["name"] == "stop"]
    time.sleep(_SETTLE_S)
    outputs = kafka.appended(made.lab.bootstrap, "orders-running")
    gaps = (report.gap(outputs, replace(one, stopped_at_ms=stopped)) for one in report.rolled_in(document))
    return [max(gap for gap in gaps if gap is not None)]


def _fresh(made: Stack, release: str = FROM_RELEASE) -> None:
    afresh(made, Deployed(release=release))
    made.start_traffic()
    time.sleep(_WARM_UP_S)


def _overhead(made: Stack, run_id: str, rolled: Sequence[report.Rolled]) -> float:
    api = made.api()
    run, tasks = api.run(DAG, run_id), api.tasks(DAG, run_id)
    whole = (_ms(run["end_date"]) - _ms(run["start_date"])) / 1000
    gates = sum((one.gate_passed_at_ms or one.stopped_at_ms) - one.stopped_at_ms for one in rolled) / 1000
    limits = load_fleet().application("orders").limits
    waits = 2 * limits.bake_s + max(limits.gate_interval_s, limits.commit_interval_s)
    details = api.call("GET", f"/dags/{DAG}/dagRuns/{run_id}/hitlDetails")["hitl_details"]
    asked = sum(_ms(one["responded_at"]) - _ms(one["created_at"]) for one in details) / 1000
    return (whole - gates - waits - asked) / len(tasks)


def _ms(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp() * 1000


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, smallest and largest."""
    return {
        "median": round(statistics.median(values), 2),
        "min": round(min(values), 2),
        "max": round(max(values), 2),
        "n": len(values),
    }


def _print_spreads(document: Mapping[str, Any]) -> None:
    """A line for each spread of a document, with its aim."""
    for name, value in document.items():
        if isinstance(value, Mapping):
            aim = f" (aim ≤ {value['aim']})" if "aim" in value else ""
            print(f"{name:22} median {value['median']}, {value['min']}–{value['max']}{aim}")


def measured(made: Stack, repeats: int) -> dict[str, Any]:
    """The document: gaps of both ways and their ratio in each repeat, of all at once, and overhead per task."""
    runbook, hand, ratios, overhead, together = [], [], [], [], []
    for repeat in range(1, repeats + 1):
        gaps, per_task = by_runbook(made)
        beside = by_hand(made)
        runbook += gaps
        hand += beside
        ratios.append(statistics.median(gaps) / statistics.median(beside))
        overhead.append(per_task)
        together += at_once(made)
        print(
            f"repeat {repeat} of {repeats}: gap {statistics.median(gaps):.2f} s by runbook, "
            f"{statistics.median(beside):.2f} s by hand, {together[-1]:.2f} s all at once; {per_task:.2f} s overhead "
            "per task",
            file=sys.stderr,
        )
    return {
        "schema_version": SCHEMA_VERSION,
        "repeats": repeats,
        "gap_by_runbook_s": spread(runbook),
        "gap_by_hand_s": spread(hand),
        "gap_all_at_once_s": spread(together),
        "gap_ratio": {**spread(ratios), "aim": 1.0},
        "overhead_per_task_s": {**spread(overhead), "aim": 1.5},
        "dag_parse_500_applications_s": {**spread([parse_seconds() for _ in range(repeats)]), "aim": 1.0},
    }


def on_a_stack(dag_id: str, measure: Callable[[Stack, int], dict[str, Any]], repeats: int) -> None:
    """Measure on a stack with this DAG and print the document; `REPEATS` and `FORMAT` come from the environment."""
    lab = Lab.of()
    os.environ.update(lab.fleet_environment())
    with stack(lab, Parts()) as made:
        made.api().wait_for_dag(dag_id)
        document = measure(made, int(os.environ.get("REPEATS") or repeats))
    if os.environ.get("FORMAT") == "json":
        print(json.dumps(document, indent=2))
    else:
        _print_spreads(document)


if __name__ == "__main__":
    on_a_stack(DAG, measured, REPEATS)
