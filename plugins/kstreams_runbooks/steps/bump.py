"""The observing steps of a library bump: observe, check, plan, prove, verify."""

import time

from kstreams_runbooks.decide.approval import may_request
from kstreams_runbooks.decide.bump_plan import bump_plan
from kstreams_runbooks.decide.check import ready_for_bump
from kstreams_runbooks.decide.members import every_member_runs
from kstreams_runbooks.decide.verification import bump_verified
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings import ApplicationReading, Deployment, Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.authorize import take_hold
from kstreams_runbooks.steps.code import code_digest
from kstreams_runbooks.steps.run import Run, now_ms
from kstreams_runbooks.steps.task import step

# Lag has been under its limit at the last gate; a peak that lasts longer than this is no peak.
_LAG_CEILING_MS = 120_000

# `check` held the reading to its limit; a scheduler under load may take most of that limit again between two steps.
_SLOW_SCHEDULER = 10

_UNCHECKED = "`check` has not judged the newest reading of `observe`; clear `observe` and what follows it"


@step("reads broker, group, offsets, topics and every instance; changes nothing")
def observe(run: Run) -> None:
    """Read everything and keep it, for somebody who may ask."""
    demand(run, run.decide(may_request, declared=run.declared, requested_by=run.record.requested_by))
    reading = run.read()
    run.keep("reading", "application", reading)
    for line in described(reading):
        run.say(line)


@step("judges the reading; changes nothing")
def check(run: Run) -> None:
    """Refuse or be inconclusive before anything is planned, and reserve the application."""
    if run.record.wrote_at_ms:
        run.say("this run has already changed something: each step looks for itself where it stands")
        return
    reading = run.observed()
    verdict = run.decide(
        ready_for_bump,
        reading=reading,
        declared=run.declared,
        age_ms=now_ms() - reading.taken.at_ms,
        max_age_ms=int(run.limit("max_reading_age_s") * 1000),
    )
    for finding in verdict.findings:
        run.say(f"{finding.severity} {finding.id} on {finding.object}: {finding.message}")
    demand(run, verdict)
    if not run.dry_run:
        take_hold(run)


@step("derives the bounces and their cost; changes nothing")
def plan(run: Run) -> None:
    """Make the plan and keep it; a run that has written anything keeps the plan it has.

    It is made only from the newest reading, judged by `check` and still fresh, because an application may have changed
    before `plan` alone is cleared.
    """
    if run.record.wrote_at_ms:
        run.say(f"this run has already changed something: plan {run.plan().digest} stays")
        return
    reading = run.observed()
    judged = _judged(run, reading)
    demand(run, judged)
    made = run.decide(
        bump_plan,
        reading=reading,
        declared=run.declared,
        target=str(run.record.params["target"]),
        rules=upgrade_path_rules(),
        findings=judged.findings,
        limits=run.declared.limits,
        code=code_digest(run.record.dag_id),
    )
    shown = run.ledger.recall(run.key, "digest_shown")
    if shown is not None and shown != made.digest:
        raise Refused(
            f"the plan changed: {shown} was shown for approval, the world now makes {made.digest}; "
            f"trigger a new run of {run.record.dag_id} for {run.record.application}"
        )
    run.ledger.store_plan(run.key, made.digest, encode(made))
    for bounce in made.bounces:
        run.say(bounce.sentence)
    for cost in made.costs:
        run.say(f"{cost.instance}: expected gap {cost.gap_s[0]}–{cost.gap_s[1]} s ({cost.why})")
    for line in made.undo:
        run.say(f"undo {line}")
    run.say(f"plan {made.digest}")


def _planned_from(run: Run) -> ApplicationReading:
    """The reading that the plan was made from: the last that `check` judged, which it does before the first write."""
    reading, _ = _last_check(run)
    return reading


def _last_check(run: Run) -> tuple[ApplicationReading, Verdict]:
    """The newest reading that `check` judged, and what it said of it."""
    checked = run.ledger.evidence(run.key, kind="verdict", name=ready_for_bump.__name__)
    if not checked:
        raise Refused(_UNCHECKED)
    kept = checked[-1].payload
    return decode(ApplicationReading, kept["inputs"]["reading"]), decode(Verdict, kept["result"])


def _judged(run: Run, reading: ApplicationReading) -> Verdict:
    """What `check` said of this very reading; Refused where it has not seen it, or it is too old to plan from."""
    checked, judged = _last_check(run)
    if checked != reading:
        raise Refused(_UNCHECKED)
    age_s, limit_s = (now_ms() - reading.taken.at_ms) / 1000, _SLOW_SCHEDULER * run.limit("max_reading_age_s")
    if age_s > limit_s:
        raise Refused(
            f"reading of {reading.application}: {age_s:.0f} s old (limit {limit_s:.0f} s to plan from it); "
            "clear `observe` and what follows it"
        )
    return judged


@step("reads the group and every instance; changes nothing")
def prove_every_member(run: Run) -> None:
    """Show that every member of the group runs the new release, declared or not."""
    bounces = run.plan().bounces
    if run.dry_run:
        run.say("would show that every member of the group runs the new release")
        return
    reading = run.read()
    run.keep("reading", "application", reading)
    demand(run, run.decide(every_member_runs, reading=reading, bounces=bounces))


@step("compares what runs now with the plan; changes nothing")
def verify(run: Run) -> None:
    """Show that the plan is what runs, and that nothing else changed."""
    made = run.plan()
    if run.dry_run:
        run.keep("verdict", "rehearsed", {"result": encode(Verdict(Outcome.PROCEED, ("every step was rehearsed",)))})
        run.say("every step was rehearsed, nothing was changed")
        return
    pause_s = max(made.limit("gate_interval_s"), made.limit("commit_interval_s"))
    run.say(f"looks twice, {pause_s:g} s apart: progress is a difference")
    before, earlier, until_ms = _planned_from(run), run.read(), now_ms() + _LAG_CEILING_MS
    while True:
        time.sleep(pause_s)
        after = run.read()
        verdict = run.decide(bump_verified, before=before, earlier=earlier, after=after, plan=made)
        if verdict.outcome is not Outcome.WAIT or now_ms() >= until_ms:
            break
        run.say(verdict.sentence)
        earlier = after
    demand(run, verdict)


def demand(run: Run, verdict: Verdict) -> None:
    """Go on only with proceed; say the verdict either way."""
    run.say(verdict.sentence)
    if verdict.outcome is Outcome.INCONCLUSIVE:
        raise Inconclusive("; ".join(verdict.reasons))
    if verdict.outcome is not Outcome.PROCEED:
        raise Refused("; ".join(verdict.reasons))


def described(reading: ApplicationReading) -> list[str]:
    """One line per thing that was read."""
    lines = []
    for instance in reading.instances:
        streams, deployment = instance.streams, instance.deployment
        runs = streams.missing if isinstance(streams, Missing) else f"{streams.state} on {streams.version}"
        declared = deployment.missing if isinstance(deployment, Missing) else _declared(deployment)
        lines.append(f"{instance.instance}: {runs}, {declared}")
    group = reading.group
    lines.append(
        f"group: {group.missing}"
        if isinstance(group, Missing)
        else f"group {group.group_id}: {group.type}, {group.state}, {len(group.members)} members"
    )
    broker = reading.broker
    lines.append(f"broker: {broker.missing}" if isinstance(broker, Missing) else f"broker {broker.version}")
    return lines


def _declared(deployment: Deployment) -> str:
    release = deployment.release
    return f"no release declared ({release.missing})" if isinstance(release, Missing) else f"declared {release}"
