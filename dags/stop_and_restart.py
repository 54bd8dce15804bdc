"""# Stop and restart
This Airflow DAG stops every instance of an application, empties its consumer group, and starts all instances together,
with another release or other settings if given. A changed set of internal or source topics needs this: a static member
that returns within its session timeout keeps its old assignment, runs without progress for a minute and ends in ERROR.
The DAG also repairs an application that is already in that state.

1. **observe, check**: every required reading is complete; unhealthy instances are shown. Nothing is changed.
2. **plan, approve_plan**: what every instance will run, the cost of the pause, the way back. The plan is refused if the
   cluster lacks a topic that the release needs, or has it with a partition count that does not fit.
3. **stop_application**: stops all instances at once; their members are removed until the group is EMPTY.
4. **start_application**: deletes the task directories on which the new release may not start (the field *Local state*
   chooses otherwise), and starts all instances at once. **wait_caught_up**: every instance passes its gate.
5. **verify, conclude**: the planned release runs; one outcome, with the evidence.

If no instance starts, all of them are set back to what they ran before and started, if the plan has that and nothing
speaks against it then. The task fails in any case; a clear of `stop_application` brings the new release again.

Dry run is the default: it reads, checks, plans and reports what a real run would do.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| observe, check, plan | always safe | the application runs as before | nothing was changed |
| approve_plan | always safe, asks again | the application runs as before | reject |
| stop_application | always safe, continues from the observed state | nothing is processed | `undo`: all at once |
| start_application | always safe, continues from the observed state | nothing is processed | `undo`: all at once |
| wait_caught_up | always safe | the application catches up | `undo`: all at once |
| verify, conclude | always safe | the application runs | `undo`: all at once |

Marking the whole **run** failed stops it at the next step boundary. The application stays in its state at that moment,
which may be **stopped**, and `conclude` does not run. Clear `conclude` to get the state of the instances and the way
back.
"""

from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.instances.restart import start_application, stop_application, wait_caught_up
from kstreams_runbooks.steps.plan.looking import check, observe, verify
from kstreams_runbooks.steps.plan.plan import planned, stop_and_restart
from kstreams_runbooks.steps.run.fields import local_state, new_deployment
from kstreams_runbooks.steps.run.form import runbook

with runbook("stop_and_restart", doc=__doc__, params={**new_deployment(), **local_state()}, tags=("deployment",)):
    (
        observe()
        >> check(at_once=True)
        >> planned(stop_and_restart)
        >> approve("approve_plan")
        >> stop_application()
        # Only a group that is EMPTY gets a new assignment.
        >> start_application()
        >> wait_caught_up()
        >> verify()
        >> conclude()
    )
