"""# A runbook for tests.

This Airflow DAG stops a copier and starts it again, as runbooks do that need the control topics of an application to
stand still.

1. **observe, check**: the application and its copier. Nothing is changed.
2. **plan, approve_plan**: approved by both teams.
3. **stop_application_copier, certify**: the copier is down, and its control topics stand still.
4. **start_application_copier, wait_caught_up_copier**.
5. **verify, conclude**: both work.

Every task is safe to clear; `undo` takes the run back.
"""

from dataclasses import replace

from airflow.sdk import Param
from kstreams_runbooks.decide.plans.basis import all_down, costs_at_once, facts
from kstreams_runbooks.decide.plans.switches import CopierSwitch
from kstreams_runbooks.fleet import load_fleet, require_copier
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.model.runs.plan import Plan, SidePart
from kstreams_runbooks.model.runs.stages import StopAll
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.approval.code import code_digest
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.instances.copier import prove_stopped, require_still_stopped
from kstreams_runbooks.steps.instances.restart import start_application, stop_application, wait_caught_up
from kstreams_runbooks.steps.plan.looking import check, observe, verify
from kstreams_runbooks.steps.plan.plan import judged, planned
from kstreams_runbooks.steps.run.form import runbook
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import step

COPIER = "copier"


def pretended(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """The stages, if the copier holds all that the application reads."""
    side, code = run.side(COPIER), code_digest(run.record.dag_id)
    require_copier(load_fleet(), run.application, side.declared.name)
    there = side.observed()
    part = SidePart(
        COPIER,
        side.declared.name,
        side.declared.cluster,
        facts(there, side.declared, code),
        tuple(costs_at_once(side.declared)),
    )
    [start] = CopierSwitch(run.application.inputs, part, ()).resuming()
    return Plan(
        runbook=run.record.dag_id,
        application=run.declared.name,
        cluster=run.declared.cluster,
        change=((COPIER, side.declared.name),),
        limits=run.declared.limits,
        stages=(StopAll(1, side=COPIER), replace(start, number=2)),
        facts=facts(reading, run.declared, code),
        costs=(),
        findings=(*findings, *judged(side, there)),
        undo=("every stage, last to first",),
        title=f"stop of copier {side.declared.name}",
        worst_case=all_down(side.declared),
        sides=(part,),
    )


@step("proves that the copier has stopped, and that it stays stopped; changes nothing")
def certify(run: Run) -> None:
    """Twice: the stop, and once more what the run would rely on."""
    if run.dry_run:
        run.say("would prove that the copier has stopped")
        return
    side = run.side(COPIER)
    require_still_stopped(side, prove_stopped(side))


_FORM = {COPIER: Param(type="string", title="Copier")}

with runbook("pretended_copier", doc=__doc__, params=_FORM, tags=("test",)):
    (
        observe(COPIER)
        >> check(COPIER)
        >> planned(pretended)
        >> approve("approve_plan")
        >> stop_application(COPIER)
        >> certify()
        >> start_application(COPIER)
        >> wait_caught_up(COPIER)
        >> verify()
        >> conclude()
    )
