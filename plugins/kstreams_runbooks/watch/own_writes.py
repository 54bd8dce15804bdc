"""What runs have changed themselves, by their undo cards: no fault for the scheduled check."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.card_facts import card_facts
from kstreams_runbooks.model.readings.lag import ApplicationLag
from kstreams_runbooks.model.runs.cards import KINDS, OffsetFacts, changed_offsets, changed_topic
from kstreams_runbooks.model.runs.ledger import Card
from kstreams_runbooks.model.runs.own_changes import TopicChange


@dataclass(frozen=True, slots=True)
class OwnWrites:
    """Changes of topics, and until when (Unix ms) a run may have moved the committed offsets on a topic.

    `moved` is by group and topic; with an empty group it is of every group: the topic was deleted.
    """

    topics: tuple[TopicChange, ...] = ()
    moved: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def moved_at(self, group_id: str, at_ms: int) -> tuple[str, ...]:
        """Topics on which a run moved the offsets of a group at that time or later."""
        found = {topic for (group, topic), until in self.moved.items() if group in {"", group_id} and until >= at_ms}
        return tuple(sorted(found))


NO_WRITES = OwnWrites()


def own_writes(ledger: Ledger, cluster: str, lags: Iterable[ApplicationLag], now_ms: int) -> OwnWrites:
    """The changes of the topics and groups in these readings; a run that has not ended may move offsets until now."""
    objects = {name for lag in lags for name in _objects(lag)}
    cards = [card for card in ledger.cards_on(cluster, objects) if card.kind in KINDS]
    ended = {key: ledger.run(key).ended_at_ms for key in {card.run_key for card in cards}}
    topics: list[TopicChange] = []
    moved: dict[tuple[str, str], int] = {}
    for card in cards:
        change, places = _change(card)
        topics += [change] if change is not None else []
        until = ended[card.run_key] or now_ms
        moved |= {place: max(until, moved.get(place, 0)) for place in places}
    return OwnWrites(tuple(topics), moved)


def _objects(lag: ApplicationLag) -> Collection[str]:
    return {lag.application_id, *(one.topic for one in lag.partitions), *(topic for topic, _ in lag.kept)}


def _change(card: Card) -> tuple[TopicChange | None, tuple[tuple[str, str], ...]]:
    """The change of a topic that a card announces, and the offsets that are others after it."""
    facts = card_facts(card)
    if isinstance(facts, OffsetFacts):
        return None, tuple((facts.before.group_id, topic) for topic in changed_offsets(facts))
    change = changed_topic(facts)
    return change, (("", change.name),) if change is not None and change.deleted else ()
