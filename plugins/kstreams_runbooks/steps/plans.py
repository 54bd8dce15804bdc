"""How each runbook that changes releases or settings makes its plan."""

from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.decide.bump_plan import bump_plan
from kstreams_runbooks.decide.restart_plan import restart_plan
from kstreams_runbooks.errors import BadInput, RunbookError
from kstreams_runbooks.model.plan import Plan
from kstreams_runbooks.model.readings import ApplicationReading, Deployment, Missing
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.observe.topology_topics import source_topics
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.code import code_digest
from kstreams_runbooks.steps.run import Run


def library_bump(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """To another Kafka Streams release: one or two rolling bounces."""
    return run.decide(
        bump_plan,
        reading=reading,
        declared=run.declared,
        target=str(run.record.params["target"]),
        rules=upgrade_path_rules(),
        findings=findings,
        limits=run.declared.limits,
        code=code_digest(run.record.dag_id),
    )


def rolling_bounce(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """To another release or other settings on the same library, one instance after another."""
    return _restart(run, reading, findings, at_once=False)


def stop_and_restart(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """The same with every instance down at once."""
    return _restart(run, reading, findings, at_once=True)


def _restart(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...], *, at_once: bool) -> Plan:
    release = run.record.params.get("release") or None
    now, then = _topics(run, reading, release)
    made = run.decide(
        restart_plan,
        reading=reading,
        declared=run.declared,
        release=release,
        settings=_given(run.record.params.get("settings")),
        findings=findings,
        limits=run.declared.limits,
        code=code_digest(run.record.dag_id),
        at_once=at_once,
        topics_now=now,
        topics_then=then,
    )
    # What a deployer would refuse once an instance is down is refused here, while all of them run.
    for name in made.facts.instances:
        for bounce in made.bounces:
            run.deployer.check_apply(name, bounce.release, dict(bounce.settings))
    return made


def _topics(
    run: Run, reading: ApplicationReading, release: str | None
) -> tuple[tuple[str, ...] | Missing, tuple[str, ...] | Missing]:
    """Topics of the release that is deployed and of the wanted one, both as described: settings are in neither."""
    deployed = {one.deployment.release for one in reading.instances if isinstance(one.deployment, Deployment)}
    names = [name for name in deployed if isinstance(name, str)]
    if release is None or names == [release]:
        return (), ()
    now = _topics_of(run, names[0]) if len(names) == 1 else Missing(f"{len(names)} releases are deployed")
    return now, _topics_of(run, release)


def _topics_of(run: Run, release: str) -> tuple[str, ...] | Missing:
    """Topics of a release that is not running yet; a release that is unknown is for the plan to refuse."""
    if release not in run.declared.releases:
        return Missing(f"release {release} is not declared")
    try:
        return tuple(sorted(source_topics(run.deployer.topology(release), run.application.application_id)))
    except RunbookError as error:
        return Missing(str(error))


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
