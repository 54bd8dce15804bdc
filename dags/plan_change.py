"""# Plan a change
This Airflow DAG compares a running application with a release, shows the consequences, and starts the runbook that an
approver chooses, with its parameters filled in. It changes nothing itself.

1. **observe**: what runs, as every instance reports it. Two releases side by side are refused.
2. **describe_release**: the release's topology, from its deployer's topology command, a file, or a text pasted into the
   form; the declarations of both releases (`config/applications/APPLICATION/RELEASE.yaml`); and their topology facts,
   if the instances run with `topology-facts.jar` and the command prints facts. Instances with different facts are
   refused.
3. **plan**: every consequence with its source; the effects on topics, stores and directories; how many bytes are
   restored and which records the inputs still hold; and the runbook to use. A runbook that is not a DAG yet is shown
   as numbered steps for a person. The run ends here if the change is refused, or if an undeclared value matters: if the
   field *Unchanged* of the form can decide it, the outcome names the fields to choose, and a new run uses them.
4. **choose_runbook**: asks which runbook to start, or none. Any approver may choose.
5. **start_runbook**: starts it, as a dry run unless the form requests otherwise. The runbook asks for its own approval.
6. **conclude**: one outcome, with the evidence.

Dry run is the default: it reads, compares and plans. It asks for no decision and starts nothing.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| observe, describe_release, plan | always safe | the application runs as before | nothing was changed |
| choose_runbook | always safe, asks again | the application runs as before | choose none |
| start_runbook | always safe, starts no second run | the started run continues | `undo` of the started run |
| conclude | always safe | the started run continues | `undo` of the started run |
"""

from kstreams_runbooks.steps.change.choose import choose_runbook
from kstreams_runbooks.steps.change.plan import describe_release, plan_of_change, start_runbook
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.plan.looking import observe
from kstreams_runbooks.steps.run.fields import compared_release
from kstreams_runbooks.steps.run.form import runbook

with runbook("plan_change", doc=__doc__, params=compared_release(), tags=("plan",)):
    (
        observe()
        >> describe_release()
        >> plan_of_change()
        >> choose_runbook()
        # The choice is in the ledger, bound to this plan: a task marked successful manually starts nothing.
        >> start_runbook()
        >> conclude()
    )
