"""# Library bump
This Airflow DAG brings an application to another Kafka Streams release: to a newer one in one or two rolling bounces,
to an older one (a downgrade) with all instances down at once.

1. **observe, check**: releases, broker, every instance RUNNING, the group stable. Nothing is changed.
2. **plan, approve_plan**: the path, the cost of each stage, the way back. The plan is refused if no published rule
   knows a way, or if the cluster lacks a topic that the release needs, or has it with a partition count that does not
   fit.
3. **bounce 1** sets `upgrade.from` if the path needs it: one instance first, a bake time, then the rest.
4. **prove_every_member, approve_bounce_2**: every member of the group runs the new release. After this there is no
   plain way back.
5. **bounce 2** unsets `upgrade.from`. If one bounce suffices, it reports "not needed".
6. **verify, conclude**: the planned release runs; one outcome, with the evidence.

A downgrade has no bounce 2. If records in the repartition topics have a format that the old release misreads, bounce 1
sets `upgrade.from` on the running release. Then **drain_repartition_topics** waits until these records have been read,
**stop_application** stops all instances and empties the group, **start_application** clears the local state of every
instance and starts all of them on the old release, and **wait_caught_up** watches the restore. No instance starts
before all are cleared. An upgrade reports "not needed" for these four.

An instance that does not start on its new release is set back to what it ran before and started, if the plan has that
and nothing speaks against it then. The task fails in any case, and a clear of it brings the new release again.

Dry run is the default: it reads, checks, plans and reports what a real run would do.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| observe, check, plan | always safe | the application runs as before | nothing was changed |
| approve_plan | always safe, asks again | the application runs as before | reject |
| bounce_1_first | always safe, continues from the observed state | the others process | old release, one restart |
| bounce_1_rest | always safe, continues from the observed state | all but one process | old release, one restart each |
| prove_every_member | always safe | both formats can be read | as above |
| approve_bounce_2 | always safe, asks again | as above | *stay on bounce 1*: all keep `upgrade.from` |
| bounce_2_first, bounce_2_rest | always safe, continues from the observed state | all but one process | a downgrade |
| drain_repartition_topics | always safe | the application processes | `undo`: one restart each |
| stop_application | always safe, continues from the observed state | nothing is processed | `undo`: all at once |
| start_application | always safe, continues from the observed state | nothing is processed | `undo`: all at once |
| wait_caught_up | always safe | the application restores and catches up | `undo`: all at once |
| verify, conclude | always safe | the application runs | as above |

Marking the whole **run** failed stops it at the next step boundary: no other instance is touched, and its hold is free.
An instance in the middle of its restart may stay down, in a downgrade all of them, and `conclude` does not run. Clear
`conclude` to get the state of the instances and the way back; `fleet_check` does the same at its next check.
"""

from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.instances.bounce import bounce_first, bounce_rest
from kstreams_runbooks.steps.instances.restart import (
    drain_repartition_topics,
    start_application,
    stop_application,
    wait_caught_up,
)
from kstreams_runbooks.steps.plan.looking import check, observe, prove_every_member, verify
from kstreams_runbooks.steps.plan.plan import library_bump, planned
from kstreams_runbooks.steps.run.fields import (
    late_loss,
    lost_state,
    named_unchanged,
    target_release,
    unlinked,
    without_topology,
)
from kstreams_runbooks.steps.run.form import runbook

_FORM = {
    "target": target_release(),
    **named_unchanged(),
    **without_topology(),
    **lost_state(),
    **late_loss(),
    **unlinked(),
}

with runbook("library_bump", doc=__doc__, params=_FORM, tags=("version",)):
    (
        observe()
        >> check()
        >> planned(library_bump)
        >> approve("approve_plan", bounce=1)
        >> bounce_first(1, approval="approve_plan")
        >> bounce_rest(1, approval="approve_plan")
        >> prove_every_member()
        # Upward. The point of no return: an instance without upgrade.from writes a format that 3.4 cannot read.
        >> approve("approve_bounce_2", bounce=2)
        >> bounce_first(2, approval="approve_bounce_2", after=("every_member_runs",))
        >> bounce_rest(2, approval="approve_bounce_2", after=("every_member_runs",))
        # Downward. The old release opens neither the new formats nor the new files: it starts when both are gone.
        >> drain_repartition_topics()
        >> stop_application()
        >> start_application()
        >> wait_caught_up()
        >> verify()
        >> conclude()
    )
