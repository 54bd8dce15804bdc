"""Ends of partitions out of a client's answers: what is written in between, and leaders that do not answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka import IsolationLevel, KafkaError, KafkaException
from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing, NoLeader
from kstreams_runbooks.observe.kafka.offsets import Ends, Place, read_ends, read_first_since


@dataclass
class _Answer:
    offset: int | KafkaException

    def result(self) -> "_Answer":
        if isinstance(self.offset, KafkaException):
            raise self.offset
        return self


class _Log:
    """Answers each call as `answer` says, by place, isolation and the number of the call; counts what it is asked."""

    def __init__(self, answer: Callable[[Place, IsolationLevel, int], int | KafkaException]) -> None:
        self.answer, self.asked = answer, []  # type: tuple[Any, list[int]]
        self.known = True

    def list_topics(self, *, timeout: float) -> None:
        """The leaders of now are known."""
        assert timeout > 0
        self.known = True

    def list_offsets(self, specs: Any, *, isolation_level: Any, request_timeout: float) -> Any:
        assert request_timeout > 0
        self.asked.append(len(specs))
        number = len(self.asked)
        return {each: _Answer(self.answer((each.topic, each.partition), isolation_level, number)) for each in specs}


def error(code: int) -> KafkaException:
    return KafkaException(KafkaError(code))


def row(ends: Ends) -> PartitionLag:
    start, stable, end = (None if isinstance(value, Missing) else value for value in ends)
    return PartitionLag("in", 0, "source", "ok", None, 0, start, stable, end)


def test_what_is_written_between_two_calls_is_no_open_transaction() -> None:
    """A plain topic that grows by five with each call: the log is at least as long as what can be read of it."""
    log: Any = _Log(lambda _place, _isolation, number: 100 + 5 * number)
    [ends] = read_ends(log, [("in", 0)]).values()
    assert ends == Ends(105, 115, 115)
    assert row(ends).open_transaction is False
    assert log.asked == [1, 1, 1]


def test_a_last_stable_offset_that_stays_below_is_one() -> None:
    """However much is written behind it."""
    committed = IsolationLevel.READ_COMMITTED
    log: Any = _Log(lambda _place, isolation, number: 100 if isolation == committed else 100 + 5 * number)
    [ends] = read_ends(log, [("in", 0)]).values()
    assert ends == Ends(105, 100, 110)
    assert row(ends).open_transaction is True


@pytest.mark.parametrize("code", [KafkaError._TIMED_OUT, KafkaError._TRANSPORT])
def test_a_leader_that_is_away_hides_its_own_partitions_only(code: int) -> None:
    """It is asked twice in the first call, as a dead broker keeps its partitions for some time, and then left out."""
    log: Any = _Log(lambda place, _isolation, _number: error(code) if place == ("in", 1) else 7)
    found = read_ends(log, [("in", 0), ("in", 1), ("other", 0)])
    assert found["in", 0] == found["other", 0] == Ends(7, 7, 7)
    silent = found["in", 1]
    assert all(isinstance(value, Missing) and value.missing.startswith("no leader answers (") for value in silent)
    assert log.asked == [3, 1, 2, 2]
    since = read_first_since(log, {("in", 0): 1, ("in", 1): 1})
    assert since["in", 0] == 7
    assert isinstance(since["in", 1], Missing)


def test_a_leader_that_dies_is_found_again_where_it_has_moved() -> None:
    """The second attempt comes after its timeout: the partition has another leader by then."""
    log: Any = _Log(lambda place, _, number: error(KafkaError._TIMED_OUT) if (place[1], number) == (1, 1) else 7)
    assert {*read_ends(log, [("in", 0), ("in", 1)]).values()} == {Ends(7, 7, 7)}
    assert log.asked == [2, 1, 2, 2]


@pytest.mark.parametrize("code", [KafkaError.FENCED_LEADER_EPOCH, KafkaError.NOT_LEADER_FOR_PARTITION])
def test_a_leader_that_has_moved_is_asked_as_it_is_now(code: int) -> None:
    """The client goes on with the leader and the epoch that it knows, for minutes, unless it reads the metadata."""
    log: Any = _Log(lambda *_: 7 if log.known else error(code))
    log.known = False
    assert read_ends(log, [("in", 0)]) == {("in", 0): Ends(7, 7, 7)}
    assert log.asked == [1, 1, 1, 1]


def test_a_leader_that_goes_on_moving_may_be_back_in_a_moment() -> None:
    """What is missing says so: a step reads it again for a while."""
    log: Any = _Log(lambda *_: error(KafkaError.FENCED_LEADER_EPOCH))
    [ends] = read_ends(log, [("in", 0)]).values()
    assert ends.start == NoLeader("Broker: Leader epoch is older than broker epoch")
    unknown: Any = _Log(lambda *_: error(KafkaError.UNKNOWN_TOPIC_OR_PART))
    assert not isinstance(read_ends(unknown, [("in", 0)])["in", 0].start, NoLeader | int)


def test_an_answer_without_an_offset_is_not_an_end() -> None:
    """-1001 without an error: taken for an end, a group that has never committed would have nothing to read."""
    log: Any = _Log(lambda place, _, __: -1001 if place[1] else 7)
    found = read_ends(log, [("in", 0), ("in", 1)])
    assert found["in", 0] == Ends(7, 7, 7)
    assert all(
        isinstance(value, Missing) and value.missing.startswith("no leader answers (") for value in found["in", 1]
    )
    once: Any = _Log(lambda place, _, number: -1001 if (place[1], number) == (1, 1) else 7)
    assert {*read_ends(once, [("in", 0), ("in", 1)]).values()} == {Ends(7, 7, 7)}


def test_no_leader_at_all_is_unreachable() -> None:
    """Nothing can be said of any of them."""
    log: Any = _Log(lambda _place, _isolation, _number: error(KafkaError._TIMED_OUT))
    with pytest.raises(Unreachable, match=r"Kafka: no leader answers \(.*\) for any of the 2 partitions"):
        read_ends(log, [("in", 0), ("in", 1)])
    assert log.asked == [2]


def test_a_leader_that_goes_away_later_is_missing_too() -> None:
    """The first end was read, the others were not."""
    log: Any = _Log(lambda place, _isolation, number: error(KafkaError._TIMED_OUT) if number > 1 and place[1] else 7)
    found = read_ends(log, [("in", 0), ("in", 1)])
    assert found["in", 0] == Ends(7, 7, 7)
    assert found["in", 1].start == 7
    assert isinstance(found["in", 1].stable, Missing)


def test_a_broker_that_says_no_is_no_broker_that_is_away() -> None:
    """Whatever else is asked for."""
    no = error(KafkaError.TOPIC_AUTHORIZATION_FAILED)
    log: Any = _Log(lambda place, *_: no if place[1] else error(KafkaError._TIMED_OUT))
    found = read_ends(log, [("in", 0), ("in", 1)])
    assert all(isinstance(value, Missing) for value in (*found["in", 0], *found["in", 1]))
