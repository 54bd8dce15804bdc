"""# Stop and restart
This Airflow DAG stops every instance of an application, empties its consumer group, and starts all of them together,
with another release or other settings where they are given. It is what a changed set of internal or source topics
needs: a static member that comes back within its session timeout keeps its old assignment, runs without progress for a
minute and ends in ERROR. It is also the cure for an application that is in that state.

1. **observe, check**: every reading that is needed is there; instances that are not well are shown. Nothing is changed.
2. **plan, approve_plan**: what every instance will run, what the pause costs, how to go back.
   Refused where the cluster lacks a topic that the release needs, or has it with partitions that do not fit.
3. **stop_application**: all at once; their members are removed until the group is EMPTY.
4. **start_application**: all at once. **wait_caught_up**: every instance through its gate.
5. **verify, conclude**: what was planned is what runs; one outcome, with the evidence.

Dry run is the default: it reads, checks, plans and says what it would do.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| observe, check, plan | always safe | the application runs as before | nothing was changed |
| approve_plan | always safe, asks again | the application runs as before | reject |
| stop_application | always safe, goes on from what it sees | nothing is processed | `undo`: all at once |
| start_application | always safe, goes on from what it sees | nothing is processed | `undo`: all at once |
| wait_caught_up | always safe | the application catches up | `undo`: all at once |
| verify, conclude | always safe | the application runs | `undo`: all at once |

Marking the whole **run** failed stops it at the next step boundary and leaves the application as it is then, which may
be **stopped**, and `conclude` does not run: clear it to read how the instances are and the way back.
"""

from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.instances.restart import start_application, stop_application, wait_caught_up
from kstreams_runbooks.steps.plan.looking import check, observe, verify
from kstreams_runbooks.steps.plan.plan import planned, stop_and_restart
from kstreams_runbooks.steps.run.form import new_deployment, runbook

with runbook("stop_and_restart", doc=__doc__, params=new_deployment(), tags=("deployment",)):
    (
        observe()
        >> check(at_once=True)
        >> planned(stop_and_restart)
        >> approve("approve_plan")
        >> stop_application()
        # Only a group that is EMPTY is assigned anew.
        >> start_application()
        >> wait_caught_up()
        >> verify()
        >> conclude()
    )
