"""One reader makes the rows of partitions: for the gate, and of topics that are no longer read."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import pytest
from kstreams_runbooks.model.readings.lag import LagRole, PartitionLag
from kstreams_runbooks.model.readings.readings import Missing, TopicReading
from kstreams_runbooks.observe.application.application import read_dropped
from kstreams_runbooks.observe.kafka.offsets import Committed, Place
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.partition_rows import read_partitions

TOPICS = (TopicReading("orders", "id-o", 2), TopicReading("app-x-repartition", "id-x", 1))


@dataclass
class _Cluster:
    """A cluster whose logs begin at 2 and end at 9."""

    offsets: dict[Place, Committed] | Missing
    asked: list[str] = field(default_factory=list)

    @property
    def librdkafka(self) -> "_Cluster":
        return self

    def patiently(self, read: Any, _: Any) -> Any:
        return read()

    def committed(self, ids: list[str]) -> dict[str, dict[Place, Committed] | Missing]:
        self.asked.append("committed")
        return dict.fromkeys(ids, self.offsets)

    def names(self) -> TopicNames:
        return TopicNames.of([one.name for one in TOPICS], ())

    def topics(self, names: Collection[str]) -> tuple[TopicReading, ...]:
        return tuple(one for one in TOPICS if one.name in names)

    def list_offsets(self, specs: Any, **_: Any) -> Any:
        self.asked.append("ends")
        first = len(self.asked) == 2
        return {each: _Answer(2 if first else 9) for each in specs}


@dataclass
class _Answer:
    offset: int

    def result(self) -> "_Answer":
        return self


def test_every_partition_has_a_row_and_so_has_a_topic_that_is_gone() -> None:
    """Sorted, with role and topic id; a topic without a role is not among them. Offsets are read before ends."""
    cluster: Any = _Cluster({("orders", 0): Committed(7, ""), ("app-x-repartition", 0): Committed(1, "")})
    roles: dict[str, LagRole] = {"orders": "source", "gone": "source"}
    rows = read_partitions(cluster, "app", roles, TOPICS)
    assert isinstance(rows, tuple)
    absent, first, second = rows
    assert first == PartitionLag("orders", 0, "source", "ok", "id-o", 7, 2, 9, 9, records=2)
    assert (second.state, second.committed, second.records) == ("never_committed", None, 7)
    assert (absent.name, absent.state, absent.records) == ("gone-0", "missing", None)
    assert cluster.asked == ["committed", "ends", "ends", "ends"]


def test_offsets_that_cannot_be_read_are_missing_as_a_whole() -> None:
    """No partition is taken for never committed."""
    cluster: Any = _Cluster(Missing("group app: not visible"))
    assert read_partitions(cluster, "app", {"orders": "source"}, TOPICS) == Missing("group app: not visible")
    assert cluster.asked == ["committed"]


@pytest.mark.parametrize(("offset", "left"), [(1, 7), (7, 2), (9, 0), (10, None)])
def test_a_topic_that_is_no_longer_read_is_counted_alike(offset: int, left: int | None) -> None:
    """From the log's start at least, and not at all past its end; one that does not exist any more has no row."""
    cluster: Any = _Cluster({("app-x-repartition", 0): Committed(offset, "")})
    rows = read_dropped(cluster, "app", {"app-x-repartition", "gone"})
    assert isinstance(rows, tuple)
    [row] = rows
    assert (row.role, row.records) == ("orphaned", left)
