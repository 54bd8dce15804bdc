"""Instances taken one after another by one resumable operator that holds the loop.

Each time it runs, it looks at every instance, takes the first that is not yet where the plan wants it, restarts it in
one function (or asks a person to), and defers to the gate. Nothing is remembered but what stands in the ledger as
evidence, so clearing the task in any state is safe. Mapped tasks cannot do this: a bad release would take every
instance down.
"""

from collections.abc import Mapping
from typing import Any, NoReturn

from airflow.sdk import BaseOperator

from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.decide.instances.rolling import beyond, in_place
from kstreams_runbooks.errors import Inconclusive, WriteRefused
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.readings import ApplicationReading, InstanceReading, Missing, Start
from kstreams_runbooks.model.runs.gate import Awaited
from kstreams_runbooks.model.runs.plan import Bounce, Plan
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.steps.approval.authorize import authorize
from kstreams_runbooks.steps.instances.bring import bring, let_it_start
from kstreams_runbooks.steps.instances.deploy_trigger import deploy_trigger
from kstreams_runbooks.steps.instances.gate import answered, expected, gate_passed, patience
from kstreams_runbooks.steps.instances.gate_trigger import gate_trigger, has_passed
from kstreams_runbooks.steps.instances.request import ask, remove_left
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.run import Run


class RollingOperator(BaseOperator):
    """Takes instances one after another; `go` says which, and what comes when all of them are in place."""

    def __init__(self, *, approval: str, after: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.approval = approval
        self.after = after

    def go(self, run: Run) -> None:
        """Take the next instance, or end."""
        raise NotImplementedError

    def bakes(self, plan: Plan, name: str) -> bool:  # noqa: ARG002 - for those that have a canary
        """Whether an instance has to stay good for a bake time."""
        return False

    def ends_with(self, plan: Plan, name: str) -> bool:  # noqa: ARG002 - for those that end with a gate
        """Whether nothing is left to do once the gate of this instance has passed."""
        return False

    def resume(self, context: Mapping[str, Any], event: dict[str, Any]) -> None:
        """Go on after a gate."""
        with reported(context, "the gate answered") as run:
            answered(run, event)
            self.go(run)

    def deployed(self, context: Mapping[str, Any], event: dict[str, Any], awaited: dict[str, Any]) -> None:
        """Go on after a person deployed what this task asked for, or when that person's time is over.

        What was asked for under a valid approval is finished: no other is needed to watch it start.
        """
        with reported(context, "the wait for a person answered") as run:
            if event["outcome"] != Outcome.WAIT:
                answered(run, event)
            left: Awaited = decode(Awaited, awaited)
            if left.members:
                left = remove_left(run, run.read(), left)
            if event["outcome"] == Outcome.WAIT:
                self._await(run, left)
            self._gate(run, left.bounce, left.instance, left.previous)

    def take(self, run: Run, bounce: Bounce, reading: ApplicationReading, name: str) -> NoReturn:
        """Bring one instance to `bounce` unless it is in place, and park the task until its gate has passed."""
        instance = reading.instance(name)
        if isinstance(instance, Missing):
            raise Inconclusive(instance.missing)
        earlier_gates(run, bounce, reading)
        authorize(run, self.approval, self.after)
        if run.deployer.abilities.act:
            self._gate(run, bounce, name, bring(run, bounce, reading, instance))
        if awaited := ask(run, bounce, reading, instance):
            self._await(run, awaited)
        self._gate(run, bounce, name, None)

    def _await(self, run: Run, awaited: Awaited) -> NoReturn:
        """Park the task until a person has deployed it."""
        self.defer(trigger=deploy_trigger(run, awaited), method_name="deployed", kwargs={"awaited": encode(awaited)})

    def _gate(self, run: Run, bounce: Bounce, name: str, previous: Start | None) -> NoReturn:
        """Park the task until the instance has passed its gate."""
        plan = run.plan()
        wanted = expected(plan, bounce, name, previous, let_it_start(run, name))
        waits = patience(plan, bakes=self.bakes(plan, name))
        trigger = gate_trigger(run, wanted, waits, last=self.ends_with(plan, name))
        self.defer(trigger=trigger, method_name="resume")


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


def earlier_gates(run: Run, bounce: Bounce, reading: ApplicationReading) -> None:
    """Refuse a later bounce while an instance that it has not reached yet lacks its gate of the bounce before.

    Bound to the start that runs now: what was marked successful by hand, or was started again since, has no such gate.
    """
    if bounce.number == 1:
        return
    reached = {card.object for card in run.ledger.cards(run.key) if card.facts["bounce"] >= bounce.number}
    earlier = [one for one in run.plan().bounces if one.number < bounce.number]
    for instance in reading.instances:
        before = [one.number for one in earlier if one.takes(instance.instance)]
        if instance.instance in reached or not before:
            continue
        if isinstance(instance.streams, Missing) and instance.streams.start is None:
            raise Inconclusive(f"{instance.instance}: which start it runs cannot be read: {instance.streams.missing}")
        if not has_passed(run, instance, max(before)):
            step = f"bounce_{max(before)}_rest" if run.plan().runbook != "undo" else run.task_id
            raise WriteRefused(
                f"{run.task_id}: {instance.instance} has not passed its gate of bounce {max(before)} since it was "
                f"started (marked successful by hand does not count); clear {step} and what follows it"
            )


def rehearse(run: Run, bounce: Bounce, names: tuple[str, ...]) -> None:
    """What a real run would do, through clients that only record it."""
    reading, plan = run.read(), run.plan()
    for name in names:
        instance = reading.instance(name)
        if isinstance(instance, InstanceReading) and (
            in_place(instance, bounce, reading.taken.at_ms) or beyond(instance, bounce, plan, reading.taken.at_ms)
        ):
            run.say(f"{name}: there already; would only wait at its gate")
            continue
        before = len(run.deployer.would_write)
        _rehearse_one(run, bounce, name)
        for line in run.deployer.would_write[before:]:
            run.say(f"would {line}")
        if not plan.facts.static_membership:
            run.say(f"would remove the members of {name} from group {run.application.application_id}")
        do = (
            f"start {name}"
            if run.deployer.abilities.act
            else f"wait up to {plan.limit('deploy_wait_h'):g} h for a person"
        )
        run.say(f"would {do} and wait at its gate for up to {plan.limit('gate_ceiling_s'):.0f} s")
    run.keep("write", "rehearsed", {"would_write": list(run.deployer.would_write)})


def _rehearse_one(run: Run, bounce: Bounce, name: str) -> None:
    if run.deployer.abilities.act:
        restart(
            run.deployer,
            name,
            bounce.release,
            dict(bounce.settings),
            remove_members=None,
            clear_state=bounce.clear_state,
            log=lambda _: None,
        )
        return
    if bounce.clear_state:
        run.deployer.stop(name)
        run.deployer.clear_state(name)
    run.deployer.apply(name, bounce.release, dict(bounce.settings))
