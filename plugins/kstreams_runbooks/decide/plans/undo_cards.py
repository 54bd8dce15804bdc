"""Undo cards of other things than instances: whether each still applies, what taking it back costs, and its stage."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading, Missing, TopicReading
from kstreams_runbooks.model.runs.cards import (
    GroupDeleted,
    InputsPaused,
    InputsResumed,
    OffsetFacts,
    OffsetsDeleted,
    OffsetsSet,
    OtherFacts,
    PersonAsked,
    RecordsDeleted,
    StateCleared,
    TopicCreated,
    TopicDeleted,
    TopicGrown,
    changed_offsets,
)
from kstreams_runbooks.model.runs.object_stages import (
    AskPerson,
    CreateTopics,
    DeleteTopics,
    PauseInputs,
    ResumeInputs,
    SetOffsets,
)
from kstreams_runbooks.model.runs.stages import OtherStage

_SENT_BACK = "records between the two are read again, or never"


@dataclass(frozen=True, slots=True)
class OtherCard:
    """A card of another kind than an instance's; `facts` is None if this release does not know its kind.

    `side` is the role of its application in the run, `done` if it has been taken back already. `kept` is False if the
    run ended before it kept the result of the change, which it may have made or not.
    """

    seq: int
    kind: str
    what: str
    undo: str
    facts: OtherFacts | None
    side: str = ""
    done: bool = False
    kept: bool = True


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The judgement on one card: the stage that takes it back (None: it does not apply), why, and its cost."""

    seq: int
    what: str
    stage: OtherStage | None
    why: str
    cost: str = ""

    @property
    def sentence(self) -> str:
        """The judgement, for a person."""
        if self.stage is None:
            return f"card {self.seq} ({self.what}) does not apply: {self.why}"
        return f"card {self.seq} ({self.what}): {self.stage.sentence}; {self.cost}"


def unknown_kinds(cards: Sequence[OtherCard]) -> tuple[str, ...]:
    """One sentence for each card whose kind this release does not know."""
    return tuple(
        f"card {other.seq} ({other.what}) is of kind {other.kind}, which this release does not know; take it back "
        f"manually: {other.undo}"
        for other in cards
        if other.facts is None and not other.done
    )


def created_topics(cards: Sequence[OtherCard]) -> frozenset[str]:
    """The topics that a run created, and that did not exist before it."""
    made = frozenset(one.facts.topic.name for one in cards if isinstance(one.facts, TopicCreated))
    return made - recreated_topics(cards)


def recreated_topics(cards: Sequence[OtherCard]) -> frozenset[str]:
    """The topics that a run deleted, and then created again."""
    deleted: dict[str, int] = {}
    for one in sorted(cards, key=lambda one: one.seq):
        if isinstance(one.facts, TopicDeleted):
            deleted.setdefault(one.facts.topic.name, one.seq)
    return frozenset(
        one.facts.topic.name
        for one in cards
        if isinstance(one.facts, TopicCreated) and one.seq > deleted.get(one.facts.topic.name, one.seq)
    )


def deleted_topics(cards: Sequence[OtherCard], readings: Mapping[str, ApplicationReading]) -> frozenset[str]:
    """The topics that existed before a run, and that it deleted; `readings` are by the role of their side.

    A run that ended between the card and the deletion has left the topic with its id.
    """
    gone = frozenset(
        one.facts.topic.name
        for one in cards
        if isinstance(one.facts, TopicDeleted) and not _is_kept(one.facts, readings[one.side])
    )
    return gone - created_topics(cards)


def _is_kept(facts: TopicDeleted, reading: ApplicationReading) -> bool:
    topics = reading.topics if isinstance(reading.topics, tuple) else ()
    return any((one.name, one.topic_id) == (facts.topic.name, facts.topic_id) for one in topics)


def paused_inputs(cards: Sequence[OtherCard]) -> frozenset[str]:
    """The inputs that a run paused."""
    return frozenset(name for one in cards if isinstance(one.facts, InputsPaused) for name in one.facts.inputs)


@dataclass(frozen=True, slots=True)
class OwnThings:
    """The topics that a run created itself, and the inputs that it paused.

    `deleted` are topics of before that it deleted, `recreated` those of them that it created again.
    """

    created: frozenset[str] = frozenset()
    paused: frozenset[str] = frozenset()
    deleted: frozenset[str] = frozenset()
    recreated: frozenset[str] = frozenset()


def taken_back(other: OtherCard, reading: ApplicationReading, own: OwnThings = OwnThings()) -> TakenBack:
    """Whether a card still applies to what `reading` shows of its side, and the stage that takes it back.

    What the run did to its `own` topics goes with them, and inputs that it paused are resumed once. Inconclusive if the
    topics of the cluster could not be read.
    """
    facts, undoes = other.facts, (other.seq,)
    if other.done:
        return TakenBack(other.seq, other.what, None, "it has been taken back already")
    if facts is None:
        return TakenBack(other.seq, other.what, None, f"its kind {other.kind} is unknown; manually: {other.undo}")
    if why := _goes_with_its_own(facts, own) or _gone_for_good(facts, reading, own):
        return TakenBack(other.seq, other.what, None, why)
    if isinstance(facts, TopicCreated | TopicDeleted):
        why, stage, cost = _topic(facts, reading)
    elif isinstance(facts, OffsetsSet) and facts.holds:
        why, stage, cost = _held(facts, reading)
    elif isinstance(facts, OffsetsSet | OffsetsDeleted | GroupDeleted):
        why, stage, cost = _offsets(facts, reading, kept=other.kept)
    else:
        stage, why, cost = _rest(facts)
    if stage is not None:
        stage = replace(stage, side=other.side, undoes=undoes)
    return TakenBack(other.seq, other.what, stage, why, cost)


def _goes_with_its_own(facts: OtherFacts, own: OwnThings) -> str:
    """Why a card about what the run made or paused itself needs no stage, empty if it needs one."""
    if isinstance(facts, TopicDeleted) and facts.topic.name in own.created:
        return f"the run created topic {facts.topic.name} itself"
    if isinstance(facts, OffsetsSet | OffsetsDeleted) and own.created.issuperset(changed_offsets(facts)):
        return "they go with the topics, which the run created"
    if isinstance(facts, InputsResumed) and own.paused.issuperset(facts.inputs):
        return "they are resumed where the pause is taken back"
    return ""


def _gone_for_good(facts: OtherFacts, reading: ApplicationReading, own: OwnThings) -> str:
    """Why a card of a run that deleted topics has no way back, empty if it has one.

    A topic that was created again stays: what was in the old one does not come back with it.
    """
    if isinstance(facts, StateCleared) and own.deleted:
        return (
            f"the run deleted the changelogs of {facts.instance} too: what it held is gone for good, and it goes on "
            "with what it has built since"
        )
    if isinstance(facts, OffsetsSet | OffsetsDeleted) and own.recreated.issuperset(changed_offsets(facts)):
        return "the run created these topics again: offsets of the old ones mean nothing on them"
    if isinstance(facts, TopicCreated | TopicDeleted):
        name = facts.topic.name
        if name in own.recreated and _is_there(name, reading):
            return f"topic {name} was created again by the run: what the old one had is gone for good"
    return ""


def _is_there(topic: str, reading: ApplicationReading) -> bool:
    return isinstance(reading.topics, tuple) and any(one.name == topic for one in reading.topics)


def _topic(facts: TopicCreated | TopicDeleted, reading: ApplicationReading) -> tuple[str, OtherStage | None, str]:
    """Why a created or deleted topic is not taken back, or the stage that does it and its cost."""
    name = facts.topic.name
    if isinstance(reading.topics, Missing):
        raise Inconclusive(f"whether topic {name} is there is not known: {reading.topics.missing}")
    now = next((one for one in reading.topics if one.name == name), None)
    if isinstance(facts, TopicDeleted):
        if now is not None and now.topic_id == facts.topic_id:
            return f"topic {name} was not deleted: it has the id that it had", None, ""
        if now is not None:
            gone = ": what the old one had is gone for good" if facts.again else ""
            return f"topic {name} is there again (id {now.topic_id}){gone}", None, ""
        return "", CreateTopics(0, (facts.topic,)), "it is empty: its records do not come back"
    if now is None:
        return f"topic {name} does not exist", None, ""
    if why := _not_its_own(facts, now):
        return why, None, ""
    return "", DeleteTopics(0, (name,)), _records_cost(name, reading)


def _not_its_own(facts: TopicCreated, now: TopicReading) -> str:
    """Why a topic is not the created one, empty if it is."""
    if not facts.topic_id:
        return (
            f"the run ended before it learned the id of topic {now.name}, which exists (id {now.topic_id}): delete it "
            "manually if the run created it"
        )
    if now.topic_id != facts.topic_id:
        return f"topic {now.name} is another one (id {now.topic_id}, the run created {facts.topic_id})"
    return ""


def _records_cost(topic: str, reading: ApplicationReading) -> str:
    """The records that are lost with a topic."""
    rows = [one for one in _rows(reading) if one.topic == topic]
    if not rows or any(one.log_end_offset is None or one.log_start_offset is None for one in rows):
        return "its records are lost (their number is not known)"
    count = sum((one.log_end_offset or 0) - (one.log_start_offset or 0) for one in rows)
    return f"its records are lost (up to {count:,})" if count else "it has no record"


def _offsets(facts: OffsetFacts, reading: ApplicationReading, *, kept: bool) -> tuple[str, OtherStage | None, str]:
    """The stage that sets the offsets again and its cost, or why there are none to set."""
    topics, group = tuple(sorted(changed_offsets(facts))), facts.before.group_id
    if not topics:
        return f"group {group} had no committed offset", None, ""
    if again := _created_again(facts, reading):
        topics = tuple(name for name in topics if name not in again)
        if not topics:
            return f"topic {again[0]} was created again since: offsets of the old one mean nothing on it", None, ""
    if not kept and (why := _not_seen(facts, reading)):
        return why, None, ""
    return "", SetOffsets(0, group, topics, "card"), _offsets_cost(facts, reading)


def _created_again(facts: OffsetFacts, reading: ApplicationReading) -> tuple[str, ...]:
    """Topics of a card that have another id now than when their offsets were set; sorted."""
    ids = dict(facts.ids) if isinstance(facts, OffsetsSet) else {}
    topics = reading.topics if isinstance(reading.topics, tuple) else ()
    return tuple(sorted(one.name for one in topics if ids.get(one.name, one.topic_id) != one.topic_id))


def _held(facts: OffsetsSet, reading: ApplicationReading) -> tuple[str, OtherStage | None, str]:
    """The stage that commits held offsets once more, or why the group needs none: it reads its inputs again.

    An application whose inputs are swapped does not read them, and its reading has no row of them. The write leaves a
    place that is committed further on (steps/stages/offsets.py).
    """
    group, topics = facts.before.group_id, tuple(sorted(changed_offsets(facts)))
    rows = {(one.topic, one.partition): one.committed for one in _rows(reading) if one.topic in topics}
    gone = [one for one in facts.after if rows.get(one.place) is None]
    beyond = [one for one in facts.after if (now := rows.get(one.place)) is not None and now != one.offset]
    if rows and (beyond or not gone):
        return f"group {group} reads these inputs again, from the offsets that were held", None, ""
    return "", SetOffsets(0, group, topics, "card"), "nothing: they are committed again where they were held"


def _not_seen(facts: OffsetFacts, reading: ApplicationReading) -> str:
    """Why offsets that a run announced are not set back, empty if they are as it wanted them.

    The run ended before it kept a result. If it wrote nothing, the group went on from its own offsets.
    """
    group, topics = facts.before.group_id, set(changed_offsets(facts))
    before = {one.place: one.offset for one in facts.before.offsets if one.topic in topics}
    after = {one.place: one.offset for one in facts.after} if isinstance(facts, OffsetsSet) else {}
    own = isinstance(reading.group, GroupReading) and reading.group.group_id == group
    now = {(one.topic, one.partition): one.committed for one in _rows(reading) if own and one.topic in topics}
    if now and all(now.get(place) == after.get(place) for place in {*before, *after}):
        return ""
    if now and all(now.get(place) == offset for place, offset in before.items()):
        return f"the offsets of group {group} are as they were before it"
    file = f", saved in {facts.file}" if facts.file else ""
    return (
        f"whether the run changed the offsets of group {group} is not known (it ended before it kept the result): "
        f"compare them with those from before{file}, and set them manually if it did"
    )


def _offsets_cost(facts: OffsetFacts, reading: ApplicationReading) -> str:
    """What has been read since the run set the offsets is read again, if that is known."""
    own = {one.place: one.offset for one in facts.after} if isinstance(facts, OffsetsSet) else {}
    since = sum(
        one.committed - own[one.topic, one.partition]
        for one in _rows(reading)
        if one.committed is not None and one.committed > own.get((one.topic, one.partition), one.committed)
    )
    return f"{_SENT_BACK}; {since:,} have been read since" if since else _SENT_BACK


def _rest(
    facts: TopicGrown | RecordsDeleted | StateCleared | InputsPaused | InputsResumed | PersonAsked,
) -> tuple[OtherStage | None, str, str]:
    """The stage, or why there is none, and the cost, of the kinds that no reading decides about."""
    if isinstance(facts, TopicGrown):
        return None, f"the {facts.after} partitions of topic {facts.name} cannot become {facts.before} again", ""
    if isinstance(facts, RecordsDeleted):
        return None, f"deleted records of topic {facts.name} do not come back", ""
    if isinstance(facts, StateCleared):
        lost = f"; lost for good: {', '.join(facts.lost)}" if facts.lost else ""
        return None, f"the next start of {facts.instance} restores its stores from their topics{lost}", ""
    if isinstance(facts, InputsPaused):
        return ResumeInputs(0, facts.inputs), "", ResumeInputs.costs
    if isinstance(facts, InputsResumed):
        return PauseInputs(0, facts.inputs), "", PauseInputs.costs
    return AskPerson(0, facts.back, facts.request), "", AskPerson.costs


def _rows(reading: ApplicationReading) -> Iterator[PartitionLag]:
    yield from reading.partitions if not isinstance(reading.partitions, Missing) else ()
