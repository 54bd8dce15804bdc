"""What Airflow calls when a run has been going for longer than its deadline: whoever waits for its hold is told."""

from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.decide import notification
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.steps.notify import notify
from kstreams_runbooks.steps.reporting import BEGUN
from kstreams_runbooks.steps.run import Run, log

_GOING = {"queued", "running"}


def held_too_long(context: Mapping[str, Any], limit_h: float) -> None:
    """Tell that the run of `context` (Airflow's, as a dictionary) still holds something after `limit_h` hours.

    A run that holds nothing (a dry run, one that has ended) keeps nobody waiting.
    """
    dag_run = context["dag_run"]
    if dag_run["state"] not in _GOING:
        return
    try:
        run = Run.again(f"{dag_run['dag_id']}/{dag_run['dag_run_id']}", "held_too_long", 1)
    except BadInput as error:
        log.info("nobody waits for it: %s", error)
        return
    held = [hold for hold in run.ledger.holds() if hold.run_key == run.key]
    if held:
        begun = run.ledger.evidence(run.key, name=BEGUN)
        notify(
            run,
            notification.held_too_long,
            since_ms=min(hold.taken_at_ms for hold in held),
            limit_h=limit_h,
            held=tuple(hold.resource.replace(":", " ") for hold in held),
            step=begun[-1].task_id if begun else "",
        )
