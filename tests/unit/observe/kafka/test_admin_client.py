"""Brokers of different releases: none is asked in the versions of another one."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.net.connection import KafkaConnection
from kafka.net.manager import KafkaConnectionManager
from kstreams_runbooks.observe.kafka.admin_client import AdminClient, OwnVersions, by_features


class _Manager:
    """Keeps the requests; sets the version of one that has none, as a connection does."""

    def __init__(self) -> None:
        self.cluster = SimpleNamespace(brokers=lambda: [SimpleNamespace(node_id=one) for one in (1, 2, 3)])
        self.versions: dict[int, int] = {}

    async def send(self, request: Any, node_id: int) -> Any:
        """A broker with version 2 after one with version 3."""
        if request.API_VERSION is None:
            request.API_VERSION = 4 - node_id
        self.versions[node_id] = request.API_VERSION
        return SimpleNamespace(results=[], to_dict=lambda: {"topics": []})


def test_each_broker_is_asked_in_its_own_version() -> None:
    """A request keeps the version in which it was sent first."""
    client: Any = AdminClient.__new__(AdminClient)
    for call in (client._async_describe_log_dirs, lambda: client._describe_topics_of_each([1, 2, 3], ["in"])):
        client._manager = _Manager()
        asyncio.run(call())
        assert client._manager.versions == {1: 3, 2: 2, 3: 1}


def test_a_connection_takes_no_version_of_another_broker() -> None:
    """The client hands it those of the broker that it asked first."""
    made = OwnVersions(SimpleNamespace(), node_id=3, broker_version_data="of broker 1")
    assert made.broker_version_data is None
    assert KafkaConnectionManager.get_connection.__globals__["KafkaConnection"] is OwnVersions
    assert issubclass(OwnVersions, KafkaConnection)


@pytest.mark.parametrize(
    ("by_requests", "level", "release"),
    [((4, 3), 30, (4, 3)), ((4, 3), 31, (4, 4)), ((4, 3), 33, (4, 4)), ((4, 3), 0, (4, 3)), ((4, 5), 40, (4, 5))],
)
def test_releases_with_equal_requests_are_told_apart_by_features(
    by_requests: tuple[int, ...], level: int, release: tuple[int, ...]
) -> None:
    """4.3 ends with metadata.version 30; a newer client than ours may tell more by requests."""
    assert by_features(by_requests, level) == release
