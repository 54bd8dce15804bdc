"""The answer about more partitions as text with bars, as a document and as an exit code."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.growth.closure import closure
from kstreams_runbooks.decide.growth.verdict import may_grow
from kstreams_runbooks.model.readings.growth import HotKey, KeyShare, PartitionLoad
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.present.growth import as_text, document, exit_code, picture, skew_of
from world.growing import forecast, growing
from world.samples import declared

BEFORE = (PartitionLoad(0, KeyShare(10, 300, 900)), PartitionLoad(3, KeyShare(1, 100, 100)))
AFTER = (PartitionLoad(0, KeyShare(4, 100, 300)), PartitionLoad(7, KeyShare(7, 300, 700)))
HOT = (HotKey("c-1\x1b", 250, 500, 0, 7), HotKey("c-2", 9, 20, 3, 3))
READ = forecast(growing(), loads_before=BEFORE, loads_after=AFTER, most_records=HOT)


def text() -> str:
    return as_text(declared(), closure(growing()), READ, may_grow(growing(), READ))


def test_the_text_has_the_topics_and_a_bar_for_each_partition() -> None:
    """The longest bar is the largest partition; an empty one has none."""
    lines = text().splitlines()
    assert lines[0] == "[orders @ demo] PROCEED: 12 partitions"
    assert "    orders-counts-changelog: 4 → 12 (changelog; its number follows from the inputs)" in lines
    at = lines.index("  orders: records in each partition")
    assert lines[at + 1] == "    before, 4 partitions: the largest has 3.00 times the mean"
    assert lines[at + 2].split() == ["0", "█" * 40, "75.0", "%", "300", "(900", "bytes)"]
    assert lines[at + 3].split() == ["1", "0.0", "%", "0", "(0", "bytes)"]
    assert lines[at + 5].split()[1] == "█" * 13
    assert lines[at + 6] == "    after, 12 partitions: the largest has 9.00 times the mean"


def test_hot_keys_show_where_they_go() -> None:
    """A key from outside cannot control the terminal."""
    shown = [" ".join(line.split()) for line in text().splitlines()]
    assert r"c-1\x1b 250 (500 bytes): 0 → 7" in shown
    assert "c-2 9 (20 bytes): 3, stays" in shown


def test_many_partitions_show_the_largest_ones() -> None:
    """And how many are left out."""
    assert not isinstance(READ.topics, Missing)
    loads = tuple(PartitionLoad(number, KeyShare(1, number + 1, 1)) for number in range(100))
    lines = [*picture(replace(READ.topics[0], after=100, loads_after=loads))]
    assert sum("█" in line for line in lines) == 2 + 24
    assert "    and 76 smaller ones" in lines
    assert any(line.split()[0] == "99" for line in lines)


def test_the_document_has_everything_or_null() -> None:
    shown = document(declared(), closure(growing()), READ, may_grow(growing(), READ))
    assert (shown["schema_version"], shown["verdict"], shown["partitions"]) == (1, "proceed", 12)
    assert shown["tasks"] == {"before": 8, "after": 24}
    assert shown["forecast"][0]["skew"] == {"before": 3.0, "after": 9.0}
    assert shown["forecast"][0]["moved"] == {"keys": 653, "records": 3_000, "bytes": 10_000}
    refused = growing(wanted=4)
    shown = document(declared(), closure(refused), None, may_grow(refused, None))
    assert (shown["forecast"], shown["taken_at_ms"], shown["grown"], shown["read"]) == (None, None, [], [])
    limited = replace(READ, topics=Missing("above the limit"))
    assert document(declared(), closure(growing()), limited, may_grow(growing(), limited))["forecast"] is None


@pytest.mark.parametrize(
    ("wanted", "read", "code"), [(12, READ, 0), (4, None, 1), (12, None, 3), (12, replace(READ, topics=()), 3)]
)
def test_the_exit_code(wanted: int, read: object, code: int) -> None:
    assert exit_code(may_grow(growing(wanted=wanted), read)) == code  # type: ignore[arg-type]


def test_an_empty_topic_has_no_skew() -> None:
    assert skew_of((), 4) is None
