"""The metadata that the copier reads: tests/copier start it on offsets with this."""

import base64

from kstreams_runbooks.model.readings.copied_into import CopiedInto
from kstreams_runbooks.observe.kafka.partition_time import left_by_streams, partition_time


def test_it_is_what_kafka_streams_keeps_with_a_target_and_without_a_time() -> None:
    """As Kafka Streams 4.4.0 encodes it, in another order and with a time."""
    text = CopiedInto("7180b310-e338-4f58-9854-e19e69594ffd", (0, 42)).at(10)
    committed = base64.b64decode(
        "AgAAAZq2l+gAAAAABgAAABBjb3BpZWQtdG8tb2Zmc2V0AAAAAAAAAAoAAAAEdG8tMP//////////AAAADXRhcmdldC1pZC1sb3eYVOGeaVlP"
        "/QAAABF0YXJnZXQtcGFydGl0aW9ucwAAAAAAAAACAAAABHRvLTEAAAAAAAAAKQAAAA50YXJnZXQtaWQtaGlnaHGAsxDjOE9Y"
    )
    assert sorted(base64.b64decode(text)[9:]) == sorted(committed[9:])
    assert left_by_streams(text)
    assert partition_time(text) is None


def test_a_target_with_many_partitions_keeps_none_of_their_ends() -> None:
    """More than fits next to an offset."""
    many = CopiedInto("7180b310-e338-4f58-9854-e19e69594ffd", (0,) * 129).at(10)
    assert b"to-0" not in base64.b64decode(many)
    assert 4096 > len(CopiedInto("7180b310-e338-4f58-9854-e19e69594ffd", (0,) * 128).at(10)) > 2000
