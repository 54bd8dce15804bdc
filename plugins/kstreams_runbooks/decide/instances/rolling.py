"""The instance that may be touched next in a rolling bounce."""

from kstreams_runbooks.model.readings.readings import ApplicationReading, Deployment, InstanceReading, Missing
from kstreams_runbooks.model.readings.states import CLIENT_DUE_MS, is_dead, is_down, is_up, is_well
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.verdicts import Outcome, Verdict


def in_place(instance: InstanceReading, bounce: Bounce, at_ms: int) -> bool:
    """Whether the instance runs the bounce's release with its settings in effect (its gate may still be open).

    An instance whose Streams client has died is not in place: its process runs, but it never recovers by itself.
    `at_ms` is when the reading was taken.
    """
    deployment, streams = instance.deployment, instance.streams
    if isinstance(deployment, Missing) or not is_up(deployment.process):
        return False
    if deployment.target != bounce.target or deployment.applied is not True:
        return False
    if isinstance(streams, Missing):
        return streams.start is None or at_ms - streams.start.started_at_ms <= CLIENT_DUE_MS
    return streams.version == bounce.version and is_well(streams.state)


def others_unwell(reading: ApplicationReading, name: str) -> tuple[str, ...]:
    """Why `name` may not be stopped now: another instance is not RUNNING. Empty if `name` itself is down already.

    Starting an instance that is down is harmless; stopping a second instance is not.
    """
    own = reading.instance(name)
    if isinstance(own, InstanceReading) and has_ended(own):
        return ()
    unwell = []
    for instance in reading.instances:
        if instance.instance == name:
            continue
        if instance.down:
            unwell.append(instance.ended)
        elif isinstance(instance.streams, Missing):
            unwell.append(instance.silent)
        elif instance.streams.state != "RUNNING":
            unwell.append(f"{instance.instance} is in {instance.streams.state} (expected RUNNING){instance.log_end}")
    return tuple(unwell)


def restores_nothing(instance: InstanceReading, defects: tuple[str, ...]) -> Verdict:
    """Whether an instance whose release has these `defects` may be stopped: none of its active tasks restores.

    An instance is RUNNING once its active tasks are restored (tests/long/test_killed_in_a_transaction.py). From 3.8 on
    a metric also shows a task that restores later. Its standbys do not count.
    """
    why, streams, name = f"({', '.join(defects)})", instance.streams, instance.instance
    if has_ended(instance):
        return Verdict(Outcome.PROCEED, (f"{name} has ended",))
    if isinstance(streams, Missing):
        return Verdict(
            Outcome.INCONCLUSIVE, (f"whether a task of {name} restores is not known {why}: {streams.missing}",)
        )
    if streams.state != "RUNNING":
        return Verdict(Outcome.WAIT, (f"{name} is in {streams.state}, its tasks may restore {why}",))
    if isinstance(streams.restoring, int) and streams.restoring:
        return Verdict(Outcome.WAIT, (f"{name}: {streams.restoring} tasks restore (limit 0) {why}",))
    return Verdict(Outcome.PROCEED, (f"no task of {name} restores",))


def beyond(instance: InstanceReading, bounce: Bounce, plan: Plan, at_ms: int) -> bool:
    """Whether the instance is already in a later bounce of the plan: a rerun leaves it there."""
    return any(
        later.number > bounce.number and later.takes(instance.instance) and in_place(instance, later, at_ms)
        for later in plan.bounces
    )


def left_behind(reading: ApplicationReading, name: str, bounce: Bounce, plan: Plan) -> str:
    """Why `name` may not be brought to this bounce: it still runs the old release while another is past this bounce.

    Then two record formats are in use already, and a person has to judge the effect. Empty if all is well.
    """
    own = reading.instance(name)
    ahead = [other.instance for other in reading.instances if beyond(other, bounce, plan, reading.taken.at_ms)]
    if not ahead or isinstance(own, Missing) or isinstance(own.streams, Missing):
        return ""
    if own.streams.version == bounce.version:
        return ""
    return (
        f"{name} runs {own.streams.version} while {', '.join(ahead)} is past bounce {bounce.number}: "
        "the results have to be looked at first; stop it"
    )


def has_ended(instance: InstanceReading) -> bool:
    """Whether an instance has ended and is not restarting: its process or its Streams client has ended."""
    deployment = instance.deployment
    if isinstance(deployment, Deployment) and is_down(deployment.process):
        return True
    streams = instance.streams
    if isinstance(streams, Missing):
        return streams.start is not None
    return is_dead(streams.state)
