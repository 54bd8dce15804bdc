"""A member of a consumer group that is nobody's instance."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer

from lab.supervise import until

_READS_S = 30


@contextmanager
def member_of(config: Mapping[str, Any], group: str, topic: str) -> Iterator[None]:
    """A member of the group, which has committed."""
    consumer = Consumer({**config, "group.id": group, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    try:
        until(lambda: consumer.poll(0.2) is not None, _READS_S, "a member of the group reads")
        consumer.commit(asynchronous=False)
        yield
    finally:
        consumer.close()
