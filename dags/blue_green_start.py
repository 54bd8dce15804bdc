"""# A second application next to the first
This Airflow DAG starts an application (green) next to the one that it is to take over from (blue), and waits until it
has caught up. Blue goes on as before: nothing of it is changed, and it may be bounced meanwhile. Mode `cancel` takes
green away again. Moving readers from blue's outputs to green's is another procedure (`blue_green_cutover`); mode
`retire` then takes the side away that has served before.

| mode | topics of green | its group | its local state |
|---|---|---|---|
| `start` | created | offsets at the beginning of every input | cleared |
| `cancel` | deleted | deleted | cleared |
| `retire` | those of the side that served before are deleted | deleted | cleared |

1. **observe, check**: every required reading is complete. Nothing is changed.
2. **plan, approve_plan**: nothing of green is blue's (application.id, internal topics by their full names, outputs,
   instances); every control topic that it reads begins where its input begins; what it cannot build again, its rights,
   its costs. In the other modes: the names of all that goes, and that nothing else uses it. Mode `retire` is refused
   unless the newest completed cutover went from this side to the other one, which runs.
3. **create_topics**: outputs with the partitions and settings of blue's, and internal topics; the wider topics that
   green reads, if `partitions` is given.
4. **set_offsets**: the beginning of every partition of every input. Nothing begins by `auto.offset.reset`.
5. **stop_application**: no instance runs, the group is EMPTY. In the other modes: all instances are stopped.
6. **clear_state**: on every instance.
7. **save_offsets, delete_groups, delete_topics**: modes `cancel` and `retire`; by id, once nothing writes to them.
   **This is the point of no return**: their records do not come back. Nothing of the other side is among them.
8. **start_application**: all instances at once. With `partitions`, the copier that fills the wider topics by key first.
9. **wait_caught_up**: for days if needed. The run does not count for the cluster's limit of runs meanwhile. It ends if
   retention deletes a record before green has read it, if an instance is down, or if a group reads green's outputs.
10. **verify, conclude**: green works, or nothing of it is left; one outcome.

Tasks that a mode does not need succeed at once. Dry run is the default: it reads, checks, plans and reports what a real
run would do. This runbook is a preview: docs/blue_green_start.md has what is still open.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| observe, check, plan | always safe | blue runs as before | nothing was changed |
| approve_plan | always safe, asks again | blue runs as before | reject |
| create_topics, set_offsets | always safe, continues from what it observes | blue runs as before | `undo` |
| stop_application, clear_state | always safe, continues from the observed state | blue runs as before | `undo` |
| save_offsets, delete_groups | always safe | blue runs as before | `undo`: with their offsets |
| delete_topics | always safe, continues from the observed state | the other side runs | none: start it again |
| start_application | always safe, continues from the observed state | blue runs as before | mode `cancel` |
| wait_caught_up | always safe | both run | mode `cancel` |
| verify, conclude | always safe | both run | mode `cancel` |

Marking the whole **run** failed stops it at the next step boundary, and `conclude` does not run. Clear the task that
was due, or trigger a run with mode `cancel`.
"""

from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.green.caught_up import wait_caught_up
from kstreams_runbooks.steps.green.plan import further, may_be_down, plan_green
from kstreams_runbooks.steps.green.tasks import (
    delete_groups,
    delete_topics,
    set_offsets,
    start_application,
    stop_application,
    verify,
)
from kstreams_runbooks.steps.plan.looking import check, observe
from kstreams_runbooks.steps.run.fields import late_loss, second_application
from kstreams_runbooks.steps.run.form import runbook
from kstreams_runbooks.steps.stages.task import clear_state, create_topics, save_offsets

_FORM = {**second_application(), **late_loss()}

with runbook("blue_green_start", doc=__doc__, params=_FORM, tags=("topology",)):
    (
        observe(also=further)
        >> check(out_of_use=may_be_down, also=further)
        >> plan_green()
        >> approve("approve_plan")
        >> create_topics()
        # Every partition has an offset before anything of it runs.
        >> set_offsets()
        >> stop_application()
        >> clear_state()
        >> save_offsets()
        >> delete_groups()
        # The point of no return of modes cancel and retire.
        >> delete_topics()
        >> start_application()
        >> wait_caught_up()
        >> verify()
        >> conclude()
    )
