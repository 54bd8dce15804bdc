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

    A card comes before its write: inputs count as held from the first card of a pause on, and until the stages of its
    resume are complete. ValueError for a card or a plan whose facts this release does not know.
    """
    stored = ledger.plan(run_key)
    if stored is not None and any(stage["kind"] == "certify" for stage in stored.get("stages", ())):
        return tuple(_by_pairs(ledger, run_key, decode(Plan, stored)))
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


def _by_pairs(ledger: Ledger, run_key: str, plan: Plan) -> Iterator[HeldInputs]:
    """The inputs that each hold of a plan keeps back, by its switch.

    The card of an instance has the number of the start that ends its stop: of a copier, that of the resume.
    """
    cards = [card for card in ledger.cards(run_key) if not card.done]
    ends = {end.payload["stage"] for end in ledger.evidence(run_key, kind="note", name=STAGE_COMPLETE)}
    begun = {note.payload["bounce"] for note in ledger.evidence(run_key, kind="write", name="restart")}
    for hold in plan.input_holds:
        certify, own = hold.certify, {one.number for one in (*hold.pausing, *hold.resuming)}
        # With empty topics the start itself names the inputs again.
        starts = bool(plan.start and certify.how == SWAP and not {plan.start.number} & (begun | ends))
        first = next((card for card in cards if card.stage in own), None)
        if first is not None and (starts or not hold.is_over(ends)):
            about = (run_key, plan.cluster, plan.application, certify.inputs, certify.how, first.at_ms)
            others = tuple(one.application for one in plan.sides if one.role in certify.behind)
            yield HeldInputs(*about, hold.number, hold.name, others)


def forecast_of(ledger: Ledger, run_key: str, number: int = 1) -> HoldForecast | None:
    """The newest forecast that a run has kept of its hold with this number, None without one."""
    return dict(_forecasts(ledger, run_key)).get(number)


def longest_forecast(ledger: Ledger, run_key: str) -> HoldForecast | None:
    """The newest forecast of the longest of its holds, None without one."""
    found = (forecast for _, forecast in _forecasts(ledger, run_key))
    return max(found, key=lambda forecast: forecast.seconds[1], default=None)


def forecasts_text(ledger: Ledger, run_key: str) -> str:
    """How long a run holds inputs, for its approver: each of several holds with its number; empty without one."""
    found = sorted(dict(_forecasts(ledger, run_key)).items())
    if len(found) == 1:
        return found[0][1].sentence
    return "; ".join(f"hold {number}: {forecast.sentence}" for number, forecast in found)


def _forecasts(ledger: Ledger, run_key: str) -> Iterator[tuple[int, HoldForecast]]:
    """The number of a hold and its forecast, the oldest first."""
    for kept in ledger.evidence(run_key, kind="verdict", name=may_hold.__name__):
        inputs = kept.payload["inputs"]
        planned = decode(PlannedHold, inputs["planned"])
        yield planned.number, forecast_hold(decode(HoldFacts, inputs["facts"]), planned)


def _is_complete(ledger: Ledger, card: Card) -> bool:
    """Whether the stage of a card has ended."""
    ends = ledger.evidence(card.run_key, kind="note", name=STAGE_COMPLETE)
    return any(end.payload["stage"] == card.stage and end.id > card.entry for end in ends)
