"""What a count is that may not read its topic."""

from typing import Any

import pytest
from confluent_kafka import KafkaError, Message
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.observe.lag import count


class Refused:
    """A consumer whose broker refuses the partition."""

    def assign(self, _: Any) -> None:
        """Takes it."""

    def consume(self, *_: Any) -> list[Message]:
        """The refusal."""
        return [Message(topic="orders", partition=0, error=KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))]

    def close(self) -> None:
        """Nothing is open."""


def test_without_a_right_only_the_right_that_a_count_needs_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read has Describe with it."""
    monkeypatch.setattr(count, "open_consumer", lambda *_: Refused())
    with pytest.raises(Inconclusive) as told:
        count.count_readable({}, {("orders", 0): (0, 5)})
    assert str(told.value) == "orders-0: these credentials may not read it; allow Read"
