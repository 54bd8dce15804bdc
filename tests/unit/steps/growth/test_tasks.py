"""The tasks of a growth on a real ledger: none takes the place of another that was marked successful."""

import pytest
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.growth.tasks import grown_and_read, noted_ends, resume_inputs
from kstreams_runbooks.steps.inputs.tasks import switching
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.order import flows, keep_complete
from world.growing import growth_in_place


@pytest.fixture
def plan() -> Plan:
    """A growth in place of the bump of the other tests."""
    return growth_in_place()


@pytest.mark.parametrize(("complete", "task"), [(3, "grow_topics"), (4, "set_offsets")])
def test_the_copier_starts_only_behind_the_tasks_that_grow(run: Run, plan: Plan, complete: int, task: str) -> None:
    """`grow_topics` notes the ends and looks whether anything is left to read: no other task grows a topic."""
    for stage in plan.stages[:complete]:
        keep_complete(run, stage)
    with pytest.raises(Refused, match=rf"is not complete .*; clear {task} and what follows it"):
        resume_inputs().act(run)
    assert not flows(run, switching(run))


def test_the_ends_before_the_growth_are_asked_for(run: Run) -> None:
    """Without them nothing is new; those that the run has noted are found by partition."""
    with pytest.raises(Refused, match="clear grow_topics and what follows it"):
        noted_ends(run)
    run.ledger.remember(run.key, "ends before the growth", [["orders", 0, 7]])
    assert noted_ends(run) == {("orders", 0): 7}


def test_what_is_grown_and_read_has_its_new_number(run: Run) -> None:
    """A changelog grows, and no member reads it."""
    assert grown_and_read(run) == (("orders", 12), ("orders-by-customer-repartition", 12))
