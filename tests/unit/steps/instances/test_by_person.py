"""A person's restart is measured from the looks of the wait for it, and counts like one of the run's own."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from kstreams_runbooks.model.readings.readings import ApplicationReading, InstanceReading, Missing, Start
from kstreams_runbooks.model.runs.gate import Awaited
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.instances.by_person import Watching
from kstreams_runbooks.steps.instances.measured import Measuring
from kstreams_runbooks.steps.plan.cards import write_card
from kstreams_runbooks.steps.plan.restarts import earlier_restarts
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.watch.restarts import BY_PERSON, MEASURED, restarts
from world.samples import BOUNCE_1, declared, down, instance, reading

OLD_START, NEW_START = Start(500, 41), Start(16_900, 50)
AWAITED = Awaited("orders-1", BOUNCE_1, OLD_START)
BACK = instance("orders-1", start=NEW_START)


@pytest.fixture(autouse=True)
def _requested(run: Run, plan: Plan) -> None:
    """The run has requested the deployment of orders-1."""
    deployer = SimpleNamespace(manual_commands=lambda *_, **__: [], abilities=SimpleNamespace(act=False))
    vars(run).update(application=SimpleNamespace(as_deployed=False), declared=declared(), deployer=deployer)
    now = reading()
    write_card(run, now, now.instances[0], plan.bounces[0], (), OLD_START)


def look(one: InstanceReading, at_ms: int) -> ApplicationReading:
    return reading(one, instance("orders-2"), at_ms=at_ms)


def until_running(run: Run, at_ms: int) -> None:
    """What the gate's looks at the new start keep."""
    streams = BACK.streams
    assert not isinstance(streams, Missing)
    seen = replace(streams, taken=replace(streams.taken, at_ms=at_ms))
    Measuring(run).look(run, "orders-1", seen, 0)


def kept(run: Run, name: str = BY_PERSON) -> list[dict[str, object]]:
    return [one.payload for one in run.ledger.evidence(run.key, kind="note", name=name)]


def test_the_gap_reaches_from_the_last_look_at_the_old_start_until_running(run: Run) -> None:
    """An upper bound; the time without a process is a lower one."""
    watching = Watching(run, AWAITED, 5)
    silent = replace(instance("orders-1"), streams=Missing("no answer"))
    for one, at_ms in ((instance("orders-1"), 1_000), (silent, 4_000), (instance("orders-1"), 6_000)):
        watching.look(run, look(one, at_ms))
    for at_ms in (11_000, 16_000):
        watching.look(run, look(down("orders-1"), at_ms))
    watching.look(run, look(BACK, 21_000))
    watching.keep(run)
    [by_person] = kept(run)
    times = {"stop_requested_ms": 6_000, "stopped_ms": 11_000, "started_ms": 16_000, "already_stopped": False}
    assert by_person == {"instance": "orders-1", "bounce": 1, "times": times, "seen_every_ms": 5_000}
    until_running(run, 23_500)
    [measured] = kept(run, MEASURED)
    assert str(measured["sentence"]).startswith(
        "orders-1, bounce 1: at most 17.5 s from its stop until RUNNING (expected 4–11 s), by a person, looked at "
        "every 5 s; "
    )
    [row] = restarts(run.ledger, run.record, run.plan())
    assert (row["stop_requested_ms"], row["running_ms"], row["sentence"]) == (6_000, 23_500, measured["sentence"])


def test_the_next_process_of_the_wait_knows_when_it_went(run: Run) -> None:
    """A triggerer that is restarted, or the wait that ended because members were left in the group."""
    first = Watching(run, AWAITED, 5)
    first.look(run, look(instance("orders-1"), 6_000))
    first.look(run, look(down("orders-1"), 11_000))
    again = Watching(run, AWAITED, 5)
    again.look(run, look(BACK, 21_000))
    again.keep(run)
    assert [(one["stop_requested_ms"], one["stopped_ms"]) for one in map(_times, kept(run))] == [(6_000, 11_000)]


def test_a_quick_restart_between_two_looks(run: Run) -> None:
    """Nothing is known about how long the process was gone."""
    watching = Watching(run, AWAITED, 5)
    watching.look(run, look(instance("orders-1"), 6_000))
    watching.look(run, look(BACK, 11_000))
    watching.keep(run)
    assert _times(kept(run)[0]) | {"already_stopped": None} == {
        "stop_requested_ms": 6_000,
        "stopped_ms": 11_000,
        "started_ms": 11_000,
        "already_stopped": None,
    }


@pytest.mark.parametrize("previous", [OLD_START, None])
def test_a_stop_that_no_look_saw_is_not_measured(run: Run, previous: Start | None) -> None:
    """It was down at the request, or went while no triggerer ran: how long it was down is not known."""
    watching = Watching(run, replace(AWAITED, previous=previous), 5)
    watching.look(run, look(down("orders-1"), 6_000))
    watching.look(run, look(BACK, 11_000))
    watching.keep(run)
    assert kept(run) == []


@pytest.mark.parametrize("acts", [True, False])
def test_only_a_run_that_asks_a_person_forecasts_from_it(run: Run, acts: bool) -> None:
    """A restart by supervisord takes no coffee."""
    watching = Watching(run, AWAITED, 5)
    for one, at_ms in ((instance("orders-1"), 6_000), (BACK, 11_000)):
        watching.look(run, look(one, at_ms))
    watching.keep(run)
    until_running(run, 23_500)
    record = replace(run.record, run_key="library_bump/s", run_id="s", started_at_ms=now_ms())
    later = replace(run, record=run.ledger.start_run(record))
    vars(later)["deployer"] = SimpleNamespace(abilities=SimpleNamespace(act=acts))
    assert [one.restart.by_person for one in earlier_restarts(later)] == ([] if acts else [True])


def _times(payload: dict[str, object]) -> dict[str, object]:
    times = payload["times"]
    assert isinstance(times, dict)
    return times
