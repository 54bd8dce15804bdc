"""A copier comes in front of an application of another shape, under traffic, and leaves again: nothing is lost.

Two streams that are merged, a global table, which no group commits offsets of, one instance that is no static member,
an output that code chooses.
"""

import pytest
import yaml
from kill.moments import Moment, Target, strike
from lab.adopted import COPIER, INSTANCES
from lab.parcels import INPUT_SETTINGS, INPUTS, INSTANCE, NAME, parcels
from lab.stack import Stack
from world.adopting import DAG, copier_deployed
from world.endings import NOTHING_CHANGED, begun_other, completed, ended
from world.runs import approved_by_both, failed, log_of, trigger_other

pytestmark = pytest.mark.long
_ROUTES = {topic: f"{topic}-control" for topic in INPUTS}
_FORM = {"application": NAME, "copier": COPIER, "without_copy_proof": "no Spark in these tests"}


def begun(stack: Stack, **conf: object) -> str:
    """A run that both teams have approved."""
    run_id = trigger_other(stack, DAG, **{**_FORM, **conf})
    approved_by_both(stack, DAG, run_id, "approve_plan")
    return run_id


def apply_changes(stack: Stack) -> None:
    """The fleet entry as it has to be once the run has adopted."""
    entry = stack.lab.config / "applications" / f"{NAME}.yaml"
    controls = [*_ROUTES.values()]
    settings = {name: _ROUTES[topic] for name, topic in INPUT_SETTINGS.items()}
    declared = yaml.safe_load(entry.read_text(encoding="utf-8"))
    declared |= {"inputs": controls, "control": controls, "input_settings": settings}
    entry.write_text(yaml.safe_dump(declared), encoding="utf-8")


def test_there_and_back(stack: Stack) -> None:
    """Killed and undone; killed and adopted; abandoned, with a copier that is down. The judge looks at all of it."""
    with parcels(stack), copier_deployed(stack, _ROUTES):
        run_id = begun(stack)
        # The approver has read that code: it does not use the topic of its record.
        assert "danger adopt-chosen-topics on counted-out: code chooses" in log_of(stack, run_id, "plan")
        strike(Target(stack, DAG, run_id, "clear_state", (INSTANCE,)), Moment.WORKING, 0)
        failed(stack, run_id)
        undo = trigger_other(stack, "undo", run=run_id, application=NAME)
        approved_by_both(stack, "undo", undo, "approve_undo")
        completed(stack, undo)
        run_id = begun(stack)
        strike(Target(stack, DAG, run_id, "clear_state", (INSTANCE,)), Moment.WORKING, 0)
        failed(stack, run_id)
        stack.api().clear(DAG, run_id, "clear_state")
        completed(stack, run_id)
        assert "global" in log_of(stack, run_id, "clear_state", 2)
        trial = begun_other(stack, "undo", run=run_id, application=NAME, dry_run=True)
        refused = ended(trial, state="failed", outcome=NOTHING_CHANGED)
        assert "mode=abandon" in refused["run"]["outcome_sentence"]
        apply_changes(stack)
        # As after a record that does not fit: the way out of a copier does not need it.
        stack.supervisor.stop(*INSTANCES)
        completed(stack, begun(stack, mode="abandon"))
        assert stack.supervisor.pid(INSTANCES[0]) is None
        assert stack.supervisor.pid(INSTANCE) is not None
