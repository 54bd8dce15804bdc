"""What a batch of a consumer's messages says of the first record of a range."""

from confluent_kafka import TIMESTAMP_CREATE_TIME, KafkaError, Message
from kstreams_runbooks.observe.lag.first_unread import NOT_ALLOWED, First, answered

LEFT = {("orders", 0): 20, ("orders", 1): 20, ("customers", 0): 5}


def record(topic: str, partition: int, offset: int) -> Message:
    """One that was written at its offset."""
    return Message(topic=topic, partition=partition, offset=offset, timestamp=(TIMESTAMP_CREATE_TIME, offset))


def failed(code: int, topic: str | None, partition: int) -> Message:
    """An error in place of a record."""
    return Message(topic=topic, partition=partition, error=KafkaError(code))


def test_the_first_record_of_a_range_is_its_answer() -> None:
    """None where it lies behind the end; what nobody asked about is left alone."""
    batch = [record("orders", 0, 12), record("orders", 0, 13), record("customers", 0, 5), record("other", 0, 1)]
    assert answered(batch, LEFT) == {("orders", 0): First(12, 12), ("customers", 0): None}


def test_a_topic_that_may_not_be_read_is_answered_at_once_in_all_its_partitions() -> None:
    """With what is lacking: no waiting changes it; other topics go on."""
    refused = failed(KafkaError.TOPIC_AUTHORIZATION_FAILED, "orders", 0)
    found = answered([refused, record("customers", 0, 3)], LEFT)
    assert found == {("orders", 0): NOT_ALLOWED, ("orders", 1): NOT_ALLOWED, ("customers", 0): First(3, 3)}
    assert NOT_ALLOWED.missing == "its records may not be read (needs Read on the topic)"


def test_what_was_read_before_a_refusal_is_known() -> None:
    """An ACL may be taken away at any time."""
    batch = [record("orders", 0, 12), failed(KafkaError.TOPIC_AUTHORIZATION_FAILED, "orders", 1)]
    assert answered(batch, LEFT) == {("orders", 0): First(12, 12), ("orders", 1): NOT_ALLOWED}


def test_other_errors_are_no_answer() -> None:
    """They may pass: the partition is looked at until time is over."""
    errors = [failed(KafkaError.NOT_LEADER_FOR_PARTITION, "orders", 0), failed(KafkaError._ALL_BROKERS_DOWN, None, -1)]
    assert answered(errors, LEFT) == {}
