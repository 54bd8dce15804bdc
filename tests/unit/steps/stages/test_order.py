"""The order of the stages of a run on a real ledger: what it holds at a stage, by the pairs of its plan."""

from dataclasses import replace

import pytest
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.cards import PersonAsked
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Stage
from kstreams_runbooks.steps.plan.looking import refuse_held
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.order import flows, holds_inputs, keep_complete, let_flow, task_in
from world.growing import growth_in_place
from world.samples import card
from world.two_holds import two_holds


@pytest.fixture
def plan() -> Plan:
    """Two holds in place of the bump of the other tests."""
    return two_holds()


def begin(run: Run, stage: Stage) -> None:
    """The card of a stage."""
    facts = PersonAsked("x", "y")
    seq = len(run.ledger.cards(run.key)) + 1
    run.ledger.write_card(card(run_key=run.key, seq=seq, kind=facts.kind, facts=encode(facts), stage=stage.number))


def test_a_hold_that_is_over_holds_nothing_any_more(run: Run, plan: Plan) -> None:
    """An approval that has expired between two holds ends the run before the second one."""
    stop, certify, start, again, *_ = plan.stages
    assert not holds_inputs(run, certify)
    begin(run, start)
    keep_complete(run, stop)
    assert holds_inputs(run, certify)
    keep_complete(run, certify)
    keep_complete(run, start)
    assert not holds_inputs(run, again)
    keep_complete(run, again)
    assert holds_inputs(run, plan.stages[4])


def test_instances_that_a_hold_has_stopped_stay_down_when_the_inputs_flow(run: Run, plan: Plan) -> None:
    """An approval that has expired must not keep them down."""
    for stage in plan.stages[:-1]:
        keep_complete(run, stage)
    assert holds_inputs(run, plan.stages[-1])


def test_each_hold_flows_for_itself(run: Run, plan: Plan) -> None:
    """The end of the first says nothing about the second."""
    first, second = plan.input_holds
    let_flow(run, first)
    assert (flows(run, first), flows(run, second)) == (True, False)


def test_a_side_behind_the_inputs_of_another_run_is_refused(run: Run, plan: Plan) -> None:
    """Not only the application of that run; one that is behind none of them is not."""
    other = run.ledger.start_run(replace(run.record, run_key="other/o", dag_id="other", run_id="o"))
    run.ledger.store_plan(other.run_key, plan.digest, encode(plan))
    facts = PersonAsked("x", "y")
    stage = plan.stages[6].number
    run.ledger.write_card(card(run_key=other.run_key, seq=1, kind=facts.kind, facts=encode(facts), stage=stage))
    run.ledger.mark_written(other.run_key, 1)
    for name in ("orders", "copy"):
        with pytest.raises(Refused, match=r"inputs orders of orders are held by run other/o \(expected: by none\)"):
            refuse_held(run, [replace(run, record=replace(run.record, application=name))])
    refuse_held(run, [replace(run, record=replace(run.record, application="copy-2"))])


def test_a_growth_has_a_task_for_each_stage_of_its_hold() -> None:
    """A person clears the task that adds the partitions, and not the one that lets the inputs flow again."""
    plan = growth_in_place()
    assert [task_in(plan, one) for one in plan.stages] == [
        "pause_inputs",
        "certify",
        "stop_application",
        "grow_topics",
        "set_offsets",
        "resume_inputs",
        "start_application",
    ]
