"""Runs the guards of every application that a run holds, also while that run waits for an approval or a gate."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kstreams_runbooks.decide.instances.guards import nothing_drifted
from kstreams_runbooks.decide.runs import message
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.card_facts import instance_facts
from kstreams_runbooks.model.runs.ledger import Evidence, Hold
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.resources import APPLICATION
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.approval.void import void_plan, voided
from kstreams_runbooks.steps.instances.gate_trigger import GATE_PASSED
from kstreams_runbooks.steps.plan.cards import instance_cards, own_changes
from kstreams_runbooks.steps.run.notify import notify_all
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.held import holds_by_run
from kstreams_runbooks.wording import first_of

# A restarting broker may leave a topic out of one answer, and a restarting instance has no stable state.
_AGAIN_S = 5.0
# The run may be at any stage of its plan; its evidence shows what it has already done to an instance.
_ANY_STAGE = 1


@dataclass(frozen=True, slots=True)
class Swept:
    """How many plans became void, and the held applications whose plan could not be checked."""

    void: int
    unknown: tuple[str, ...]


def sweep(
    ledger: Ledger,
    task_id: str,
    is_over: Callable[[str], bool],
    say: Callable[[str], None],
    warn: Callable[[str], None] | None = None,
) -> Swept:
    """Run the guards of every held application, also of those that a run holds next to its own.

    A run that holds topics or routes alone is guarded as its own application. `is_over` reports whether a run has
    ended, which frees its holds. An application that cannot be read is logged with the reason, and does not affect the
    others. `warn` logs what a person should not miss, `say` the rest.
    """
    warn = warn or say
    void, unknown = 0, []
    for run_key, holds in holds_by_run(ledger).items():
        for application, held in _to_guard(ledger, run_key, holds):
            about = f"[{held}] held by {run_key}"
            try:
                if is_over(run_key):
                    say(f"{about}, which has ended: its hold is free")
                    continue
                verdict = _guard(Run.again(run_key, task_id, 1).on(application))
            except Exception as error:  # noqa: BLE001 - the next hold is another run's, and its cluster may have drifted
                why = str(error) if isinstance(error, RunbookError) else f"{type(error).__name__}: {error}"
                warn(message.one_line(f"{about}: its guards could not be run: {why}"))
                unknown.append(held)
                continue
            is_well = verdict.outcome in {Outcome.PROCEED, Outcome.WAIT}
            (say if is_well else warn)(f"{about}: {verdict.sentence}")
            void += verdict.outcome is Outcome.REFUSE
            if verdict.outcome is Outcome.INCONCLUSIVE:
                unknown.append(held)
    return Swept(void, tuple(unknown))


def _to_guard(ledger: Ledger, run_key: str, holds: tuple[Hold, ...]) -> list[tuple[str, str]]:
    """The applications to guard for one run, each with what is held, for a person."""
    held = [hold.held for hold in holds]
    if applications := [(one.name, f"{one.name} @ {one.cluster}") for one in held if one.kind == APPLICATION]:
        return applications
    return [(ledger.run(run_key).application, f"{first_of([one.words for one in held])} @ {held[0].cluster}")]


def _guard(run: Run) -> Verdict:
    """The verdict of the guards on one application of a run; on drift its plan becomes void, its owner is notified."""
    stored, digest = run.ledger.plan(run.key), run.ledger.run(run.key).plan_digest
    if stored is None or digest is None or "facts" not in stored:
        return Verdict(Outcome.WAIT, ("no plan yet that a guard could compare with",))
    if note := voided(run, digest):
        return Verdict(Outcome.WAIT, (f"plan {digest} is void already: {'; '.join(note.payload['reasons'])}",))
    plan = run.plan()
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
    notify_all(run.first, message.drifted, digest=plan.digest, reasons=verdict.reasons)
    return verdict


def _inputs(run: Run, plan: Plan) -> dict[str, Any]:
    """The present inputs of the guards.

    The run goes on meanwhile. Gates are read before the reading, and undo cards, which come before each write,
    after it: an instance in the middle of its restart is then always known to belong to the run.
    """
    passed = {(one.payload["instance"], one.payload["bounce"]): one.id for one in _passed(run)}
    reading = run.read()
    newest = {card.object: card for card in instance_cards(run)}
    in_hand = {
        name for name, card in newest.items() if passed.get((name, instance_facts(card).bounce), -1) < card.entry
    }
    return {
        "reading": reading,
        "plan": plan,
        "name": "",
        "number": _ANY_STAGE,
        "leaving": not plan.facts.static_membership and run.ledger.run(run.key).wrote_at_ms is not None,
        "in_hand": tuple(sorted(in_hand)),
        "own": own_changes(run),
        "brought": tuple(sorted({name for name, _ in passed} - in_hand)),
    }


def _passed(run: Run) -> list[Evidence]:
    return run.ledger.evidence(run.key, kind="note", name=GATE_PASSED)
