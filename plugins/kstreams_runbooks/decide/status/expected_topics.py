"""The topics that an application has to have: those seen first, until a person acknowledges the present ones.

A topic that is created again does not repair itself: its old records, and the state of a changelog, stay lost however
often the new one is read. The ids seen first stay the expected ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kstreams_runbooks.model.readings.lag import ApplicationLag


@dataclass(frozen=True, slots=True)
class Replaced:
    """Topics that it reads and that were replaced, with both ids; changelogs that were replaced, or are gone (None)."""

    read: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def expected_ids(before: Mapping[str, str], lag: ApplicationLag) -> dict[str, str]:
    """Topic ids to compare with from now on: those of `before` (empty: nothing is expected yet), and new topics.

    A topic that the application does not name any more is expected no longer; while a part of the reading is missing,
    or a changelog is not visible, its absence proves nothing.
    """
    now = _ids(lag)
    seen = {topic: topic_id for topic, topic_id in now.items() if topic_id is not None}
    return seen | {topic: topic_id for topic, topic_id in before.items() if topic in now or lag.problems or lag.unseen}


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
