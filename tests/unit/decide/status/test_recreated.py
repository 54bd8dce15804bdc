"""Topics that are not those of the first reading: recreated or gone, by kind."""

import pytest
from kstreams_runbooks.decide.status.recreated import recreated_topics
from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.readings.readings import TopicReading
from kstreams_runbooks.model.readings.recreated import RecreatedTopic
from kstreams_runbooks.model.readings.status import KeptReading
from kstreams_runbooks.model.runs.own_changes import TopicChange

CHANGELOG, REPARTITION = "orders-counts-changelog", "orders-by-customer-repartition"
ROWS = (
    PartitionLag("clicks", 0, "source", "ok", topic_id="a"),
    PartitionLag(REPARTITION, 0, "repartition", "ok", topic_id="a"),
)


def last(changelog: str | None = "a") -> KeptReading:
    lag = ApplicationLag("orders", "orders", "classic", "Stable", ROWS, kept=((CHANGELOG, changelog),))
    return KeptReading(1, lag, expected={"clicks": "a", REPARTITION: "a", CHANGELOG: "a"})


def now(**ids: str) -> list[TopicReading]:
    """The topics with these ids, by the word of each."""
    names = {"clicks": "clicks", "repartition": REPARTITION, "changelog": CHANGELOG}
    return [TopicReading(names[word], topic_id, 1) for word, topic_id in ids.items()]


@pytest.mark.parametrize(
    ("topics", "found"),
    [
        (now(clicks="a", repartition="a", changelog="a"), []),
        (now(clicks="a", repartition="a", changelog="b"), [("changelog", "b")]),
        (now(clicks="b", repartition="b", changelog="a"), [("input", "b"), ("repartition", "b")]),
        # One answer of a broker that restarts.
        (now(clicks="a", repartition="a"), []),
    ],
)
def test_another_id_is_another_topic(topics: list[TopicReading], found: list[tuple[str, str | None]]) -> None:
    assert [(one.kind, one.now) for one in recreated_topics(last(), topics, ())] == found


def test_a_changelog_that_the_last_reading_did_not_find_either_is_gone() -> None:
    [gone] = recreated_topics(last(None), now(clicks="a", repartition="a"), ())
    assert gone == RecreatedTopic(CHANGELOG, "changelog", "a", None)
    assert gone.sentence == f"changelog {CHANGELOG} was deleted (id a) and does not exist"


def test_a_topic_that_a_run_recreated_is_expected() -> None:
    """Deleted and created by its cards; one that another client deleted or created is not."""
    topics, deleted = now(clicks="a", repartition="a", changelog="b"), TopicChange(CHANGELOG, "a", 0)
    created = TopicChange(CHANGELOG, "b", 1, created=True)
    assert recreated_topics(last(), topics, [deleted, created]) == ()
    assert recreated_topics(last(None), now(clicks="a", repartition="a"), [deleted]) == ()
    assert len(recreated_topics(last(), topics, [created])) == 1
    assert len(recreated_topics(last(), topics, [deleted])) == 1
    [again] = recreated_topics(last(), topics, [TopicChange(CHANGELOG, "c", 1, created=True)])
    assert again.sentence == f"changelog {CHANGELOG} was deleted and created again (id b, expected a)"
