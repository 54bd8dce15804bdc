"""A restart is measured once, from the request to stop until RUNNING, also by the process that goes on watching."""

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.model.readings.readings import Missing, Start, StreamsReading, Taken
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.instances.measured import Measuring
from kstreams_runbooks.steps.plan.cards import write_card
from kstreams_runbooks.steps.plan.restarts import earlier_restarts, say_restarts
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.watch.restarts import MEASURED
from world.samples import declared, instance, reading

STOPPED = 10_000
TIMES = {"stop_requested_ms": STOPPED, "stopped_ms": 11_000, "started_ms": 12_000, "already_stopped": False}
NEW_START = Start(11_900, 42)


def client(state: str, at_ms: int, start: Start = NEW_START) -> StreamsReading:
    found = instance("orders-1").streams
    assert isinstance(found, StreamsReading)
    return replace(found, state=state, start=start, taken=Taken(at_ms, "test"))


def restarted(run: Run, plan: Plan, times: Mapping[str, Any] = TIMES) -> None:
    """The run has restarted orders-1."""
    deployer = SimpleNamespace(manual_commands=lambda *_, **__: [], abilities=SimpleNamespace(act=True))
    vars(run).update(application=SimpleNamespace(as_deployed=False), declared=declared(), deployer=deployer)
    now = reading()
    one = now.instances[0]
    write_card(run, now, one, plan.bounces[0], (), one.streams.start)
    run.keep("write", "restart", {"instance": "orders-1", "bounce": 1, "times": times})


def _as(run: Run, record: RunRecord) -> Run:
    """Another run with the same deployer."""
    other = replace(run, record=record)
    vars(other)["deployer"] = run.deployer
    return other


def kept(run: Run) -> list[Any]:
    return [one.payload for one in run.ledger.evidence(run.key, kind="note", name=MEASURED)]


def test_it_is_measured_until_running_and_once(run: Run, plan: Plan) -> None:
    """Neither the old start, nor a client that is not made yet, nor a rebalance ends the gap."""
    restarted(run, plan)
    measuring = Measuring(run)
    old = instance("orders-1").streams
    for seen in (old, Missing("no answer"), client("CREATED", 13_000), client("REBALANCING", 14_000)):
        measuring.look(run, "orders-1", seen, 13_000)
    assert kept(run) == []
    measuring.look(run, "orders-1", client("RUNNING", 17_500), 0)
    measuring.look(run, "orders-1", client("RUNNING", 19_000), 0)
    Measuring(run).look(run, "orders-1", client("RUNNING", 20_000), 0)
    [one] = kept(run)
    measured = one["restart"]
    assert (measured["stop_requested_ms"], measured["back_ms"], measured["running_ms"]) == (STOPPED, 14_000, 17_500)
    assert (measured["at_once"], measured["cleared"], measured["static"]) == (False, False, True)
    assert one["sentence"].startswith("orders-1, bounce 1: 7.5 s from its stop until RUNNING (expected 4–11 s)")


@pytest.mark.parametrize(
    ("looks", "unheard_ms", "measured"),
    [
        # Nothing answers for a minute, and then it runs: since when is not known.
        ([(Missing("connection refused"), 13_000), (Missing("timed out"), 60_000)], 81_000, False),
        # The JVM answers without a client: until then it did not run.
        ([(Missing("no Kafka Streams client in the JVM", start=NEW_START), 88_000)], 5_000, True),
        ([(client("CREATED", 90_000), 90_000)], 3_000, True),
        # It was seen restoring: the gap is its own.
        ([(client("REBALANCING", 14_000), 14_000), (Missing("timed out"), 60_000)], 0, True),
        # The old start says nothing about the new one.
        ([(Missing("no client", start=Start(1_000, 7)), 92_000)], 1_000, True),
    ],
)
def test_a_minute_without_an_agent_is_not_a_restart_of_a_minute(
    run: Run, plan: Plan, looks: list[tuple[StreamsReading | Missing, int]], unheard_ms: int, measured: bool
) -> None:
    """No later run forecasts from it, and no advice about a timeout follows."""
    restarted(run, plan)
    measuring = Measuring(run)
    for seen, at_ms in looks:
        measuring.look(run, "orders-1", seen, at_ms)
    measuring.look(run, "orders-1", client("RUNNING", 93_000), 93_000)
    assert kept(run)[0]["restart"]["unheard_ms"] == unheard_ms
    later = run.ledger.start_run(replace(run.record, run_key="library_bump/s", run_id="s", started_at_ms=now_ms()))
    assert bool(earlier_restarts(_as(run, later))) is measured
    unknown = f"its agent gave no answer for {unheard_ms / 1000:.0f} s of that: how long it was away is not known"
    assert (unknown in kept(run)[0]["sentence"]) is not measured


def test_the_process_that_goes_on_knows_when_it_was_back(run: Run, plan: Plan) -> None:
    """The worker that started it leaves the task to the triggerer while it restores."""
    restarted(run, plan)
    first = Measuring(run)
    first.look(run, "orders-1", client("REBALANCING", 14_000), 0)
    first.leave(run)
    Measuring(run).look_at(run, reading(replace(instance("orders-1"), streams=client("RUNNING", 40_000))))
    assert (kept(run)[0]["restart"]["back_ms"], kept(run)[0]["restart"]["running_ms"]) == (14_000, 40_000)


def test_instances_that_were_stopped_together_count_from_that_stop(run: Run, plan: Plan) -> None:
    """The restart itself found it down."""
    run.keep("write", "stop", {"instances": ["orders-1", "orders-2"], "requested_ms": 2_000, "down_ms": 3_000})
    restarted(run, plan, TIMES | {"already_stopped": True})
    Measuring(run).look(run, "orders-1", client("RUNNING", 15_000), 0)
    assert (kept(run)[0]["restart"]["stop_requested_ms"], kept(run)[0]["restart"]["stopped_ms"]) == (2_000, 3_000)


def test_a_rebalance_that_it_caused_is_a_warning_in_verify_too(
    run: Run, plan: Plan, caplog: pytest.LogCaptureFixture
) -> None:
    """Its session timeout is that of the plan."""
    costs = tuple(replace(cost, session_ms=500, session_source="set by its deployer") for cost in plan.costs)
    vars(run)["plan"] = lambda: replace(plan, costs=costs)
    restarted(run, plan)
    with caplog.at_level("INFO", logger="kstreams_runbooks.run"):
        Measuring(run).look(run, "orders-1", client("RUNNING", 15_000), 0)
        say_restarts(run)
    first, again = [record for record in caplog.records if "until RUNNING" in record.message]
    assert (first.levelname, again.levelname, first.message) == ("WARNING", "WARNING", again.message)
    assert "longer than session.timeout.ms 500 (set by its deployer): its member left the group" in first.message
    assert kept(run)[0]["rebalanced"] is True


def test_a_later_run_of_the_same_application_forecasts_from_it(run: Run, plan: Plan) -> None:
    """A run's own restarts are no forecast of it."""
    restarted(run, plan)
    Measuring(run).look(run, "orders-1", client("RUNNING", 15_000), 0)
    assert earlier_restarts(run) == []
    later = run.ledger.start_run(replace(run.record, run_key="library_bump/s", run_id="s", started_at_ms=now_ms()))
    [found] = earlier_restarts(_as(run, later))
    assert (found.run_key, found.restart.gap_s) == ("library_bump/r", 5.0)
    assert earlier_restarts(_as(run, replace(later, application="other"))) == []


def test_a_copier_reports_no_client(run: Run, plan: Plan) -> None:
    """Its process says nothing about its group."""
    restarted(run, plan)
    vars(run)["application"] = SimpleNamespace(as_deployed=True)
    Measuring(run).look(run, "orders-1", client("RUNNING", 15_000), 0)
    assert kept(run) == []
