"""The guards of every application that a run holds, also while that run waits for a person or for a gate."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kstreams_runbooks.decide.instances.guards import nothing_drifted
from kstreams_runbooks.decide.runs import message
from kstreams_runbooks.errors import Inconclusive, RunbookError
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.runs.ledger import Evidence
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.approval.void import void_plan, voided
from kstreams_runbooks.steps.instances.gate_trigger import GATE_PASSED
from kstreams_runbooks.steps.plan.cards import undo_facts
from kstreams_runbooks.steps.run.notify import notify
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.status import held_applications

# A broker that restarts may leave a topic out of one answer, and an instance that restarts is neither here nor there.
_AGAIN_S = 5.0
# The run may stand at any stage of its plan; what it has already done to an instance is told apart by its evidence.
_ANY_STAGE = 1


@dataclass(frozen=True, slots=True)
class Swept:
    """How many plans have become void, and the held applications of which nobody can say whether theirs still holds."""

    void: int
    unknown: tuple[str, ...]


def sweep(ledger: Ledger, task_id: str, is_over: Callable[[str], bool], say: Callable[[str], None]) -> Swept:
    """Run the guards of every held application.

    `is_over` says of a run whether it has ended, so that its hold is free. What cannot be looked at is said, whatever
    the reason, and costs the others nothing.
    """
    void, unknown = 0, []
    for (cluster, application), run_key in held_applications(ledger).items():
        about = f"[{application} @ {cluster}] held by {run_key}"
        try:
            if is_over(run_key):
                say(f"{about}, which has ended: its hold is free")
                continue
            verdict = _guard(Run.again(run_key, task_id, 1))
        except Exception as error:  # noqa: BLE001 - the next hold is another run's, and its world may have drifted
            why = str(error) if isinstance(error, RunbookError) else f"{type(error).__name__}: {error}"
            say(message.one_line(f"{about}: its guards could not be run: {why}"))
            unknown.append(f"{application} @ {cluster}")
            continue
        say(f"{about}: {verdict.sentence}")
        void += verdict.outcome is Outcome.REFUSE
        if verdict.outcome is Outcome.INCONCLUSIVE:
            unknown.append(f"{application} @ {cluster}")
    return Swept(void, tuple(unknown))


def _guard(run: Run) -> Verdict:
    """What the guards say of one run; where the world has drifted, its plan is void and its owner is told, once."""
    stored, digest = run.ledger.plan(run.key), run.ledger.run(run.key).plan_digest
    if stored is None or digest is None or "facts" not in stored:
        return Verdict(Outcome.WAIT, ("no plan yet that a guard could compare with",))
    if note := voided(run, digest):
        return Verdict(Outcome.WAIT, (f"plan {digest} is void already: {'; '.join(note.payload['reasons'])}",))
    plan = _plan(stored, digest)
    inputs = _inputs(run, plan)
    if nothing_drifted(**inputs).outcome is Outcome.REFUSE:
        time.sleep(_AGAIN_S)
        inputs = _inputs(run, plan)
    verdict = nothing_drifted(**inputs)
    if verdict.outcome is not Outcome.REFUSE:
        return verdict
    run.keep("reading", "application", inputs["reading"])
    verdict = run.decide(nothing_drifted, **inputs)
    void_plan(run, plan, verdict.reasons)
    notify(run, message.drifted, digest=plan.digest, reasons=verdict.reasons)
    return verdict


def _plan(stored: object, digest: str) -> Plan:
    try:
        plan: Plan = decode(Plan, stored)
    except ValueError:
        raise Inconclusive(
            f"plan {digest} in the ledger is not of the form that this release writes; look after the run manually"
        ) from None
    return plan


def _inputs(run: Run, plan: Plan) -> dict[str, Any]:
    """What the guards look at now.

    The run goes on meanwhile. Gates are looked up before the reading and undo cards, which stand before each write,
    after it: so an instance that the reading shows in the middle of its restart is always known to be in hand.
    """
    passed = {(one.payload["instance"], one.payload["bounce"]): one.id for one in _passed(run)}
    reading = run.read()
    newest = {card.object: card for card in run.ledger.cards(run.key)}
    in_hand = {name for name, card in newest.items() if passed.get((name, undo_facts(card).bounce), -1) < card.entry}
    return {
        "reading": reading,
        "plan": plan,
        "name": "",
        "number": _ANY_STAGE,
        "leaving": not plan.facts.static_membership and run.ledger.run(run.key).wrote_at_ms is not None,
        "in_hand": tuple(sorted(in_hand)),
        "brought": tuple(sorted({name for name, _ in passed} - in_hand)),
    }


def _passed(run: Run) -> list[Evidence]:
    return run.ledger.evidence(run.key, kind="note", name=GATE_PASSED)
