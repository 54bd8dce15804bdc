"""# Rolling bounce
This Airflow DAG changes the release or the settings of an application on the same Kafka Streams library, one instance
at a time, or restarts it without a change. Use `library_bump` for another library, and `stop_and_restart` for another
set of internal or source topics.

1. **observe, check**: every instance RUNNING, the group stable, every reading complete. Nothing is changed.
2. **plan, approve_plan**: what each instance will run, the cost of its restart, the way back. The plan is refused if
   the cluster lacks a topic that the release needs, or has it with a partition count that does not fit.
3. **bounce 1**: one instance first, a bake time, then the rest.
4. **verify, conclude**: the planned release runs; one outcome, with the evidence.

An instance that does not start on its new release is set back to what it ran before and started, if the plan has that
and nothing speaks against it then. The task fails in any case, and a clear of it brings the new release again.

Dry run is the default: it reads, checks, plans and reports what a real run would do.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| observe, check, plan | always safe | the application runs as before | nothing was changed |
| approve_plan | always safe, asks again | the application runs as before | reject |
| bounce_1_first | always safe, continues from the observed state | the others process | `undo`: one restart |
| bounce_1_rest | always safe, continues from the observed state | all but one process | `undo`: one restart each |
| verify, conclude | always safe | the application runs | `undo` |

Marking the whole **run** failed stops it at the next step boundary: no other instance is touched, and its hold is free.
"""

from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.instances.bounce import bounce_first, bounce_rest
from kstreams_runbooks.steps.plan.looking import check, observe, verify
from kstreams_runbooks.steps.plan.plan import planned, rolling_bounce
from kstreams_runbooks.steps.run.fields import new_deployment, restart_unchanged
from kstreams_runbooks.steps.run.form import runbook

_FORM = {**new_deployment(), **restart_unchanged()}

with runbook("rolling_bounce", doc=__doc__, params=_FORM, tags=("deployment",)):
    (
        observe()
        >> check()
        >> planned(rolling_bounce)
        >> approve("approve_plan")
        >> bounce_first(1, approval="approve_plan")
        >> bounce_rest(1, approval="approve_plan")
        >> verify()
        >> conclude()
    )
