"""Topics that are created again have the settings of before, unless these decide which records stay."""

import pytest
from kstreams_runbooks.decide.internal_topics.as_before import as_before, differences
from kstreams_runbooks.model.writes import TopicShape

NAME = "orders-counts-changelog"
STREAMS = TopicShape(NAME, 4, 3, (("cleanup.policy", "compact"), ("message.timestamp.type", "CreateTime")))


def before(*settings: tuple[str, str], partitions: int = 4, replication: int = 3) -> TopicShape:
    return TopicShape(
        NAME, partitions, replication, tuple(sorted({**dict(STREAMS.settings), **dict(settings)}.items()))
    )


def test_a_topic_as_kafka_streams_made_it_comes_again_without_a_word() -> None:
    assert as_before([STREAMS], [before()]) == (STREAMS,)
    assert list(differences([STREAMS], [before()], [STREAMS])) == []


def test_a_topic_that_did_not_exist_is_as_kafka_streams_makes_it() -> None:
    assert as_before([STREAMS], []) == (STREAMS,)
    assert list(differences([STREAMS], [], [STREAMS])) == []


@pytest.mark.parametrize(
    ("old", "wanted", "said"),
    [
        (
            before(("min.insync.replicas", "2")),
            {"min.insync.replicas": "2"},
            "min.insync.replicas=2 (it had 2, Kafka Streams: not set)",
        ),
        (
            before(("cleanup.policy", "delete")),
            {"cleanup.policy": "compact"},
            "cleanup.policy=compact (it had delete, Kafka Streams: compact)",
        ),
        (before(("retention.ms", "5")), {"retention.ms": "5"}, "retention.ms=5 (it had 5, Kafka Streams: not set)"),
        (
            before(("leader.replication.throttled.replicas", "0:1")),
            {},
            "leader.replication.throttled.replicas of the brokers (it had 0:1, Kafka Streams: not set)",
        ),
        (before(partitions=2), {}, "4 partitions (it had 2)"),
        (before(replication=1), {}, "3 replicas (it had 1)"),
    ],
)
def test_what_differs_is_kept_or_shown(old: TopicShape, wanted: dict[str, str], said: str) -> None:
    """Every difference is in the plan, whichever value counts."""
    [made] = as_before([STREAMS], [old])
    assert dict(made.settings) == {**dict(STREAMS.settings), **wanted}
    assert (made.partitions, made.replication) == (4, 3)
    [finding] = differences([STREAMS], [old], [made])
    assert (finding.object, finding.severity) == (NAME, "warning")
    assert finding.message == f"is created again with {said}"


def test_a_setting_that_the_topic_lost_is_shown() -> None:
    old = TopicShape(NAME, 4, 3, (("cleanup.policy", "compact"),))
    [made] = as_before([STREAMS], [old])
    assert made == STREAMS
    [finding] = differences([STREAMS], [old], [made])
    assert "message.timestamp.type=CreateTime (it had the default, Kafka Streams: CreateTime)" in finding.message
