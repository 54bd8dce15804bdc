"""# Control-topic flush
This Airflow DAG changes an application whose pipeline has to be empty for that: a repartition topic goes or gets
another name, `merge.repartition.topics` is switched. The inputs are held, the application reads everything to its end,
and is changed while it is down: no record is lost, none is read twice.

1. **observe, check**: every required reading is complete. Nothing is changed.
2. **plan, approve_plan**: the stages, the switch that holds the inputs, how long they are held, the way back.
   **check_partitioning**: if a repartition goes, each key of the input is in the partition of its state (Spark).
3. **pause_inputs**: the switch. `swap` stops the application, commits its input offsets again and starts it on empty
   topics; `copier` stops the copier in front of the control topic; `manual` asks a person to pause the producers.
4. **certify**: nothing is left to read in inputs and internal topics, in several readings in a row.
5. **stop_application**: all instances down, the group EMPTY; nothing has become readable since the certificate.
6. **resume_inputs**: the input offsets are where they were held; the copier or the producers run again.
7. **clear_state**: the task directories on which the new release may not start.
8. **start_application, wait_caught_up**: once more nothing readable in internal topics, then all instances at once.
9. **delete_records**: the records of repartition topics that nothing reads any more, up to their certified ends.
   **delete_topics**: the empty topics of `swap`. Changelogs stay: `kstreams-runbooks orphans` lists them.
10. **verify, conclude**: the planned release runs; one outcome, with the evidence.

While inputs are held no window closes and no suppress emits. No task asks a person meanwhile, unless a person deploys
or holds the inputs.

Dry run is the default: it reads, checks, plans and reports what a real run would do.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| observe, check, plan, check_partitioning | always safe | the application runs as before | nothing was changed |
| approve_plan | always safe, asks again | the application runs as before | reject |
| pause_inputs | always safe, continues from the observed state | the inputs wait | `undo`: inputs back |
| certify | always safe | the inputs wait, the application reads what it has | `undo`: inputs back |
| stop_application | always safe, continues from the observed state | the inputs wait, nothing is processed | `undo` |
| resume_inputs | always safe, continues from the observed state | nothing is processed | `undo` |
| clear_state | always safe | nothing is processed | `undo`: all at once |
| start_application | always safe, continues from the observed state | nothing is processed | `undo`: all at once |
| wait_caught_up | always safe | the application catches up | a flush back to the old release |
| delete_records, delete_topics | always safe | the application runs | as above |
| verify, conclude | always safe | the application runs | as above |

Marking the whole **run** failed stops it at the next step boundary: inputs may stay held, and `conclude` does not run.
Clear the task that was due, or trigger `undo` for this run; both bring the inputs back.
"""

from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.change.partitioning import check_partitioning
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.inputs.certify import certify
from kstreams_runbooks.steps.inputs.plan import control_topic_flush, keys_to_compare
from kstreams_runbooks.steps.inputs.tasks import pause_inputs, require_held, resume_inputs
from kstreams_runbooks.steps.instances.restart import start_application, stop_application, wait_caught_up
from kstreams_runbooks.steps.plan.looking import check, observe, verify
from kstreams_runbooks.steps.plan.plan import planned
from kstreams_runbooks.steps.run.fields import held_inputs, local_state, new_deployment
from kstreams_runbooks.steps.run.form import runbook
from kstreams_runbooks.steps.stages.task import clear_state, delete_records, delete_topics

_FORM = {**new_deployment(), **held_inputs(), **local_state()}

with runbook("control_topic_flush", doc=__doc__, params=_FORM, tags=("topology",)):
    (
        observe("copier")
        >> check("copier")
        >> planned(control_topic_flush)
        >> check_partitioning(keys_to_compare)
        >> approve("approve_plan")
        >> pause_inputs()
        >> certify()
        >> stop_application(first=require_held)
        # Records may wait again: what the certificate proves now is that internal topics are empty.
        >> resume_inputs()
        >> clear_state()
        >> start_application()
        >> wait_caught_up()
        # Nothing reads them any more: a way back would read their records again.
        >> delete_records()
        # Only once no instance can be started on them.
        >> delete_topics()
        >> verify()
        >> conclude()
    )
