"""The task `verify` of a reset: the application runs as planned, or what was retired is still gone."""

from kstreams_runbooks.model.runs.object_stages import DeleteGroups, DeleteTopics
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.plan.looking import prove_sides, rehearsed
from kstreams_runbooks.steps.reset.retire import prove_retired
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import step


@step("compares what is there now with the plan; changes nothing")
def verify(run: Run) -> None:
    """Prove that the instances run the plan, or that what was deleted for good is gone."""
    if run.dry_run:
        rehearsed(run)
    elif _retires(run.whole_plan()):
        prove_retired(run)
    else:
        prove_sides(run)


def _retires(plan: Plan) -> bool:
    return any(isinstance(one, DeleteGroups) or (isinstance(one, DeleteTopics) and one.retired) for one in plan.stages)
