"""# Fleet check
This Airflow DAG reads every declared application every few minutes and notifies the owner of an application whose
status has changed. It changes nothing. It is a monitor, not a runbook: it has no plan and no outcome. Its field
`acknowledge` lists applications whose recreated topics a person has checked, for a `reason`: their present topics
become the expected ones, and later plans show the reason.

1. **list_clusters**: the clusters with declared applications.
2. **read_cluster**, one per cluster, on that cluster's queue: reads committed offsets, ends, retention and topic ids of
   all its applications in a few batched calls. It polls instances only if a run holds the application, if the
   application is not healthy or has changed, or if its topology was last read long ago. It stores one reading of each
   application. A cluster that is away at its first check is skipped: Airflow may have started before it. From the
   second check on the task fails.
3. **judge**: healthy, behind, stalled, stopped, failed, rewound, expiring, recreated or unknown, from the last
   readings. If a cluster could not be read, its applications are unknown; the others are judged.
4. **sweep_holds**: runs the guards of every application that a run holds. If the cluster no longer matches the approved
   plan, the plan is void and its next write refuses. A run that Airflow ended before its `conclude` is concluded.
   Runs that wait for a drain are listed with their progress. The
   task fails if it could not check one of them.
5. **notify_changes**, in parallel with the sweep: one message for each change. The task fails if the check was not
   complete.

`config/fleet_check.yaml` has its interval and its limits.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| list_clusters, read_cluster | always safe, reads again | the applications run | nothing was changed |
| judge | always safe, judges again | the applications run | nothing was changed |
| sweep_holds | always safe | the applications run | a void plan stays void: trigger a new run |
| notify_changes | always safe, sends nothing twice | the applications run | nothing was changed |
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
    # If one cluster cannot be read, the later tasks still handle the others. Notifications do not wait for the sweep: a
    # hold that is slow or impossible to check delays no message.
    read_cluster.expand(cluster=list_clusters()) >> judge() >> [sweep_holds(), notify_changes()]
