"""What a plan demands before its run changes anything: at `plan`, and once more right before its first change."""

from dataclasses import replace

from kstreams_runbooks.decide.instances.stays_down import stays_down
from kstreams_runbooks.decide.plans.writable import may_write, planned_writes
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.model.runs.cards import WRITTEN_KINDS
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import StopAll
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.observe.kafka.touched import read_touched
from kstreams_runbooks.observe.login.principal import principal_of
from kstreams_runbooks.steps.run.run import Run


def may_begin(run: Run, made: Plan, reading: ApplicationReading) -> tuple[Finding, ...]:
    """Findings about the sides that a plan stops; `reading` is that of the run's own application.

    Refused or Inconclusive if this login may not make every write of the plan, if its topics are not healthy, or if an
    instance that the plan stops may be started by something else.
    """
    _require_writable(run, made)
    findings: tuple[Finding, ...] = ()
    for application in dict.fromkeys(made.application_of(one) for one in made.stages if isinstance(one, StopAll)):
        side = run.on(application)
        findings += stopped_for_good(side, reading if side == run.first else side.read(), required=True)
    return findings


def stopped_for_good(run: Run, reading: ApplicationReading, *, required: bool) -> tuple[Finding, ...]:
    """Findings about what may start an instance that is stopped; Refused if something would.

    With `required` it is Inconclusive if that is neither reported nor declared.
    """
    verdict = run.decide(
        stays_down,
        instances=reading.instances,
        application=run.record.application,
        required=required,
        declared=run.deployer.abilities.stays_stopped,
    )
    run.demand(verdict)
    return verdict.findings


def require_still_writable(run: Run) -> None:
    """Demand again what `plan` demanded of rights and topics, unless the run has begun to write to them.

    The approval may have waited for hours.
    """
    if not any(card.kind in WRITTEN_KINDS for card in run.ledger.cards(run.key)):
        _require_writable(run, run.whole_plan())


def stops(plan: Plan) -> bool:
    """Whether a stage of the plan stops every instance, and other stages follow before the start."""
    return any(isinstance(one, StopAll) for one in plan.stages)


def _require_writable(run: Run, plan: Plan) -> None:
    stopped = {one.side: plan.application_of(one) for one in plan.stages if isinstance(one, StopAll)}
    of_sides = {role: run.on(name).application.application_id for role, name in stopped.items()}
    writes = planned_writes(plan, of_sides)
    if not writes:
        return
    topics = {name for one in writes for name in one.topics}
    groups = {one.group for one in writes if one.group}
    with run.reader() as reader:
        principal = load_fleet().cluster(run.application.cluster).principal or principal_of(run.kafka)
        reading = replace(read_touched(reader, topics, groups), principal=principal)
    run.demand(run.decide(may_write, reading=reading, writes=writes))
