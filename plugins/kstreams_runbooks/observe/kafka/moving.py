"""How long a call waits while a cluster moves a leader or a coordinator.

A broker that dies keeps its partitions and groups until the controller fences it, after broker.session.timeout.ms
(default 9 s), and longer if that broker was the controller. Until then every answer about them names a broker that does
not answer. A cluster that has other brokers gets that time. With a single broker nothing can move: a few attempts in a
row are enough.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

# A reading may be 30 s old when it is judged (max_reading_age_s): the wait for a broker must leave time for the rest.
MOVED_WITHIN_S: Final = 15.0
_ATTEMPTS_ALONE = 4
_ALONE_S = 8.0

_T = TypeVar("_T")


def again_while_moving(client: Any, call: Callable[[], _T]) -> _T:
    """Answer of a call that may be repeated; again while the cluster moves a coordinator or a leader.

    `client` is the admin client of `call`. Raises the last error of kafka-python.
    """
    from tenacity import RetryCallState, Retrying, retry_if_exception, wait_exponential_jitter

    def is_over(state: RetryCallState) -> bool:
        passed_s = state.seconds_since_start or 0.0
        if client.known_brokers() > 1:
            return passed_s >= MOVED_WITHIN_S
        return state.attempt_number >= _ATTEMPTS_ALONE or passed_s >= _ALONE_S

    retrying = Retrying(
        retry=retry_if_exception(may_move),
        stop=is_over,
        wait=wait_exponential_jitter(multiplier=0.1, max=1.0),
        before_sleep=lambda _: client.look_again(),
        reraise=True,
    )
    return retrying(call)


def may_move(error: BaseException) -> bool:
    """Whether kafka-python's error may pass once leaders and coordinators have moved."""
    from kafka.errors import KafkaError, UnknownBrokerIdError

    # The brokers still name a coordinator that has left their metadata; kafka-python does not call that retriable.
    return isinstance(error, UnknownBrokerIdError) or (isinstance(error, KafkaError) and bool(error.retriable))
