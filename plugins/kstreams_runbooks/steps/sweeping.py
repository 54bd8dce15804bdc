"""The guards of every application that a run holds, also while that run waits for a person or for a gate."""

import time
from collections.abc import Callable

from kstreams_runbooks.decide import notification
from kstreams_runbooks.decide.guards import nothing_drifted
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.plan import Plan
from kstreams_runbooks.model.readings import ApplicationReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.checking import held_applications
from kstreams_runbooks.steps.notify import notify
from kstreams_runbooks.steps.run import Run
from kstreams_runbooks.steps.void import void_plan, voided

# A broker that restarts may leave a topic out of one answer, and an instance that restarts is neither here nor there.
_AGAIN_S = 5.0
# Every stage of the plan is allowed at once: the run may stand at any of them.
_ANY_STAGE = 1


def sweep(ledger: Ledger, task_id: str, is_over: Callable[[str], bool], say: Callable[[str], None]) -> int:
    """Run the guards of every held application; the answer is how many plans have become void by it.

    `is_over` says of a run whether it has ended, so that its hold is free. What cannot be looked at is said, and costs
    the others nothing.
    """
    void = 0
    for (cluster, application), run_key in held_applications(ledger).items():
        about = f"[{application} @ {cluster}] held by {run_key}"
        try:
            if is_over(run_key):
                say(f"{about}, which has ended: its hold is free")
                continue
            verdict = _guard(Run.again(run_key, task_id, 1))
        except RunbookError as error:
            say(f"{about}: its guards could not be run: {error}")
            continue
        say(f"{about}: {verdict.sentence}")
        void += verdict.outcome is Outcome.REFUSE
    return void


def _guard(run: Run) -> Verdict:
    """What the guards say of one run; where the world has drifted, its plan is void and its owner is told, once."""
    stored, digest = run.ledger.plan(run.key), run.ledger.run(run.key).plan_digest
    if stored is None or digest is None or "facts" not in stored:
        return Verdict(Outcome.WAIT, ("no plan yet that a guard could compare with",))
    if note := voided(run, digest):
        return Verdict(Outcome.WAIT, (f"plan {digest} is void already: {'; '.join(note.payload['reasons'])}",))
    plan: Plan = decode(Plan, stored)
    reading = run.read()
    verdict = _verdict(run, reading, plan)
    if verdict.outcome is Outcome.REFUSE:
        time.sleep(_AGAIN_S)
        reading = run.read()
        verdict = _verdict(run, reading, plan)
    if verdict.outcome is not Outcome.REFUSE:
        return verdict
    run.keep("reading", "application", reading)
    inputs = {"reading": reading, "plan": plan, "name": "", "number": _ANY_STAGE, "leaving": _leaving(run, plan)}
    verdict = run.decide(nothing_drifted, **inputs)
    void_plan(run, plan, verdict.reasons)
    notify(run, notification.drifted, digest=plan.digest, reasons=verdict.reasons)
    return verdict


def _verdict(run: Run, reading: ApplicationReading, plan: Plan) -> Verdict:
    return nothing_drifted(reading, plan, "", _ANY_STAGE, leaving=_leaving(run, plan))


def _leaving(run: Run, plan: Plan) -> bool:
    """Whether a member of no instance may be what one of them left behind when this run restarted it."""
    return not plan.facts.static_membership and run.ledger.run(run.key).wrote_at_ms is not None
