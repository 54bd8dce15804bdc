"""# Fleet check
This Airflow DAG looks at every declared application every few minutes and tells the owner whose application has changed
how it stands. It changes nothing, and it is no runbook: it has no plan and no outcome. Its only field, `acknowledge`,
names applications whose topics were recreated and have been looked after: the present topics are the right ones then.

1. **list_clusters**: the clusters that applications are declared on.
2. **read_cluster**, one a cluster, on that cluster's queue: committed offsets, ends, retention and topic ids of all its
   applications in a few batched calls. Instances are asked only where a run holds the application, where it is not well
   or has changed, or where they told their topology long ago. One reading of each application is kept.
3. **judge**: healthy, behind, stalled, stopped, failed, rewound, expiring, recreated or unknown, by the last readings.
   An application whose cluster could not be read is unknown; the others are judged.
4. **sweep_holds**: the guards of every application that a run holds. Where the world is no longer the one that was
   approved, the plan is void and its next write refuses. Runs that wait for a drain are listed with their progress.
   It fails where it could not look at one of them.
5. **notify_changes**, beside the sweep: one message for each change. It fails where the check was not whole.

`config/fleet_check.yaml` has its interval and its limits.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| list_clusters, read_cluster | always safe, reads again | the applications run | nothing was changed |
| judge | always safe, judges again | the applications run | nothing was changed |
| sweep_holds | always safe | the applications run | a plan that is void stays so: trigger a new run |
| notify_changes | always safe, tells nothing twice | the applications run | nothing was changed |
"""

from kstreams_runbooks.steps.status.tasks import (
    judge,
    list_clusters,
    notify_changes,
    read_cluster,
    scheduled_check,
    sweep_holds,
)

with scheduled_check("fleet_check", doc=__doc__):
    # What follows a cluster that cannot be read is done for the others all the same. Telling waits for no sweep: a hold
    # that takes long to look at, or cannot be, keeps no news from anybody.
    read_cluster.expand(cluster=list_clusters()) >> judge() >> [sweep_holds(), notify_changes()]
