"""`plan_change` offers what the runbook itself would accept: its own plan is tried, on a real ledger."""

import logging
from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.errors import Inconclusive, Refused, Unreachable
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.change.accepted import demand_accepted, refused_by
from kstreams_runbooks.steps.plan import plan as module
from kstreams_runbooks.steps.run.run import Run
from world.samples import NEW, OLD, declared, instance, reading


@pytest.fixture
def change(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run about an application whose deployer takes any release that it declares."""

    def same(_: Run, __: ApplicationReading, made: Plan, **___: Any) -> Plan:
        return made

    monkeypatch.setattr(Run, "declared", declared(releases=(OLD, "3.9.1", NEW)))
    for name in ("_with_what_it_changes", "_downgraded", "_with_cleared_state"):
        monkeypatch.setattr(module, name, same)
    monkeypatch.setattr(module, "check_deployer", lambda *_: None)
    monkeypatch.setattr(module, "stopped_for_good", lambda *_, **__: ())
    return run


def test_a_runbook_is_offered_if_its_own_plan_can_be_made(change: Run) -> None:
    """From the fields that the started run would have; nothing is kept as the plan of this run."""
    before = change.ledger.plan_digest(change.key)
    assert refused_by(change, ("library_bump", "store_migration"), reading(), NEW) == {}
    assert change.ledger.plan_digest(change.key) == before
    assert [one.name for one in change.ledger.evidence(change.key, kind="verdict")] == ["bump_plan"]


def test_what_it_would_refuse_is_left_out_with_its_own_words(change: Run) -> None:
    """A bump that is not finished stops a restart, and another library is not a restart's."""
    half = reading(instance("orders-1", settings=(("upgrade.from", "3.4"),)), instance("orders-2"))
    (why,) = refused_by(change, ("rolling_bounce",), half, OLD).values()
    assert "orders-1 still has upgrade.from=3.4: a library bump is not finished" in str(why)
    others = ("stop_and_restart", "control_topic_flush", "reset_and_cleanup")
    for why in refused_by(change, others, half, OLD).values():
        assert "orders-1 still has upgrade.from=3.4: a library bump is not finished" in str(why)
    assert tuple(refused_by(change, others, half, OLD)) == others
    assert refused_by(change, others, reading(), OLD) == {}
    found = refused_by(change, ("stop_and_restart", "library_bump"), reading(), NEW)
    assert list(found) == ["stop_and_restart"]
    assert "trigger library_bump" in str(found["stop_and_restart"])


def test_a_system_that_is_away_is_no_answer(change: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan is made again once it is back."""

    def away(*_: Any) -> None:
        raise Unreachable("broker 1 does not answer")

    monkeypatch.setattr(module, "check_deployer", away)
    with pytest.raises(Unreachable):
        refused_by(change, ("stop_and_restart",), reading(), OLD)


def test_without_one_left_the_run_ends_as_the_runbook_would() -> None:
    """Refused if one of them is certain."""
    open_, certain = Inconclusive("a size is not known"), Refused("no way leads there")
    demand_accepted({}, ())
    demand_accepted({"library_bump": certain}, ("reset_and_cleanup",))
    with pytest.raises(Inconclusive, match="no runbook accepts this change: library_bump would end with: a size is"):
        demand_accepted({"library_bump": open_}, ())
    with pytest.raises(Refused, match="rolling_bounce would end with: no way leads there"):
        demand_accepted({"library_bump": open_, "rolling_bounce": certain}, ())


def test_a_reading_that_is_missed_once_is_no_refusal(
    change: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is taken again as in any step, and the log has it; the other lines of the trial are not this run's."""
    answers = [Inconclusive("the topology command gave no answer")]

    def check(trial: Run, _: Plan) -> None:
        def read() -> None:
            if answers:
                raise answers.pop()

        trial.say("a line of the other runbook")
        trial.patiently(read)

    monkeypatch.setattr(module, "check_deployer", check)
    with caplog.at_level(logging.INFO):
        assert refused_by(replace(change, patient=True), ("stop_and_restart",), reading(), OLD) == {}
    [line] = caplog.messages
    assert line.endswith("reads again (0 of 30 s): the topology command gave no answer")
