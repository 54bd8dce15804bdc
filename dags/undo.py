"""# Undo
This Airflow DAG reverts a run of any runbook, using the undo cards that the run wrote before each of its writes.

1. **read_cards**: the cards, last to first, and the present state of the application. Nothing is changed.
2. **plan, approve_undo**: which cards still apply, the release that each instance returns to, the cost. The plan is
   refused, with the reason, if the application was changed after the run, or if no published path leads back to the
   old release. A card of a kind that this release does not know refuses it too, unless *Leave unknown cards* chooses
   to take back the others. A `control_topic_flush` whose new version has run is taken back by a flush: the refusal has
   its command.
3. **undo**: one instance at a time, or all at once if the run took them all at once; instances that are down come
   first. If an older release cannot open the local state, the state is cleared and restored from the changelogs. Task
   directories on which the old release may not start are deleted (the field *Local state* chooses otherwise). After
   the point of no return of a library bump, for example, the repartition topics may contain records that the old
   release misreads. In that case every returning instance first runs with `upgrade.from`, the topics are read to
   where they ended, and only then the first old release starts.
4. **conclude**: one outcome, with the evidence.

Dry run is the default: it reads, plans and reports what a real run would do.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| read_cards, plan | always safe | the application stays as the run left it | nothing was changed |
| approve_undo | always safe, asks again | the application stays as the run left it | reject |
| undo | always safe, continues from the observed state | as in the run that is undone | trigger that runbook again |
| conclude | always safe | the application runs | trigger that runbook again |
"""

from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.instances.undo import plan_undo, read_cards, undo
from kstreams_runbooks.steps.run.fields import (
    lost_state,
    run_to_undo,
    undone_flush,
    undone_local_state,
    unknown_cards,
    without_topology,
)
from kstreams_runbooks.steps.run.form import runbook

_FORM = {
    **run_to_undo(),
    **undone_local_state(),
    **undone_flush(),
    **unknown_cards(),
    **without_topology(),
    **lost_state(),
}

with runbook("undo", doc=__doc__, params=_FORM, tags=("undo",)):
    read_cards() >> plan_undo() >> approve("approve_undo") >> undo() >> conclude()
