"""What a group has committed is saved only if no open transaction is about to replace it."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.errors import IncompatibleBrokerVersion, UnstableOffsetCommitError
from kafka.protocol.broker_version_data import BrokerVersionData
from kafka.protocol.consumer import OffsetFetchRequest
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.observe.kafka.admin_client import requiring_stable
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved


def test_no_broker_is_asked_that_would_ignore_the_transaction() -> None:
    """Brokers before 2.5 know no `require_stable`: the client would leave it out without an error."""
    before = BrokerVersionData((2, 4))
    assert before.api_version(OffsetFetchRequest(group_id="orders", min_version=2, max_version=8)) < 7
    with pytest.raises(IncompatibleBrokerVersion):
        before.api_version(requiring_stable(OffsetFetchRequest(group_id="orders", min_version=2, max_version=8)))
    for release, version in (((2, 5), 7), ((4, 0), 8)):
        request = requiring_stable(OffsetFetchRequest(group_id="orders", min_version=2, max_version=8))
        assert request.require_stable is True
        assert BrokerVersionData(release).api_version(request) == version


def test_such_a_broker_is_inconclusive_in_one_sentence() -> None:
    """What is missing, what was expected, and the next action."""

    def refused(_: str) -> None:
        raise IncompatibleBrokerVersion

    def of_group(_: str, ask: Callable[[], Any]) -> Any:
        return ask()

    reader: Any = SimpleNamespace(
        taken=lambda: Taken(1, "kafka"), admin=SimpleNamespace(list_stable_offsets=refused), of_group=of_group
    )
    with pytest.raises(Inconclusive) as caught:
        read_saved(reader, "orders")
    assert str(caught.value) == (
        "offsets of group orders: its broker cannot hold back what a transaction is about to replace (OffsetFetch "
        "before version 7, expected Kafka 2.5 or later; KIP-447); upgrade the brokers first, then trigger this again"
    )


def test_a_wait_for_a_transaction_has_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it begins, and each ten seconds: it was silent for up to thirty."""
    monkeypatch.setattr("kstreams_runbooks.observe.kafka.saved_offsets._LOOK_AGAIN_S", 0.01)
    monkeypatch.setattr("kstreams_runbooks.observe.kafka.saved_offsets._LINE_EVERY_S", 0.05)
    said: list[str] = []
    asked = iter(range(100))

    def stable(_: str) -> dict[str, Any]:
        if next(asked) < 10:
            raise UnstableOffsetCommitError
        return {}

    reader: Any = SimpleNamespace(
        taken=lambda: Taken(1, "kafka"),
        admin=SimpleNamespace(list_stable_offsets=stable),
        of_group=lambda _, ask: ask(),
    )
    assert read_saved(reader, "orders", say=said.append).offsets == ()
    assert said[0] == "offsets of group orders: waits for the end of a transaction that commits them (0 of 30 s)"
    assert 1 < len(said) < 10
