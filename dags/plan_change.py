"""# Plan a change
This Airflow DAG compares what an application runs with a release, shows what follows from that, and starts the runbook
that somebody chooses, with its parameters filled in. By itself it changes nothing.

1. **observe**: what runs, by what every instance says of itself. Two versions side by side are refused.
2. **describe_release**: what the release says of itself, by its deployer's topology command, a file or a text pasted
   into the form, and what both versions declare (`config/applications/APPLICATION/RELEASE.yaml`).
3. **plan**: every consequence with its source, what it does to topics, stores and directories, how many bytes restore
   and what the inputs still hold, and the runbook for it. A runbook that is no DAG yet is shown as numbered steps for a
   person. What is refused, or not declared and matters, ends the run here.
4. **choose_runbook**: asks which runbook is started, or none. Whoever may approve may choose.
5. **start_runbook**: starts it, as a dry run unless the form says otherwise; its own approval is its own.
6. **conclude**: one outcome, with the evidence.

Dry run is the default: it reads, compares and plans. It asks nobody and starts nothing.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| observe, describe_release, plan | always safe | the application runs as before | nothing was changed |
| choose_runbook | always safe, asks again | the application runs as before | choose none |
| start_runbook | always safe, starts no second run | the started run goes its own way | `undo` of the started run |
| conclude | always safe | the started run goes its own way | `undo` of the started run |
"""

from kstreams_runbooks.steps.change.choose import choose_runbook
from kstreams_runbooks.steps.change.plan import describe_release, plan_of_change, start_runbook
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.plan.looking import observe
from kstreams_runbooks.steps.run.form import compared_release, runbook

with runbook("plan_change", doc=__doc__, params=compared_release(), tags=("plan",)):
    (
        observe()
        >> describe_release()
        >> plan_of_change()
        >> choose_runbook()
        # What was chosen stands in the ledger, bound to this plan: a task marked successful by hand starts nothing.
        >> start_runbook()
        >> conclude()
    )
