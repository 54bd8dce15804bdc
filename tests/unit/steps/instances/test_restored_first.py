"""No instance is stopped while a task of it restores, if a known defect of its release loses what was not restored."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.local_state import RestoredFirst
from kstreams_runbooks.model.readings.readings import InstanceReading, Missing
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.instances import bring
from kstreams_runbooks.steps.instances.bring import require_restored
from kstreams_runbooks.steps.run.poll import Pace
from kstreams_runbooks.steps.run.run import Run
from world.samples import NEW, OLD, declared, down, instance

RESTORES = instance("orders-1", restoring=1)


@pytest.fixture
def waits(run: Run, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run whose plan stops no instance of the old release that restores; it looks at most twice."""
    made = replace(plan, restored_first=(RestoredFirst(OLD, ("KAFKA-16017",)),))
    run.ledger.store_plan(run.key, made.digest, encode(made))
    one = SimpleNamespace(name="orders-1", metrics="http://127.0.0.1:1")
    application: Any = SimpleNamespace(application_id="orders", deployer=SimpleNamespace(instances=(one,)))
    vars(run).update(declared=declared(), application=application)
    monkeypatch.setattr(bring, "_RESTORED", Pace(0.01, 0.02))
    return run


def later(monkeypatch: pytest.MonkeyPatch, shown: InstanceReading) -> None:
    """What the instance reports from now on."""
    monkeypatch.setattr(bring, "read_streams", lambda *_, **__: shown.streams)


def test_it_waits_until_the_tasks_have_restored(waits: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The decision is evidence."""
    later(monkeypatch, instance("orders-1"))
    require_restored(waits, RESTORES)
    [verdict] = waits.verdicts("restores_nothing")
    assert verdict.payload["result"]["outcome"] == "proceed"


def test_it_refuses_a_stop_in_the_middle_of_a_restore(waits: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the defect, the step to clear, and what to do if it never ends."""
    later(monkeypatch, RESTORES)
    with pytest.raises(Refused) as refused:
        require_restored(waits, RESTORES)
    assert str(refused.value) == (
        "orders-1 is not stopped: orders-1: 1 tasks restore (limit 0) (KAFKA-16017); clear bounce_1_first once it has "
        "restored. If it never does, stop it and delete its task directories manually, then clear it"
    )


def test_what_cannot_be_read_is_inconclusive(waits: Run) -> None:
    """It is not taken for restored."""
    unread = replace(RESTORES, streams=Missing("connection refused"))
    with pytest.raises(Inconclusive, match="whether a task of orders-1 restores is not known"):
        require_restored(waits, unread)


@pytest.mark.parametrize("one", [down("orders-1"), instance("orders-1", release=NEW, restoring=1)])
def test_what_has_ended_or_runs_another_release_is_stopped(waits: Run, one: InstanceReading) -> None:
    """Nothing of the defect is left there."""
    require_restored(waits, one)


def test_a_plan_without_the_defect_asks_nothing(run: Run) -> None:
    """No reading, no decision."""
    require_restored(run, RESTORES)
    assert not run.verdicts("restores_nothing")
