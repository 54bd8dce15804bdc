"""`plan_change` offers what the runbook itself would accept: its own plan is tried, on a real ledger."""

import ast
import logging
from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.errors import Inconclusive, Refused, Unreachable
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.model.readings.recreated import RecreatedSeen
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.change import accepted
from kstreams_runbooks.steps.change.accepted import TRIALS, demand_accepted, refused_by
from kstreams_runbooks.steps.plan import plan as module
from kstreams_runbooks.steps.plan import recreated
from kstreams_runbooks.steps.run.run import Run
from world.imports import CHECKOUT
from world.samples import NEW, OLD, declared, instance, reading

LIMITS = (("max_lag", 1000.0), ("max_reading_age_s", 60.0))


@pytest.fixture
def change(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run about an application whose deployer takes any release that it declares."""

    def same(_: Run, __: ApplicationReading, made: Plan, **___: Any) -> Plan:
        return made

    monkeypatch.setattr(Run, "declared", declared(releases=(OLD, "3.9.1", NEW), limits=LIMITS))
    for name in ("_with_what_it_changes", "_downgraded", "_with_cleared_state"):
        monkeypatch.setattr(module, name, same)
    monkeypatch.setattr(module, "check_deployer", lambda *_: None)
    monkeypatch.setattr(module, "restored_from", lambda *_: ())
    monkeypatch.setattr(module, "stopped_for_good", lambda *_, **__: ())
    monkeypatch.setattr(accepted, "stopped_for_good", lambda *_, **__: ())
    for name in ("with_losses", "with_gaps", "with_late_losses"):
        monkeypatch.setattr(accepted, name, lambda _, made, __: made)
    monkeypatch.setattr(accepted, "require_startable", lambda *_: ())
    monkeypatch.setattr(recreated, "read_recreated", lambda *_: RecreatedSeen((), {}))
    monkeypatch.setattr(Run, "kafka", {})
    return run


def test_a_runbook_is_offered_if_its_own_plan_can_be_made(change: Run) -> None:
    """From the fields that the started run would have; nothing is kept as the plan of this run."""
    before = change.ledger.plan_digest(change.key)
    assert refused_by(change, ("library_bump", "store_migration"), reading(), NEW) == {}
    assert change.ledger.plan_digest(change.key) == before
    assert [one.name for one in change.ledger.evidence(change.key, kind="verdict")] == ["ready_for_change", "bump_plan"]
    assert change.ledger.holds() == ()


@pytest.mark.parametrize("runbook", TRIALS)
def test_the_check_of_a_runbook_is_tried_as_its_dag_has_it(runbook: str) -> None:
    """With the same flags; roles and a retirement are of fields that the form of `plan_change` does not have."""
    tree = ast.parse((CHECKOUT / "dags" / f"{runbook}.py").read_text(encoding="utf-8"))
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)]
    [check] = [one for one in calls if isinstance(one.func, ast.Name) and one.func.id == "check"]
    flags = {one.arg: ast.literal_eval(one.value) for one in check.keywords if one.arg != "out_of_use"}
    trial = TRIALS[runbook]
    given = {"at_once": trial.at_once, "streams_group": trial.streams_group}
    assert flags == {name: value for name, value in given.items() if value}


def test_what_its_check_would_refuse_is_left_out(change: Run) -> None:
    """A roll needs every instance RUNNING; a run that restarts all of them at once may be the cure."""
    ill = reading(instance("orders-1", state="ERROR"), instance("orders-2"))
    found = refused_by(change, ("library_bump", "control_topic_flush", "reset_and_cleanup"), ill, NEW)
    assert "orders-1: Streams is in ERROR (expected RUNNING)" in str(found["library_bump"])
    found = refused_by(change, TRIALS, ill, OLD)
    assert [name for name, why in found.items() if "is in ERROR" in str(why)] == [
        "library_bump",
        "rolling_bounce",
        "control_topic_flush",
    ]
    assert not {"stop_and_restart", "reset_and_cleanup"} & set(found)


def test_what_its_plan_would_demand_is_demanded(change: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of recreated changelogs, of rights, and of what may start an instance that has to stay down."""

    def refuses(*_: Any, **__: Any) -> None:
        raise Refused("not that")

    restarts = ("stop_and_restart", "control_topic_flush", "reset_and_cleanup")
    expected = {
        "require_startable": restarts,
        "require_state_kept": restarts[:2],
        "with_losses": restarts[:2],
        "with_late_losses": restarts[:2],
        "may_begin": restarts,
        "stopped_for_good": restarts[1:],
    }
    for name, names in {**expected, "refuse_held": restarts}.items():
        with monkeypatch.context() as patched:
            patched.setattr(accepted, name, refuses)
            assert tuple(refused_by(change, restarts, reading(), OLD)) == names


def test_the_age_of_the_reading_is_none_of_its_reasons(change: Run) -> None:
    """The runbook takes its own; a description of a release may have taken minutes since."""
    assert refused_by(change, ("stop_and_restart",), reading(at_ms=1), OLD) == {}


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
