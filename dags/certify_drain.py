"""# Certify drain
This Airflow DAG proves that an application has nothing left to process, or lists what is left. It changes nothing.

1. **observe**: releases, group, offsets, every instance.
2. **count_unread**: counts the unread records, for information only: at once if they are few, else with Spark.
3. **certify**: reads ends, committed offsets and ends again, until as many readings in a row as the form requests show
   nothing left. Inputs and internal topics have zero readable records in the same reading; no end and no committed
   offset moves; no transaction is open; every instance is RUNNING with all tasks assigned. Then it reads once more.
4. **conclude**: the certificate, or the reason why there is none, with the evidence.

A person has to keep new records away and confirm it (**Inputs paused**): a group that is at the end now may not be in
a second. Records in a suppress operator and windows that are not closed are in no topic; they are listed separately.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| observe | always safe | the application runs as before | nothing was changed |
| count_unread | always safe | the application runs as before | nothing was changed |
| certify | always safe, restarts its count of readings | the application runs as before | nothing was changed |
| conclude | always safe | the application runs as before | nothing was changed |
"""

from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.drain.certify import certify
from kstreams_runbooks.steps.drain.count_unread import count_unread
from kstreams_runbooks.steps.plan.looking import observe
from kstreams_runbooks.steps.run.fields import paused_inputs
from kstreams_runbooks.steps.run.form import DRAIN, runbook

with runbook("certify_drain", doc=__doc__, params=paused_inputs(), tags=("drain",), limits=DRAIN):
    observe() >> count_unread() >> certify() >> conclude()
