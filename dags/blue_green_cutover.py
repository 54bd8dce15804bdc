"""# One side of an application takes over from the other
This Airflow DAG moves every group that reads the outputs of an application (the old side) to those of its second side
(the new side, which `blue_green_start` has started). Behind a copier the change is exact: no record is lost, none comes
twice. The old side runs on afterwards; the way back is this runbook with the sides exchanged.

1. **observe, check**: both sides, the copier, and every group that reads an output. Nothing is changed.
2. **plan, approve_plan**: what could lose or double a record is refused; how long the inputs are held.
3. **note_point**: the copier stops, both sides read to the end, the ends of their outputs are noted, the copier starts.
4. **compare_outputs, approve_cutover**: Spark compares the outputs below these ends. The approval shows the result.
5. **pause_inputs, certify**: the copier stops, both sides read to the end. The ends of their outputs are the seam.
6. **stop_application**: the old side, and nothing was written since.
7. **resume_inputs**: the copier starts. **The new side is the one that goes on from here.**
8. **compare_at_seam**: if the outputs are not proven equal, the old side starts again and nothing is moved.
9. **move_downstream**: each group in turn has read the old outputs to the seam, and goes on at that of the new ones.
10. **start_application, wait_caught_up**: the old side again. A way back then has a seam of its own.
11. **verify, conclude**: both sides run, each group reads on at its seam; one outcome.

A hold in which anything fails is given up: what it has stopped starts again, and the run ends. No task asks a person
while inputs are held. Going back is not exact for windows whose grace is smaller than the time for which the old side
was down. The log of `verify` has that time, and the changes of the fleet entries.

Dry run is the default: it reads, checks, plans and reports what a real run would do. This runbook is a preview: a real
run is refused, because no run that goes on after kills has been seen under traffic.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| observe, check, plan | always safe | both sides run as before | nothing was changed |
| approve_plan, approve_cutover | always safe, asks again | both sides run as before | reject |
| note_point | always safe, continues from the observed state | the inputs wait for some seconds | `undo`: copier back |
| compare_outputs | always safe | both sides run as before | nothing was changed |
| pause_inputs, certify | always safe, continues from the observed state | the inputs wait | `undo`: copier back |
| stop_application | always safe, continues from the observed state | the inputs wait | `undo`: both back |
| resume_inputs | always safe, continues from the observed state | the inputs wait | `undo`: both back |
| compare_at_seam | always safe | the new side runs alone | `undo`: old side back |
| move_downstream | always safe, continues from the observed state | a group is down | `undo`: but moved groups stay |
| start_application, wait_caught_up | always safe | the new side serves | this runbook, sides exchanged |
| verify, conclude | always safe | the new side serves | this runbook, sides exchanged |

Marking the whole **run** failed stops it at the next step boundary: inputs may stay held, and `conclude` does not run.
Clear the task that was due, or trigger `undo` for this run; both bring the inputs back.
"""

from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.cutover.plan import blue_green_cutover, further
from kstreams_runbooks.steps.cutover.rest import note_point
from kstreams_runbooks.steps.cutover.tasks import (
    approve_cutover,
    certify,
    compare_at_seam,
    compare_outputs,
    move_downstream,
    pause_inputs,
    resume_inputs,
    stop_application,
    verify,
)
from kstreams_runbooks.steps.instances.restart import start_application, wait_caught_up
from kstreams_runbooks.steps.plan.looking import check, observe
from kstreams_runbooks.steps.plan.plan import planned
from kstreams_runbooks.steps.run.fields import both_sides, late_loss
from kstreams_runbooks.steps.run.form import runbook

_FORM = {**both_sides(), **late_loss()}

with runbook("blue_green_cutover", doc=__doc__, params=_FORM, tags=("topology",)):
    (
        observe("green", "copier", also=further)
        >> check("green", "copier", also=further)
        >> planned(blue_green_cutover)
        >> approve("approve_plan")
        >> note_point()
        >> compare_outputs()
        >> approve_cutover()
        >> pause_inputs()
        >> certify()
        >> stop_application()
        # From here on only the new side writes.
        >> resume_inputs()
        >> compare_at_seam()
        >> move_downstream()
        # Last: while it is down, its outputs end at the seam.
        >> start_application()
        >> wait_caught_up()
        >> verify()
        >> conclude()
    )
