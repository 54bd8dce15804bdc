"""Brings one instance to one bounce through a person: guards and undo card as always, then a request, not a restart.

A deferral of its own waits for it (`deploy_trigger`), and the task is resumable: after an operator clears it in the
middle, the observed state shows whether the request is still open.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from airflow.sdk import get_current_context

from kstreams_runbooks.decide.instances.deployed import left_in_group, old_start_gone
from kstreams_runbooks.decide.instances.members import settings_text
from kstreams_runbooks.decide.instances.rolling import in_place
from kstreams_runbooks.decide.runs.approval import when
from kstreams_runbooks.decide.runs.message import needs_you
from kstreams_runbooks.decide.runs.note import waiting
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.ledger.card_facts import instance_facts
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.readings import ApplicationReading, Deployment, InstanceReading, Start
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.runs.gate import Awaited
from kstreams_runbooks.model.runs.question import QUESTION, PresentQuestion
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.times import HOUR_MS
from kstreams_runbooks.steps.instances.bring import guard, known, members_to_remove, remove
from kstreams_runbooks.steps.plan.cards import instance_cards, to_restart, write_card
from kstreams_runbooks.steps.plan.killed import killed_requests
from kstreams_runbooks.steps.run.ending import leave
from kstreams_runbooks.steps.run.note import WAITS, note
from kstreams_runbooks.steps.run.notify import notify
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.wording import markdown, outside

# The ledgers of earlier runs have this name for requests: keep it.
REQUESTED = "a person was asked"


def request_bounce(run: Run, bounce: Bounce, reading: ApplicationReading, instance: InstanceReading) -> Awaited | None:
    """Request this bounce of one instance from a person; None if it is deployed already and only its gate is left.

    Refused or Inconclusive, and nothing requested, if a guard refuses or if a new start could not be distinguished from
    the old one. The undo card is written first.
    """
    name = instance.instance
    known(instance)
    start_then = _start_at_request(run, bounce, name)
    new = start_then is None or instance.streams.start != start_then
    if new and in_place(instance, bounce, reading.taken.at_ms) and not to_restart(run, bounce, instance):
        run.say(f"{name}: already runs {bounce.release} as planned; only its gate is left")
        return None
    guard(run, bounce, reading, name)
    run.deployer.check_apply(name, bounce.target)
    run.deployer.check_start(name, bounce.once)
    previous = _previous(instance, start_then)
    members = members_to_remove(run, reading, instance)
    requests = _requests(run, bounce, name)
    write_card(run, reading, instance, bounce, members, previous)
    run.keep("note", REQUESTED, encode({"instance": name, "bounce": bounce.number, "requests": requests}))
    run.say(f"{name} {_now(instance)}")
    for one in requests:
        run.say(f"PLEASE {one}")
    run.say("touch no other instance: the next is requested once this one has passed its gate")
    hours = run.plan().limit("deploy_wait_h")
    run.say(f"waits for it for up to {hours:g} h (deploy_wait_h)")
    until_ms, of = now_ms() + int(hours * HOUR_MS), f"{name}/{bounce.number}"
    asks, at_ms = f"deploy {name}; the run observes it and goes on", now_ms()
    note(
        run,
        WAITS,
        lambda zone: waiting(
            run.task_id, asks, f"waits until {when(until_ms, zone)}; state read at {when(at_ms, zone)}", requests
        ),
    )
    subject = outside(f"[{run.record.application} @ {run.record.cluster}] {asks}")
    body, until = "\n\n".join(map(markdown, requests)), when(until_ms, run.declared.zone)
    # No answer ends it, so Airflow has no question: `runs` and `trigger --wait` show this one.
    leave(get_current_context(), QUESTION, asdict(PresentQuestion(subject, body, "", until, "", "", at_ms)))
    notify(run, needs_you, asks=f"deploy {name}", lines=requests, deadline_ms=until_ms, of=of)
    return remove_left(run, reading, Awaited(name, bounce, previous, members))


def withdraw_request(context: Mapping[str, Any]) -> None:
    """Leave no question any more: the request is done, or the time for it is over."""
    leave(context, QUESTION, {})


def remove_left(run: Run, reading: ApplicationReading, awaited: Awaited) -> Awaited:
    """Remove what the old start left in the group, if it is gone; returns what is still awaited after that."""
    if not awaited.members or not old_start_gone(reading, awaited):
        return awaited
    if left := left_in_group(reading, awaited):
        remove(run, left)
    return Awaited(awaited.instance, awaited.bounce, awaited.previous)


def _requests(run: Run, bounce: Bounce, name: str) -> list[str]:
    """What the person does, in this order; the deletion of state is the one thing that cannot be observed."""
    deploy = run.deployer.request("deploy", name, bounce.target, once=bounce.once)
    if bounce.clears is None:
        return [*killed_requests(run, name), deploy]
    return [
        *killed_requests(run, name),
        run.deployer.request("stop", name),
        run.deployer.request("clear_state", name, directories=bounce.clears.names),
        deploy,
    ]


def _start_at_request(run: Run, bounce: Bounce, name: str) -> Start | None:
    """The start that ran when this run last requested it, None if it has not, or if the instance was down."""
    for card in reversed(instance_cards(run)):
        if card.object == name and (facts := instance_facts(card)).bounce == bounce.number:
            return facts.previous
    return None


def _previous(instance: InstanceReading, start_then: Start | None) -> Start | None:
    """The start that does not count as the new one."""
    start = instance.streams.start or start_then
    down = isinstance(instance.deployment, Deployment) and is_down(instance.deployment.process)
    if start is None and not down:
        raise Inconclusive(
            f"the deployment of {instance.instance} is not requested: which start it runs cannot be read, so a new one "
            "could not be distinguished from it; mend its metrics first"
        )
    return start


def _now(instance: InstanceReading) -> str:
    deployment = instance.deployment
    if not isinstance(deployment, Deployment):
        return deployment.missing
    return f"is set to {deployment.release} with {settings_text(dict(deployment.settings))}"
