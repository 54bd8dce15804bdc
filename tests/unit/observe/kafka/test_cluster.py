"""A reader that asks again for a while: what a step and a writer read right before a write."""

from collections.abc import Callable
from typing import Any

import pytest
from kafka.errors import KafkaConnectionError, TopicAuthorizationFailedError
from kstreams_runbooks import patience
from kstreams_runbooks.act.kafka_writer import KafkaWriter
from kstreams_runbooks.errors import Inconclusive, Unreachable
from kstreams_runbooks.model.readings.readings import Missing, NoLeader, TopicReading
from kstreams_runbooks.observe.kafka import cluster as cluster_module
from kstreams_runbooks.observe.kafka import ends as ends_module
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_at
from kstreams_runbooks.observe.kafka.offsets import Ends

AWAY = KafkaConnectionError("no route")
# So many attempts belong to one call of a single broker (moving.py).
ONE_CALL = 4


class Broker:
    """A broker whose next calls fail with these errors; both clients are this object."""

    def __init__(self, *errors: Exception) -> None:
        self.errors, self.calls = list(errors), 0

    def list_topics(self) -> list[str]:
        """One topic, or the next error."""
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return ["orders"]

    def known_brokers(self) -> int:
        """This one alone."""
        return 1

    def look_again(self) -> None:
        """Nothing is remembered."""

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "READ_AGAIN_S", 60.0)
    monkeypatch.setattr(patience, "_FIRST_PAUSE_S", 0.01)


@pytest.fixture
def connects(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Connections that fail first with these errors."""

    def set_(broker: Broker, *errors: Exception) -> None:
        left = list(errors)

        def connect(*_: Any, **__: Any) -> Any:
            if left:
                raise left.pop(0)
            return broker

        monkeypatch.setattr(cluster_module, "connect_librdkafka", lambda *_, **__: broker)
        monkeypatch.setattr(cluster_module, "connect_python", connect)
        monkeypatch.setattr(cluster_module, "let_in", lambda config: config)

    return set_


CONFIG = {"bootstrap.servers": "127.0.0.1:1"}


def test_a_broker_that_goes_between_two_calls_ends_nothing(connects: Callable[..., None]) -> None:
    """The whole call is made again, and each repetition is reported with its cause."""
    said: list[str] = []
    broker = Broker(*[AWAY] * (ONE_CALL + 1))
    connects(broker, Unreachable("Kafka at 127.0.0.1:1: no answer"))
    with ClusterReader(CONFIG, again=said.append) as reader:
        assert reader.topic_names() == frozenset({"orders"})
    assert broker.calls == ONE_CALL + 2
    assert [one.partition(": ")[2][:24] for one in said] == ["Kafka at 127.0.0.1:1: no"] * 2
    assert all(one.startswith("reads again (") for one in said)


def test_any_other_reader_reports_it_at_once(connects: Callable[..., None]) -> None:
    """A wait reads again by itself, and a command shows it."""
    connects(Broker(*[AWAY] * ONE_CALL))
    with ClusterReader(CONFIG) as reader, pytest.raises(Unreachable):
        reader.topic_names()


def test_a_refusal_is_not_asked_again(connects: Callable[..., None]) -> None:
    """A right that is absent is absent a moment later too."""
    broker = Broker(TopicAuthorizationFailedError())
    connects(broker)
    with ClusterReader(CONFIG, again=pytest.fail) as reader, pytest.raises(Inconclusive):
        reader.topic_names()
    assert broker.calls == 1


def test_a_leader_that_is_silent_for_a_moment_is_read_again(
    connects: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its partition alone was missing; an end that another cause hides stays missing."""
    silent, gone = NoLeader("no leader answers (timed out)"), Missing("unknown topic or partition")
    answers = [{("orders", 0): Ends(one, one, one), ("orders", 1): Ends(gone, gone, gone)} for one in (silent, 7)]
    monkeypatch.setattr(ends_module, "read_ends", lambda *_: answers.pop(0))
    monkeypatch.setattr(ClusterReader, "topics", lambda *_: (TopicReading("orders", "id", 2),))
    connects(Broker())
    said: list[str] = []
    with ClusterReader(CONFIG, again=said.append) as reader:
        assert ends_at(reader, [("orders", 0), ("orders", 1)])["orders", 0] == Ends(7, 7, 7)
    assert said == [f"reads again (0 of 60 s): orders-0: {silent.missing}"]


def test_what_a_writer_checks_is_read_again(connects: Callable[..., None], caplog: pytest.LogCaptureFixture) -> None:
    """Before its write, which it sends once: a broker that goes for a moment costs no run."""
    connects(Broker(*[AWAY] * ONE_CALL))
    with KafkaWriter(CONFIG, dry_run=False)._reader() as reader:
        assert reader.topic_names() == frozenset({"orders"})
    [line] = [one for one in caplog.messages if one.startswith("reads again (")]
    assert "Kafka at 127.0.0.1:1: no answer (KafkaConnectionError" in line
