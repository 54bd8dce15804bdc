"""kafka-python's admin client, plus streams groups (KIP-1071), rights on groups, checked changes, and more.

Import it only to open a client: it loads kafka-python.
"""

import ssl
import time
from collections.abc import Mapping, Sequence
from typing import Any

import kafka.net.manager
from kafka import OffsetAndMetadata, TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError, NoError, for_code
from kafka.metrics.measurable_stat import AbstractMeasurableStat
from kafka.net.connection import KafkaConnection
from kafka.net.transport import KafkaSSLTransport
from kafka.protocol.admin import DescribeGroupsRequest, DescribeLogDirsRequest
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest

from kstreams_runbooks.observe.kafka import messages

HANDSHAKE_TIMEOUT_S = 8.0
_GROUP_REFUSED = 30
# From version 6 on, DescribeGroups answers with an error, and without operations, for a group that is not classic.
_GROUPS_OF_ANY_TYPE = 5
METADATA = "metadata.version"
# The first ApiVersions with features (KIP-584).
_HAS_FEATURES = 3
# Releases that kafka-python takes for the one before, with their first metadata.version: 4.3 ends with 30 (4.3-IV0).
# Source: MetadataVersion of Kafka 4.3.1 and 4.4.0.
_FIRST_LEVELS = {(4, 4): 31}
_NEWEST_BY_REQUESTS = (4, 3)
# The first version of OffsetFetch with `require_stable` (KIP-447).
_REQUIRES_STABLE = 7


def by_features(by_requests: tuple[int, ...], level: int) -> tuple[int, ...]:
    """The release of a broker whose newest metadata.version is `level`, if that is newer than its requests show."""
    return max((by_requests, *(release for release, first in _FIRST_LEVELS.items() if level >= first)))


class BoundedTls(KafkaSSLTransport):  # type: ignore[misc] # kafka-python has no types
    """A TLS connection with a limit on the handshake: a frozen broker that accepts connections would block it."""

    async def handshake(self) -> None:
        """Finish the handshake; KafkaTimeoutError after HANDSHAKE_TIMEOUT_S."""
        until = time.monotonic() + HANDSHAKE_TIMEOUT_S
        while True:
            try:
                self._sock.do_handshake()
            except ssl.SSLWantReadError:
                await self._net.wait_read(self._sock, timeout_at=until)
            except ssl.SSLWantWriteError:
                await self._net.wait_write(self._sock, timeout_at=until)
            else:
                return


class OwnVersions(KafkaConnection):  # type: ignore[misc] # kafka-python has no types
    """A connection that speaks to its broker in the versions that this broker has.

    kafka-python gives every connection those of the broker that it asked first. In a cluster whose brokers have
    different releases, as while it is upgraded, an older broker closes the connection at a request that it cannot read.
    """

    def __init__(self, net: Any, node_id: Any = None, broker_version_data: Any = None, **configs: Any) -> None:  # noqa: ARG002 - as kafka-python calls it
        super().__init__(net, node_id=node_id, broker_version_data=None, **configs)


# A caller can pass neither to kafka-python: it creates both by these names.
kafka.net.manager.KafkaSSLTransport = BoundedTls
kafka.net.manager.KafkaConnection = OwnVersions


class StreamsGroupDescribeRequest(ApiMessage, load_json=messages):  # type: ignore[misc, call-arg] # kafka-python has no types
    """Describe streams groups, API key 89."""


class StreamsGroupDescribeResponse(ApiMessage, load_json=messages):  # type: ignore[misc, call-arg] # kafka-python has no types
    """The answer; it registers itself as the response class of API key 89."""


class _Answers(AbstractMeasurableStat):  # type: ignore[misc] # kafka-python has no types
    """Number of answers since the start."""

    def __init__(self) -> None:
        self.count = 0

    def record(self, config: Any, value: float, time_ms: float) -> None:  # noqa: ARG002 - kafka-python's signature
        """Count one answer."""
        self.count += 1

    def measure(self, config: Any, now: float) -> float:  # noqa: ARG002 - kafka-python's signature
        """The number of answers."""
        return float(self.count)


def requiring_stable(request: Any) -> Any:
    """The OffsetFetch request with `require_stable`, in a version that has it: an earlier one would leave it out."""
    request.require_stable = True
    request._min_version = max(request._min_version or 0, _REQUIRES_STABLE)  # noqa: SLF001 - only its init sets it
    return request


class AdminClient(KafkaAdminClient):  # type: ignore[misc] # kafka-python has no types
    """KafkaAdminClient that can describe streams groups, forget where coordinators were, and count its requests."""

    def __init__(self, **settings: Any) -> None:
        try:
            super().__init__(**settings)
        except BaseException:
            # kafka-python has started its thread by then, and ends it only once it is connected.
            if hasattr(self, "_net"):
                self._closed = False
                self.close()
            raise
        self._answers = _Answers()
        name = self._metrics.metric_name("answers-total", "kstreams-runbooks", "answers since it was connected")
        self._metrics.sensor("request-latency").add(name, self._answers)

    def requests(self) -> int:
        """Requests answered since the client connected."""
        return self._answers.count

    def describe_streams_groups(self, group_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Streams groups by id, as plain dictionaries with the field names of the protocol in snake case."""
        described: dict[str, dict[str, Any]] = self._manager.run(self._describe_streams_groups, list(group_ids))
        return described

    async def _describe_streams_groups(self, group_ids: list[str]) -> dict[str, dict[str, Any]]:
        described = {}
        for group_id, coordinator in (await self._find_coordinator_ids(group_ids)).items():
            request = StreamsGroupDescribeRequest(group_ids=[group_id], include_authorized_operations=False)
            response = await self._manager.send(request, node_id=coordinator)
            described.update({group["group_id"]: group for group in response.to_dict()["groups"]})
        return described

    def list_stable_offsets(self, group_id: str) -> dict[TopicPartition, OffsetAndMetadata]:
        """What `list_group_offsets` reads of a group; UnstableOffsetCommitError while a transaction may replace some.

        kafka-python has no parameter for `require_stable` of OffsetFetch (KIP-447). IncompatibleBrokerVersion from
        brokers before 2.5, which do not know it: they would answer as if no transaction were open.
        """
        offsets: dict[TopicPartition, OffsetAndMetadata] = self._manager.run(self._list_stable_offsets, group_id)
        return offsets

    async def _list_stable_offsets(self, group_id: str) -> dict[TopicPartition, OffsetAndMetadata]:
        coordinator = await self._find_coordinator_id(group_id)
        [(_, request)] = self._list_group_offsets_requests({group_id: None})
        response = await self._manager.send(requiring_stable(request), node_id=coordinator)
        offsets: dict[str, dict[TopicPartition, OffsetAndMetadata]] = self._list_group_offsets_process_response(
            response, group_id=group_id
        )
        return offsets[group_id]

    def describe_every_log_dir(self, brokers: Sequence[int]) -> list[dict[str, Any]]:
        """Log directories of each broker with their content: `broker`, `error_code`, `log_dirs`, `failure`.

        kafka-python's own call requests only the topics of the metadata, and drops the error code. `failure` is why a
        broker gave no answer, empty if it answered.
        """
        described: list[dict[str, Any]] = self._manager.run(self._describe_every_log_dir, list(brokers))
        return described

    async def _async_describe_log_dirs(self, topic_partitions: Any = (), brokers: Any = None) -> list[dict[str, Any]]:
        """As kafka-python's, which sends one request to all brokers, in the version of the first of them."""
        every = [one.node_id for one in self._manager.cluster.brokers()] if brokers is None else brokers
        found: list[dict[str, Any]] = []
        for broker in every:
            found += await super()._async_describe_log_dirs(topic_partitions, [broker])
        return found

    async def _describe_every_log_dir(self, brokers: list[int]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for broker in brokers:
            try:
                answer = await self._manager.send(DescribeLogDirsRequest(topics=None), node_id=broker)
            except (KafkaError, OSError) as error:
                # One silent broker is enough: the list is then unknown, however many others answer.
                failure = type(error).__name__
                return [*found, {"broker": broker, "error_code": 0, "log_dirs": [], "failure": failure}]
            document = answer.to_dict()
            # Versions before 3 have no error code of their own.
            code = document.get("error_code") or 0
            found.append({"broker": broker, "error_code": code, "log_dirs": document["results"], "failure": ""})
        return found

    def describe_topics_of_each(self, brokers: Sequence[int], names: Sequence[str]) -> dict[int, list[dict[str, Any]]]:
        """These topics in the metadata of each broker, by its id; a request that creates no topic.

        kafka-python's own call asks one broker: another one may still list a topic that was deleted.
        """
        described: dict[int, list[dict[str, Any]]] = self._manager.run(
            self._describe_topics_of_each, list(brokers), list(names)
        )
        return described

    async def _describe_topics_of_each(self, brokers: list[int], names: list[str]) -> dict[int, list[dict[str, Any]]]:
        found = {}
        for broker in brokers:
            # One for each: a request keeps the version in which it was sent first.
            request = MetadataRequest(
                topics=[MetadataRequest.MetadataRequestTopic(name=name) for name in names],
                allow_auto_topic_creation=False,
                include_cluster_authorized_operations=False,
                include_topic_authorized_operations=False,
            )
            answer = await self._manager.send(request, node_id=broker)
            found[broker] = answer.to_dict()["topics"]
        return found

    def describe_group_operations(self, group_id: str) -> dict[str, Any]:
        """`authorized_operations` on a group of any type, also if it does not exist; `hidden` without Describe."""
        described: dict[str, Any] = self._manager.run(self._describe_group_operations, group_id)
        return described

    async def _describe_group_operations(self, group_id: str) -> dict[str, Any]:
        coordinator = await self._find_coordinator_id(group_id)
        request = DescribeGroupsRequest(
            groups=[group_id], include_authorized_operations=True, max_version=_GROUPS_OF_ANY_TYPE
        )
        [found] = (await self._manager.send(request, node_id=coordinator)).to_dict()["groups"]
        return {**self._process_acl_operations(found), "hidden": found["error_code"] == _GROUP_REFUSED}

    def check_create_topics(self, topics: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        """What the controller answers to a creation that it only checks: one row for each topic, nothing is created."""
        checked: list[dict[str, Any]] = self.create_topics(topics, validate_only=True, raise_errors=False)["topics"]
        return checked

    def check_create_partitions(self, counts: Mapping[str, int]) -> list[dict[str, Any]]:
        """The same for more partitions of topics."""
        answer = self.create_partitions(counts, validate_only=True, raise_errors=False)
        return [one.to_dict() for one in answer.results]

    def releases(self, brokers: Sequence[int]) -> list[tuple[int, ...]]:
        """The release of each broker, such as (4, 3): by its requests, and where these are equal by its features."""
        found: list[tuple[int, ...]] = self._manager.run(self._releases, list(brokers))
        return found

    async def _releases(self, brokers: list[int]) -> list[tuple[int, ...]]:
        found = []
        for broker in brokers:
            release = (await self._async_get_broker_version_data(broker)).broker_version
            if release >= _NEWEST_BY_REQUESTS:
                asked = ApiVersionsRequest(
                    client_software_name=self._manager.config["client_software_name"],
                    client_software_version=self._manager.config["client_software_version"],
                    min_version=_HAS_FEATURES,
                )
                answer = await self._manager.send(asked, node_id=broker)
                if (error := for_code(answer.error_code)) is not NoError:
                    raise error(f"ApiVersions of broker {broker}")
                levels = {one.name: one.max_version for one in answer.supported_features or []}
                release = by_features(release, levels.get(METADATA, 0))
            found.append(release)
        return found

    def known_brokers(self) -> int:
        """How many brokers the newest metadata name."""
        return len(self._manager.cluster.brokers())

    def look_again(self) -> None:
        """Forget what a broker that stops changes: coordinators, the list of brokers, and failed connections.

        The client itself reads that list again only after a failed connection, and waits longer before each. For many
        seconds it calls a broker that has gone, and leaves out one that is back.
        """
        self._manager.cluster._coordinators.clear()  # noqa: SLF001 # there is no public way
        self._manager.cluster.request_update()
        for broker in self._manager.cluster.brokers():
            self._manager.reset_backoff(broker.node_id)
