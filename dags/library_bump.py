"""# Library bump
This Airflow DAG upgrades an application to another Kafka Streams release, in one or two rolling bounces.

1. **observe, check**: releases, broker, every instance RUNNING, the group stable. Nothing is changed.
2. **plan, approve_plan**: the upgrade path, the cost of each bounce, the way back. The plan is refused if the cluster
   lacks a topic that the release needs, or has it with a partition count that does not fit.
3. **bounce 1** sets `upgrade.from` if the path needs it: one instance first, a bake time, then the rest.
4. **prove_every_member, approve_bounce_2**: every member of the group runs the new release. After this there is no
   plain way back.
5. **bounce 2** unsets `upgrade.from`. If one bounce suffices, it reports "not needed".
6. **verify, conclude**: the planned release runs; one outcome, with the evidence.

Dry run is the default: it reads, checks, plans and reports what a real run would do.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| observe, check, plan | always safe | the application runs as before | nothing was changed |
| approve_plan | always safe, asks again | the application runs as before | reject |
| bounce_1_first | always safe, continues from the observed state | the others process | old release, one restart |
| bounce_1_rest | always safe, continues from the observed state | all but one process | old release, one restart each |
| prove_every_member | always safe | both formats can be read | as above |
| approve_bounce_2 | always safe, asks again | as above | reject: all keep the new release with `upgrade.from` |
| bounce_2_first, bounce_2_rest | always safe, continues from the observed state | all but one process | a downgrade |
| verify, conclude | always safe | the application runs | as above |

Marking the whole **run** failed stops it at the next step boundary: no other instance is touched, and its hold is free.
An instance in the middle of its restart may stay down, and `conclude` does not run. Clear `conclude` to get the state
of the instances and the way back; `fleet_check` does the same at its next check.
"""

from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.instances.bounce import bounce_first, bounce_rest
from kstreams_runbooks.steps.plan.looking import check, observe, prove_every_member, verify
from kstreams_runbooks.steps.plan.plan import library_bump, planned
from kstreams_runbooks.steps.run.form import named_unchanged, runbook, target_release

with runbook("library_bump", doc=__doc__, params={"target": target_release(), **named_unchanged()}, tags=("version",)):
    (
        observe()
        >> check()
        >> planned(library_bump)
        >> approve("approve_plan", bounce=1)
        >> bounce_first(1, approval="approve_plan")
        >> bounce_rest(1, approval="approve_plan")
        >> prove_every_member()
        # The point of no return: an instance without upgrade.from writes a format that 3.4 cannot read.
        >> approve("approve_bounce_2", bounce=2)
        >> bounce_first(2, approval="approve_bounce_2", after=("every_member_runs",))
        >> bounce_rest(2, approval="approve_bounce_2", after=("every_member_runs",))
        >> verify()
        >> conclude()
    )
