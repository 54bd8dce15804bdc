"""The topics that an application has to have: those seen first, until a person acknowledges the present ones.

A topic that is created again does not repair itself: its old records, and the state of a changelog, stay lost however
often the new one is read. The ids seen first stay the expected ones, unless the undo cards of a run show that it
deleted or created the topic: an id that is on no card is never accepted in place of another. The exception is a topic
that a run deleted for its application to create it again, once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kstreams_runbooks.model.readings.lag import ApplicationLag
from kstreams_runbooks.model.readings.status import KeptReading
from kstreams_runbooks.model.runs.own_changes import TopicChange


@dataclass(frozen=True, slots=True)
class Replaced:
    """Topics that it reads and that were replaced, with both ids; changelogs that were replaced, or are gone (None)."""

    read: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def expected_ids(before: Mapping[str, str], lag: ApplicationLag, own: Iterable[TopicChange] = ()) -> dict[str, str]:
    """Topic ids to compare with from now on: those of `before` (empty: nothing is expected yet), and new topics.

    A topic that the application does not name any more is expected no longer; while a part of the reading is missing,
    or a changelog is not visible, its absence proves nothing. `own` are the changes that runs announced in the cluster,
    in any order: they may have happened or not.
    """
    now, own = _ids(lag), tuple(own)
    left = {topic: topic_id for topic, topic_id in before.items() if topic in now or lag.problems or lag.unseen}
    found = {topic: expected_id(left.get(topic), now.get(topic), topic, own) for topic in {*now, *left}}
    return {topic: topic_id for topic, topic_id in found.items() if topic_id is not None}


def accepted_topics(
    last: KeptReading | None, lag: ApplicationLag, now: Mapping[str, str], reason: str
) -> dict[str, str]:
    """The changelogs that a person accepted in place of the expected ones, each with the reason.

    `last` is the reading before this one (`lag`), `now` are the ids expected from now on, `reason` is that of a person
    who accepts them now, empty if none does. A changelog that a run deletes and creates is accepted no longer: its
    store was reset.
    """
    if last is None:
        return {}
    stays = {
        topic: why
        for topic, why in last.accepted.items()
        if topic not in last.expected or now.get(topic) == last.expected[topic]
    }
    kept = dict(lag.kept) if reason else {}
    return stays | {
        topic: reason for topic, before in last.expected.items() if topic in kept and now.get(topic) != before
    }


def expected_id(before: str | None, now: str | None, topic: str, own: tuple[TopicChange, ...]) -> str | None:
    """The id to expect of one topic, None for any: the one that a run created, if a run deleted the one of before."""
    deleted = {one.topic_id for one in own if one.name == topic and one.deleted}
    created = {one.topic_id for one in own if one.name == topic and one.created and one.topic_id} - deleted
    if before is None:
        return now if now is None or now in created or not created else min(created)
    if before not in deleted or now == before:
        return before
    if created:
        return now if now in created else min(created)
    if any(one.again for one in own if one.name == topic and one.deleted):
        return now
    # Only its absence shows that the deletion happened: another id may have replaced the topic before.
    return None if now is None else before


def replaced(expected: Mapping[str, str], lag: ApplicationLag, before: ApplicationLag | None) -> Replaced:
    """Topics that are not the expected ones.

    A broker that restarts may omit a topic from one response: a changelog is gone if it was also missing in `before`,
    the reading before this one.
    """
    absent = {topic for topic, topic_id in (before.kept if before else ()) if topic_id is None}
    kept = dict(lag.kept)
    others = [
        (topic, f"{topic} (id {topic_id or 'none'}, expected {expected[topic]})")
        for topic, topic_id in sorted(_ids(lag).items())
        if topic in expected and topic_id != expected[topic] and (topic_id or topic in absent & kept.keys())
    ]
    return Replaced(
        tuple(sentence for topic, sentence in others if topic not in kept),
        tuple(sentence for topic, sentence in others if topic in kept),
    )


def _ids(lag: ApplicationLag) -> dict[str, str | None]:
    return {**{one.topic: one.topic_id for one in lag.read}, **dict(lag.kept)}
