"""What a Kafka client raises in the middle of a reading."""

import pytest
from confluent_kafka import KafkaError, KafkaException
from kafka import errors
from kstreams_runbooks.errors import Inconclusive, RunbookError, Unreachable
from kstreams_runbooks.observe.login.failures import spoken_errors


@pytest.mark.parametrize(
    ("raised", "kind", "sentence"),
    [
        (KafkaException(KafkaError(KafkaError._TRANSPORT)), Unreachable, "no answer while orders was read (_TRANSPORT"),
        (
            KafkaException(KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED)),
            Inconclusive,
            "the broker answered while orders was read (GROUP_AUTHORIZATION_FAILED",
        ),
        (errors.KafkaConnectionError("gone"), Unreachable, "no answer while orders was read (KafkaConnectionError"),
        (
            errors.TopicAuthorizationFailedError("orders"),
            Inconclusive,
            "the broker answered while orders was read ([Error 29] TopicAuthorizationFailedError",
        ),
    ],
)
def test_an_error_of_a_client_is_a_reading_that_failed(
    raised: Exception, kind: type[RunbookError], sentence: str
) -> None:
    """The next reading may succeed: nothing that only a program can read ends a wait of hours."""
    with pytest.raises(kind) as told, spoken_errors("orders"):
        raise raised
    assert sentence in str(told.value)
    assert told.value.__cause__ is raised


def test_what_is_no_error_of_a_client_stays_what_it_is() -> None:
    """A mistake of ours is not the broker's."""
    with pytest.raises(ZeroDivisionError), spoken_errors("orders"):
        raise ZeroDivisionError
