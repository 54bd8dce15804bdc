"""Limits of a hold of inputs: retention of the topics in which records wait, expiry of offsets, a person's limit."""

from collections.abc import Iterator

from kstreams_runbooks.model.readings.hold import HoldFacts, HoldLimit, PlannedHold, WaitingTopic
from kstreams_runbooks.model.readings.readings import Missing

# A forecast may use this share of a limit that Kafka enforces: the rest is for what nothing forecasts.
_SHARE = 0.5
_UNLIMITED = -1


def hold_limits(facts: HoldFacts, planned: PlannedHold) -> Iterator[HoldLimit | Missing]:
    """Every limit of what waits, and Missing for one that is not known."""
    for topic in facts.waits:
        yield from _of_topic(topic)
    if planned.how != "manual":
        # With `swap` the group commits other topics meanwhile, and a copier's group has no member: both let offsets
        # expire by this setting (KIP-211).
        if not facts.waits:
            yield Missing(f"topics in which records wait: none is known (expected the inputs held by {planned.how})")
        if isinstance(kept := facts.offsets_retention_ms, Missing):
            yield Missing(f"offsets.retention.minutes: {kept.missing}")
        else:
            yield _half("offsets.retention.minutes leaves the committed offsets", kept / 1000)
    if planned.longest_s is not None:
        yield HoldLimit("the form allows", planned.longest_s, planned.longest_s)


def _of_topic(topic: WaitingTopic) -> Iterator[HoldLimit | Missing]:
    """Retention by time and by size; a compacted topic loses deletions of keys that are not read yet.

    Source: Apache Kafka documentation, "Log Compaction" (delete.retention.ms).
    """
    if isinstance(topic.deletes, Missing):
        yield Missing(f"cleanup.policy of {topic.topic}: {topic.deletes.missing}")
        return
    if isinstance(kept := topic.tombstones_ms, Missing):
        yield Missing(f"delete.retention.ms of {topic.topic}: {kept.missing}")
    elif kept is not None:
        yield _half(f"delete.retention.ms of {topic.topic} keeps deletions of keys", kept / 1000)
    if topic.deletes:
        yield from _by_time(topic)
        yield from _by_size(topic)


def _by_time(topic: WaitingTopic) -> Iterator[HoldLimit | Missing]:
    kept, age = topic.retention_ms, topic.age_ms
    if isinstance(kept, Missing):
        yield Missing(f"retention.ms of {topic.topic}: {kept.missing}")
    elif kept == _UNLIMITED:
        return
    elif isinstance(age, Missing):
        yield Missing(f"age of the waiting records of {topic.topic}: {age.missing}")
    else:
        yield _half(f"retention.ms of {topic.topic} leaves its waiting records", max(0, kept - age) / 1000)


def _by_size(topic: WaitingTopic) -> Iterator[HoldLimit | Missing]:
    kept, rate, waiting = topic.retention_bytes, topic.bytes_per_s, topic.waiting_bytes
    if isinstance(kept, Missing):
        yield Missing(f"retention.bytes of {topic.topic}: {kept.missing}")
    elif kept == _UNLIMITED:
        return
    elif isinstance(rate, Missing) or isinstance(waiting, Missing):
        why = next(one.missing for one in (rate, waiting) if isinstance(one, Missing))
        yield Missing(f"bytes per second of {topic.topic}, which has retention.bytes {kept:,}: {why}")
    # Without traffic the topic does not fill up.
    elif rate > 0:
        what = f"retention.bytes {kept:,} of {topic.topic} leaves at {rate:,.0f} bytes/s"
        yield _half(what, max(0, kept - waiting) / rate)


def _half(what: str, seconds: float) -> HoldLimit:
    return HoldLimit(what, seconds, seconds * _SHARE)
