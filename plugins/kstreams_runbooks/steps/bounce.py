"""One rolling bounce as a resumable operator that holds the loop.

Each time it runs, it looks at every instance, takes the first that is not yet where the plan wants it, restarts it in
one function, and defers to the gate. Nothing is remembered but what stands in the ledger as evidence, so clearing the
task in any state is safe. Mapped tasks cannot do this: a bad release would take every instance down.
"""

import time
from collections.abc import Mapping
from typing import Any

from airflow.sdk import BaseOperator

from kstreams_runbooks.act.groups import GroupWriter
from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.decide.bump_plan import clears_state
from kstreams_runbooks.decide.guards import nothing_drifted
from kstreams_runbooks.decide.members import members_of
from kstreams_runbooks.decide.rolling import beyond, in_place, left_behind, others_unwell
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.gates import Expectation, Patience
from kstreams_runbooks.model.ledger import Card
from kstreams_runbooks.model.plan import Bounce, Plan
from kstreams_runbooks.model.readings import (
    ApplicationReading,
    Deployment,
    GroupReading,
    InstanceReading,
    MemberReading,
    Missing,
    Start,
    StreamsReading,
)
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe import read_streams
from kstreams_runbooks.steps.authorize import authorize
from kstreams_runbooks.steps.gate_trigger import GATE_PASSED, gate_trigger
from kstreams_runbooks.steps.reporting import reported
from kstreams_runbooks.steps.run import Run, now_ms

# Parking a task costs Airflow about as much processor time as a small instance needs to start: not at the same moment.
_START_MS = 15_000
_LOOK_EVERY_S = 0.5


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
                _rehearse(run, plan, self._instances(plan) if self.canary else plan.facts.instances[1:], bounce)
            else:
                self._roll(run, plan, bounce)

    def resume(self, context: Mapping[str, Any], event: dict[str, Any]) -> None:
        """Go on after a gate."""
        with reported(context, "the gate answered") as run:
            sentence = "; ".join(event["reasons"])
            run.say(f"{event['outcome']}: {sentence}")
            if event["outcome"] == Outcome.INCONCLUSIVE:
                raise Inconclusive(sentence)
            if event["outcome"] != Outcome.PROCEED:
                raise Refused(sentence)
            plan = run.plan()
            bounce = plan.bounce(self.number)
            if bounce is not None:
                self._roll(run, plan, bounce)

    def _instances(self, plan: Plan) -> tuple[str, ...]:
        return plan.facts.instances[:1] if self.canary else plan.facts.instances

    def _roll(self, run: Run, plan: Plan, bounce: Bounce) -> None:
        # Nothing is changed before the loop is left, so one reading serves all of it.
        reading = run.read()
        for name in self._instances(plan):
            instance = reading.instance(name)
            if isinstance(instance, Missing):
                raise Inconclusive(instance.missing)
            if beyond(instance, bounce, plan, reading.taken.at_ms):
                run.say(f"{name}: already past bounce {bounce.number}")
                continue
            if _gate_passed(run, bounce, instance, reading.taken.at_ms):
                continue
            authorize(run, self.approval, self.after)
            previous = self._bring(run, bounce, reading, instance)
            expected = _expected(plan, bounce, name, previous, _let_it_start(run, name))
            last = name == self._instances(plan)[-1]
            self.defer(trigger=gate_trigger(run, expected, _patience(plan, name), last=last), method_name="resume")
        run.say(f"bounce {self.number}: {', '.join(self._instances(plan))} in place")

    def _bring(self, run: Run, bounce: Bounce, reading: ApplicationReading, instance: InstanceReading) -> Start | None:
        """Restart one instance unless it is in place; returns the start that is no longer to be taken for ready."""
        name = instance.instance
        if in_place(instance, bounce, reading.taken.at_ms):
            run.say(f"{name}: already runs {bounce.release} as planned; only its gate is left")
            return None
        if unwell := others_unwell(reading, name):
            raise Refused(f"{name} is not touched: {'; '.join(unwell)}; mend that first, then clear {run.task_id}")
        if why := left_behind(reading, name, bounce, run.plan()):
            raise Refused(why)
        guarded = run.decide(nothing_drifted, reading=reading, plan=run.plan(), name=name, number=bounce.number)
        if guarded.outcome is Outcome.INCONCLUSIVE:
            raise Inconclusive(f"{name} is not touched: {'; '.join(guarded.reasons)}")
        if guarded.outcome is not Outcome.PROCEED:
            raise Refused(f"{name} is not touched: {'; '.join(guarded.reasons)}")
        if isinstance(instance.deployment, Deployment) and instance.deployment.pid is not None:
            run.deployer.check_apply(name, bounce.release, dict(bounce.settings))
        members = _members(run, reading, instance)
        card = _card(run, bounce, instance, members)
        run.ledger.write_card(card)
        run.ledger.mark_written(run.key, now_ms())
        run.say(f"{name}: stops, {bounce.sentence}, starts")
        times = restart(
            run.deployer,
            name,
            bounce.release,
            dict(bounce.settings),
            remove_members=(lambda: _remove(run, members)) if members else None,
            log=run.say,
        )
        run.keep("write", "restart", {"instance": name, "bounce": bounce.number, "times": encode(times)})
        return _previous_start(instance)


def _let_it_start(run: Run, name: str) -> Start | None:
    """Stay for a moment while the instance starts; returns the start whose Streams client was seen, None for none.

    Whether it is ready is for the gate to say.
    """
    [url] = [one.metrics for one in run.application.deployer.instances if one.name == name]
    seen, until_ms = None, now_ms() + _START_MS
    while now_ms() < until_ms:
        streams = read_streams(url, application_id=run.application.application_id)
        if isinstance(streams, Missing):
            if seen is not None:
                break
        else:
            seen = streams.start
            if streams.state not in {"CREATED", "REBALANCING"}:
                break
        time.sleep(_LOOK_EVERY_S)
    return seen


def _expected(plan: Plan, bounce: Bounce, name: str, previous: Start | None, seen: Start | None) -> Expectation:
    return Expectation(
        instance=name,
        bounce=bounce,
        previous=previous,
        max_lag=int(plan.limit("max_lag")),
        good_readings=int(plan.limit("gate_good_readings")),
        max_age_ms=int(plan.limit("max_reading_age_s") * 1000),
        commit_interval_ms=int(plan.limit("commit_interval_s") * 1000),
        seen=seen,
    )


def _patience(plan: Plan, name: str) -> Patience:
    canary = name == plan.facts.instances[0]
    return Patience(
        interval_s=plan.limit("gate_interval_s"),
        ceiling_s=plan.limit("gate_ceiling_s"),
        bake_s=plan.limit("bake_s") if canary else 0.0,
    )


def _rehearse(run: Run, plan: Plan, instances: tuple[str, ...], bounce: Bounce) -> None:
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
        restart(run.deployer, name, bounce.release, dict(bounce.settings), remove_members=None, log=lambda _: None)
        for line in run.deployer.would_write[before:]:
            run.say(f"would {line}")
        if not plan.facts.static_membership:
            run.say(f"would remove the members of {name} from group {run.application.application_id}")
        run.say(f"would start {name} and wait at its gate for up to {plan.limit('gate_ceiling_s'):.0f} s")
    run.keep("write", "rehearsed", {"would_write": list(run.deployer.would_write)})


def _gate_passed(run: Run, bounce: Bounce, instance: InstanceReading, at_ms: int) -> bool:
    """Whether a gate of this run has passed for the start that runs now, and the instance is still well."""
    streams = instance.streams
    if isinstance(streams, Missing) or streams.state != "RUNNING" or not in_place(instance, bounce, at_ms):
        return False
    here = encode({"instance": instance.instance, "bounce": bounce.number, "start": streams.start})
    return any(kept.payload == here for kept in run.ledger.evidence(run.key, kind="note", name=GATE_PASSED))


def _members(run: Run, reading: ApplicationReading, instance: InstanceReading) -> tuple[MemberReading, ...]:
    """Members to remove once the instance is down: none under static membership.

    Where the instance is down already, the ones that stood on its last card.
    """
    if run.plan().facts.static_membership:
        return ()
    if isinstance(instance.streams, StreamsReading) and isinstance(reading.group, GroupReading):
        return members_of(reading.group, instance.streams.client_id)
    known = {member.member_id for member in reading.group.members} if isinstance(reading.group, GroupReading) else set()
    for card in reversed(run.ledger.cards(run.key)):
        if card.object == instance.instance:
            kept = decode(tuple[MemberReading, ...], card.facts["members"])
            return tuple(member for member in kept if member.member_id in known)
    return ()


def _remove(run: Run, members: tuple[MemberReading, ...]) -> None:
    group = run.application.application_id
    GroupWriter(run.kafka, dry_run=run.dry_run).remove_members(group, members)
    run.say(
        f"group {group}: {len(members)} members of the stopped instance removed, nothing waits for its session timeout"
    )


def _card(run: Run, bounce: Bounce, instance: InstanceReading, members: tuple[MemberReading, ...]) -> Card:
    deployment, streams = instance.deployment, instance.streams
    before = next(
        (
            card
            for card in run.ledger.cards(run.key)
            if card.object == instance.instance and card.facts["bounce"] == bounce.number
        ),
        None,
    )
    facts = {
        "bounce": bounce.number,
        "release": encode(deployment.release) if isinstance(deployment, Deployment) else None,
        "settings": dict(deployment.settings) if isinstance(deployment, Deployment) else {},
        "previous": encode(streams.start) if isinstance(streams, StreamsReading) else None,
        "members": encode(members),
        "by_hand": [],
    }
    if before is not None:
        # A rerun of the same bounce: the way back leads to what ran before the first try, not to a half-way point.
        facts |= {"release": before.facts["release"], "settings": before.facts["settings"]}
    final = run.plan().bounces[-1].number == bounce.number and bounce.number > 1
    clear = clears_state(str(facts["release"]), bounce.release)
    facts["by_hand"] = run.deployer.by_hand(
        instance.instance, str(facts["release"]), dict(facts["settings"]), clear_state=clear
    )
    return Card(
        run_key=run.key,
        seq=len(run.ledger.cards(run.key)) + 1,
        task_id=run.task_id,
        step=f"bounce {bounce.number}",
        object=instance.instance,
        what=f"{instance.instance}: {bounce.sentence}",
        undo=f"{instance.instance} back to {facts['release']}"
        + "".join(f" with {key}={value}" for key, value in dict(facts["settings"]).items()),
        cost="one restart" + (" and a full restore: its local state is cleared first" if clear else ""),
        data_affected=final,
        point_of_no_return=final,
        facts=facts,
        at_ms=now_ms(),
        done=False,
    )


def _previous_start(instance: InstanceReading) -> Start | None:
    return instance.streams.start if isinstance(instance.streams, StreamsReading) else None
