"""The task `verify` of a reset: the application runs as planned, or what was retired is still gone."""

from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.model.runs.object_stages import DeleteGroups, DeleteTopics
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.instances.gate import answered
from kstreams_runbooks.steps.plan.looking import prove_sides, rehearsed
from kstreams_runbooks.steps.reset.gone_trigger import gone_trigger
from kstreams_runbooks.steps.reset.retire import deleted_topics, prove_retired
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import READS, Step
from kstreams_runbooks.steps.stages.cleaned_up import require_new_state


def verify() -> "VerifyReset":
    """The proof that the instances run the plan, or that what was deleted for good is gone."""
    what = "compares what is there now with the plan; changes nothing"
    return VerifyReset(task_id="verify", doc_md=VerifyReset.__doc__, what=what, act=_prove, **READS)


class VerifyReset(Step):
    """Proves the plan; topics that were deleted for good are watched first, without a worker."""

    def execute(self, context: Mapping[str, Any]) -> None:
        """Defer the task while deleted topics are watched."""
        with reported(context, self.what) as run:
            if not run.dry_run and (deleted := deleted_topics(run)):
                self.defer(trigger=gone_trigger(run, deleted), method_name="resume")
            self.act(run)

    def resume(self, context: Mapping[str, Any], event: dict[str, Any]) -> None:
        """Continue after the watch."""
        with reported(context, "the watch answered") as run:
            answered(run, event)
            self.act(run)


def _prove(run: Run) -> None:
    if run.dry_run:
        rehearsed(run)
    elif _retires(run.whole_plan()):
        prove_retired(run)
    else:
        require_new_state(run)
        prove_sides(run)


def _retires(plan: Plan) -> bool:
    return any(isinstance(one, DeleteGroups) or (isinstance(one, DeleteTopics) and one.retired) for one in plan.stages)
