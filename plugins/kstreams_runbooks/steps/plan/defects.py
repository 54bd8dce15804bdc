"""The known defects of the releases that run and of the one that a plan brings: shown, and in no plan's digest."""

from dataclasses import replace

from kstreams_runbooks.decide.change.defects import defects_that_bite
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.model.readings.readings import ApplicationReading
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
        if not side.application.copies:
            found += known_defects(side, side.observed(taken_by), made.of_side(part.role))
    return replace(made, findings=(*made.findings, *found))


def known_defects(run: Run, reading: ApplicationReading, made: Plan | None = None) -> tuple[Finding, ...]:
    """The known defects that bite an application as it was read, with the release that `made` brings; in the log too.

    If a version cannot be described, what only its program shows is not known, and a defect may apply.
    """
    last = made.bounces[-1] if made is not None and made.bounces else None
    described: tuple[Described, ...] = ()
    # An instance that does not report has its description from a command, which may take minutes: only a plan needs it.
    if made is not None or not any(one.silent for one in reading.instances):
        try:
            versions, unread = versions_of(run, reading, made)
        except RunbookError:
            unread = ("a version is not described",)
        described = () if unread else versions
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
