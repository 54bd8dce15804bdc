"""Which offsets the lag check reads, and what it refuses to read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.frames.ranges import OffsetRange, cut, offsets_json, parse_ranges, places_json

SIZES = st.lists(st.integers(0, 10**9), min_size=1, max_size=20)


def ranges_of(sizes: list[int], start: int = 7) -> list[OffsetRange]:
    return [OffsetRange("orders", number, start, start + size) for number, size in enumerate(sizes)]


@given(SIZES, st.integers(20, 10**9))
def test_a_cut_reads_no_more_than_it_may_and_something_of_every_partition(sizes: list[int], most: int) -> None:
    """Each part begins where its range begins, an empty range stays empty, and the sum is under the limit."""
    whole = ranges_of(sizes)
    parts = cut(whole, most)
    assert sum(part.offsets for part in parts) <= max(most, 0)
    for one, part in zip(whole, parts, strict=True):
        assert (part.topic, part.partition, part.start) == (one.topic, one.partition, one.start)
        assert min(1, one.offsets) <= part.offsets <= one.offsets
    if sum(sizes) <= most:
        assert list(parts) == whole


def test_a_cut_is_in_proportion() -> None:
    """A partition that has nine times as much is read nine times as far."""
    assert [part.offsets for part in cut(ranges_of([900_000, 100_000, 0]), 10_000)] == [8_999, 1_000, 0]


def test_fewer_records_than_partitions_are_refused() -> None:
    """Nothing could be said of some of them."""
    with pytest.raises(BadInput, match="at most 2 offsets of 3 partitions"):
        cut(ranges_of([5, 5, 5]), 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "is not valid JSON"),
        ("{}", "dict instead of an array"),
        ('[{"topic": "a"}]', "instead of an object"),
        ('[{"topic": "a", "partition": 0, "start": 0, "end": 1, "more": 1}]', "instead of an object"),
        ('[{"topic": "", "partition": 0, "start": 0, "end": 1}]', "topic is ''"),
        ('[{"topic": "a", "partition": true, "start": 0, "end": 1}]', "partition is True"),
        ('[{"topic": "a", "partition": 0, "start": -2, "end": 1}]', "start is -2, not a number from 0"),
        ('[{"topic": "a", "partition": 0, "start": 0, "end": 1.5}]', "end is 1.5"),
        ('[{"topic": "a", "partition": 0, "start": 3, "end": 1}]', "end 1 is before start 3"),
        (json.dumps([{"topic": "a", "partition": 0, "start": 0, "end": 1}] * 2), "a-0 is there twice"),
    ],
)
def test_a_range_that_cannot_be_meant_is_named(text: str, said: str) -> None:
    """Spark takes -1 and -2 for the end and the beginning of the log: never by accident."""
    with pytest.raises(BadInput) as refused:
        parse_ranges(text)
    assert said in str(refused.value)


def test_ranges_as_the_kafka_source_takes_them() -> None:
    """Explicit offsets of each partition, by topic."""
    ranges = parse_ranges(
        '[{"topic": "a", "partition": 1, "start": 4, "end": 9}, {"topic": "b", "partition": 0, "start": 0, "end": 2},'
        ' {"topic": "a", "partition": 0, "start": 1, "end": 3}]'
    )
    assert json.loads(places_json(ranges)) == {"a": [1, 0], "b": [0]}
    assert json.loads(offsets_json(ranges, ends=False)) == {"a": {"1": 4, "0": 1}, "b": {"0": 0}}
    assert json.loads(offsets_json(ranges, ends=True)) == {"a": {"1": 9, "0": 3}, "b": {"0": 2}}
