"""What really became of the instances of a step that failed: their cards were written before the write."""

from collections.abc import Iterable

from kstreams_runbooks.decide.plans.set_back import opens
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.ledger.card_facts import instance_facts
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.readings import Deployment, InstanceReading, Missing
from kstreams_runbooks.model.readings.reset import LocalTimes
from kstreams_runbooks.model.readings.states import is_up
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.observe import read_streams
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.plan.cards import UNTOUCHED, last_card
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.cleaned_up import local_times
from kstreams_runbooks.wire.limits import ExchangeLimits

# The ledger's entry for the times of local state when an instance had been stopped.
_AT_STOP = "local state at its stop"
# Between a stop and a start each moment counts, and a process that lives answers at once or not at all.
_QUICK = ExchangeLimits(connect_s=0.3, silence_s=0.5, answer_s=0.5)


def still_up(run: Run, instance: InstanceReading) -> str:
    """Why an instance that its deployer reports as stopped still runs, empty if its agent does not show that."""
    [url] = [one.metrics for one in run.application.deployer.instances if one.name == instance.instance]
    before = instance.streams.start
    if run.application.as_deployed or before is None:
        return ""
    now = read_streams(url, application_id=run.application.application_id, limits=_QUICK).start
    return f"its agent still answers for the start from before (pid {before.pid})" if now == before else ""


def keep_untouched(run: Run, instances: Iterable[InstanceReading]) -> None:
    """Keep which of these instances are as they were in this reading: a run has not changed what a card announced.

    An instance that cannot be read counts as changed.
    """
    try:
        found = {one.instance: one for one in make_deployer(run.application, dry_run=True).instances()}
    except Exception as error:  # noqa: BLE001 - the error of the step is the one to report
        run.say(f"whether anything was changed cannot be read: {error}")
        return
    for instance in instances:
        card, now = last_card(run, instance.instance), found.get(instance.instance)
        if card is not None and now is not None and _is_same(instance.deployment, now):
            run.keep("note", UNTOUCHED, {"card": card.seq})
            run.say(f"{instance.instance}: its process and its settings are those from before, it was not changed")


def note_state(run: Run, bounce: Bounce, instance: InstanceReading) -> None:
    """Keep the times of the local state of an instance that has just been stopped, if its way back may need them.

    `instance` is its reading before the stop: only what it ran before the bounce leaves the state that it opens again.
    It still ran that if the bounce was set already, by a try that was killed, and was not in effect.
    """
    card, deployment = last_card(run, instance.instance), instance.deployment
    if card is None or not bounce.back:
        return
    before = instance_facts(card).before
    if opens(before, bounce, upgrade_path_rules()):
        return
    ran = (deployment.target, deployment.applied) if isinstance(deployment, Deployment) else None
    if ran in {(before.target, True), (bounce.target, False)}:
        times = local_times(run, instance.instance)
        run.keep("note", _AT_STOP, {"instance": instance.instance, "bounce": bounce.number, "times": times})


def noted_state(run: Run, bounce: Bounce, name: str) -> LocalTimes:
    """The newest of these times; Missing if there are none."""
    for one in reversed(run.ledger.evidence(run.key, kind="note", name=_AT_STOP)):
        if (one.payload["instance"], one.payload["bounce"]) == (name, bounce.number):
            noted: LocalTimes = decode(LocalTimes, one.payload["times"])
            return noted
    return LocalTimes(name, Missing("its local state was not looked at when it was stopped"))


def _is_same(before: Deployment | Missing, now: Deployment) -> bool:
    """Whether the same process runs, on the same settings."""
    if isinstance(before, Missing) or not is_up(now.process):
        return False
    start = (now.started_at_ms, now.pid)
    known = start != (None, None) and not isinstance(now.target, Missing)
    return known and (start, now.target) == ((before.started_at_ms, before.pid), before.target)
