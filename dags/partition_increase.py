"""# Partition increase, in place
This Airflow DAG adds partitions to the topics of an application where they are: to its control topics, which one
shipped copier alone writes, and to its internal topics. Keys that move to another partition begin from nothing: each
store has to accept that (`loss_acceptable` in the declaration of its release). For an application that keeps its state
the run is refused, with the way that keeps it.

Dry run is the default: it reads, forecasts, plans and reports what a real run would do. This runbook is a preview:
docs/partition_increase.md has what is still open.

1. **observe, check**: application and copier run. Nothing is changed.
2. **forecast_keys**: the topics that grow together, and the keys that move (Spark). Keys that are not where Kafka's
   default partitioner puts them are refused.
3. **plan, approve_plan**: the stages, and what is lost. Both teams approve.
4. **pause_inputs**: the copier is down. **certify**: nothing is left to read in inputs and internal topics.
5. **stop_application**: all instances down, the group EMPTY.
6. **grow_topics**: all topics in one call, read back. **From here on there is no way back.**
7. **set_offsets**: the beginning of each new partition. With `auto.offset.reset=latest` its first records would be
   skipped.
8. **resume_inputs**: the copier starts by key. **start_application, wait_caught_up**: all instances at once.
9. **prove_growth**: every partition is assigned and read, and each new record is in the partition of its key (Spark).
10. **verify, conclude**: application and copier work; one outcome.

While inputs are held no window closes. No task asks a person meanwhile, unless a person deploys.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| observe, check, forecast_keys, plan | always safe | the application runs as before | nothing was changed |
| approve_plan | always safe, asks again | the application runs as before | reject |
| pause_inputs | always safe, continues from the observed state | the inputs wait | `undo`: inputs back |
| certify | always safe | the inputs wait, the application reads what it has | `undo`: inputs back |
| stop_application | always safe, continues from the observed state | nothing is processed | `undo` |
| grow_topics | always safe, continues from the observed state | nothing is processed | none |
| set_offsets, resume_inputs | always safe, continues from the observed state | nothing is processed | none |
| start_application | always safe, continues from the observed state | nothing is processed | none |
| wait_caught_up, prove_growth | always safe | the application runs | none |
| verify, conclude | always safe | the application runs | none |

Marking the whole **run** failed stops it at the next step boundary: inputs may stay held, and `conclude` does not run.
Clear the task that was due; before `grow_topics` also `undo` brings everything back.
"""

from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.growth.keys import forecast_keys, prove_growth
from kstreams_runbooks.steps.growth.plan import partition_increase
from kstreams_runbooks.steps.growth.tasks import grow_topics, pause_inputs, resume_inputs
from kstreams_runbooks.steps.inputs.certify import certify
from kstreams_runbooks.steps.inputs.tasks import require_held
from kstreams_runbooks.steps.instances.restart import start_application, stop_application, wait_caught_up
from kstreams_runbooks.steps.plan.looking import check, observe, verify
from kstreams_runbooks.steps.plan.plan import planned
from kstreams_runbooks.steps.run.fields import late_loss, more_partitions
from kstreams_runbooks.steps.run.form import runbook
from kstreams_runbooks.steps.stages.task import set_offsets

_FORM = {**more_partitions(), **late_loss()}

with runbook("partition_increase", doc=__doc__, params=_FORM, tags=("topology",)):
    (
        observe("copier")
        >> check("copier")
        >> forecast_keys()
        >> planned(partition_increase)
        >> approve("approve_plan")
        >> pause_inputs()
        >> certify()
        >> stop_application(first=require_held)
        # The point of no return: what was hashed by the old number has been read by now.
        >> grow_topics()
        >> set_offsets()
        >> resume_inputs()
        >> start_application()
        >> wait_caught_up()
        >> prove_growth()
        >> verify()
        >> conclude()
    )
