"""A call is repeated for as long as a dead broker keeps what it had, if there is another broker to take it over."""

from collections.abc import Iterator
from typing import Any

import pytest
from kafka.errors import (
    GroupAuthorizationFailedError,
    KafkaConnectionError,
    NotCoordinatorError,
    UnknownBrokerIdError,
)
from kstreams_runbooks.observe.kafka.moving import MOVED_WITHIN_S, Outage, again_while_moving, may_move


class _Cluster:
    """An admin client of a cluster with so many brokers; counts how often it looks again."""

    def __init__(self, brokers: int) -> None:
        self.brokers, self.looked, self.calls = brokers, 0, 0

    def known_brokers(self) -> int:
        return self.brokers

    def look_again(self) -> None:
        self.looked += 1

    def call(self, errors: Iterator[BaseException]) -> str:
        self.calls += 1
        if error := next(errors, None):
            raise error
        return "answered"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes only while a call is waited for."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("time.sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))


@pytest.mark.parametrize("error", [KafkaConnectionError(), NotCoordinatorError(), UnknownBrokerIdError(2)])
def test_another_broker_takes_over_what_a_dead_one_had(error: Any) -> None:
    """Ten attempts later too: until then the brokers name the dead one, or one that is no longer in their metadata."""
    cluster = _Cluster(3)
    assert may_move(error)
    assert again_while_moving(cluster, lambda: cluster.call(iter_of(error, 10, cluster))) == "answered"
    assert (cluster.calls, cluster.looked) == (11, 10)


def test_a_single_broker_is_given_a_few_attempts() -> None:
    """Nothing can move."""
    cluster = _Cluster(1)
    with pytest.raises(KafkaConnectionError):
        again_while_moving(cluster, lambda: cluster.call(iter_of(KafkaConnectionError(), 10, cluster)))
    assert cluster.calls == 4


def test_a_cluster_that_does_not_answer_at_all_is_given_up() -> None:
    """After the time in which a dead broker is replaced."""
    import time

    cluster = _Cluster(3)
    with pytest.raises(KafkaConnectionError):
        again_while_moving(cluster, lambda: cluster.call(iter_of(KafkaConnectionError(), 1_000, cluster)))
    assert MOVED_WITHIN_S <= time.monotonic() < MOVED_WITHIN_S + 2


def test_the_calls_of_one_reader_wait_together() -> None:
    """A reading of many calls would be too old to judge; a broker that goes later is another outage."""
    import time

    cluster, outage = _Cluster(3), Outage()

    def fails() -> None:
        with pytest.raises(KafkaConnectionError):
            again_while_moving(cluster, lambda: cluster.call(iter_of(KafkaConnectionError(), 10_000, cluster)), outage)

    fails()
    waited_s, calls = time.monotonic(), cluster.calls
    fails()
    assert (time.monotonic(), cluster.calls) == (waited_s, calls + 1)
    time.sleep(2 * MOVED_WITHIN_S)
    fails()
    assert time.monotonic() >= waited_s + 3 * MOVED_WITHIN_S


def test_a_refusal_is_final() -> None:
    """A right does not move."""
    cluster = _Cluster(3)
    with pytest.raises(GroupAuthorizationFailedError):
        again_while_moving(cluster, lambda: cluster.call(iter_of(GroupAuthorizationFailedError(), 9, cluster)))
    assert cluster.calls == 1


def iter_of(error: BaseException, times: int, cluster: _Cluster) -> Iterator[BaseException]:
    """The error of this call, none once it has been given so often."""
    return iter([error] if cluster.calls < times else [])
