"""The metadata that the copier reads: tests/copier start it on offsets with this."""

import base64
from dataclasses import replace

from kstreams_runbooks.model.readings.copied_into import CopiedInto
from kstreams_runbooks.observe.kafka.partition_time import left_by_streams, partition_time

INTO = CopiedInto("0f1e2d3c-e338-4f58-9854-e19e69594ffd", "7180b310-e338-4f58-9854-e19e69594ffd", (0, 42))
# As Kafka Streams 4.4.0 encodes it, with a time.
COMMITTED = (
    "AgAAAZq2l+gAAAAACAAAAA5zb3VyY2UtaWQtaGlnaA8eLTzjOE9YAAAADXNvdXJjZS1pZC1sb3eYVOGeaVlP/QAAABBjb3BpZWQtdG8tb2Zmc2"
    "V0AAAAAAAAAAoAAAAEdG8tMP//////////AAAADXRhcmdldC1pZC1sb3eYVOGeaVlP/QAAABF0YXJnZXQtcGFydGl0aW9ucwAAAAAAAAACAAAA"
    "BHRvLTEAAAAAAAAAKQAAAA50YXJnZXQtaWQtaGlnaHGAsxDjOE9Y"
)


def test_it_is_what_kafka_streams_keeps_with_both_topics_and_without_a_time() -> None:
    """The same entries in another order."""
    text = INTO.at(10)
    assert sorted(base64.b64decode(text)[9:]) == sorted(base64.b64decode(COMMITTED)[9:])
    assert left_by_streams(text)
    assert partition_time(text) is None


def test_an_offset_is_the_copiers_own_with_its_topics_and_itself() -> None:
    """Not that of another program, of another topic of these names, or without metadata."""
    assert INTO.has(10, INTO.at(10))
    assert INTO.has(10, COMMITTED)
    assert replace(INTO, ends=(7, 50)).has(10, COMMITTED)
    assert not INTO.has(11, COMMITTED)
    assert not replace(INTO, source_id=INTO.target_id).has(10, COMMITTED)
    assert not replace(INTO, target_id=INTO.source_id).has(10, COMMITTED)
    for other in ("", "a word", base64.b64encode(b"\2").decode(), COMMITTED[:40]):
        assert not INTO.has(10, other)


def test_a_target_with_many_partitions_keeps_none_of_their_ends() -> None:
    """More than fits next to an offset."""
    assert b"to-0" not in base64.b64decode(replace(INTO, ends=(0,) * 129).at(10))
    assert 4096 > len(replace(INTO, ends=(0,) * 128).at(10)) > 2000
