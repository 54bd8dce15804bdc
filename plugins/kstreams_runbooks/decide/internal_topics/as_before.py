"""The internal topics that a reset creates again: with the settings that they had, as far as the state allows it.

A person may have given a topic settings of its own. What a topic keeps is decided by Kafka Streams: a changelog that is
created again with another policy would lose the state of its store.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from kstreams_runbooks.decide.internal_topics.settings import LAG, POLICY, RETENTION
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.wording import first_of

# Settings that decide which records stay, or what their times mean.
_KEEPS: Final = frozenset({POLICY, RETENTION, LAG, "message.timestamp.type"})
# Of a moved partition, never of a new topic.
_PASSING: Final = "replication.throttled.replicas"
_SOURCE = "Kafka Streams developer guide, Managing Streams Application Topics; docs/reset_and_cleanup.md"


def as_before(created: Iterable[TopicShape], before: Iterable[TopicShape]) -> tuple[TopicShape, ...]:
    """Topics as Kafka Streams creates them (`created`), with the settings that they had `before`.

    Kafka Streams' value counts for a setting that decides which records stay. A topic that did not exist stays as is.
    """
    had = {one.name: one for one in before}
    return tuple(one if one.name not in had else _with_own(one, had[one.name]) for one in created)


def differences(
    created: Iterable[TopicShape], before: Iterable[TopicShape], again: Iterable[TopicShape]
) -> Iterator[Finding]:
    """A finding for each topic whose settings, partitions or replicas were not those of Kafka Streams.

    `again` are the topics as they are created (`as_before`).
    """
    had, made = {one.name: one for one in before}, {one.name: one for one in again}
    for one in created:
        old = had.get(one.name)
        if old is None:
            continue
        parts = [*_numbers(one, old), *_settings(one, old, made[one.name])]
        if parts:
            message = f"is created again with {first_of(parts, len(parts), '; ')}"
            yield Finding("reset-topic-settings", "warning", one.name, message, _SOURCE)


def _with_own(one: TopicShape, old: TopicShape) -> TopicShape:
    streams = dict(one.settings)
    kept = {key: value for key, value in old.settings if _is_kept(key, streams)}
    return TopicShape(one.name, one.partitions, one.replication, tuple(sorted({**streams, **kept}.items())))


def _is_kept(key: str, streams: dict[str, str]) -> bool:
    return not key.endswith(_PASSING) and not (key in _KEEPS and key in streams)


def _numbers(one: TopicShape, old: TopicShape) -> Iterator[str]:
    if one.partitions != old.partitions:
        yield f"{one.partitions:,} partitions (it had {old.partitions:,})"
    if one.replication > 0 and one.replication != old.replication:
        yield f"{one.replication} replicas (it had {old.replication})"


def _settings(one: TopicShape, old: TopicShape, again: TopicShape) -> Iterator[str]:
    streams, had, now = dict(one.settings), dict(old.settings), dict(again.settings)
    for key in sorted(streams.keys() | had.keys()):
        if streams.get(key) == had.get(key):
            continue
        value = f"{key}={now[key]}" if key in now else f"{key} of the brokers"
        yield f"{value} (it had {had.get(key, 'the default')}, Kafka Streams: {streams.get(key, 'not set')})"
