"""Brings one instance to one bounce: the guards once more, the undo card, the restart."""

import time
from dataclasses import replace

from kstreams_runbooks.act.groups import GroupWriter
from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.decide.instances.guards import nothing_drifted
from kstreams_runbooks.decide.instances.rolling import has_ended, in_place, left_behind, others_unwell, restores_nothing
from kstreams_runbooks.errors import Drifted, Inconclusive, Refused, RunbookError
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    InstanceReading,
    MemberReading,
    Missing,
    Start,
)
from kstreams_runbooks.model.readings.states import is_beginning, is_down
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe import read_streams
from kstreams_runbooks.steps.instances.measured import Measuring
from kstreams_runbooks.steps.instances.untouched import keep_untouched, note_state, still_up
from kstreams_runbooks.steps.plan.cards import (
    had_before,
    members_in_group,
    own_changes,
    previous_start,
    to_restart,
    write_card,
)
from kstreams_runbooks.steps.plan.fitting import require_topics_still
from kstreams_runbooks.steps.plan.killed import ends_of_instance, keep_cleared, releases_of
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run, now_ms

# Parking a task costs Airflow about as much processor time as a small instance needs to start: not at the same moment.
_START_S = 15
_LOOK_EVERY_S = 0.5
# A rebalance of the instance before; a restore that takes longer is left to a person, and holds no worker.
_RESTORED = Pace(_LOOK_EVERY_S, 120)


def bring(run: Run, bounce: Bounce, reading: ApplicationReading, instance: InstanceReading) -> Start | None:
    """Restart one instance unless it is in place; returns the start that no longer counts as ready.

    Refused or Inconclusive, and nothing changed, if a guard refuses. The undo card is written first.
    """
    name, deployment = instance.instance, instance.deployment
    known(instance)
    if in_place(instance, bounce, reading.taken.at_ms) and not to_restart(run, bounce, instance):
        run.say(f"{name}: already runs {bounce.release} as planned; only its gate is left")
        return previous_start(run, name) if bounce.again else None
    guard(run, bounce, reading, name)
    if isinstance(deployment, Deployment) and not (is_down(deployment.process) and deployment.pid is None):
        run.deployer.check_apply(name, bounce.target)
        run.deployer.check_start(name, bounce.once)
    members = members_to_remove(run, reading, instance)
    write_card(run, reading, instance, bounce, members, instance.streams.start)
    run.say(f"{name}: stops, {bounce.sentence}, starts")
    ends = ends_of_instance(run, instance, bounce.version, run.deployer)
    try:
        times = restart(
            run.deployer,
            name,
            bounce.target,
            remove_members=(lambda: remove(run, members)) if members else None,
            clears=bounce.clears,
            must_clear=bounce.must_clear,
            once=bounce.once,
            log=run.say,
            had=had_before(run, name),
            still_up=lambda: still_up(run, instance),
            at_stop=lambda: note_state(run, bounce, instance),
            left=ends,
        )
    except RunbookError:
        keep_untouched(run, (instance,))
        raise
    finally:
        keep_cleared(run, ends)
    run.keep("write", "restart", {"instance": name, "bounce": bounce.number, "times": encode(times)})
    return instance.streams.start


def known(instance: InstanceReading) -> None:
    """Inconclusive if the release or the settings of the instance are unknown: undo leads back to them."""
    deployment = instance.deployment
    for part in (deployment, deployment.release if isinstance(deployment, Deployment) else deployment):
        if isinstance(part, Missing):
            raise Inconclusive(f"{instance.instance} is not touched: {part.missing}")


def guard(run: Run, bounce: Bounce, reading: ApplicationReading, name: str) -> None:
    """Refused or Inconclusive if instance `name` may not be changed now."""
    if unwell := others_unwell(reading, name):
        raise Refused(f"{name} is not touched: {'; '.join(unwell)}; mend that first, then clear {run.task_id}")
    if why := left_behind(reading, name, bounce, run.plan()):
        raise Refused(why)
    require_as_planned(run, bounce, reading, name, f"{name} is not touched")
    own = reading.instance(name)
    if not isinstance(own, Missing):
        require_restored(run, own)
    require_topics_still(run, reading, f"{name} is not touched", down=not isinstance(own, Missing) and has_ended(own))


def require_restored(run: Run, instance: InstanceReading) -> None:
    """Wait for a moment while a task of an instance restores whose release must not be stopped then.

    Refused if it still does, Inconclusive if that is not known.
    """
    if not (first := run.plan().restored_first):
        return
    ran = releases_of(run, instance)
    defects = tuple(row for one in first if not ran or one.library in ran for row in one.defects)
    if not defects:
        return

    def look() -> tuple[InstanceReading, Verdict]:
        [url] = [one.metrics for one in run.application.deployer.instances if one.name == instance.instance]
        now = replace(instance, streams=read_streams(url, application_id=run.application.application_id))
        return now, restores_nothing(now, defects)

    waits = restores_nothing(instance, defects).outcome is Outcome.WAIT
    now = poll(run, _RESTORED, look, lambda verdict: verdict.outcome is not Outcome.WAIT) if waits else instance
    verdict = run.decide(restores_nothing, instance=now, defects=defects)
    if verdict.outcome is Outcome.WAIT:
        raise Refused(
            f"{instance.instance} is not stopped: {verdict.text}; clear {run.task_id} once it has restored. If it "
            "never does, stop it and delete its task directories manually, then clear it"
        )
    run.demand(verdict)


def require_as_planned(run: Run, bounce: Bounce, reading: ApplicationReading, name: str, untouched: str) -> None:
    """Drifted or Inconclusive, beginning with what is `untouched`, if the plan does not fit the application now."""
    of = {"name": name, "number": bounce.number, "own": own_changes(run)}
    guarded = run.decide(nothing_drifted, reading=reading, plan=run.plan(), **of)
    if guarded.outcome is Outcome.INCONCLUSIVE:
        raise Inconclusive(f"{untouched}: {guarded.text}")
    if guarded.outcome is not Outcome.PROCEED:
        raise Drifted(f"{untouched}: {guarded.text}")


def let_it_start(run: Run, name: str) -> Start | None:
    """Wait for a moment while the instance starts; returns the start whose Streams client was seen, None for none.

    It measures the restart if it sees the instance RUNNING. The gate decides whether it is ready.
    """
    [url] = [one.metrics for one in run.application.deployer.instances if one.name == name]
    measuring = Measuring(run)
    seen, until = None, time.monotonic() + _START_S
    while time.monotonic() < until:
        streams = read_streams(url, application_id=run.application.application_id)
        measuring.look(run, name, streams, now_ms())
        if isinstance(streams, Missing):
            if seen is not None:
                break
        else:
            seen = streams.start
            if not is_beginning(streams.state):
                break
        time.sleep(_LOOK_EVERY_S)
    measuring.leave(run)
    return seen


def members_to_remove(run: Run, reading: ApplicationReading, instance: InstanceReading) -> tuple[MemberReading, ...]:
    """Members to remove once the instance is down: none under static membership."""
    return () if run.plan().facts.static_membership else members_in_group(run, reading, instance)


def remove(run: Run, members: tuple[MemberReading, ...]) -> None:
    """Remove the members of an instance whose process is gone from the group."""
    group = run.application.application_id
    GroupWriter(run.kafka, dry_run=run.dry_run).remove_members(group, members)
    run.say(
        f"group {group}: {len(members)} members of the stopped instance removed, nothing waits for its session timeout"
    )
