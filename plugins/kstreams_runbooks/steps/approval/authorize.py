"""A write never trusts the graph: this checks what the ledger must contain before anything is changed."""

from collections.abc import Sequence

from airflow.sdk.exceptions import AirflowRuntimeError
from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

from kstreams_runbooks.decide.runs.commands import UNDO
from kstreams_runbooks.decide.runs.order import outdated_by
from kstreams_runbooks.decide.runs.validity import not_valid
from kstreams_runbooks.errors import Refused, Unreachable, WriteRefused
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.runs.ledger import INSTANCE, Approval
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.resources import HeldResource
from kstreams_runbooks.model.times import HOUR_MS
from kstreams_runbooks.steps.approval.code import code_digest
from kstreams_runbooks.steps.approval.holds import notify_of_long_holds, resources
from kstreams_runbooks.steps.approval.void import refuse_void
from kstreams_runbooks.steps.run.ending import BEGUN
from kstreams_runbooks.steps.run.run import Run, now_ms

# Asking again, or a reject, voids an earlier approval: marking the task successful must not bring it back.
VOIDED = "earlier approval void"
# The steps whose reading a plan is based on.
_LOOKS = ("observe", "read_cards")
# Each application counts the entries of its own journal: how far it is when a step begins to read it.
_NEWEST = "newest entry"


def authorize(
    run: Run, approval_task: str, after: tuple[str, ...], *, stage: int | None = None, going_on: bool = False
) -> None:
    """Refuse unless the current plan is approved, the approval has not expired, and the gates before it have passed.

    `approval_task` is the task whose approval covers this write; `after` names decisions whose newest verdict in this
    run has to be proceed, and newer than the changes that could have undone it (decide/runs/order.py); `stage` is the
    number of the stage that writes. `going_on` if this run starts what it has stopped: an approval that has expired
    meanwhile must not keep an instance down. Newer means later in the journal, independent of clocks; a clock can only
    make an approval expire. Takes or renews the run's holds. Marking a task successful manually changes none of this.
    """
    _still_the_run(run)
    plan = run.plan()
    if not going_on:
        refuse_void(run, plan)
    approval = _answered(run, approval_task, plan.digest)
    _same_code(run, plan)
    _newest_run(run)
    cards = [card for card in run.ledger.cards(run.key) if (card.cluster, card.application) == run.about]
    for name in after:
        verdicts = run.verdicts(name)
        outcome = verdicts[-1].payload["result"]["outcome"] if verdicts else "never reached"
        if outcome != "proceed":
            raise WriteRefused(
                f"{run.task_id}: {name} is {outcome} in the ledger (expected proceed); marked successful manually "
                f"does not count: clear {verdicts[-1].task_id if verdicts else 'the step before'} and what follows it"
            )
        if last := outdated_by(cards, name, verdicts[-1].id, stage):
            what = "the last restart" if last.kind == INSTANCE else "the change"
            raise WriteRefused(
                f"{run.task_id}: {name} was reached before {what} of {last.step} ({last.object}); clear "
                f"{verdicts[-1].task_id} and what follows it"
            )
    # Last: the checks above do not depend on a clock, and give the better reason.
    if not going_on:
        _not_expired(run, approval_task, approval)
    take_hold(run, resources(run))


def approved(run: Run, approval_task: str, digest: str) -> None:
    """WriteRefused unless the newest answer to `approval_task` is for this plan, and has not expired."""
    _not_expired(run, approval_task, _answered(run, approval_task, digest))


def _answered(run: Run, approval_task: str, digest: str) -> Approval:
    """The newest answer to `approval_task`; WriteRefused unless it is for this plan and was not withdrawn."""
    approval = run.ledger.approval(run.key, approval_task)
    if approval is None:
        raise WriteRefused(
            f"{run.task_id}: no approval of {approval_task} in the ledger (marked successful manually does not count); "
            f"clear {approval_task} and what follows it"
        )
    voided = run.ledger.evidence(run.key, kind="note", name=VOIDED, task_id=approval_task)
    if voided and voided[-1].id > approval.entry:
        raise WriteRefused(
            f"{run.task_id}: the approval by {approval.by} was withdrawn when {approval_task} asked again or was "
            f"rejected; clear {approval_task} and what follows it"
        )
    if approval.digest != digest:
        raise WriteRefused(
            f"{run.task_id}: {approval_task} was given for plan {approval.digest}, the plan is now {digest}; "
            f"clear {approval_task} and what follows it"
        )
    return approval


def _not_expired(run: Run, approval_task: str, approval: Approval) -> None:
    """WriteRefused if an approval has expired by this worker's clock or any clock in the journal."""
    lifetime_ms = int(run.first.limit("approval_expiry_h") * HOUR_MS)
    earliest = run.ledger.earliest_clock(run.record, approval.entry)
    latest = run.ledger.latest_clock(run.record, approval.entry)
    if why := not_valid(approval, now_ms(), lifetime_ms, earliest, latest):
        raise WriteRefused(f"{run.task_id}: {why}; clear {approval_task} and what follows it")


def _still_the_run(run: Run) -> None:
    """Refuse if Airflow's run was deleted and its id used again: tasks of the old run may not change anything."""
    if run.ledger.is_superseded(run.record):
        raise WriteRefused(
            f"{run.task_id}: run {run.key} was deleted in Airflow and its id used again: it may not change anything; "
            "look at the newer run"
        )


def keep_newest(run: Run) -> None:
    """Keep how far the journal of an application is, before a step that a plan is based on reads it."""
    cluster, application = run.about
    entry = run.ledger.newest_entry(run.record)
    run.keep("note", _NEWEST, {"cluster": cluster, "application": application, "entry": entry})


def _newest_run(run: Run) -> None:
    """Refuse if another run has changed a side since the reading of the stored plan, or since this run changed it."""
    looked = run.ledger.looked_before_plan(run.key, _LOOKS, BEGUN)
    for side in run.sides:
        if other := run.ledger.changed_since(side.record, _last_entry(run, side, looked)):
            raise WriteRefused(
                f"{run.task_id}: run {other} has changed {side.record.application} since this run read it for its plan "
                "or last changed it (expected: no change by another run); trigger a new run, which plans from the "
                "present state"
            )


def _last_entry(run: Run, side: Run, looked: int) -> int:
    """The entry in a side's own journal at which this run read it for its plan, or last changed it.

    `looked` is the entry of this run's journal that began the reading; WriteRefused if the side was not read then.
    """
    if side.about == run.first.about:
        return max([looked, *(card.entry for card in run.ledger.cards(run.key))])
    notes = [one for one in run.ledger.evidence(run.key, kind="note", name=_NEWEST) if one.id > looked]
    read = [
        int(one.payload["entry"]) for one in notes if (one.payload["cluster"], one.payload["application"]) == side.about
    ]
    changed = run.ledger.touched_at(run.key, *side.about)
    if not read and not changed:
        raise WriteRefused(
            f"{run.task_id}: application {side.record.application} was not read before the plan (expected: each side "
            f"of this run); clear {_LOOKS[run.record.dag_id == UNDO]} and what follows it"
        )
    # The first one belongs to the reading of the plan; another may have been taken since.
    return max([*read[:1], changed])


def _same_code(run: Run, plan: Plan) -> None:
    """Refuse to begin with other code than was approved; a bump that has begun may need a fix, and continues."""
    approved, now = plan.facts.code, code_digest(run.record.dag_id)
    if now == approved:
        return
    if not run.ledger.run(run.key).wrote_at_ms:
        raise WriteRefused(
            f"{run.task_id}: the code changed since the plan was approved ({approved}, now {now}); trigger a new run"
        )
    run.keep("note", "code changed", {"approved": approved, "now": now})
    run.say(f"the code changed since the plan was approved ({approved}, now {now}); a bump that has begun goes on")


def take_hold(run: Run, held: Sequence[HeldResource], *, changes: bool = True) -> None:
    """Reserve all of `held` for this run, or renew its holds; Refused names the runs that are in the way.

    With `changes` the run begins to change something, and counts for the limit of its cluster until it waits
    (`hold_waits`) or ends; without it, it only reserves. After a refusal this run waits for those in the way: their
    owners are notified if they have held for too long.
    """
    try:
        run.ledger.take_hold(
            run.key,
            [str(one) for one in held],
            cluster=run.record.cluster,
            limit=run.cluster.max_concurrent_runs,
            at_ms=now_ms(),
            is_finished=lambda run_key: is_over(run.ledger, run_key),
            changes=changes,
        )
    except Refused:
        notify_of_long_holds(run, held, of_cluster=changes)
        raise


def is_over(ledger: Ledger, run_key: str) -> bool:
    """Whether the run has ended, or Airflow no longer has it: its hold is then free."""
    record = ledger.run(run_key)
    if ledger.is_superseded(record):
        return True
    dag_id, run_id = record.dag_id, record.run_id
    try:
        going = RuntimeTaskInstance.get_dr_count(dag_id=dag_id, run_ids=[run_id], states=["queued", "running"])
    except AirflowRuntimeError as error:
        raise Unreachable(f"Airflow does not report whether run {run_id} of {dag_id} is over: {error}") from None
    return going == 0
