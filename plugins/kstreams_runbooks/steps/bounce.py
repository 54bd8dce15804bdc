"""One rolling bounce as a resumable operator that holds the loop.

Each time it runs, it looks at every instance, takes the first that is not yet where the plan wants it, restarts it in
one function, and defers to the gate. Nothing is remembered but what stands in the ledger as evidence, so clearing the
task in any state is safe. Mapped tasks cannot do this: a bad release would take every instance down.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from airflow.sdk import BaseOperator

from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.decide.rolling import beyond, in_place
from kstreams_runbooks.errors import Inconclusive, WriteRefused
from kstreams_runbooks.model.plan import Bounce, Plan
from kstreams_runbooks.model.readings import ApplicationReading, InstanceReading, Missing
from kstreams_runbooks.steps.authorize import authorize
from kstreams_runbooks.steps.bring import bring, let_it_start
from kstreams_runbooks.steps.gate_trigger import gate_trigger, has_passed
from kstreams_runbooks.steps.gates import answered, expected, gate_passed, patience
from kstreams_runbooks.steps.reporting import reported
from kstreams_runbooks.steps.run import Run


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


class BounceOperator(BaseOperator):
    """Brings the first instance (`canary`) or all of them to bounce `number` of the plan, one after another."""

    def __init__(self, *, number: int, canary: bool, approval: str, after: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.number = number
        self.canary = canary
        self.approval = approval
        self.after = after

    def execute(self, context: Mapping[str, Any]) -> None:
        """Restart what is not in place; safe to run again in any state."""
        which = "the first instance, then bakes" if self.canary else "every instance that is not there yet"
        with reported(context, f"bounce {self.number}: {which}") as run:
            plan = run.plan()
            bounce = plan.bounce(self.number)
            if bounce is None:
                run.say(f"bounce {self.number} is not needed: one bounce suffices on this path")
            elif run.dry_run:
                rehearse(run, plan, self._instances(plan) if self.canary else plan.facts.instances[1:], bounce)
            else:
                self._roll(run, plan, bounce)

    def resume(self, context: Mapping[str, Any], event: dict[str, Any]) -> None:
        """Go on after a gate."""
        with reported(context, "the gate answered") as run:
            answered(run, event)
            plan = run.plan()
            bounce = plan.bounce(self.number)
            if bounce is not None:
                self._roll(run, plan, bounce)

    def _instances(self, plan: Plan) -> tuple[str, ...]:
        return plan.facts.instances[:1] if self.canary else plan.facts.instances

    def _roll(self, run: Run, plan: Plan, bounce: Bounce) -> None:
        names = self._instances(plan)
        # Nothing is changed before the loop is left, so one reading serves all of it.
        reading = run.read()
        if name := next_of(run, bounce, reading, names):
            way = Way(self.approval, self.after, bakes=name == plan.facts.instances[0], last=name == names[-1])
            take(self, run, bounce, reading, name, way)
        run.say(f"bounce {self.number}: {', '.join(names)} in place")


@dataclass(frozen=True, slots=True)
class Way:
    """What one restart hangs on and ends with: its approval, the decisions before it, whether a bake time follows."""

    approval: str
    after: tuple[str, ...] = ()
    bakes: bool = False
    last: bool = False


def next_of(run: Run, bounce: Bounce, reading: ApplicationReading, names: tuple[str, ...]) -> str | None:
    """The first of `names` that has not passed its gate of this bounce yet, None where all have."""
    for name in names:
        instance = reading.instance(name)
        if isinstance(instance, Missing):
            raise Inconclusive(instance.missing)
        if beyond(instance, bounce, run.plan(), reading.taken.at_ms):
            run.say(f"{name}: already past bounce {bounce.number}")
        elif not gate_passed(run, bounce, instance, reading.taken.at_ms):
            return name
    return None


def take(operator: BaseOperator, run: Run, bounce: Bounce, reading: ApplicationReading, name: str, way: Way) -> None:
    """Restart one instance unless it is in place, and defer `operator` to its gate."""
    instance, plan = reading.instance(name), run.plan()
    if isinstance(instance, Missing):
        raise Inconclusive(instance.missing)
    earlier_gates(run, bounce, reading)
    authorize(run, way.approval, way.after)
    previous = bring(run, bounce, reading, instance)
    wanted = expected(plan, bounce, name, previous, let_it_start(run, name))
    trigger = gate_trigger(run, wanted, patience(plan, bakes=way.bakes), last=way.last)
    operator.defer(trigger=trigger, method_name="resume")


def earlier_gates(run: Run, bounce: Bounce, reading: ApplicationReading) -> None:
    """Refuse a later bounce while an instance that it has not reached yet lacks its gate of the bounce before.

    Bound to the start that runs now: what was marked successful by hand, or was started again since, has no such gate.
    """
    if bounce.number == 1:
        return
    reached = {card.object for card in run.ledger.cards(run.key) if card.facts["bounce"] == bounce.number}
    for instance in reading.instances:
        before = [
            one.number for one in run.plan().bounces if one.number < bounce.number and one.takes(instance.instance)
        ]
        if instance.instance in reached or not before:
            continue
        if isinstance(instance.streams, Missing) and instance.streams.start is None:
            raise Inconclusive(f"{instance.instance}: which start it runs cannot be read: {instance.streams.missing}")
        if not has_passed(run, instance, max(before)):
            raise WriteRefused(
                f"{run.task_id}: {instance.instance} has not passed its gate of bounce {max(before)} since it was "
                f"started (marked successful by hand does not count); clear bounce_{max(before)}_rest and what "
                "follows it"
            )


def rehearse(run: Run, plan: Plan, instances: tuple[str, ...], bounce: Bounce) -> None:
    """What a real run would do, through clients that only record it."""
    reading = run.read()
    for name in instances:
        instance = reading.instance(name)
        if isinstance(instance, InstanceReading) and (
            in_place(instance, bounce, reading.taken.at_ms) or beyond(instance, bounce, plan, reading.taken.at_ms)
        ):
            run.say(f"{name}: there already; would only wait at its gate")
            continue
        before = len(run.deployer.would_write)
        restart(
            run.deployer,
            name,
            bounce.release,
            dict(bounce.settings),
            remove_members=None,
            clear_state=bounce.clear_state,
            log=lambda _: None,
        )
        for line in run.deployer.would_write[before:]:
            run.say(f"would {line}")
        if not plan.facts.static_membership:
            run.say(f"would remove the members of {name} from group {run.application.application_id}")
        run.say(f"would start {name} and wait at its gate for up to {plan.limit('gate_ceiling_s'):.0f} s")
    run.keep("write", "rehearsed", {"would_write": list(run.deployer.would_write)})
