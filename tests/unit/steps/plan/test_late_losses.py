"""What `plan` keeps about stores that drop late records, and what `verify` shows next to it.

Records are read live (tests/long/test_holds_and_grace.py).
"""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.cutover import cutover_plan
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.readings.disorder import PartitionOrder, Stop
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import DeclaredStore, Described, Window
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.steps.plan import late_losses
from kstreams_runbooks.steps.plan.late_losses import require_in_time, say_dropped, with_late_losses
from kstreams_runbooks.steps.run.run import Run
from world.cutting import cutover, restart
from world.samples import declared, down, instance, partition, reading
from world.sides import BEFORE, known

_ROLL = Stop(11, "an instance is restarted", rolls=True)


def windowed(grace_ms: int) -> Described:
    store = DeclaredStore(kind="window", window=Window("tumbling", 10_000, grace_ms))
    return replace(BEFORE, declared=replace(BEFORE.declaration, stores={"counts": store}))


@pytest.fixture
def planned(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """An application with a windowed count behind a repartition topic, whose inputs are at most 2 s out of order."""
    vars(run).update(declared=declared(), kafka={})
    monkeypatch.setattr(late_losses, "known_of", lambda *_: known(orders=2))
    runs(monkeypatch, windowed(120_000))
    return run


def runs(monkeypatch: pytest.MonkeyPatch, version: Described) -> list[dict[str, Any]]:
    asked: list[dict[str, Any]] = []

    def orders(_: Run, topics: tuple[str, ...], **how: Any) -> tuple[PartitionOrder, ...]:
        asked.append({"topics": topics, **how})
        return (PartitionOrder("orders", 0, 100_000, 400_000, 2_000),)

    monkeypatch.setattr(late_losses, "versions_of", lambda *_: ((version,), ()))
    monkeypatch.setattr(late_losses, "_orders", orders)
    return asked


def dropped(*tasks: tuple[str, int]) -> ApplicationReading:
    """One instance whose tasks have dropped so many records since its start."""
    return reading(instance("orders-1", dropped=tasks))


def shown(run: Run, after: ApplicationReading, caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    caplog.clear()
    caplog.set_level("INFO", logger="kstreams_runbooks.run")
    say_dropped(run, after)
    return [(one.levelname, one.getMessage().split("] ")[-1]) for one in caplog.records]


def test_verify_reads_dropped_records_also_if_nothing_was_forecast(
    planned: Run, caplog: pytest.LogCaptureFixture
) -> None:
    """The bound is 0 then, and what the tasks of another subtopology drop is not counted."""
    assert require_in_time(planned, reading(), _ROLL) == ()
    said = "store counts: records that its tasks have dropped since the start: {}; forecast: at most 0"
    assert shown(planned, dropped(("1_0", 0), ("0_0", 7)), caplog)[-1] == ("INFO", said.format(0))
    assert shown(planned, dropped(("1_0", 2), ("1_1", 1)), caplog)[-1] == ("WARNING", said.format(3))
    silent = reading(down("orders-1"))
    assert "not known (orders-1: connection refused); forecast: at most 0" in shown(planned, silent, caplog)[-1][1]


def test_a_store_without_a_grace_has_no_bound(
    planned: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It drops late records at any time."""
    runs(monkeypatch, windowed(0))
    assert [one.id for one in require_in_time(planned, reading(), _ROLL)] == ["grace-of-zero"]
    assert "a number that is not known (its grace is 0" in shown(planned, dropped(("1_0", 2)), caplog)[-1][1]


def test_a_short_roll_reads_fewer_records(planned: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commonest run there is: the look is short, and it is one."""
    asked = runs(monkeypatch, windowed(120_000))
    require_in_time(planned, reading(), _ROLL)
    require_in_time(planned, reading(), Stop(40, "it is stopped"))
    assert asked == [{"topics": ("orders",), "short": True}, {"topics": ("orders",), "short": False}]


def test_the_bound_has_what_is_unread_or_what_a_gate_lets_pass(planned: Run) -> None:
    """The sample has 70,000 records on one partition; the limit of the lag is 1,000."""
    for unread, most in ((0, "36,000"), (70_000, "105,000")):
        now = reading(partitions=(partition(100, 100 + unread),))
        with pytest.raises(Refused, match=f"may drop up to {most} records"):
            require_in_time(planned, now, Stop(140, "it is stopped"))
    hidden = replace(reading(), partitions=Missing("no end"))
    with pytest.raises(Refused, match=r"how many it may drop then is not known \(no end\)"):
        require_in_time(planned, hidden, Stop(140, "it is stopped"))


def test_a_reset_expects_any_number(planned: Run, plan: Plan, caplog: pytest.LogCaptureFixture) -> None:
    """Its inputs are read again; its blast radius has what that drops."""
    record = replace(planned.record, dag_id="reset_and_cleanup", params={"mode": "reset"})
    again = replace(planned, record=record)
    vars(again).update(declared=declared(), kafka={}, observed=lambda _: reading())
    assert with_late_losses(again, plan, "observe") == plan
    assert "not known (the inputs are read again)" in shown(again, dropped(("1_0", 5)), caplog)[-1][1]


def test_the_old_side_of_a_cutover_is_down_until_every_group_has_moved(
    planned: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its hold alone would fit its grace: the comparison and the moves are part of its stop, and a finding says so."""
    made = replace(cutover_plan(restart(), cutover()), limits=(("gate_ceiling_s", 60.0),))
    seen: list[tuple[str, Stop]] = []

    def asked(side: Run, _: ApplicationReading, stop: Stop, __: Plan) -> tuple[Finding, ...]:
        seen.append((side.record.application, stop))
        return (Finding("late-after-stop", "danger", "counts", "may drop", "docs"),)

    monkeypatch.setattr(Run, "observed", lambda *_: reading())
    monkeypatch.setattr(Run, "application", SimpleNamespace(as_deployed=False, program=""))
    monkeypatch.setattr(late_losses, "longest_forecast", lambda *_: None)
    monkeypatch.setattr(late_losses, "longest_stop", lambda *_: Stop(30, "its inputs are held"))
    monkeypatch.setattr(late_losses, "require_in_time", asked)
    findings = with_late_losses(planned, made, "observe").findings
    stops = dict(seen)
    assert stops["orders"].seconds == 30 + 2 * 900 + 2 * 60
    assert stops["orders"].what == "it is down from the seam until every group has moved"
    assert stops["orders-v2"].seconds == 30
    [back] = [one for one in findings if one.id == "way-back-not-exact"]
    assert back.object == "orders"
    assert "may be down for up to 1,950 s: going back is not exact for windows" in back.message
    assert back.message.endswith("(counts)")
