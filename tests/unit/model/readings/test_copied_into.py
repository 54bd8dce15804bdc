"""The metadata that the copier reads: tests/copier start it on offsets with this."""

import base64

from kstreams_runbooks.model.readings.copied_into import CopiedInto
from kstreams_runbooks.observe.kafka.partition_time import left_by_streams, partition_time


def test_it_is_what_kafka_streams_keeps_with_a_target_and_without_a_time() -> None:
    """As a copier of Kafka Streams 4.4.0 committed it, in another order and with a time."""
    text = CopiedInto("7180b310-e338-4f58-9854-e19e69594ffd", 1).at(10)
    committed = base64.b64decode(
        "AgAAAZnILMAYAAAAAwAAAA10YXJnZXQtaWQtbG93mFThnmlZT/0AAAARdGFyZ2V0LXBhcnRpdGlvbnMAAAAAAAAAAQAAAA50YXJnZXQtaWQt"
        "aGlnaHGAsxDjOE9Y"
    )
    assert sorted(base64.b64decode(text)[9:]) == sorted(committed[9:])
    assert left_by_streams(text)
    assert partition_time(text) is None
