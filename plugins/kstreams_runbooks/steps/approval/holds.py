"""What a run holds, and the notification of one that has held for long while another run waits for it.

Airflow's own deadlines would notify without a waiting run. But in Airflow 3.3 a run with a deadline that counts from
its queueing cannot be cleared any more (https://github.com/apache/airflow/issues/70368), and clearing matters more.
"""

from collections.abc import Sequence

from kstreams_runbooks.decide.runs import message
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.notifications import HELD_TOO_LONG_H, notification_settings
from kstreams_runbooks.model.runs.ledger import Hold
from kstreams_runbooks.model.runs.object_stages import TopicStage, changed_topics
from kstreams_runbooks.model.runs.resources import APPLICATION, TOPIC, HeldResource
from kstreams_runbooks.model.times import HOUR_MS
from kstreams_runbooks.steps.run.ending import BEGUN
from kstreams_runbooks.steps.run.notify import notify
from kstreams_runbooks.steps.run.run import Run, now_ms


def resources(run: Run) -> tuple[HeldResource, ...]:
    """What a run holds: its application; once it has a plan, all its sides and every topic that it changes."""
    found = {HeldResource(APPLICATION, *run.about)}
    stored = run.ledger.plan(run.key)
    if stored is not None and "facts" in stored:
        plan = run.whole_plan()
        clusters = {part.role: part.cluster for part in plan.parts}
        found |= {HeldResource(APPLICATION, part.cluster, part.application) for part in plan.parts}
        for stage in plan.stages:
            if isinstance(stage, TopicStage):
                found |= {HeldResource(TOPIC, clusters[stage.side], name) for name in changed_topics(stage)}
    return tuple(sorted(found))


def hold_waits(run: Run) -> None:
    """Let other runs change something in the cluster while this one waits for a person, or for a day.

    It keeps what it holds. Not for a wait in the middle of a change, such as a gate: the next write of this run is
    refused while as many others as the limit allows change something.
    """
    run.ledger.hold_waits(run.key, now_ms())


def notify_of_long_holds(run: Run, wanted: Sequence[HeldResource], *, of_cluster: bool) -> None:
    """Notify, once each, of the runs in the way of `run` that have held something for too long.

    In the way is a run that holds something `wanted` and, with `of_cluster`, any that changes something in its cluster.
    """
    try:
        limit_h = notification_settings().held_too_long_h
    except BadInput:
        # The step that sends a notification reports what is wrong with the file.
        limit_h = HELD_TOO_LONG_H
    for holder, held in _in_the_way(run, wanted, of_cluster=of_cluster).items():
        since_ms = min(hold.taken_at_ms for hold in held)
        if now_ms() - since_ms < limit_h * HOUR_MS:
            continue
        # One occasion for its whole life: it is notified once.
        other = Run.again(holder, "held_too_long", 1)
        begun = run.ledger.evidence(holder, name=BEGUN, newest=1)
        notify(
            other,
            message.held_too_long,
            since_ms=since_ms,
            limit_h=limit_h,
            held=tuple(hold.held.words for hold in held),
            step=begun[-1].task_id if begun else "",
        )


def _in_the_way(run: Run, wanted: Sequence[HeldResource], *, of_cluster: bool) -> dict[str, list[Hold]]:
    """All holds of each other run that is in the way of `run`."""
    others: dict[str, list[Hold]] = {}
    for hold in run.ledger.holds():
        if hold.cluster == run.record.cluster and hold.run_key != run.key:
            others.setdefault(hold.run_key, []).append(hold)
    return {
        key: holds
        for key, holds in others.items()
        if any(hold.held in wanted or (of_cluster and hold.changing) for hold in holds)
    }
