"""Repartition topics that an undo starts on while they are new: the group begins at their first record.

Under auto.offset.reset=latest it would skip what is written to them before its first commit. Source: Kafka Streams
developer guide, Application Reset Tool.
"""

from collections.abc import Iterator, Sequence

from kstreams_runbooks.decide.plans.undo_cards import OtherCard, TakenBack
from kstreams_runbooks.decide.topology.names import is_changelog
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.model.runs.cards import TopicDeleted
from kstreams_runbooks.model.runs.object_stages import CreateTopics, SetOffsets


def begun_at_zero(
    declared: DeclaredApplication,
    reading: ApplicationReading,
    role: str,
    cards: Sequence[OtherCard],
    taken: Sequence[TakenBack],
) -> Iterator[tuple[int, SetOffsets]]:
    """The stage that commits the first offset of new repartition topics of one side, with the place of a card.

    `cards` are the other cards of the run, `taken` is what becomes of them. New are the topics that the undo creates,
    and those that the run deleted and that have another id now, unless the group has committed every offset of them.
    The stage comes after the creation of its topics.
    """
    cards = [one for one in cards if one.side == role]
    deleted = {one.facts.topic.name: one.seq for one in cards if isinstance(one.facts, TopicDeleted)}
    old = {one.facts.topic_id for one in cards if isinstance(one.facts, TopicDeleted)}
    stages = [one.stage for one in taken if isinstance(one.stage, CreateTopics) and one.stage.side == role]
    new = {topic.name for stage in stages for topic in stage.topics}
    there = reading.topics if isinstance(reading.topics, tuple) else ()
    new |= {one.name for one in there if one.topic_id not in old} - _committed(reading)
    if names := tuple(sorted(name for name in new & deleted.keys() if _is_read(name, declared.application_id))):
        stage = SetOffsets(0, declared.application_id, names, "unset", side=role)
        yield min(deleted[name] for name in names), stage


def _is_read(topic: str, application_id: str) -> bool:
    return topic.startswith(f"{application_id}-") and not is_changelog(topic)


def _committed(reading: ApplicationReading) -> frozenset[str]:
    """The topics on whose every partition the group has committed an offset."""
    rows = reading.partitions if isinstance(reading.partitions, tuple) else ()
    unset = {one.topic for one in rows if one.committed is None}
    return frozenset(one.topic for one in rows if one.topic not in unset)
