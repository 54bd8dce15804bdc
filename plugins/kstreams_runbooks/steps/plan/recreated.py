"""Demands at `plan` that no run loses the state of a changelog that was recreated."""

from collections.abc import Iterable
from functools import partial

from kstreams_runbooks.decide.plans.recreated import ACKNOWLEDGE, accepted_before, may_keep_state, never_compared
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.steps.run.form import given_reason
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.watch.recreated import read_recreated


def require_state_kept(run: Run, made: Plan) -> tuple[Finding, ...]:
    """Findings about the recreated changelogs of every side, for the approver.

    Refused if the plan loses the state of one and the form has no reason; BadInput for a reason without words;
    Inconclusive if the present topics cannot be compared with the expected ones.
    """
    reason = given_reason(run.record.params, ACKNOWLEDGE)
    findings: tuple[Finding, ...] = ()
    for part in made.parts:
        side = run.on(part.application)
        if side.declared.as_deployed:
            continue
        of = (run.ledger, side.about, side.declared.application_id, run.kafka)
        seen = run.patiently(partial(read_recreated, *of, now_ms()))
        if isinstance(seen, Missing):
            raise Inconclusive(f"whether a topic of {part.application} was recreated is not known: {seen.missing}")
        plan = made.of_application(part.application)
        if seen is None:
            findings += _said(run, never_compared(plan))
            continue
        findings += _said(run, accepted_before(plan, seen.accepted))
        if not seen.topics:
            continue
        verdict = run.decide(may_keep_state, plan=plan, recreated=seen.topics, declared=side.declared, reason=reason)
        findings += _said(run, verdict.findings)
        run.demand(verdict)
    return findings


def _said(run: Run, found: Iterable[Finding]) -> tuple[Finding, ...]:
    findings = tuple(found)
    run.say_findings(findings)
    return findings
