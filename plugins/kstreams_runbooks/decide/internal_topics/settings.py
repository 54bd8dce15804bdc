"""The settings that Kafka Streams gives an internal topic of its own.

Three values override each other: the library's, those of the application's settings that begin with `topic.`, and those
of the one store. Source: `RepartitionTopicConfig`, `UnwindowedUnversionedChangelogTopicConfig`,
`WindowedChangelogTopicConfig`, `VersionedChangelogTopicConfig`, `InternalTopicManager` (Apache Kafka 3.4 to 4.4);
tests/integration/test_internal_topics.py, tests/facts/test_internal_topics.py.
"""

from collections.abc import Mapping
from typing import Final, Literal

from kstreams_runbooks.decide.releases.topic_settings import OF_TOPICS, TOPIC
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.times import DAY_MS

# How a changelog is cleaned. records: each one counts, also those of one key and one time.
ChangelogKind = Literal["latest", "windows", "records", "versions"]
TopicSettings = tuple[tuple[str, str], ...]

# Older releases give other settings: 2.4 no type of timestamps, 2.7 another policy to stores with duplicates.
KNOWN_RELEASES: Final = "3.4..4.4"
_ALL: Final = {"message.timestamp.type": "CreateTime"}
_REPARTITION: Final = {**_ALL, "cleanup.policy": "delete", "segment.bytes": "52428800", "retention.ms": "-1"}
_POLICY: Final[Mapping[ChangelogKind, str]] = {
    "latest": "compact",
    "windows": "compact,delete",
    "records": "delete",
    "versions": "compact",
}
RETENTION, LAG, POLICY = "retention.ms", "min.compaction.lag.ms", "cleanup.policy"
ADDITIONAL: Final = "windowstore.changelog.additional.retention.ms"
REPLICATION: Final = "replication.factor"
_LONGEST: Final = 2**63 - 1


def given_to_topics(config: Mapping[str, str]) -> dict[str, str]:
    """The settings of an application that all its internal topics get, without `topic.`.

    Only settings that a topic can have: brokers create no topic with any other. A topic that is there was created
    before, or elsewhere.
    """
    given = {name.removeprefix(TOPIC): value for name, value in config.items() if name.startswith(TOPIC)}
    return {name: value for name, value in given.items() if name in OF_TOPICS}


def of_repartition(config: Mapping[str, str]) -> TopicSettings:
    """The settings of a repartition topic, and of the two of a foreign-key join."""
    return _sorted({**_REPARTITION, **given_to_topics(config)})


def of_changelog(
    kind: ChangelogKind, config: Mapping[str, str], own: Mapping[str, str], kept_ms: int | None = None
) -> TopicSettings:
    """The settings of a changelog; `own` are those of its store.

    `kept_ms` is the retention of a store of windows or records, and the history of a versioned store. Only the store
    overrides what follows from it, `topic.` does not.
    """
    found = {**_ALL, POLICY: _POLICY[kind], **given_to_topics(config), **own}
    if kept_ms is not None and kind in {"windows", "records"} and RETENTION not in own:
        found[RETENTION] = str(min(kept_ms + additional_ms(config), _LONGEST))
    if kept_ms is not None and kind == "versions" and LAG not in own:
        found[LAG] = str(min(kept_ms + DAY_MS, _LONGEST))
    return _sorted(found)


def additional_ms(config: Mapping[str, str]) -> int:
    """How long windows stay in a changelog beyond their retention: a day by default."""
    return _number(config, ADDITIONAL, DAY_MS)


def replication(config: Mapping[str, str]) -> int:
    """Replicas of every internal topic, -1 for the brokers' default (KIP-733)."""
    return _number(config, REPLICATION, -1)


def _number(config: Mapping[str, str], name: str, default: int) -> int:
    value = config.get(name, str(default)).strip()
    try:
        return int(value)
    except ValueError:
        raise BadInput(f"config {name}: {value[:40]!r} is not a whole number; correct it") from None


def _sorted(settings: Mapping[str, str]) -> TopicSettings:
    return tuple(sorted(settings.items()))
