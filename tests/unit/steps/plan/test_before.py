"""What a plan that stops a side demands before anything is stopped; on a real ledger."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.readings.readings import ApplicationReading, Deployment, Missing
from kstreams_runbooks.model.runs.plan import Plan, SidePart
from kstreams_runbooks.model.runs.stages import Stage, StartAll, StopAll
from kstreams_runbooks.steps.plan.before import may_begin
from kstreams_runbooks.steps.run.run import Run
from world.samples import NEW, instance, reading

UNSEEN = Missing("the instances command does not print its autorestart")


def seen(autorestart: bool | Missing) -> ApplicationReading:
    """One instance with this report."""
    one = instance("orders-1")
    assert isinstance(one.deployment, Deployment)
    return reading(replace(one, deployment=replace(one.deployment, autorestart=autorestart)))


@pytest.fixture
def begins(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run whose sides are read as their name says: `green` comes back by itself. Its rights are not read here."""
    monkeypatch.setattr("kstreams_runbooks.steps.plan.before._require_writable", lambda *_: None)
    deployers = {True: deployer(declared=True), False: deployer(declared=False)}
    monkeypatch.setattr(Run, "read", lambda side: seen(side.record.application == "green"))
    monkeypatch.setattr(Run, "deployer", property(lambda side: deployers[bool(side.record.params.get("declared"))]))
    return run


def deployer(*, declared: bool) -> SimpleNamespace:
    """One whose fleet entry answers for an autorestart, or not."""
    able = Abilities(True, False, clear=True, act=True, clear_directories=True, stays_stopped=declared)
    return SimpleNamespace(abilities=able)


def stages(plan: Plan, *stages: Stage) -> Plan:
    """The plan with these stages, over two sides."""
    return replace(plan, stages=stages, sides=(SidePart("green", "green", plan.cluster, plan.facts),))


def test_a_side_that_is_stopped_must_stay_down(begins: Run, plan: Plan) -> None:
    """Unknown is never fine; what is declared is; and each side that is stopped is asked, no other."""
    stop, start = StopAll(1), StartAll(3, NEW, ())
    assert may_begin(begins, stages(plan, stop, start), seen(autorestart=False)) == ()
    with pytest.raises(Inconclusive, match=r"declare deployer\.stays_stopped: true"):
        may_begin(begins, stages(plan, stop, start), seen(UNSEEN))
    declared = replace(begins, record=replace(begins.record, params={"declared": True}))
    assert may_begin(declared, stages(plan, stop, start), seen(UNSEEN)) == ()
    with pytest.raises(Refused, match="orders-1: started again by something else"):
        may_begin(begins, stages(plan, stop, StopAll(2, side="green"), start), seen(autorestart=False))


def test_a_plan_that_stops_nothing_asks_nothing(begins: Run, plan: Plan) -> None:
    """Rolled instances, and a stop and restart, keep their own rule."""
    assert may_begin(begins, stages(plan, *plan.stages), seen(UNSEEN)) == ()
    assert begins.ledger.evidence(begins.key, kind="verdict") == []
