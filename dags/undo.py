"""# Undo
This Airflow DAG takes a run of any runbook back, by the undo cards that the run wrote before each of its writes.

1. **read_cards**: the cards, last to first, and the application as it is now. Nothing is changed.
2. **plan, approve_undo**: which cards still apply, to what each instance goes back, what that costs. Where somebody
   has changed the application since, or nothing published leads back to the old release, it refuses and says why.
3. **undo**: one instance after another, or all at once where the run took them all at once; what is down comes first.
   Where an older release cannot open the local state, that is cleared and restored from the changelogs. Where records
   may lie in the repartition topics that it misreads, as after the point of no return of a library bump, every instance
   that goes back runs with `upgrade.from` first, the topics are read to where they ended, and only then the first old
   release starts.
4. **conclude**: one outcome, with the evidence.

Dry run is the default: it reads, plans and says what it would do.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| read_cards, plan | always safe | the application stays as the run left it | nothing was changed |
| approve_undo | always safe, asks again | the application stays as the run left it | reject |
| undo | always safe, goes on from what it sees | as in the run that is taken back | trigger that runbook again |
| conclude | always safe | the application runs | trigger that runbook again |
"""

from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.instances.undo import plan_undo, read_cards, undo
from kstreams_runbooks.steps.run.form import run_to_undo, runbook

with runbook("undo", doc=__doc__, params={"run": run_to_undo()}, tags=("undo",)):
    read_cards() >> plan_undo() >> approve("approve_undo") >> undo() >> conclude()
