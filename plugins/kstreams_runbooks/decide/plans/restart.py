"""From a reading to the plan of a rolling bounce, or of a stop and restart: same library, new release or settings."""

from collections.abc import Iterator, Mapping

from kstreams_runbooks.decide.plans.basis import (
    UPGRADE_FROM,
    all_down,
    costs,
    costs_at_once,
    facts,
    kept_settings,
    one_down,
    other_library,
    require_declared,
)
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.model.runs.plan import Plan, PlanFacts
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.verdicts import Finding


def restart_plan(
    reading: ApplicationReading,
    declared: DeclaredApplication,
    release: str | None,
    settings: dict[str, str | None],
    findings: tuple[Finding, ...],
    limits: tuple[tuple[str, float], ...],
    code: str,
    *,
    at_once: bool,
    restart: bool = False,
) -> Plan:
    """The plan that brings every instance to `release` (None: the present one) and to `settings` over its own.

    A setting that is None is unset. With `at_once` all instances are down together, also if nothing changes: an
    application whose set of internal or source topics changes needs that (decide/change/preflight.py). With `restart`
    each instance is restarted as it is deployed, one after another.

    BadInput for a release that is not declared, for a setting of another runbook, for a rolling bounce that would
    change nothing without `restart`, and for a change with it; Refused if the library would change too.
    """
    if restart and (release or settings):
        raise BadInput(
            "restart: is a restart without a change, and the form has a release or settings too (expected none); leave "
            "them empty, or restart off: a change restarts every instance"
        )
    found = facts(reading, declared, code)
    target = release or _one_release(found)
    require_declared(declared, target)
    if UPGRADE_FROM in settings:
        raise BadInput(f"settings: {UPGRADE_FROM} is set and unset by library_bump alone; leave it out")
    _same_library(found, declared, target)
    kept = kept_settings(reading, frozenset({UPGRADE_FROM, *settings}))
    wanted = kept | {key: value for key, value in settings.items() if value is not None}
    _no_upgrade_from(found)
    library = other_library(target, declared.library(target))
    bounce = Bounce(1, target, tuple(sorted(wanted.items())), library, again=restart)
    changed = [one for one in found.at_start if one.target != bounce.target]
    if not changed and not at_once and not restart:
        raise BadInput(
            f"nothing to change: every instance of {declared.name} is deployed as {bounce.deployed} already; give "
            "another release or other settings, or trigger a new run with --param restart=true (a restart without a "
            "change, one after another)"
        )
    return Plan(
        runbook="stop_and_restart" if at_once else "rolling_bounce",
        application=declared.name,
        cluster=declared.cluster,
        change=(*_change(target, settings), *((("restart", "without a change"),) if restart else ())),
        limits=limits,
        stages=(bounce,),
        facts=found,
        costs=tuple(costs_at_once(declared) if at_once else costs(declared)),
        findings=findings,
        undo=(_undo(found, at_once=at_once),),
        title=f"{_title(at_once=at_once, restart=restart)} {bounce.deployed}",
        worst_case=all_down(declared) if at_once else one_down(declared),
        at_once=at_once,
    )


def _title(*, at_once: bool, restart: bool) -> str:
    if at_once:
        return "stop and restart with"
    return "rolling restart of" if restart else "rolling bounce to"


def _one_release(found: PlanFacts) -> str:
    releases = sorted({one.release for one in found.at_start})
    if len(releases) > 1:
        raise BadInput(
            f"release: not given, and the instances have {' and '.join(releases)}; name the one that is wanted: "
            f"trigger a new run with --param release={releases[-1]}"
        )
    return releases[0]


def _same_library(found: PlanFacts, declared: DeclaredApplication, target: str) -> None:
    for one in found.at_start:
        if one.version != declared.library(target):
            raise Refused(
                f"release {target} is Kafka Streams {declared.library(target)}, {one.instance} has {one.version} "
                "(expected: the same library); trigger library_bump, which knows what lies between them"
            )


def _no_upgrade_from(found: PlanFacts) -> None:
    for one in found.at_start:
        if value := dict(one.settings).get(UPGRADE_FROM):
            raise Refused(
                f"{one.instance} still has {UPGRADE_FROM}={value}: a library bump is not finished; take it back (undo) "
                f"or finish it: trigger library_bump with --param target={one.release}"
            )


def _change(target: str, settings: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    yield "release", target
    for key, value in sorted(settings.items()):
        yield key, "unset" if value is None else value


def _undo(found: PlanFacts, *, at_once: bool) -> str:
    before = sorted({one.deployed for one in found.at_start})
    return f"every instance back to {' or '.join(before)}, {'all at once' if at_once else 'one after another'}"
