"""The inputs that runs hold, by their undo cards: the one place that knows which cards hold inputs."""

from collections.abc import Iterator

from kstreams_runbooks.decide.drain.hold import forecast_hold, may_hold
from kstreams_runbooks.decide.plans.switches import SWAP
from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.card_facts import card_facts
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.hold import HoldFacts, HoldForecast, PlannedHold
from kstreams_runbooks.model.runs.cards import KINDS, InputsPaused, InputsResumed
from kstreams_runbooks.model.runs.held_inputs import HeldInputs
from kstreams_runbooks.model.runs.ledger import Card, RunRecord
from kstreams_runbooks.model.runs.plan import Plan

# The note at the end of a stage (steps/stages/order.py).
STAGE_COMPLETE = "stage complete"


def may_hold_inputs(ledger: Ledger) -> tuple[RunRecord, ...]:
    """Runs that have changed something and did not complete: one that completed has resumed what it paused."""
    return tuple(
        one for one in ledger.runs() if one.wrote_at_ms is not None and one.outcome != RunOutcome.COMPLETED.value
    )


def held_inputs(ledger: Ledger, run_key: str) -> tuple[HeldInputs, ...]:
    """Inputs that a run has paused and neither resumed nor undone; one value for each application and way.

    A card comes before its write: inputs count as held from the first card of the pause on, and until the stages of the
    resume are complete. ValueError for a card or a plan whose facts this release does not know.
    """
    stored = ledger.plan(run_key)
    if stored is not None and any(stage["kind"] == "certify" for stage in stored.get("stages", ())):
        return tuple(_by_switch(ledger, run_key, decode(Plan, stored)))
    held: dict[tuple[str, str, str], dict[str, int]] = {}
    for card in ledger.cards(run_key):
        if card.kind not in KINDS or card.done:
            continue
        facts, about = card_facts(card), (card.cluster, card.application)
        if isinstance(facts, InputsPaused):
            since = held.setdefault((*about, facts.how), {})
            since |= {name: card.at_ms for name in facts.inputs if name not in since}
        elif isinstance(facts, InputsResumed) and _is_complete(ledger, card):
            own = [since for (cluster, application, _), since in held.items() if (cluster, application) == about]
            for name in facts.inputs:
                for since in own:
                    since.pop(name, None)
    return tuple(
        HeldInputs(run_key, cluster, application, tuple(sorted(since)), how, min(since.values()))
        for (cluster, application, how), since in held.items()
        if since
    )


def _by_switch(ledger: Ledger, run_key: str, plan: Plan) -> Iterator[HeldInputs]:
    """The inputs that a flush holds: all of them, by its switch."""
    cards = [card for card in ledger.cards(run_key) if not card.done]
    ends = {end.payload["stage"] for end in ledger.evidence(run_key, kind="note", name=STAGE_COMPLETE)}
    begun = {note.payload["bounce"] for note in ledger.evidence(run_key, kind="write", name="restart")}
    needed = {one.number for one in plan.resuming}
    if plan.start and plan.certify and plan.certify.how == SWAP and plan.start.number not in begun:
        # The start itself names the inputs again.
        needed |= {plan.start.number}
    if (certify := plan.certify) and cards and not needed <= ends:
        yield HeldInputs(run_key, plan.cluster, plan.application, certify.inputs, certify.how, cards[0].at_ms)


def forecast_of(ledger: Ledger, run_key: str) -> HoldForecast | None:
    """The newest forecast that a run has kept of its hold, None without one."""
    kept = ledger.evidence(run_key, kind="verdict", name=may_hold.__name__, newest=1)
    if not kept:
        return None
    inputs = kept[0].payload["inputs"]
    return forecast_hold(decode(HoldFacts, inputs["facts"]), decode(PlannedHold, inputs["planned"]))


def _is_complete(ledger: Ledger, card: Card) -> bool:
    """Whether the stage of a card has ended."""
    ends = ledger.evidence(card.run_key, kind="note", name=STAGE_COMPLETE)
    return any(end.payload["stage"] == card.stage and end.id > card.entry for end in ends)
