"""One rolling bounce as two tasks: the canary with its bake time, then the rest."""

from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.instances.rolling import RollingOperator, next_of, rehearse
from kstreams_runbooks.steps.plan.cards import has_stopped
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.run import Run


def bounce_first(number: int, approval: str, after: tuple[str, ...] = ()) -> "BounceOperator":
    """The canary of a bounce: the first declared instance, then the bake time."""
    return BounceOperator(
        task_id=f"bounce_{number}_first", number=number, canary=True, approval=approval, after=after, retries=0
    )


def bounce_rest(number: int, approval: str, after: tuple[str, ...] = ()) -> "BounceOperator":
    """Every other instance of a bounce, one after another."""
    return BounceOperator(
        task_id=f"bounce_{number}_rest", number=number, canary=False, approval=approval, after=after, retries=0
    )


class BounceOperator(RollingOperator):
    """Brings the first instance (`canary`) or all of them to bounce `number` of the plan, one after another."""

    def __init__(self, *, number: int, canary: bool, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.number = number
        self.canary = canary

    def execute(self, context: Mapping[str, Any]) -> None:
        """Restart each instance that is not in place; safe to run again in any state."""
        which = "the first instance, then bakes" if self.canary else "every instance that is not there yet"
        with reported(context, f"bounce {self.number}: {which}") as run:
            plan = run.plan()
            bounce = plan.bounce(self.number)
            if bounce is None:
                run.say(f"bounce {self.number} is not needed on this path")
            elif has_stopped(run):
                run.say(f"every instance has been stopped since: bounce {self.number} is over")
            elif run.dry_run:
                rehearse(run, bounce, self._instances(plan) if self.canary else plan.facts.instances[1:])
            else:
                self.go(run)

    def go(self, run: Run) -> None:
        """Take the first instance that is not in place with its gate passed."""
        plan = run.plan()
        bounce, names = plan.bounce(self.number), self._instances(plan)
        if bounce is None:
            return
        # Nothing is changed before an instance is taken, so one reading serves the whole look.
        reading = run.read()
        if name := next_of(run, bounce, reading, names):
            self.take(run, bounce, reading, name)
        run.say(f"bounce {self.number}: {', '.join(names)} in place")

    def bakes(self, plan: Plan, name: str) -> bool:
        """The first instance, in either of the two tasks."""
        return name == plan.facts.instances[0]

    def ends_with(self, plan: Plan, name: str) -> bool:
        """The last instance of this task."""
        return name == self._instances(plan)[-1]

    def _instances(self, plan: Plan) -> tuple[str, ...]:
        return plan.facts.instances[:1] if self.canary else plan.facts.instances
