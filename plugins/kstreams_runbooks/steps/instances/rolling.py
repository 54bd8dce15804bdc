"""Take one instance after another: one resumable operator holds the loop, and a bad release stops one instance.

Mapped tasks cannot do this: a bad release would take every instance down.

Each run of the task starts at 1. Subclasses such as `bounce` and `undo` define which instances and which bounce.

 1. Read the application once. Nothing is changed before 8, so one reading is enough for this pass.
 2. Choose the first instance that is not past this bounce and has not passed its gate of it (`next_of`). If there is
    none, the caller ends. An instance that is not declared any more ends the task as inconclusive.
 3. From the second bounce on, require of every instance that this bounce has not reached that it passed its gate of the
    bounce before (`earlier_gates`).
 4. Require a valid approval of the current plan, and that no other run has changed the application; take or renew the
    hold (steps/approval/authorize.py).
 5. Require that the release and settings of the instance are known: undo leads back to them. If the instance is in
    place already, go to 9. In a restart without a change it is in place once it has another start than on its card.
 6. Guard (steps/instances/bring.py, `guard`): every other instance is RUNNING, unless this one has ended already; no
    instance has left this one behind in another record format; topics, group and instances are as planned. Ask the
    deployer, while the instance still runs, whether it would refuse the settings.
 7. Write the undo card, with the members and the start that the instance has now; record that the run has written.
 8. Set release and settings, stop, remove the members, start: one function (act/instance.py). If the plan requires it,
    local state is cleared after the stop, and release and settings are set after that. If a person deploys, request it
    and wait up to `deploy_wait_h`, one working day (steps/instances/request.py, deploy_trigger.py); remove the members
    once the old start is gone.
 9. Watch the instance for up to 15 s while it starts: parking a task costs Airflow about as much processor time as the
    start of a small instance.
10. Park the task until the gate has passed (steps/instances/gate_trigger.py). The gate wants `gate_good_readings` in a
    row, since one good reading may be an instance that flaps. The canary of a bounce has to stay good for `bake_s`
    more: a late failure then affects one instance only. The guards run at each reading. Two readings in a row that show
    drift end the wait for good; one is not enough, since a broker that restarts may leave a topic out once. The gate
    gives up after `gate_ceiling_s`, which covers a full restore of local state. When it has passed, it records which
    start passed.
11. If the gate proceeds, go to 1. If not, the task fails with the gate's reasons, and no other instance is taken. An
    instance that did not start on another release (8, 10) is set back to what it ran before and started, if the plan
    has that and nothing speaks against it (steps/instances/set_back.py).

The limits of the plan, with the reason for each default, are in fleet/limits.py.

What this guarantees:
- It is resumable at every point. The task remembers nothing: 2 finds the instance from what is observed and from the
  gates that the ledger records. A task that was killed before 8 takes the same instance again; one killed in 8
  continues from there, also if the instance is down; one killed after 8 finds it in place and goes to its gate. The
  undo card of a second try leads back to the state before the first.
- It never stops a second instance. 6 refuses while another instance is not RUNNING. An instance that has ended is
  started all the same: a start does no harm.
- An undo card comes before each write (7 before 8): a task that is killed in between leaves a card.
- Approval and guards come right before each write (4, 6), from the reading of this pass.
- It never leaves an instance down for a bad release if the old one can go on: 11 sets it back, or leads to undo.
- It never takes an old start for a new one: the card and the gate know the start from before.
- A gate counts for the start that passed it. If the instance is started again later, it has to pass again.
- Marking a task successful manually changes none of this: 3 and 4 read the ledger.

What it does not guarantee:
- Nothing locks the application between the reading and the stop. The gate detects an instance that dies or an edit in
  those moments, and does not prevent it.
- SIGKILL between stop and start leaves the instance down until the task is cleared. Every other exit from 8 tries to
  start it again.
- With an expired approval, 4 refuses even if only the gate of an instance is left. A request that was made under a
  valid approval is finished without another one.
"""

from collections.abc import Mapping
from typing import Any, NoReturn

from airflow.sdk import BaseOperator

from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.decide.instances.rolling import beyond, in_place
from kstreams_runbooks.errors import Inconclusive, NotStarted, WriteRefused
from kstreams_runbooks.ledger.card_facts import instance_facts
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.readings import ApplicationReading, InstanceReading, Missing, Start
from kstreams_runbooks.model.runs.gate import Awaited
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.steps.approval.authorize import authorize
from kstreams_runbooks.steps.instances.bring import bring, let_it_start
from kstreams_runbooks.steps.instances.deploy_trigger import deploy_trigger
from kstreams_runbooks.steps.instances.gate import answered, expected, gate_passed, patience, start_refused
from kstreams_runbooks.steps.instances.gate_trigger import gate_trigger, has_passed
from kstreams_runbooks.steps.instances.request import remove_left, request_bounce, withdraw_request
from kstreams_runbooks.steps.instances.set_back import after_failed_start
from kstreams_runbooks.steps.plan.cards import instance_cards, previous_start, to_restart
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.run import Run


class RollingOperator(BaseOperator):
    """Takes instances one after another; `go` chooses them, and acts when all of them are in place."""

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

    def resume(
        self, context: Mapping[str, Any], event: dict[str, Any], gated: str = "", awaited: dict[str, Any] | None = None
    ) -> None:
        """Continue after the gate of instance `gated`; one that did not start on `awaited` is set back if it may be."""
        with reported(context, "the gate answered") as run:
            if awaited and (refused := start_refused(event)):
                bounce: Bounce = decode(Bounce, awaited)
                self._failed(run.side(bounce.side), bounce, gated, refused, gated=gated)
            answered(run, event)
            self.go(run)

    def deployed(self, context: Mapping[str, Any], event: dict[str, Any], awaited: dict[str, Any]) -> None:
        """Continue after a person deployed what this task requested, or when that person's time is over.

        A request that was made under a valid approval is finished: watching its start needs no other approval.
        """
        with reported(context, "the wait for a person answered") as first:
            if event["outcome"] != Outcome.WAIT:
                withdraw_request(context)
                answered(first, event)
            left: Awaited = decode(Awaited, awaited)
            run = first.side(left.bounce.side)
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
        authorize(run, self.approval, self.after, stage=bounce.number)
        if run.deployer.abilities.act:
            try:
                previous = bring(run, bounce, reading, instance)
            except NotStarted as error:
                self._failed(run, bounce, name, error.cause)
                raise
            self._gate(run, bounce, name, previous)
        if awaited := request_bounce(run, bounce, reading, instance):
            self._await(run, awaited)
        self._gate(run, bounce, name, previous_start(run, name) if bounce.again else None)

    def _failed(self, run: Run, bounce: Bounce, name: str, cause: str, gated: str = "") -> None:
        """Refused if the start on another release failed: the instance is set back, or the run leads to undo."""

        def permit() -> None:
            authorize(run, self.approval, self.after, stage=bounce.number, going_on=True)

        after_failed_start(run, bounce, (name,), cause, clears=run.task_id, permit=permit, gated=gated)

    def _await(self, run: Run, awaited: Awaited) -> NoReturn:
        """Park the task until a person has deployed it."""
        self.defer(trigger=deploy_trigger(run, awaited), method_name="deployed", kwargs={"awaited": encode(awaited)})

    def _gate(self, run: Run, bounce: Bounce, name: str, previous: Start | None) -> NoReturn:
        """Park the task until the instance has passed its gate."""
        plan = run.plan()
        wanted = expected(plan, bounce, name, previous, let_it_start(run, name))
        waits = patience(plan, bakes=self.bakes(plan, name))
        trigger = gate_trigger(run, wanted, waits, last=self.ends_with(plan, name))
        self.defer(trigger=trigger, method_name="resume", kwargs={"gated": name, "awaited": encode(bounce)})


def next_of(run: Run, bounce: Bounce, reading: ApplicationReading, names: tuple[str, ...]) -> str | None:
    """The first of `names` that has not passed its gate of this bounce yet, None if all have."""
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

    Bound to the start that runs now: a task that was marked successful manually leaves no such gate, and a later start
    has none.
    """
    if bounce.number == 1:
        return
    reached = {card.object for card in instance_cards(run) if instance_facts(card).bounce >= bounce.number}
    earlier = [one for one in run.plan().bounces if one.number < bounce.number]
    for instance in reading.instances:
        before = [one.number for one in earlier if one.takes(instance.instance)]
        if instance.instance in reached or not before:
            continue
        if isinstance(instance.streams, Missing) and instance.streams.start is None:
            raise Inconclusive(f"which start it runs cannot be read: {instance.silent}")
        if not has_passed(run, instance, max(before)):
            step = f"bounce_{max(before)}_rest" if run.plan().runbook != "undo" else run.task_id
            raise WriteRefused(
                f"{run.task_id}: {instance.instance} has not passed its gate of bounce {max(before)} since it was "
                f"started (marked successful manually does not count); clear {step} and what follows it"
            )


def rehearse(run: Run, bounce: Bounce, names: tuple[str, ...]) -> None:
    """What a real run would do, through clients that only record it."""
    reading, plan = run.read(), run.plan()
    for name in names:
        instance = reading.instance(name)
        if isinstance(instance, InstanceReading) and (
            (in_place(instance, bounce, reading.taken.at_ms) and not to_restart(run, bounce, instance))
            or beyond(instance, bounce, plan, reading.taken.at_ms)
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
        if bounce.back:
            [old] = [one.deployed for one in plan.before(bounce) if one.instance == name]
            run.say(f"if {name} does not start: would set it back to {old} and start it, and the run would stop then")
    run.keep("write", "rehearsed", {"would_write": list(run.deployer.would_write)})


def _rehearse_one(run: Run, bounce: Bounce, name: str) -> None:
    if run.deployer.abilities.act:
        restart(
            run.deployer,
            name,
            bounce.target,
            remove_members=None,
            clears=bounce.clears,
            once=bounce.once,
            log=lambda _: None,
        )
        return
    if bounce.clears is not None:
        run.deployer.stop(name)
        run.deployer.clear_state(name, bounce.clears.names)
    run.deployer.apply(name, bounce.target)
