"""How each runbook that changes releases or settings makes its plan."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kstreams_runbooks.decide.bump_plan import bump_plan
from kstreams_runbooks.decide.restart_plan import restart_plan
from kstreams_runbooks.decide.roll_preflight import may_be_rolled
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.plan import Plan
from kstreams_runbooks.model.readings import ApplicationReading
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from kstreams_runbooks.steps.code import code_digest
from kstreams_runbooks.steps.fitting import require_topics
from kstreams_runbooks.steps.run import Run
from kstreams_runbooks.steps.sides import before_a_roll, known_of


def library_bump(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """To another Kafka Streams release: one or two rolling bounces."""
    made = run.decide(
        bump_plan,
        reading=reading,
        declared=run.declared,
        target=str(run.record.params["target"]),
        rules=upgrade_path_rules(),
        findings=findings,
        limits=run.declared.limits,
        code=code_digest(run.record.dag_id),
    )
    return _with_what_it_changes(run, reading, made)


def rolling_bounce(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """To another release or other settings on the same library, one instance after another."""
    return _restart(run, reading, findings, at_once=False)


def stop_and_restart(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """The same with every instance down at once."""
    return _restart(run, reading, findings, at_once=True)


def _restart(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...], *, at_once: bool) -> Plan:
    made = run.decide(
        restart_plan,
        reading=reading,
        declared=run.declared,
        release=run.record.params.get("release") or None,
        settings=_given(run.record.params.get("settings")),
        findings=findings,
        limits=run.declared.limits,
        code=code_digest(run.record.dag_id),
        at_once=at_once,
    )
    # What a deployer would refuse once an instance is down is refused here, while all of them run.
    for name in made.facts.instances:
        for bounce in made.bounces:
            run.deployer.check_apply(name, bounce.release, dict(bounce.settings))
    return _with_what_it_changes(run, reading, made)


def _with_what_it_changes(run: Run, reading: ApplicationReading, made: Plan) -> Plan:
    """The plan with what follows from the topology of its release; Refused or Inconclusive where it may not be rolled.

    That is where the cluster lacks a topic, or has one that the release cannot work with, and where the topology
    changes more than a roll may. Settings are in no description, and where every instance has that release already
    nothing in it changes. What is added explains the plan to a person and is no part of its digest.
    """
    made = replace(made, findings=(*made.findings, *require_topics(run, reading, made.bounces)))
    release = made.bounces[-1].release
    if {one.release for one in made.facts.at_start} == {release}:
        return made
    before, after = before_a_roll(run, reading, release)
    verdict = run.decide(
        may_be_rolled,
        before=before,
        after=after,
        known=known_of(run, reading),
        rules=topology_change_rules(),
        versions=upgrade_path_rules(),
        at_once=made.at_once,
    )
    for finding in verdict.findings:
        run.say(f"{finding.severity} {finding.id} on {finding.object}: {finding.message}")
    run.demand(verdict)
    return replace(made, findings=(*made.findings, *verdict.findings))


def _given(settings: Any) -> dict[str, str | None]:
    """Settings of the form as text; BadInput for what is no flat object."""
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise BadInput(f"settings: {settings!r} is no object; give one such as " + '{"num.stream.threads": 2}')
    given: dict[str, str | None] = {}
    for key, value in settings.items():
        if isinstance(value, bool):
            given[key] = str(value).lower()
        elif value is None or isinstance(value, str | int | float):
            given[key] = None if value is None else str(value)
        else:
            raise BadInput(f"settings: {key} is {value!r} (expected text, a number, true, false, or null to unset it)")
    return given
