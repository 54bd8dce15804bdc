"""Checks that a cluster answers and has the topics, for the generator and the judge."""

from collections.abc import Mapping
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from kstreams_runbooks.demo.traffic.topics import TopicRole
from kstreams_runbooks.errors import BadInput, Unreachable

ANSWER_S: Final = 8.0
"""A broker without an answer for this long is unreachable: a restart of one node takes about half of it."""
_CALL_S: Final = 3.0

# librdkafka prints each refused connection on stderr; this module reports it once, in a sentence
QUIET: Final[Mapping[str, str | int]] = {"log_level": 0}


def retrying() -> Retrying:
    """Retry what librdkafka raises until `ANSWER_S` have passed, then raise the last error itself."""
    return Retrying(
        retry=retry_if_exception_type(KafkaException),
        stop=stop_after_delay(ANSWER_S - _CALL_S),
        wait=wait_fixed(0.5),
        reraise=True,
    )


def partition_counts(admin: AdminClient, names: Mapping[TopicRole, str], bootstrap: str) -> dict[TopicRole, int]:
    """Return the number of partitions of each role's topic.

    Raises Unreachable if no broker answers, BadInput naming the topics that do not exist.
    """
    try:
        cluster = retrying()(admin.list_topics, timeout=_CALL_S)
    except KafkaException as error:
        raise Unreachable(f"no broker answers at {bootstrap} ({error.args[0].str()}); is it running?") from error
    absent = [topic for topic in names.values() if topic not in cluster.topics]
    if absent:
        raise BadInput(f"cluster at {bootstrap} has no topic {', '.join(absent)}; create it or give another name")
    return {role: len(cluster.topics[topic].partitions) for role, topic in names.items()}
