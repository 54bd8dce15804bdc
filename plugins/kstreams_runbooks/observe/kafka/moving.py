"""How long a call waits while a cluster moves a leader or a coordinator.

A broker that dies keeps its partitions and groups until the controller fences it, after broker.session.timeout.ms
(default 9 s), and longer if that broker was the controller. Until then every answer about them names a broker that does
not answer. A cluster that has other brokers gets that time. With a single broker nothing can move: a few attempts in a
row are enough.
"""

import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

# A reading may be 30 s old when it is judged (max_reading_age_s): the wait for a broker must leave time for the rest.
MOVED_WITHIN_S: Final = 15.0
_ATTEMPTS_ALONE = 4
_ALONE_S = 8.0

_T = TypeVar("_T")


class Outage:
    """How long the calls of one reader still wait for a broker that is away: together, not each of them."""

    def __init__(self) -> None:
        self._begun_s = float("-inf")

    def until_s(self, failed_s: float) -> float:
        """When a call that failed at that time gives up (monotonic seconds).

        What fails soon after an outage belongs to it; later it is another one.
        """
        if failed_s > self._begun_s + 2 * MOVED_WITHIN_S:
            self._begun_s = failed_s
        return self._begun_s + MOVED_WITHIN_S


def again_while_moving(client: Any, call: Callable[[], _T], outage: Outage | None = None) -> _T:
    """Answer of a call that may be repeated; again while the cluster moves a coordinator or a leader.

    `client` is the admin client of `call`, `outage` that of the calls which share their time. Raises the last error of
    kafka-python.
    """
    from tenacity import RetryCallState, Retrying, retry_if_exception, wait_exponential_jitter

    shared, began_s = outage or Outage(), time.monotonic()

    def is_over(state: RetryCallState) -> bool:
        if client.known_brokers() > 1:
            return time.monotonic() >= shared.until_s(began_s)
        return state.attempt_number >= _ATTEMPTS_ALONE or time.monotonic() >= began_s + _ALONE_S

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
