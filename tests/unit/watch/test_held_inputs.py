"""Inputs that runs hold by their cards, on a real ledger: paused, and neither resumed nor undone."""

from dataclasses import replace
from pathlib import Path

import pytest
from kstreams_runbooks.decide.drain.hold import forecast_hold, may_hold
from kstreams_runbooks.decide.plans.flush import flush_plan
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.decide.plans.switches import SwapSwitch
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import encode, encode_call
from kstreams_runbooks.model.readings.hold import HoldFacts, PlannedHold
from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.model.readings.swap import EmptyTopic
from kstreams_runbooks.model.runs.cards import InputsPaused, InputsResumed, OtherFacts, PersonAsked, TopicCreated
from kstreams_runbooks.model.runs.held_inputs import HeldInputs
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.steps.stages import order
from kstreams_runbooks.watch.held_inputs import (
    STAGE_COMPLETE,
    forecast_of,
    forecasts_text,
    held_inputs,
    longest_forecast,
    may_hold_inputs,
)
from world.new_ledger import new_ledger
from world.samples import card, declared, reading
from world.two_holds import two_holds

KEY = "flush/r"


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with a run that has paused two inputs at 10."""
    made = new_ledger(tmp_path / "ledger.db")
    made.start_run(RunRecord("", "flush", "r", "orders", "demo", "oncall", False, "", {}, 1))
    write(made, InputsPaused(("in-1", "in-2"), "by a person"), stage=1)
    made.mark_written(KEY, 10)
    return made


def write(ledger: Ledger, facts: OtherFacts, *, stage: int, application: str = "orders") -> int:
    """A card of the run; returns its number."""
    seq = len(ledger.cards(KEY)) + 1
    made = card(run_key=KEY, seq=seq, kind=facts.kind, facts=encode(facts), at_ms=seq * 10, stage=stage)
    ledger.write_card(replace(made, application=application, cluster="demo", object=f"object {seq}"))
    return seq


def complete(ledger: Ledger, stage: int) -> None:
    """The end of a stage."""
    ledger.record(KEY, "resume_inputs", 1, "note", STAGE_COMPLETE, {"stage": stage, "plan": "p"}, 99)


def held(ledger: Ledger) -> list[tuple[str, tuple[str, ...]]]:
    """What the run holds, by application."""
    return [(one.application, one.inputs) for one in held_inputs(ledger, KEY)]


def test_paused_inputs_are_held_from_their_card_on(ledger: Ledger) -> None:
    """With everything that is reported of them."""
    write(ledger, PersonAsked("x", "y"), stage=2)
    assert held_inputs(ledger, KEY) == (HeldInputs(KEY, "demo", "orders", ("in-1", "in-2"), "by a person", 10),)


def test_a_resume_counts_once_its_stage_is_complete(ledger: Ledger) -> None:
    """Its card comes before it; the end of another stage does not count, and what was not resumed stays."""
    write(ledger, InputsResumed(("in-1",), "by a person"), stage=3)
    complete(ledger, 1)
    assert held(ledger) == [("orders", ("in-1", "in-2"))]
    complete(ledger, 3)
    assert held(ledger) == [("orders", ("in-2",))]


def test_an_undone_card_counts_no_more(ledger: Ledger) -> None:
    """Of the pause, nothing is held; of the resume, it is held again."""
    resumed = write(ledger, InputsResumed(("in-1", "in-2"), "by a person"), stage=3)
    complete(ledger, 3)
    assert held(ledger) == []
    ledger.finish_card(KEY, resumed)
    assert held(ledger) == [("orders", ("in-1", "in-2"))]
    ledger.finish_card(KEY, 1)
    assert held(ledger) == []


def test_each_application_has_its_own_inputs(ledger: Ledger) -> None:
    """A resume of one says nothing about the other."""
    write(ledger, InputsPaused(("in-1",), "by a person"), stage=2, application="copier")
    write(ledger, InputsResumed(("in-1",), "by a person"), stage=3)
    complete(ledger, 3)
    assert held(ledger) == [("orders", ("in-2",)), ("copier", ("in-1",))]


def test_a_run_that_completed_holds_nothing(ledger: Ledger) -> None:
    """One that ended otherwise may; one that never wrote does not."""
    ledger.start_run(RunRecord("", "flush", "other", "orders", "demo", "oncall", False, "", {}, 1))
    assert [one.run_key for one in may_hold_inputs(ledger)] == [KEY]
    ledger.conclude(KEY, "stopped, changed", "", 50)
    assert [one.run_key for one in may_hold_inputs(ledger)] == [KEY]
    ledger.conclude(KEY, "completed", "", 60)
    assert may_hold_inputs(ledger) == ()


def test_the_newest_forecast_of_a_run(ledger: Ledger) -> None:
    """From what it decided."""
    assert forecast_of(ledger, KEY) is None
    facts = HoldFacts(Taken(1, "x"), (), Missing("hidden"), (), (), 0)
    planned = PlannedHold("manual", 1, 1, 10, 3, 5, 1, 0, 1, 0, 0)
    inputs = {"facts": facts, "planned": planned}
    ledger.record(KEY, "plan", 1, "verdict", "may_hold", encode_call(may_hold, inputs, may_hold(facts, planned)), 5)
    assert forecast_of(ledger, KEY) == forecast_hold(facts, planned)


def test_the_end_of_a_stage_has_the_name_that_the_steps_give_it() -> None:
    """The steps write it, and the check reads it."""
    assert order._COMPLETE == STAGE_COMPLETE


def test_a_flush_holds_all_inputs_from_its_first_card_until_its_resume_is_complete(tmp_path: Path) -> None:
    """By its plan: a swap has no card of a pause."""
    made = new_ledger(tmp_path / "ledger.db")
    made.start_run(RunRecord("", "flush", "r", "orders", "demo", "oncall", False, "", {}, 1))
    restart = restart_plan(reading(), declared(), None, {"audit": "true"}, (), (), "code", at_once=True)
    empty = EmptyTopic("in", "topic.in", "empty-of-in-for-orders", 2, 1)
    plan = flush_plan(restart, SwapSwitch("orders", restart.facts.at_start[0], "", (empty,), ""))
    made.store_plan(KEY, plan.digest, encode(plan))
    assert held(made) == []
    write(made, TopicCreated(TopicShape("empty-of-in-for-orders", 2)), stage=3)
    assert held_inputs(made, KEY) == (HeldInputs(KEY, "demo", "orders", ("in",), "swap", 10),)
    [hold] = plan.input_holds
    for stage in hold.resuming:
        assert held(made) == [("orders", ("in",))]
        complete(made, stage.number)
    assert held(made) == [("orders", ("in",))]
    assert plan.start is not None
    made.record(KEY, "start_application", 1, "write", "restart", {"bounce": plan.start.number}, 100)
    assert held(made) == []


def test_each_hold_of_a_plan_counts_by_its_own_stages(tmp_path: Path) -> None:
    """A kill in one of them is named; between the two nothing is held, and the second begins with its own card."""
    made = new_ledger(tmp_path / "ledger.db")
    made.start_run(RunRecord("", "flush", "r", "orders", "demo", "oncall", False, "", {}, 1))
    plan = two_holds()
    made.store_plan(KEY, plan.digest, encode(plan))
    # The card of a copier has the number of the start that ends its stop.
    write(made, PersonAsked("x", "y"), stage=3)
    [first] = held_inputs(made, KEY)
    assert (first.number, first.hold, first.since_ms) == (1, "hold 1 of 2, stages 1 to 3", 10)
    complete(made, 3)
    assert held_inputs(made, KEY) == ()
    write(made, PersonAsked("x", "y"), stage=7)
    [second] = held_inputs(made, KEY)
    assert (second.number, second.hold, second.since_ms) == (2, "hold 2 of 2, stages 4 to 7", 20)
    assert second.others == ("copy",)
    complete(made, 5)
    assert held(made) == [("orders", ("orders",))]
    complete(made, 7)
    assert held(made) == []


def test_a_card_of_another_stage_holds_nothing(tmp_path: Path) -> None:
    """What a plan does before or after its holds does not begin one."""
    made = new_ledger(tmp_path / "ledger.db")
    made.start_run(RunRecord("", "flush", "r", "orders", "demo", "oncall", False, "", {}, 1))
    plan = two_holds()
    made.store_plan(KEY, plan.digest, encode(plan))
    write(made, PersonAsked("x", "y"), stage=8)
    assert held(made) == []


def test_each_hold_has_the_forecast_with_its_number(ledger: Ledger) -> None:
    """The newest of it; an approver reads all, and windows are judged by the longest."""
    facts = HoldFacts(Taken(1, "x"), (), Missing("hidden"), (), (), 0)
    for number, longest_s in ((1, 30.0), (2, 40.0), (1, 20.0)):
        planned = PlannedHold("manual", 1, 1, 10, 3, 5, 1, 0, 1, 0, 0, longest_s=longest_s, number=number)
        inputs = {"facts": facts, "planned": planned}
        ledger.record(KEY, "plan", 1, "verdict", "may_hold", encode_call(may_hold, inputs, may_hold(facts, planned)), 5)
    allowed = {number: forecast_of(ledger, KEY, number) for number in (1, 2, 3)}
    assert [one and one.limits[0].seconds for one in allowed.values()] == [20.0, 40.0, None]
    text = forecasts_text(ledger, KEY)
    assert text.startswith("hold 1: ")
    assert "; hold 2: " in text
    longest = longest_forecast(ledger, KEY)
    assert longest is not None
    assert longest.seconds[1] == max(one.seconds[1] for one in allowed.values() if one)


def test_one_forecast_has_no_number(ledger: Ledger) -> None:
    """And none is empty."""
    assert forecasts_text(ledger, KEY) == ""
    facts = HoldFacts(Taken(1, "x"), (), Missing("hidden"), (), (), 0)
    planned = PlannedHold("manual", 1, 1, 10, 3, 5, 1, 0, 1, 0, 0)
    inputs = {"facts": facts, "planned": planned}
    ledger.record(KEY, "plan", 1, "verdict", "may_hold", encode_call(may_hold, inputs, may_hold(facts, planned)), 5)
    assert forecasts_text(ledger, KEY) == forecast_hold(facts, planned).sentence
