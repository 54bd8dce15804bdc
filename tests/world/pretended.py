"""# A runbook for tests.

This Airflow DAG does what no operator needs, with the steps of the runbooks that come, over
two applications of two teams.

1. **observe, check**: both applications. Nothing is changed.
2. **plan, approve_plan**: approved by both teams.
3. **create_topics**: one topic that nothing reads.
4. **stop_application_second, set_offsets_second, clear_state_second**: the second application reads one of its inputs
   again from the start, on empty local state.
5. **start_application_second, wait_caught_up_second**.
6. **verify, conclude**: both applications work.

Every task is safe to clear; `undo` takes the run back.
"""

from airflow.sdk import Param
from kstreams_runbooks.decide.plans.basis import all_down, costs_at_once, facts, other_library
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.model.runs.object_stages import CreateTopics, SetOffsets
from kstreams_runbooks.model.runs.plan import Plan, SidePart
from kstreams_runbooks.model.runs.stages import ClearState, StartAll, StopAll
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.approval.code import code_digest
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.instances.restart import start_application, stop_application, wait_caught_up
from kstreams_runbooks.steps.plan.fitting import require_topics
from kstreams_runbooks.steps.plan.looking import check, observe, verify
from kstreams_runbooks.steps.plan.plan import judged, planned
from kstreams_runbooks.steps.run.form import runbook
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.task import clear_state, create_topics, set_offsets

SECOND = "second"


def pretended(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """The stages, with the second application as it runs now."""
    second, code = run.side(SECOND), code_digest(run.record.dag_id)
    there = second.observed()
    found = facts(there, second.declared, code)
    [runs, *_] = found.at_start
    library = other_library(runs.release, runs.version)
    source = second.application.inputs[0]
    group = str(run.record.params["group"] or second.application.application_id)
    made = Plan(
        runbook=run.record.dag_id,
        application=run.declared.name,
        cluster=run.declared.cluster,
        change=((SECOND, second.declared.name),),
        limits=run.declared.limits,
        stages=(
            CreateTopics(1, (TopicShape(str(run.record.params["topic"]), 2, 1, (("retention.ms", "60000"),)),)),
            StopAll(2, side=SECOND),
            SetOffsets(3, group, (source,), "start", side=SECOND),
            ClearState(4, side=SECOND),
            StartAll(5, runs.release, runs.settings, library, side=SECOND),
        ),
        facts=facts(reading, run.declared, code),
        costs=(),
        findings=(*findings, *judged(second, there)),
        undo=("every stage, last to first",),
        title=f"pretended change with {second.declared.name}",
        worst_case=all_down(second.declared),
        sides=(
            SidePart(
                SECOND, second.declared.name, second.declared.cluster, found, tuple(costs_at_once(second.declared))
            ),
        ),
    )
    require_topics(second, there, made.bounces)
    return made


_FORM = {
    SECOND: Param(type="string", title="Second application"),
    "topic": Param("pretended-control", type="string", title="Topic to create"),
    "group": Param(None, type=["null", "string"], title="Group", description="Empty: that of the second application."),
}

with runbook("pretended", doc=__doc__, params=_FORM, tags=("test",)):
    (
        observe(SECOND)
        >> check(SECOND)
        >> planned(pretended)
        >> approve("approve_plan")
        >> create_topics()
        >> stop_application(SECOND)
        >> set_offsets(SECOND)
        >> clear_state(SECOND)
        >> start_application(SECOND)
        >> wait_caught_up(SECOND)
        >> verify()
        >> conclude()
    )
