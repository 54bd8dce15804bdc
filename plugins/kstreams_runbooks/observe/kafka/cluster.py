"""Reads a cluster, its groups, topics and offsets, and never writes.

One rule for errors: a broker that does not answer raises Unreachable, because then nothing else can be read either. A
broker that answers with an error makes that one reading Missing (or, if a reading has no room for it, raises
Inconclusive), because then the others still count.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple, Self, TypeVar

from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.drain import OpenTransaction
from kstreams_runbooks.model.readings.readings import (
    BrokerReading,
    GroupReading,
    Missing,
    Taken,
    TopicReading,
)
from kstreams_runbooks.observe.kafka.clients import (
    bootstrap,
    connect_librdkafka,
    connect_python,
    let_in,
    one_unreachable,
    unreachable,
)
from kstreams_runbooks.observe.kafka.configs import (
    broker_down,
    own_settings,
    read_broker_config,
    read_group_config,
    read_topic_configs,
    reported_values,
)
from kstreams_runbooks.observe.kafka.groups import (
    classic_group,
    consumer_group,
    hidden_group,
    streams_group,
    unknown_group,
)
from kstreams_runbooks.observe.kafka.in_sync import uncertain_ends
from kstreams_runbooks.observe.kafka.log_dirs import read_every_topic
from kstreams_runbooks.observe.kafka.moving import Outage, again_while_moving
from kstreams_runbooks.observe.kafka.offsets import (
    GroupOffsets,
    Place,
    read_committed,
)
from kstreams_runbooks.observe.kafka.read_only import ReadOnly
from kstreams_runbooks.observe.kafka.request_count import Statistics
from kstreams_runbooks.observe.kafka.topic_names import TopicNames, refused_topic
from kstreams_runbooks.observe.kafka.transactions import NOT_ENDED, read_ids, read_open
from kstreams_runbooks.patience import read_again

KafkaAddress = Mapping[str, Any]

_UNKNOWN_TOPIC = 3
_AUTO_CREATE = "auto.create.topics.enable"

_T = TypeVar("_T")


class ListedGroup(NamedTuple):
    """A group as the list has it; type and state are unknown if the broker is too old to report them.

    `protocol_type` is consumer for everything that reads topics, and another word for what uses groups otherwise
    (`connect`); empty if no member ever joined.
    """

    group_id: str
    type: str
    state: str
    protocol_type: str


class ClusterReader:
    """Reads one cluster; a context manager. `config` is a librdkafka configuration and is never printed.

    Unreachable on entry if no broker answers within 8 s, or with the reason why the login fails (within 3 s); BadInput
    for a configuration that no client takes. With `counted` it counts its requests. With `again`, which gets a line for
    each repetition, it connects and asks again for a while (patience.py): for a step that nothing repeats.
    """

    def __init__(
        self, config: KafkaAddress, *, counted: bool = False, again: Callable[[str], None] | None = None
    ) -> None:
        self._config = dict(config)
        self._again = again
        self._statistics = Statistics() if counted else None
        self._closing = ExitStack()
        self._admin: ReadOnly | None = None
        self._offsets: ReadOnly | None = None
        self._outage = Outage()

    def __enter__(self) -> Self:
        self.patiently(self._connect)
        return self

    def _connect(self) -> None:
        # First: kafka-python reports a setting that librdkafka does not take, or a failed login, as a broker that does
        # not answer.
        offsets = connect_librdkafka(self._config, **(self._statistics.settings() if self._statistics else {}))
        client: ReadOnly = connect_python(let_in(self._config))
        self._closing.callback(client.close)
        self._admin, self._offsets = client, offsets

    def __exit__(self, *_: object) -> None:
        self._admin = self._offsets = None
        self._closing.close()

    @property
    def admin(self) -> ReadOnly:
        """Admin client of kafka-python; RuntimeError outside of `with`."""
        if self._admin is None:
            raise RuntimeError("ClusterReader is used outside of its with block")
        return self._admin

    @property
    def librdkafka(self) -> ReadOnly:
        """Admin client of librdkafka; RuntimeError outside of `with`."""
        if self._offsets is None:
            raise RuntimeError("ClusterReader is used outside of its with block")
        return self._offsets

    def requests(self) -> int:
        """Requests to the brokers so far (observe/kafka/request_count.py); RuntimeError if they are not counted."""
        if self._statistics is None:
            raise RuntimeError("ClusterReader was not made with counted=True")
        return int(self.admin.requests()) + self._statistics.sent(self.librdkafka.poll)

    def taken(self) -> Taken:
        """Now, from this cluster."""
        return Taken(time.time_ns() // 1_000_000, f"kafka {bootstrap(self._config)}")

    def broker(self) -> BrokerReading | Missing:
        """Brokers: the lowest release among them, finalized features, whether any of them creates topics by itself."""
        taken = self.taken()
        # Together: a broker that dies in between is in the next list as one that is down.
        listed = self.ask("broker versions", self._releases)
        if isinstance(listed, Missing):
            return listed
        nodes, releases = listed
        ids = [int(node["broker_id"]) for node in nodes]
        down = broker_down(nodes)
        features = self.ask("features", self.admin.describe_features)
        return BrokerReading(
            taken=taken,
            version=releases if isinstance(releases, Missing) else ".".join(str(part) for part in min(releases)),
            features=features if isinstance(features, Missing) else _finalized(features),
            auto_create_topics=Missing(f"{_AUTO_CREATE}: {down}") if down else self._auto_create(ids),
            brokers=len(ids),
        )

    def _releases(self) -> tuple[list[dict[str, Any]], list[tuple[int, ...]] | Missing]:
        """The brokers, and the release of each; Missing if one is down."""
        nodes = self.admin.describe_cluster()["brokers"]
        if down := broker_down(nodes):
            return nodes, Missing(f"broker versions: {down}")
        ids = [int(node["broker_id"]) for node in nodes]
        return nodes, self.admin.releases(ids)

    def _auto_create(self, ids: list[int]) -> bool | Missing:
        values = self.ask("broker configs", lambda: read_broker_config(self.admin, ids, _AUTO_CREATE))
        if isinstance(values, Missing):
            return values
        if None in values:
            return Missing(f"{_AUTO_CREATE}: not reported by every broker; grant this login DescribeConfigs on Cluster")
        return any(str(value).lower() == "true" for value in values)

    def groups(self) -> tuple[tuple[str, str, str], ...]:
        """(group id, type, state) of every group; type and state are unknown if the broker is too old."""
        return tuple((group.group_id, group.type, group.state) for group in self.listed())

    def listed(self) -> tuple[ListedGroup, ...]:
        """Every group that this reader may see, by id."""
        listed = self.answered("list groups", self.admin.list_groups)
        return tuple(
            sorted(
                ListedGroup(
                    group["group_id"],
                    (group.get("group_type") or "unknown").lower(),
                    group.get("group_state") or "Unknown",
                    group.get("protocol_type") or "",
                )
                for group in listed
            )
        )

    def group(self, group_id: str) -> GroupReading | Missing:
        """One group of any type with its members; Missing if no broker knows it or its members are hidden."""
        try:
            kind = {name: kind for name, kind, _ in self.groups()}.get(group_id)
        except Inconclusive as error:
            return Missing(str(error))
        if kind is None:
            return Missing(self.unlisted([group_id])[group_id])
        return self.group_of(group_id, kind)

    def unlisted(self, group_ids: Collection[str]) -> dict[str, str]:
        """Why each of these groups is not in `listed`: this login may not see it, or no broker knows it."""
        if not group_ids:
            return {}
        # With Describe on Cluster the list has every group; ACLs on groups do not matter.
        if self.lists_every_group() is True:
            return {group: unknown_group(group) for group in group_ids}
        if self._may_describe(list(group_ids)) is True:
            return {group: unknown_group(group) for group in group_ids}
        return {group: self._why_unlisted(group) for group in group_ids}

    def _why_unlisted(self, group_id: str) -> str:
        answer = self._may_describe([group_id])
        if isinstance(answer, Missing):
            return f"group {group_id}: whether it exists is not known ({answer.missing})"
        return unknown_group(group_id) if answer else hidden_group(group_id)

    def lists_every_group(self) -> bool | Missing:
        """Whether `listed` has every group of the cluster: this login may Describe the cluster."""
        return self.ask(
            "describe cluster", lambda: "DESCRIBE" in (self.admin.describe_cluster().get("authorized_operations") or ())
        )

    def _may_describe(self, group_ids: list[str]) -> bool | Missing:
        from kafka.errors import GroupAuthorizationFailedError

        def ask() -> bool:
            try:
                described = self.admin.describe_groups(group_ids)
            except GroupAuthorizationFailedError:
                return False
            return not any("Authorization" in (group["error"] or "") for group in described.values())

        return self.ask("describe groups", ask)

    def group_of(self, group_id: str, kind: str) -> GroupReading | Missing:
        """One group whose type is known from `listed`, with its members; Missing if they cannot be read."""
        taken = self.taken()
        if kind == "streams":
            described = self.of_group(group_id, lambda: self.admin.describe_streams_groups([group_id])[group_id])
            return described if isinstance(described, Missing) else streams_group(described, taken)
        if kind == "consumer":
            future = self.ask(group_id, lambda: self.librdkafka.describe_consumer_groups([group_id])[group_id])
            return future if isinstance(future, Missing) else consumer_group(group_id, future, taken)
        if kind in {"classic", "unknown"}:
            described = self.of_group(group_id, lambda: self.admin.describe_groups([group_id])[group_id])
            return described if isinstance(described, Missing) else classic_group(described, taken)
        return Missing(f"group {group_id} is a {kind} group: its members are not read")

    def transactional_ids(self) -> frozenset[str] | Missing:
        """Transactional ids that this reader may see; a broker silently leaves out the others."""
        return self.ask("transactions", lambda: read_ids(self.admin))

    def ongoing_transactions(self) -> frozenset[str] | Missing:
        """Transactional ids with a transaction that has not ended, wherever it writes; as far as they are visible."""
        return self.ask("transactions", lambda: read_ids(self.admin, NOT_ENDED))

    def topic_names(self) -> frozenset[str]:
        """Names of all topics that this reader may see."""
        return frozenset(self.answered("list topics", self.admin.list_topics))

    def topics(self, names: Collection[str], *, configs: bool = False) -> tuple[TopicReading, ...]:
        """Topics by name, absent ones left out; with `configs` also their own settings, sorted."""
        if not names:
            return ()
        described = self.answered("describe topics", lambda: self.admin.describe_topics(sorted(names)))
        found = []
        for topic in described:
            if topic["error_code"] not in {0, _UNKNOWN_TOPIC}:
                raise Inconclusive(refused_topic(topic["name"], topic["error_code"]))
            if topic["error_code"] == 0:
                found.append(topic)
        settings = self._topic_configs([topic["name"] for topic in found]) if configs else {}
        uncertain = self.answered("replicas in sync", lambda: uncertain_ends(self.admin, found))
        of = ((str(topic["name"]), str(topic["topic_id"]), len(topic["partitions"])) for topic in found)
        return tuple(TopicReading(*one, settings.get(one[0], ()), uncertain.get(one[0], ())) for one in sorted(of))

    def names(self) -> TopicNames:
        """Names of topics: those that this login may see, and on demand whether there are others."""
        visible = self.topic_names()
        return TopicNames(visible, lambda: self._hidden(visible), self._refused)

    def _hidden(self, visible: frozenset[str]) -> frozenset[str] | Missing:
        every = self.ask("log directories", lambda: read_every_topic(self.admin))
        if isinstance(every, Missing):
            return every
        if not (others := every - visible):
            return frozenset()
        # A topic that was created or deleted meanwhile is not hidden.
        refused = self._refused(others)
        return refused if isinstance(refused, Missing) else frozenset(refused)

    def _refused(self, names: Collection[str]) -> dict[str, int] | Missing:
        """Of these names those that a broker neither describes nor reports as unknown; it never creates a topic."""
        described = self.ask("describe topics", lambda: self.admin.describe_topics(sorted(names)))
        if isinstance(described, Missing):
            return described
        errors = {str(topic["name"]): int(topic["error_code"]) for topic in described}
        return {name: error for name, error in errors.items() if error not in {0, _UNKNOWN_TOPIC}}

    def _topic_configs(self, names: list[str]) -> dict[str, tuple[tuple[str, str], ...]]:
        found = self.answered("topic configs", lambda: read_topic_configs(self.admin, names)) if names else {}
        return own_settings(found, names)

    def settings(self, topics: Collection[str], names: Collection[str]) -> dict[str, dict[str, str]]:
        """These settings of each topic, defaults included, in one call; one that is not reported is absent."""
        if not topics:
            return {}
        found = self.ask("topic configs", lambda: read_topic_configs(self.admin, topics, names))
        return {} if isinstance(found, Missing) else reported_values(found)

    def group_setting(self, group: str, name: str) -> str | Missing:
        """One setting that brokers keep for a consumer group of KIP-848 or a streams group, the default included."""
        value = self.ask("group configs", lambda: read_group_config(self.admin, group, name))
        lacking = Missing(f"{name}: not reported; grant this login DescribeConfigs on Group {group}")
        return lacking if value is None else value

    def committed(self, group_ids: Sequence[str]) -> dict[str, GroupOffsets | Missing]:
        """What each group has committed, with its metadata, by partition; one call for each coordinator.

        A group whose offsets cannot be read is Missing by itself: it is read alone if the batch fails.
        """
        every = self.ask("committed offsets", lambda: read_committed(self.admin, group_ids))
        if not isinstance(every, Missing):
            return dict(every)
        found: dict[str, GroupOffsets | Missing] = {}
        for group in group_ids:
            alone = self.of_group(group, partial(read_committed, self.admin, [group]))
            found[group] = alone if isinstance(alone, Missing) else alone[group]
        return found

    def open_transactions(self, places: Collection[Place], at_ms: int) -> tuple[OpenTransaction, ...] | Missing:
        """The transactions that are open on these partitions; Missing if the broker does not report them."""
        return self.ask("open transactions", lambda: read_open(self.admin, places, at_ms))

    def log_bytes(self, topics: Collection[str]) -> int | Missing:
        """Bytes of one copy of these topics on the brokers' disks: of each partition its largest replica."""
        sizes = self.bytes_of(topics)
        if isinstance(sizes, Missing):
            return sizes
        if absent := sorted(set(topics) - sizes.keys()):
            return Missing(f"size of {absent[0]}: not reported by any broker; grant this login Describe on Cluster")
        return sum(sizes.values())

    def bytes_of(self, topics: Collection[str]) -> dict[str, int] | Missing:
        """The same by topic; one that no broker reports is absent."""
        answer = self.ask("log directories", lambda: self.admin.describe_log_dirs(sorted(topics)))
        if isinstance(answer, Missing):
            return answer
        largest: dict[tuple[str, int], int] = {}
        for broker in answer:
            for directory in broker["log_dirs"]:
                for topic in directory["topics"]:
                    for partition in topic["partitions"]:
                        key = (topic["name"], partition["partition_index"])
                        largest[key] = max(largest.get(key, 0), int(partition["partition_size"]))
        sizes: dict[str, int] = {}
        for (name, _), size in largest.items():
            sizes[name] = sizes.get(name, 0) + size
        return sizes

    def of_group(self, group_id: str, call: Callable[[], _T]) -> _T | Missing:
        """Answer of `call` on one group; Missing with the right that is needed if this login may not see it."""
        from kafka.errors import GroupAuthorizationFailedError

        def ask() -> _T | Missing:
            try:
                return call()
            except GroupAuthorizationFailedError:
                return Missing(hidden_group(group_id))

        return self.ask(f"group {group_id}", ask)

    def answered(self, what: str, call: Callable[[], Any]) -> Any:
        """Answer of `call` as `ask` gives it; Inconclusive in place of Missing."""
        answer = self.ask(what, call)
        if isinstance(answer, Missing):
            raise Inconclusive(answer.missing)
        return answer

    def ask(self, what: str, call: Callable[[], _T]) -> _T | Missing:
        """Answer of `call` of a client, Missing if a broker refuses; again while it moves a coordinator or a leader."""
        return self.patiently(lambda: self._asked(what, call))

    def patiently(self, read: Callable[[], _T], missing: Callable[[_T], Sequence[str]] = lambda _: ()) -> _T:
        """Value of `read`; again for a while if nothing answers, or if something of it is `missing`, with `again`."""
        return read() if self._again is None else read_again(read, self._again, missing)

    def _asked(self, what: str, call: Callable[[], _T]) -> _T | Missing:
        from kafka.errors import BrokerResponseError, KafkaError

        try:
            return again_while_moving(self.admin, call, self._outage)
        except BrokerResponseError as error:
            return Missing(f"{what}: the broker answered {type(error).__name__} ({error.description})")
        except (KafkaError, OSError) as error:
            if self.admin.known_brokers() > 1:
                raise one_unreachable(self._config, error, what) from None
            raise unreachable(self._config, error) from None


def _finalized(features: Mapping[str, Mapping[str, Any]]) -> tuple[tuple[str, int], ...]:
    """Finalized level by feature; a feature that is only supported is left out."""
    return tuple(sorted((name, level["finalized"][1]) for name, level in features.items() if "finalized" in level))
