"""The facts of an undo card as a value, by its kind."""

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.runs.cards import KINDS, CardFacts, InstanceMoved
from kstreams_runbooks.model.runs.ledger import Card


def card_facts(card: Card) -> CardFacts:
    """The facts of a card, by its kind; BadInput for a kind that this release does not know."""
    if card.kind not in KINDS:
        raise BadInput(
            f"run {card.run_key}: undo card {card.seq} ({card.what}) is of kind {card.kind}, which this release does "
            f"not know (known: {', '.join(KINDS)}); update it, or go back manually: {card.undo}"
        )
    facts: CardFacts = decode(KINDS[card.kind], card.facts)
    return facts


def instance_facts(card: Card) -> InstanceMoved:
    """The facts of a card about an instance."""
    facts: InstanceMoved = decode(InstanceMoved, card.facts)
    return facts
