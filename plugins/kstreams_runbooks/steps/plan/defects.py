"""The known defects of the releases that run and of the one that a plan brings: shown, and in no plan's digest."""

from collections.abc import Collection
from dataclasses import replace

from kstreams_runbooks.decide.change.defects import defects_that_bite, defects_with, known_facts
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.model.local_state import RestoredFirst
from kstreams_runbooks.model.readings.readings import ApplicationReading, BrokerReading
from kstreams_runbooks.model.releases.rules import DefectEffect
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.plan.late_losses import versions_of
from kstreams_runbooks.steps.run.run import Run


def with_defects(run: Run, made: Plan, taken_by: str) -> Plan:
    """The plan with a finding for each known defect that bites one of its applications, or may.

    `taken_by` is the step whose reading has the instances.
    """
    found: list[Finding] = []
    for part in made.parts:
        side = run.on(part.application)
        if not side.application.as_deployed:
            found += planned_defects(side, side.observed(taken_by), made.of_side(part.role))
    return replace(made, findings=(*made.findings, *found))


def defects_of_stops(
    run: Run, reading: ApplicationReading, made: Plan, effect: DefectEffect, libraries: Collection[str]
) -> tuple[str, ...]:
    """The defects of these releases for which something is done differently; a version is described only for one."""
    broker = reading.broker.version if isinstance(reading.broker, BrokerReading) else reading.broker
    rules, settings = upgrade_path_rules(), made.bounces[-1].settings if made.bounces else ()

    def defects(versions: tuple[Described, ...]) -> tuple[str, ...]:
        facts = known_facts(reading, run.declared, versions, settings)
        every = (row for one in sorted(libraries) for row in defects_with(effect, one, facts, rules, broker))
        return tuple(dict.fromkeys(every))

    return defects(_versions(run, reading, made)) if defects(()) else ()


def with_restored_first(run: Run, made: Plan, taken_by: str) -> Plan:
    """The plan with the releases that it does not stop while a task restores; `taken_by` as in `with_defects`."""
    found: list[RestoredFirst] = []
    for part in made.parts:
        side, own = run.on(part.application), made.of_side(part.role)
        if side.application.copies or side.application.as_deployed or not own.bounces:
            continue
        reading = side.observed(taken_by)
        libraries = sorted({*(one.version for one in part.facts.at_start), *(one.version for one in own.bounces)})
        rows = {one: defects_of_stops(side, reading, own, "no_stop_while_restoring", (one,)) for one in libraries}
        found += [RestoredFirst(library, defects, part.role) for library, defects in rows.items() if defects]
    said = [
        f"no instance on {one.library} is stopped while a task of it restores ({', '.join(one.defects)})"
        for one in found
    ]
    return replace(made, restored_first=tuple(found), worst_case="; ".join((made.worst_case, *said)))


def _versions(run: Run, reading: ApplicationReading, made: Plan | None) -> tuple[Described, ...]:
    """The versions that run and the one that a plan brings; none if one of them cannot be described."""
    try:
        versions, unread = versions_of(run, reading, made)
    except RunbookError:
        return ()
    return () if unread else versions


def planned_defects(run: Run, reading: ApplicationReading, made: Plan | None = None) -> tuple[Finding, ...]:
    """The known defects that bite an application as it was read, with the release that `made` brings; in the log too.

    If a version cannot be described, what only its program shows is not known, and a defect may apply.
    """
    last = made.bounces[-1] if made is not None and made.bounces else None
    described: tuple[Described, ...] = ()
    # An instance that does not report has its description from a command, which may take minutes: only a plan needs it.
    if made is not None or not any(one.silent for one in reading.instances):
        described = _versions(run, reading, made)
    found = run.decide(
        defects_that_bite,
        reading=reading,
        declared=run.declared,
        versions=described,
        rules=upgrade_path_rules(),
        target="" if last is None else run.declared.library(last.release),
        settings=() if last is None else last.settings,
    )
    run.say_findings(found)
    return found
