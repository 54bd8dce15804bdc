"""# Control topics for an application that runs
This Airflow DAG puts the shipped copier in front of an application, or takes it away again (mode `abandon`). The
copier copies each input to a control topic, which the application reads from then on. A stop of the copier holds all
inputs, without the producers.

1. **observe, check**: the application runs; the copier is deployed, and does not run. Nothing is changed.
2. **plan, approve_plan**: with and without the control topics, the topology differs in its source topics alone. Both
   teams approve.
3. **create_topics**: one control topic for each input, with its partitions and settings.
4. **copy_inputs**: the copier starts at the beginning of the inputs. The application goes on meanwhile, for hours if
   needed, until the copy is near the end.
5. **stop_copier**: the copier is down, and the application has read as far as it has copied. In mode `abandon`: the
   application has read its control topics to their ends.
6. **stop_application**: all instances down, the group EMPTY.
7. **copy_rest**: the copier goes on up to the offsets of the application, and ends by itself.
8. **set_offsets**: the ends of the control topics, with the stream time of the inputs. In mode `abandon`: the offsets
   of the copier on the inputs.
9. **clear_state**: directory `global`, if a global store reads an input: it is restored from its other topic.
10. **start_copier, start_application, wait_caught_up**: with the settings that name the inputs changed.
11. **prove_copy**: Spark compares each input with its control topic by record.
12. **delete_offsets**: those of the application on the topics that it has left.
13. **verify, conclude**: the application and the copier work; one outcome.

The application is down from `stop_application` to `start_application`, while the copier starts twice. No task asks a
person meanwhile, unless a person deploys. The log of `plan` has the changes of the fleet entry.

Dry run is the default: it reads, checks, plans and reports what a real run would do. This runbook is a preview:
kills and undo are proven under load for mode `adopt` alone.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| observe, check, plan | always safe | the application runs as before | nothing was changed |
| approve_plan | always safe, asks again | the application runs as before | reject |
| create_topics, copy_inputs | always safe, continues from what it observes | the application runs as before | `undo` |
| stop_copier | always safe | the application runs as before | `undo` |
| stop_application, copy_rest | always safe, continues from the observed state | nothing is processed | `undo` |
| set_offsets, clear_state | always safe, continues from the observed state | nothing is processed | `undo` |
| start_copier | always safe, continues from the observed state | nothing is processed | `undo` |
| start_application | always safe, continues from the observed state | nothing is processed | the other mode |
| wait_caught_up, prove_copy, delete_offsets | always safe | the application runs | the other mode |
| verify, conclude | always safe | the application runs | the other mode |

Marking the whole **run** failed stops it at the next step boundary: the application may stay down, and `conclude` does
not run. Clear the task that was due, or trigger `undo` for this run.
"""

from kstreams_runbooks.steps.adoption.plan import adopt_control_topic, may_be_down
from kstreams_runbooks.steps.adoption.proof import prove_copy
from kstreams_runbooks.steps.adoption.seam import wait_until_read
from kstreams_runbooks.steps.adoption.tasks import (
    before_start,
    copy_inputs,
    copy_rest,
    delete_offsets,
    set_offsets,
    start_copier,
    stop_copier,
    verify,
)
from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.instances.restart import start_application, stop_application, wait_caught_up
from kstreams_runbooks.steps.plan.looking import check, observe
from kstreams_runbooks.steps.plan.plan import planned
from kstreams_runbooks.steps.run.fields import control_topics, late_loss
from kstreams_runbooks.steps.run.form import runbook
from kstreams_runbooks.steps.stages.task import clear_state, create_topics

_FORM = {**control_topics(), **late_loss()}

with runbook("adopt_control_topic", doc=__doc__, params=_FORM, tags=("topology",)):
    (
        observe("copier")
        >> check("copier", out_of_use=may_be_down)
        >> planned(adopt_control_topic)
        >> approve("approve_plan")
        >> create_topics()
        >> copy_inputs()
        >> stop_copier()
        >> stop_application(first=wait_until_read)
        >> copy_rest()
        >> set_offsets()
        >> clear_state()
        # Before the application: as long as that is down, everything can be taken back.
        >> start_copier()
        >> start_application(first=before_start)
        >> wait_caught_up()
        >> prove_copy()
        >> delete_offsets()
        # Last: what it proves counts for the outcome, once nothing is changed any more.
        >> verify()
        >> conclude()
    )
