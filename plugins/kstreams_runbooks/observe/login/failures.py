"""Errors of the two Kafka clients that no caller has turned into a sentence."""

from collections.abc import Iterator
from contextlib import contextmanager

from kstreams_runbooks.errors import Inconclusive, Unreachable


@contextmanager
def spoken_errors(what: str) -> Iterator[None]:
    """Inconclusive if a broker answered with an error while `what` was read, Unreachable if none answered.

    librdkafka's own errors have negative codes, a broker's are positive (Kafka protocol guide, "Error codes").
    """
    from confluent_kafka import KafkaException
    from kafka.errors import BrokerResponseError, KafkaError

    try:
        yield
    except BrokerResponseError as error:
        raise Inconclusive(_sentence(what, "the broker answered", str(error))) from error
    except KafkaError as error:
        raise Unreachable(_sentence(what, "no answer", str(error))) from error
    except KafkaException as error:
        failure = error.args[0]
        if failure.code() > 0:
            raise Inconclusive(_sentence(what, "the broker answered", f"{failure.name()}: {failure.str()}")) from error
        raise Unreachable(_sentence(what, "no answer", f"{failure.name()}: {failure.str()}")) from error


def _sentence(what: str, happened: str, why: str) -> str:
    return f"Kafka: {happened} while {what} was read ({why}); look at the broker's log if it stays so"
