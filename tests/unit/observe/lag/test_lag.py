"""Which topics are an application's by their names, where nothing tells its topology."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import pytest
from kstreams_runbooks.decide.status.status import LagSample, StatusLimits, status
from kstreams_runbooks.decide.topology.names import internal_by_id, is_changelog
from kstreams_runbooks.model.readings.lag import LagRole
from kstreams_runbooks.model.readings.readings import Taken, TopicReading
from kstreams_runbooks.observe.kafka.offsets import Committed, Ends, Place
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.lag import LagAsked, lag_of, read_lag
from kstreams_runbooks.observe.lag.partition_rows import ClusterLook

IDS = ("orders", "orders-v2", "billing")


@pytest.mark.parametrize(
    ("name", "whose"),
    [
        ("orders-by-customer-repartition", "orders"),
        ("orders-v2-by-customer-repartition", "orders-v2"),
        ("orders-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000010-topic", "orders"),
        ("orders-trade-trader-subscription-response-topic", "orders"),
        ("orders-store-changelog", "orders"),
        ("orders", None),
        ("others-by-customer-repartition", None),
    ],
)
def test_a_longer_id_takes_its_own(name: str, whose: str | None) -> None:
    """Of two ids of which one begins the other, the longer one that fits."""
    assert internal_by_id([name], IDS) == ({} if whose is None else {whose: (name,)})
    assert is_changelog(name) is (name == "orders-store-changelog")


def test_an_offset_past_the_end_of_its_log_is_not_known() -> None:
    """The topic was created again, or somebody set it: what lies in it now was never read."""
    place = ("orders", 0)
    lag = lag_of(
        LagAsked("app", "app", {"orders": "source"}),
        {"orders": "source"},
        ClusterLook(
            {"app": {place: Committed(1_000, "")}},
            {"orders": TopicReading("orders", "id", 1)},
            {place: Ends(0, 50, 50)},
            {"app": ("classic", "Empty")},
        ),
    )
    [row] = lag.partitions
    assert (row.state, row.records, lag.unread) == ("unknown", None, None)
    assert row.why.startswith("committed 1,000 is past its end 50")


@dataclass
class _Cluster:
    """What a reader would say of a small cluster; it is not connected to any."""

    records: dict[str, int]
    offsets: dict[str, dict[Place, Committed]]
    unseen: tuple[str, ...] = ()

    @property
    def librdkafka(self) -> "_Cluster":
        return self

    def patiently(self, read: Any, _: Any) -> Any:
        return read()

    def taken(self) -> Taken:
        return Taken(0, "here")

    def groups(self) -> tuple[tuple[str, str, str], ...]:
        return tuple((group, "classic", "Stable") for group in self.offsets)

    def committed(self, ids: list[str]) -> dict[str, dict[Place, Committed]]:
        return {one: self.offsets[one] for one in ids}

    def names(self) -> TopicNames:
        return TopicNames.of(self.records, self.unseen)

    def unlisted(self, ids: list[str]) -> dict[str, str]:
        return {one: f"group {one} is not there" for one in ids}

    def topics(self, names: Collection[str]) -> tuple[TopicReading, ...]:
        return tuple(TopicReading(name, "id", 1) for name in names)

    def list_offsets(self, specs: Any, **_: Any) -> Any:
        return {each: _Answer(self.records[each.topic]) for each in specs}


@dataclass
class _Answer:
    offset: int

    def result(self) -> "_Answer":
        return self


def rows(cluster: _Cluster, asked: LagAsked) -> dict[str, tuple[str, str]]:
    reader: Any = cluster
    [lag] = read_lag(reader, "here", [asked]).applications
    return {row.topic: (row.role, row.state) for row in lag.partitions}


def test_a_group_that_is_not_asked_about_keeps_its_own_topics() -> None:
    """The id of one begins that of a neighbour, which is only on the cluster."""
    topics = {"in": 5, "orders-counts-repartition": 3, "orders-v2-counts-repartition": 900}
    alone = _Cluster(topics, {"orders": {("in", 0): Committed(5, "")}})
    mine = {"in": ("source", "ok"), "orders-counts-repartition": ("repartition", "never_committed")}
    others = {"orders-v2-counts-repartition": ("repartition", "never_committed")}
    assert rows(alone, LagAsked("orders", "orders")) == mine | others
    assert rows(_Cluster(topics, {**alone.offsets, "orders-v2": {}}), LagAsked("orders", "orders")) == mine


def test_a_topic_that_may_not_be_seen_is_not_known() -> None:
    """Only one that a broker says it does not have is missing."""
    cluster = _Cluster({"in": 5}, {"orders": {}}, unseen=("secret",))
    reads: dict[str, LagRole] = dict.fromkeys(("in", "secret", "gone"), "source")
    assert rows(cluster, LagAsked("orders", "orders", reads)) == {
        "in": ("source", "never_committed"),
        "secret": ("source", "unknown"),
        "gone": ("source", "missing"),
    }


def test_a_changelog_that_may_not_be_seen_is_not_gone() -> None:
    """Its lag is none of it; whether the state is still there is not known."""
    reader: Any = _Cluster({"in": 5, "kept": 1}, {"orders": {("in", 0): Committed(5, "")}}, unseen=("secret",))
    asked = LagAsked("orders", "orders", {"in": "source"}, keeps=("gone", "kept", "secret"))
    [lag] = read_lag(reader, "here", [asked]).applications
    assert lag.kept == (("gone", None), ("kept", "id"))
    assert lag.unseen == ("topic secret is not visible to this login; grant it Describe on Topic secret",)
    assert lag.unread == 0
    found = status((LagSample(0, lag),), StatusLimits())
    assert (found.word, found.sentence) == ("unknown", lag.unseen[0])


def test_a_group_that_is_not_listed_says_why() -> None:
    """In place of "its offsets expired"."""
    reader: Any = _Cluster({"in": 5}, {})
    [lag] = read_lag(reader, "here", [LagAsked("orders", "orders", {"in": "source"})]).applications
    assert lag.problems == ("group orders is not there",)
