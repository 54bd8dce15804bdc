"""The pace and the unread records between two looks, and the stops of earlier runs, from a real ledger."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.hold import LeftToRead
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.watch.hold import left_to_read, measured_stops
from world.new_ledger import new_ledger
from world.samples import partition

INSTANCES = SimpleNamespace(instances=(SimpleNamespace(name="orders-1"), SimpleNamespace(name="orders-2")))
ENTRY = cast("Application", SimpleNamespace(name="orders", cluster="demo", deployer=INSTANCES))
PASSED = replace(partition(0, 50, topic="passed"), role="repartition")


def test_each_role_has_its_own_pace() -> None:
    """From the offset 0 too; an orphaned topic is in none."""
    then = (0, (partition(0, 100), PASSED, replace(partition(0, 9, topic="old"), role="orphaned")))
    now = (10_000, (partition(50, 120), replace(PASSED, committed=20, records=30), then[1][2]))
    assert left_to_read(then, now) == (LeftToRead("source", 70, 5.0), LeftToRead("repartition", 30, 2.0))


def test_what_was_not_read_is_missing() -> None:
    """One partition of several is enough, and two looks at one time have no pace."""
    lost = partition(0, Missing("no leader"), 1)
    [left] = left_to_read((5, (partition(0, 100),)), (5, (partition(50, 120), lost)))
    assert isinstance(left.records, Missing)
    assert isinstance(left.per_s, Missing)
    assert left_to_read((0, ()), (1, ())) == ()


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with a run of the application and one of another."""
    made = new_ledger(tmp_path / "ledger.db")
    for name in ("orders", "payments"):
        made.start_run(RunRecord("", "stop_and_restart", name, name, "demo", "oncall", False, "", {}, 1))
    return made


def keep(ledger: Ledger, run_id: str, kind: str, name: str, at_ms: int, **payload: Any) -> None:
    """One piece of evidence."""
    ledger.record(f"stop_and_restart/{run_id}", "stop_application", 1, kind, name, payload, at_ms)


def test_whole_stops_of_the_application_are_measured(ledger: Ledger) -> None:
    """Until all were down, and from then until the first proof that the group is EMPTY."""
    both = ["orders-1", "orders-2"]
    keep(ledger, "orders", "verdict", "group_is_empty", 500, result={"outcome": "proceed"})
    keep(ledger, "orders", "write", "stop", 3_100, instances=both, requested_ms=1_000, down_ms=3_000)
    keep(ledger, "orders", "verdict", "group_is_empty", 3_200, result={"outcome": "wait"})
    keep(ledger, "orders", "verdict", "group_is_empty", 3_700, result={"outcome": "proceed"})
    keep(ledger, "orders", "verdict", "group_is_empty", 9_000, result={"outcome": "proceed"})
    keep(ledger, "orders", "write", "stop", 9_100, instances=["orders-1"], requested_ms=9_000, down_ms=9_050)
    keep(ledger, "payments", "write", "stop", 9_100, instances=both, requested_ms=9_000, down_ms=9_050)
    assert measured_stops(ledger, ENTRY) == ((2_000,), (700,))


def test_without_a_stop_nothing_is_measured(ledger: Ledger) -> None:
    """Also if the run of a stop was killed before its proof."""
    assert measured_stops(ledger, ENTRY) == ((), ())
    keep(ledger, "orders", "write", "stop", 9, instances=["orders-2", "orders-1"], requested_ms=1, down_ms=8)
    assert measured_stops(ledger, ENTRY) == ((7,), ())
