"""# Certify drain
This Airflow DAG proves that an application has nothing left to process, or says what is left. It changes nothing.

1. **observe**: versions, group, offsets, every instance.
2. **count_unread**: how many records that is, for whoever waits: at once where they are few, else by Spark.
3. **certify**: reads ends, committed offsets and ends again, until as many readings in a row as the form says show
   nothing left: inputs and internal topics at zero readable records in the same reading, no end and no committed offset
   moved, no transaction open, every instance RUNNING with all tasks assigned. Then it looks once more.
4. **conclude**: the certificate, or why there is none, with the evidence.

Somebody has to keep new records away and say so (**Inputs paused**): what is at its end now may not be in a second.
Records that a suppress operator holds back and windows that are not closed stand in no topic; they are listed apart.

| step | clear it? | meanwhile | way back |
|---|---|---|---|
| observe | always safe | the application runs as before | nothing is changed |
| count_unread | always safe | the application runs as before | nothing is changed |
| certify | always safe, begins to count anew | the application runs as before | nothing is changed |
| conclude | always safe | the application runs as before | nothing is changed |
"""

from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.drain.certify import certify
from kstreams_runbooks.steps.drain.count_unread import count_unread
from kstreams_runbooks.steps.plan.looking import observe
from kstreams_runbooks.steps.run.form import DRAIN, paused_inputs, runbook

with runbook("certify_drain", doc=__doc__, params=paused_inputs(), tags=("drain",), limits=DRAIN):
    observe() >> count_unread() >> certify() >> conclude()
