"""# Reset and cleanup
This Airflow DAG starts an application over: from other offsets, on empty local state, with new internal topics. Before
anything is changed it shows the topics and the state that go, the records that are read again, the state that cannot be
built again, and who sees results again.

| mode | internal topics | local state | offsets |
|---|---|---|---|
| `reset` | deleted and created again | deleted | to their targets, earliest by default |
| `offsets` | stay | stays | of the named inputs alone |
| `state` | stay | deleted, restored from the changelogs | stay |
| `retire` | those that nothing needs any more go for good | stays | go with the group of an unused application |

1. **observe, check**: every required reading is complete. Nothing is changed.
2. **plan, approve_plan**: the blast radius, by topic, partition, store and reader; the stages; the way back. If the
   plan deletes for good, the question names that first; its choices are *delete: no way back* and *delete nothing*.
3. **stop_application**: all instances down, their members removed, the group EMPTY.
4. **save_offsets**: in the ledger and as a plain file. The ends of the topics that go are noted.
5. **clear_state**: on every instance, and the deployer has to report it gone. Nothing is lost yet. If the application
   deletes it itself as it starts (*Cleared by*), its age is noted.
6. **delete_groups**: in mode `retire`, the group of an application out of use. **delete_topics**: exactly the planned
   ones, by id, once their ends did not move in several readings and nothing else uses them. **This is the point of no
   return.** They have to be gone from every broker.
7. **create_topics**: at once, as Kafka Streams would create them.
8. **set_offsets**: 0 on new repartition topics; the inputs to their targets, resolved as the log is then, read back.
   **delete_records**: of the outputs that the form names, up to the ends that the plan has shown.
9. **start_application, wait_caught_up**: local state is seen gone once more, then all instances at once. If the
   application deletes it, one after another: each is seen to have only new state, or all are stopped.
10. **verify, conclude**: the planned release runs, or in mode `retire`, what was deleted has stayed gone for five
    minutes; one outcome, with the evidence.

Tasks that a mode does not need succeed at once. Dry run is the default: it reads, checks, plans and reports what a real
run would do.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| observe, check, plan | always safe | the application runs as before | nothing was changed |
| approve_plan | always safe, asks again | the application runs as before | reject |
| stop_application | always safe, continues from the observed state | nothing is processed | `undo`: all at once |
| save_offsets | always safe | nothing is processed | `undo`: all at once |
| clear_state | always safe | nothing is processed | `undo`: state is restored from the changelogs |
| delete_groups | always safe | nothing is processed | `undo`: with their offsets |
| delete_topics | always safe, continues from the observed state | nothing is processed | none: the state is gone |
| create_topics | always safe, continues from the observed state | nothing is processed | they stay |
| set_offsets | always safe, continues from the observed state | nothing is processed | `undo`: with their metadata |
| delete_records | always safe | nothing is processed | none: the records are gone |
| start_application | always safe, continues from the observed state | nothing is processed | `undo`: all at once |
| wait_caught_up | always safe | the application catches up | `undo`: all at once |
| verify, conclude | always safe | the application runs | as above |

Marking the whole **run** failed stops it at the next step boundary: the application may stay down, and `conclude` does
not run. Clear the task that was due, or trigger `undo` for this run.
"""

from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.instances.restart import start_application, stop_application, wait_caught_up
from kstreams_runbooks.steps.plan.looking import check, observe
from kstreams_runbooks.steps.plan.plan import planned
from kstreams_runbooks.steps.reset.form import reset_targets
from kstreams_runbooks.steps.reset.plan import reset_and_cleanup
from kstreams_runbooks.steps.reset.retire import retires_application
from kstreams_runbooks.steps.reset.verify import verify
from kstreams_runbooks.steps.run.fields import new_deployment
from kstreams_runbooks.steps.run.form import runbook
from kstreams_runbooks.steps.stages.targets import require_targets
from kstreams_runbooks.steps.stages.task import (
    clear_state,
    create_topics,
    delete_groups,
    delete_records,
    delete_topics,
    save_offsets,
    set_offsets,
)

_FORM = {**reset_targets(), **new_deployment()}

with runbook("reset_and_cleanup", doc=__doc__, params=_FORM, tags=("reset",)):
    (
        observe()
        >> check(at_once=True, out_of_use=retires_application, streams_group=True)
        >> planned(reset_and_cleanup)
        >> approve("approve_plan")
        # Before the stop: retention goes on while an approval waits.
        >> stop_application(first=require_targets)
        >> save_offsets()
        # It is the likeliest to fail, and nothing is lost yet.
        >> clear_state()
        # First, since its offsets can be set again.
        >> delete_groups()
        # The point of no return.
        >> delete_topics()
        >> create_topics()
        >> set_offsets()
        # Last before the start: readers see the outputs empty for the shortest time.
        >> delete_records()
        >> start_application()
        >> wait_caught_up()
        >> verify()
        >> conclude()
    )
