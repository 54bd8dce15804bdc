"""Notifies of a run that has held an application for long while another run waits for it.

Airflow's own deadlines would notify without a waiting run. But in Airflow 3.3 a run with a deadline that counts from
its queueing cannot be cleared any more (https://github.com/apache/airflow/issues/70368), and clearing matters more.
"""

from kstreams_runbooks.decide.runs import message
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.notifications import HELD_TOO_LONG_H, notification_settings
from kstreams_runbooks.model.runs.ledger import Hold
from kstreams_runbooks.model.times import HOUR_MS
from kstreams_runbooks.steps.run.ending import BEGUN
from kstreams_runbooks.steps.run.notify import notify
from kstreams_runbooks.steps.run.run import Run, now_ms


def notify_of_long_holds(run: Run) -> None:
    """Notify, once each, of the runs that have held something in the cluster of `run` for too long."""
    try:
        limit_h = notification_settings().held_too_long_h
    except BadInput:
        # The step that sends a notification reports what is wrong with the file.
        limit_h = HELD_TOO_LONG_H
    for holder, held in _others(run).items():
        since_ms = min(hold.taken_at_ms for hold in held)
        if now_ms() - since_ms < limit_h * HOUR_MS:
            continue
        # One occasion for its whole life: it is notified once.
        other = Run.again(holder, "held_too_long", 1)
        begun = run.ledger.evidence(holder, name=BEGUN)
        notify(
            other,
            message.held_too_long,
            since_ms=since_ms,
            limit_h=limit_h,
            held=tuple(hold.resource.replace(":", " ") for hold in held),
            step=begun[-1].task_id if begun else "",
        )


def _others(run: Run) -> dict[str, list[Hold]]:
    """The holds of other runs in the cluster of `run`, by run."""
    others: dict[str, list[Hold]] = {}
    for hold in run.ledger.holds():
        if hold.cluster == run.record.cluster and hold.run_key != run.key:
            others.setdefault(hold.run_key, []).append(hold)
    return others
