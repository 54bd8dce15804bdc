"""Ends of partitions with too few replicas in sync are not known, by whichever way they are read."""

import re
from typing import Any

from kstreams_runbooks.model.readings.lag import LagRole
from kstreams_runbooks.model.readings.readings import Missing, TopicReading
from kstreams_runbooks.observe.kafka.ends import ends_at, ends_of, held_of
from kstreams_runbooks.observe.kafka.offsets import Ends
from kstreams_runbooks.observe.lag.partition_rows import ClusterLook, partition_rows
from world.imports import FILES, PACKAGE

SHORT = "1 of 3 replicas in sync"
TOPIC = TopicReading("in", "id", 2, uncertain=((1, SHORT),))


class _Answer:
    offset, timestamp = 7, 1

    def result(self) -> "_Answer":
        return self


class _Reader:
    """Every partition is empty and ends at 7, as its leader shows it; the second one lacks replicas."""

    librdkafka: Any = property(lambda self: self)

    def list_offsets(self, specs: Any, **_: Any) -> Any:
        return dict.fromkeys(specs, _Answer())

    def topics(self, names: Any) -> tuple[TopicReading, ...]:
        return tuple(one for one in (TOPIC,) if one.name in names)

    def ask(self, _: str, call: Any) -> Any:
        return call()

    def patiently(self, read: Any, _: Any) -> Any:
        return read()


def test_a_visible_end_is_not_taken_for_the_end() -> None:
    """Of a topic, of a partition by its name, and of what an input holds; its start is certain."""
    reader: Any = _Reader()
    unknown = Ends(7, Missing(SHORT), Missing(SHORT))
    assert ends_of(reader, [TOPIC]) == {("in", 0): Ends(7, 7, 7), ("in", 1): unknown}
    assert ends_at(reader, [("in", 1), ("gone", 0)]) == {("in", 1): unknown, ("gone", 0): Ends(7, 7, 7)}
    held = held_of(reader, [TOPIC])
    assert not isinstance(held, Missing)
    assert [one.end for one in held] == [7, Missing(SHORT)]


def test_nothing_is_asked_of_no_partition() -> None:
    """A describe call without names would list every topic."""
    assert ends_at(_Reader(), []) == {}  # type: ignore[arg-type] # nothing is read


def test_its_lag_is_not_known() -> None:
    """The other partition keeps its own."""
    reader: Any = _Reader()
    roles: dict[str, LagRole] = {"in": "source"}
    first, second = partition_rows("app", roles, ClusterLook({}, {"in": TOPIC}, ends_of(reader, [TOPIC])))
    assert (first.state, first.records) == ("never_committed", 0)
    assert (second.state, second.records, second.why) == ("unknown", None, SHORT)


def test_the_rest_of_the_package_reads_ends_by_them_alone() -> None:
    """What reads the raw ends forgets the replicas."""
    raw = re.compile(r"\b(read_ends|read_held)\b")
    readers = {str(file.relative_to(PACKAGE)) for file in FILES if raw.search(file.read_text(encoding="utf-8"))}
    assert readers == {"observe/kafka/ends.py", "observe/kafka/offsets.py"}
