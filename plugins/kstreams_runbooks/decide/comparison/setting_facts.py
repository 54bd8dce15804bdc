"""What depends on a setting in an application: its stores, its internal topics, its inputs and its group."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from posixpath import normpath

from kstreams_runbooks.decide.comparison.compared import Compared, Side, topics_of
from kstreams_runbooks.decide.comparison.facts import sides
from kstreams_runbooks.decide.comparison.read_back import read_back
from kstreams_runbooks.decide.topology.names import is_generated, is_registration, is_suppression
from kstreams_runbooks.model.releases.release import within
from kstreams_runbooks.model.releases.settings import SET_OVER, in_part, is_secret
from kstreams_runbooks.model.topology.change import Fact, Undeclared
from kstreams_runbooks.model.topology.declaration import DEFAULT, Declaration, DeclaredStore

REUSE, MERGE, SELF_JOIN = "reuse.ktable.source.topics", "merge.repartition.topics", "single.store.self.join"
CACHE, GUARANTEE, COMMIT = "statestore.cache.max.bytes", "processing.guarantee", "commit.interval.ms"
EXTRACTOR = "default.timestamp.extractor"
# What the names of internal topics begin with in place of the application.id.
PREFIX = "__internal.override.topic.prefix__"
# How the classes of extractors begin that look at nothing but the time of a record.
_OF_LIBRARY = "org.apache.kafka.streams.processor."
_STATE_DIR = "state.dir"
# Defaults of settings. Source: StreamsConfig (Apache Kafka 4.3); state.dir is java.io.tmpdir.
DEFAULTS = {
    "processing.guarantee": "at_least_once",
    "group.protocol": "classic",
    "topology.optimization": "none",
    "state.dir": "/tmp/kafka-streams",  # noqa: S108 - what the library takes
    "default.dsl.store": "rocksDB",
    "default.timestamp.extractor": "org.apache.kafka.streams.processor.FailOnInvalidTimestamp",
    "deserialization.exception.handler": "org.apache.kafka.streams.errors.LogAndFailExceptionHandler",
    "dsl.store.suppliers.class": "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$RocksDBDslStoreSuppliers",
    "ensure.explicit.internal.resource.naming": "false",
    "max.task.idle.ms": "0",
    "num.standby.replicas": "0",
    "processing.exception.handler": "org.apache.kafka.streams.errors.LogAndFailProcessingExceptionHandler",
    "production.exception.handler": "org.apache.kafka.streams.errors.DefaultProductionExceptionHandler",
    CACHE: "10485760",
}
# Settings with a newer name, which wins if both are set. Source: StreamsConfig (Apache Kafka 4.3); KIP-770, KIP-1056.
NEW_NAMES = {
    "cache.max.bytes.buffering": CACHE,
    "default.deserialization.exception.handler": "deserialization.exception.handler",
    "default.production.exception.handler": "production.exception.handler",
    "key.serde": "default.key.serde",
    "timestamp.extractor": "default.timestamp.extractor",
    "value.serde": "default.value.serde",
}
# The type of the stores for which the program chooses none.
STORE_TYPES = ("default.dsl.store", "dsl.store.suppliers.class")
# Releases that have the second one: each store that the program leaves to the library is made with it. The first counts
# only for a program that gives its settings to StreamsBuilder, and code shows a supplier of each store then. Source:
# KIP-954; Apache Kafka, AbstractConfigurableStoreFactory#configure, MaterializedInternal.
_HAS_SUPPLIERS = ("3.7..",)
# Of the internal topics that are created; those that exist keep theirs.
_TOPIC_SIZE = "topic.max.message.bytes"
# The serdes of what the program gives none, and the releases that have no default for them (KIP-741).
_DEFAULT_SERDES, _WITHOUT_DEFAULTS = ("default.key.serde", "default.value.serde"), ("3.0..",)
_FAMILIES = {
    "default_serde": (
        "default.key.serde",
        "default.value.serde",
        "default.list.key.serde.inner",
        "default.list.value.serde.inner",
        "default.windowed.key.serde.inner",
        "default.windowed.value.serde.inner",
        "windowed.inner.class.serde",
    ),
    "exception_handler": (
        "deserialization.exception.handler",
        "processing.exception.handler",
        "processing.exception.handler.global.enabled",
        "production.exception.handler",
    ),
    "serde_encoding": tuple(
        f"{of}{way}.encoding" for way in ("serializer", "deserializer") for of in ("", "key.", "value.")
    ),
    "store_type": STORE_TYPES,
    "partitioner": ("partitioner.class", "partitioner.ignore.keys"),
    "class_of_the_program": ("default.client.supplier", "interceptor.classes", "processor.wrapper.class"),
    "producer": ("acks", "enable.idempotence", "max.in.flight.requests.per.connection", "retries"),
    "size_limit": ("max.request.size", _TOPIC_SIZE),
}
# Serdes that get the bytes of their elements from a setting: the class of the serde stays, and its bytes change.
# Source: KIP-466, KIP-659.
INNER_SERDES = {
    "default.list.key.serde.inner": "list",
    "default.list.value.serde.inner": "list",
    "default.windowed.key.serde.inner": "window",
    "default.windowed.value.serde.inner": "window",
    "windowed.inner.class.serde": "window",
}
_PARTITIONER = "partitioner"
_OF_PRODUCERS = frozenset((_PARTITIONER, "producer", "size_limit"))
_FAMILY_OF = {name: family for family, names in _FAMILIES.items() for name in names}
# Settings of internal topics by which records go before they are read, or get another time. Source:
# InternalTopicManager, RepartitionTopicConfig (Apache Kafka).
_TOPIC = "topic."
_OF_RECORDS = frozenset(
    f"{_TOPIC}{name}"
    for name in (
        "cleanup.policy",
        "delete.retention.ms",
        "max.compaction.lag.ms",
        "message.timestamp.after.max.ms",
        "message.timestamp.before.max.ms",
        "message.timestamp.difference.max.ms",
        "message.timestamp.type",
        "retention.bytes",
        "retention.ms",
        "segment.bytes",
        "segment.ms",
    )
)
# Settings by which tasks may move to other instances.
MOVES_TASKS = frozenset(
    {
        "acceptable.recovery.lag",
        "client.rack",
        "group.instance.id",
        "internal.leave.group.on.close",
        "max.poll.interval.ms",
        "max.warmup.replicas",
        "num.stream.threads",
        "partition.grouper",
        "probing.rebalance.interval.ms",
        "rack.aware.assignment.non_overlap_cost",
        "rack.aware.assignment.strategy",
        "rack.aware.assignment.tags",
        "rack.aware.assignment.traffic_cost",
        "session.timeout.ms",
        "task.assignor.class",
    }
)
# Settings by which task directories are deleted: at a start, by these releases, or after a task has moved away. Source:
# KAFKA-20805; StateDirectory of 4.3.1 and 4.4.0 (Maven Central).
_CLEANUP_AGE, _CLEANS_AT_START = "state.cleanup.dir.max.age.ms", ("4.3..",)
CLEANUP_MS = {_CLEANUP_AGE: "-1", "state.cleanup.delay.ms": "600000"}
# Releases that renew the time of a task directory when the task is closed cleanly.
_RENEWS = ("4.4..",)
_THREADS, _NO_THREADS = "num.stream.threads", re.compile(r"-[0-9]+|[+]?0+")
# Releases that give their consumers another group.protocol than their own, by its prefix. Source: StreamsConfig of
# 3.7.2 to 4.4.0 (Maven Central), getMainConsumerConfigs, getRestoreConsumerConfigs, getGlobalConsumerConfigs.
_TAKES_PROTOCOL = {"consumer.": ("3.7..3.9",)}
_PUT_OVER_PROTOCOL = ("3.7..4.1",)
# Releases in which group.protocol is a setting of Kafka Streams (KIP-1071).
_HAS_PROTOCOL = ("4.1..",)
# Prefixes whose settings are put over those that Kafka Streams has set and checked. Source: StreamsConfig of 3.4.1,
# 3.9.1 and 4.3.1 (Apache Kafka): getMainConsumerConfigs, getRestoreConsumerConfigs, getGlobalConsumerConfigs.
_PUT_OVER = ("main.consumer.", "restore.consumer.", "global.consumer.")
# Releases whose main consumer never commits by itself, also with the setting.
_NEVER_COMMITS = ("4.2..",)
_STORE_TYPE = "default.dsl.store"
_PROTOCOL, _ACKS = "group.protocol", "acks"
_UPGRADE_FROM = "upgrade.from"
# Releases that rebalance cooperatively, and the values with which they do it eagerly. Source: KIP-429; the method
# rebalanceProtocol of AssignorConfiguration (Apache Kafka 2.4 to 3.9).
_COOPERATIVE = ("2.4..",)
_MAKES_EAGER = frozenset(("0.10.0", "0.10.1", "0.10.2", "0.11.0", "1.0", "1.1", "2.0", "2.1", "2.2", "2.3"))
_EXPLICIT, _CLUSTER = "ensure.explicit.internal.resource.naming", "bootstrap.servers"
# Releases that check names at start (KIP-1111), and the generated names that they do not check.
_CHECKS_NAMES, _NOT_CHECKED = ("4.1..",), "FK-JOIN-SUBSCRIPTION-"
CONNECTION, _CONNECTS, _REPORTERS = "connection", ("security.", "sasl.", "ssl."), "metric.reporters"
_HIDDEN = re.compile(r"\.key$|certificate")
_Asked = dict[str, tuple[Undeclared, ...]]


@dataclass(frozen=True, slots=True)
class GivenSetting:
    """A setting as one side gives it: the name that it used, and the value, empty if it is not set."""

    name: str
    value: str


_NOT_GIVEN = GivenSetting("", "")


def by_new_name(config: Mapping[str, str] | None) -> dict[str, GivenSetting]:
    """Settings by their newest name."""
    found = {NEW_NAMES.get(name, name): GivenSetting(name, value) for name, value in (config or {}).items()}
    return {
        **found,
        **{name: GivenSetting(name, value) for name, value in (config or {}).items() if name not in NEW_NAMES},
    }


def shown(name: str, value: str) -> str:
    """A value for a person to read; never a secret."""
    return "(hidden)" if value and (is_secret(name) or _HIDDEN.search(name)) else value or "not set"


def common_facts(compared: Compared) -> tuple[dict[str, Fact], _Asked]:
    """Facts that are the same for each setting, and what to declare if one is unknown."""
    timed, asked = timed_by(compared.after)
    facts: dict[str, Fact] = {
        "stateful": compared.stateful,
        "bytes_declared": all(_bytes_declared(side) for side in (compared.before, compared.after)),
        "formats_shown": all(_formats_shown(side) for side in (compared.before, compared.after)),
        "timed": timed,
        "several_inputs": any(
            sum(len(topics_of(source)) + (source.pattern is not None) for source in sub.sources) > 1
            for sub in compared.after.topology.subtopologies
            if not sub.is_global
        ),
    }
    return facts, {"timed": asked}


def store_suppliers(declared: Declaration) -> str:
    """The class that makes the stores which a program leaves to the library, as far as the settings give it."""
    has_it = declared.library is None or within(declared.library, _HAS_SUPPLIERS)
    return ((declared.config or {}).get(STORE_TYPES[1]) if has_it else "") or DEFAULTS[STORE_TYPES[1]]


def stores_in_memory(declared: Declaration) -> bool:
    """Whether the stores which a program leaves to the library are in memory, as far as the settings show it."""
    return "inmemory" in store_suppliers(declared).lower().replace("_", "")


def protocol_of(declared: Declaration) -> str:
    """The protocol of its group, `classic` or `streams`; a release that does not have the setting ignores it."""
    has_it = declared.library is None or within(declared.library, _HAS_PROTOCOL)
    value = (declared.config or {}).get(_PROTOCOL, "").strip().lower()
    return value if has_it and value else DEFAULTS[_PROTOCOL]


def optimized(config: Mapping[str, str]) -> set[str]:
    """Optimizations that `topology.optimization` switches on: names, all of them for `all`, none by default."""
    value = config.get("topology.optimization", "none")
    if value == "all":
        return {REUSE, MERGE, SELF_JOIN}
    return {name.strip() for name in value.split(",")} - {"none"}


def bare(name: str) -> str:
    """The name of a setting without the prefix of a client; group.protocol of a client is another setting.

    One that the library sets itself for that client stays what it is called: it has no effect.
    """
    parts, there = in_part(name)
    return there if parts and there != _PROTOCOL and name not in SET_OVER else name


def moved_by(compared: Compared) -> tuple[str, ...]:
    """The settings that differ and may move tasks, or delete the directory of a moved one sooner, as they are given."""
    before, after = compared.before.declared.config, compared.after.declared.config
    if before is None or after is None:
        return ()
    names = sorted(name for name in before.keys() | after.keys() if bare(name) in MOVES_TASKS)
    return tuple(name for name in names if before.get(name, DEFAULTS.get(name)) != after.get(name, DEFAULTS.get(name)))


def cleaned_sooner_by(compared: Compared) -> tuple[str, ...]:
    """The settings by which a directory that no task uses, or that is old at a start, is deleted sooner than before."""
    before, after = compared.before.declared, compared.after.declared
    if before.config is None or after.config is None:
        return ()
    return tuple(
        name
        for name, default in sorted(CLEANUP_MS.items())
        if _lasts(after, name, default) < _lasts(before, name, default)
    )


def _lasts(declared: Declaration, name: str, default: str) -> float:
    """How long a directory stays, in ms; without a limit if the setting is off or the release does not have it."""
    heeded = name != _CLEANUP_AGE or declared.library is None or within(declared.library, _CLEANS_AT_START)
    value = (declared.config or {}).get(name, default).strip() if heeded else "-1"
    if not value.lstrip("+-").isdecimal():
        return 0
    return int(value) if int(value) >= 0 else float("inf")


def aged_at_start(compared: Compared) -> str:
    """Why the start of the new version deletes task directories that were in use; empty if it does not."""
    before, after = compared.before.declared, compared.after.declared
    lasts = _lasts(after, _CLEANUP_AGE, CLEANUP_MS[_CLEANUP_AGE])
    renewed = before.library is not None and within(before.library, _RENEWS)
    if after.config is None or lasts == float("inf") or renewed:
        return ""
    return (
        f"{_CLEANUP_AGE}={int(lasts)} deletes each task directory at the start whose own time is older, and writing to "
        "its stores does not renew that"
    )


def same_directory(one: str, other: str) -> bool:
    """Whether two paths are one directory in two spellings, unless a link on the way leads elsewhere."""
    return normpath(one) == normpath(other)


def _same_directory(old: str, new: str, *, known: bool) -> bool | None:
    return same_directory(old or DEFAULTS[_STATE_DIR], new or DEFAULTS[_STATE_DIR]) if known else None


def is_exactly_once(side: Side) -> bool | None:
    """Whether a version processes exactly once, None if its settings are not known."""
    config = side.declared.config
    if config is None or GUARANTEE in side.declared.settings_not_read:
        return None
    return (config.get(GUARANTEE) or DEFAULTS[GUARANTEE]) != DEFAULTS[GUARANTEE]


def facts_of(name: str, old: str, new: str, compared: Compared, *, creates: bool) -> tuple[dict[str, Fact], _Asked]:
    """Facts of one setting, by its newest name; `old` and `new` are its values, empty if it is not set.

    `creates`: the change creates internal topics.
    """
    before, after = compared.before.declared.config, compared.after.declared.config
    asked = (Undeclared("config", name, sides(before, after)),)
    own, parts = bare(name), in_part(name)[0]
    family = _FAMILY_OF.get(own, own)
    if own == _TOPIC_SIZE:
        family = family if creates else "topic"
    elif family in _OF_PRODUCERS and "producer" not in parts:
        family = own
    facts: dict[str, Fact] = {
        "family": "topic" if own in _OF_RECORDS else _shown_by_a_start(own, compared.after) or family,
        "present": None if after is None else bool(new),
        "same_directory": own == _STATE_DIR
        and _same_directory(old, new, known=before is not None and after is not None),
        "same_cluster": own == _CLUSTER and bool(_addresses(old) & _addresses(new)),
        "cache_switched": name == CACHE and (old == "0") != (new == "0"),
        "refuses_names": name == _EXPLICIT and _refuses_names(old, new, compared),
        "slips_past": _slips_past(name, new, compared.after),
        "no_effect": name == _STORE_TYPE and _makers_stay(compared),
        "repartitions": bool(compared.before.internal & compared.after.internal)
        or (family == _PARTITIONER and bool(read_back(compared.after))),
        "no_threads": name == _THREADS and bool(_NO_THREADS.fullmatch(new.strip())),
        "another_release": _another_release(compared),
        "eager_ends": name == _UPGRADE_FROM and _another_release(compared) and _eager_ends(old, new, compared.before),
        "times_stay": name == EXTRACTOR and _times_stay(compared),
        "never_used": not old and bool(new) and own in _DEFAULT_SERDES and _has_no_default(compared.before),
        "extracts_from_joins": name == EXTRACTOR and _extracts_from_joins(old, new, compared),
        "extracted_before": name == EXTRACTOR and _is_own(old) and bool(_registrations(compared.before)),
        "all_replicas": own != _ACKS or new.strip().lower() in {"", "all", "-1"},
    }
    return facts, {"present": asked, "refuses_names": asked, "same_directory": asked}


def _shown_by_a_start(own: str, side: Side) -> str:
    """The family of a setting that only a start can check; empty for any other."""
    if own.startswith(_CONNECTS):
        return CONNECTION
    # The library that was asked for its refusals looked for the class.
    tried = own == _REPORTERS and side.declared.refused is not None
    return "loaded" if own.startswith((_REPORTERS, "config.providers")) and not tried else ""


def _another_release(compared: Compared) -> bool:
    old, new = compared.before.declared.library, compared.after.declared.library
    return old is not None and new is not None and old != new


def _eager_ends(old: str, new: str, running: Side) -> bool:
    """Whether running instances rebalance eagerly by `upgrade.from`, and the new ones next to them do not."""
    library = running.declared.library
    cooperative = library is not None and within(library, _COOPERATIVE)
    return cooperative and old in _MAKES_EAGER and new not in _MAKES_EAGER


def _times_stay(compared: Compared) -> bool:
    """Whether code shows that each topic is read with the extractor of before: its source's, or that of the settings.

    The internal topics of a foreign-key join always have that of the settings.
    """
    sides = (compared.before, compared.after)
    known = all(side.declared.was_read and side.declared.config is not None for side in sides)
    if not known or _registrations(compared.after):
        return False
    was, now = ({topic: extractor_of(side.declared, topic) for topic in side.read()} for side in sides)
    return None not in now.values() and all(was[topic] == now[topic] for topic in was.keys() & now.keys())


def extractor_of(declared: Declaration, topic: str) -> str | None:
    """The class that gives the records of a topic their times: of its source or of the settings; None if not known."""
    found = declared.topics.get(topic)
    own = None if found is None else found.timestamp_extractor
    if own != DEFAULT or declared.config is None or EXTRACTOR in declared.settings_not_read:
        return own
    return by_new_name(declared.config).get(EXTRACTOR, _NOT_GIVEN).value or DEFAULTS[EXTRACTOR]


def _extracts_from_joins(old: str, new: str, compared: Compared) -> bool:
    """Whether a class of the program gives times to the records of foreign-key joins, and did not before."""
    now = _registrations(compared.after)
    come = now if old != new else now - compared.before.internal
    return bool(come) and _is_own(new)


def _is_own(extractor: str) -> bool:
    return not extractor.startswith(_OF_LIBRARY)


def _registrations(side: Side) -> set[str]:
    return {topic for topic in side.internal if is_registration(topic)}


def _slips_past(name: str, new: str, side: Side) -> bool:
    """Whether a client reads what exactly once hides, commits by itself, or has another protocol, unchecked."""
    config, library = side.declared.config or {}, side.declared.library
    prefix = next((one for one in (*_PUT_OVER, "consumer.") if name.startswith(one)), "")
    value = new.strip().lower()
    if prefix and name == f"{prefix}{_PROTOCOL}":
        releases = _TAKES_PROTOCOL.get(prefix, _PUT_OVER_PROTOCOL)
        return value == "consumer" and (library is None or within(library, releases))
    if prefix in _PUT_OVER and name == f"{prefix}isolation.level":
        return value == "read_uncommitted" and config.get(GUARANTEE, DEFAULTS[GUARANTEE]) != DEFAULTS[GUARANTEE]
    commits = name == f"{_PUT_OVER[0]}enable.auto.commit" and value == "true"
    return commits and not (library is not None and within(library, _NEVER_COMMITS))


def timed_by(side: Side) -> tuple[bool | None, tuple[Undeclared, ...]]:
    """Whether a store keeps records by their timestamps: windows, sessions, joins, versions, suppressed results."""
    if side.declared.suppressions or any(is_suppression(name) for name in side.topology.stores):
        return True, ()
    kinds = {name: _kind(side.declared.stores.get(name)) for name in side.store_places}
    if set(kinds.values()) - {"key_value", None}:
        return True, ()
    unknown = tuple(Undeclared(f"stores.{name}", "kind", "new") for name, kind in sorted(kinds.items()) if kind is None)
    return (None if unknown else False), unknown


def _kind(store: DeclaredStore | None) -> str | None:
    return "key_value" if store is not None and store.source_table else None if store is None else store.kind


def _has_no_default(side: Side) -> bool:
    """Whether nothing that runs takes a serde from a setting that is not set: the library has no default for it."""
    return side.declared.library is not None and within(side.declared.library, _WITHOUT_DEFAULTS)


def _bytes_declared(side: Side) -> bool:
    """Whether each store and internal topic has declared serdes: then rules of their own judge them."""
    stores = [side.declared.stores.get(name) for name in side.topology.stores if not is_suppression(name)]
    topics = [side.declared.topics.get(name) for name in side.internal]
    return all(one is not None and one.key_serde and one.value_serde for one in (*stores, *topics))


def _formats_shown(side: Side) -> bool:
    """Whether code shows each format of a version, also those of inputs and outputs: then each is compared."""
    names = {*side.readers, *side.writers, *side.patterns}
    topics = [side.declared.topics.get(name) for name in names]
    given = all(one is not None and one.key_serde and one.value_serde for one in topics)
    return side.declared.was_read and given and _bytes_declared(side)


def has_inner_serde(side: Side, kind: str) -> bool:
    """Whether a store or an internal topic has a serde of lists, or of windows, by the name of its class."""
    stores = [side.declared.stores.get(name) for name in side.topology.stores]
    topics = [side.declared.topics.get(name) for name in side.internal]
    serdes = [serde for one in (*stores, *topics) if one is not None for serde in (one.key_serde, one.value_serde)]
    return any(kind in serde.name.lower() for serde in serdes if serde is not None)


def _makers_stay(compared: Compared) -> bool:
    """Whether the code of both sides shows that each store is made as before, also those of another default.

    A program that gives its settings to StreamsBuilder has the class that they choose in each store of the DSL.
    Source: KIP-591; Apache Kafka, MaterializedInternal and TopologyConfig; tests/facts/test_pairs.py.
    """
    old, new = compared.before.declared, compared.after.declared
    suppliers = [(old.stores[one].supplier, new.stores[one].supplier) for one in old.stores.keys() & new.stores.keys()]
    stores = compared.before.topology.stores | compared.after.topology.stores
    known = old.was_read and new.was_read and stores <= old.stores.keys() & new.stores.keys()
    return known and all(was is not None and was == now for was, now in suppliers)


def _refuses_names(old: str, new: str, compared: Compared) -> bool | None:
    """Whether a release that checks names finds a generated one; None if the old side does not give its settings.

    An application that runs with the setting and with generated names does not pass its settings to StreamsBuilder.
    """
    library = compared.after.declared.library
    if library is not None and not within(library, _CHECKS_NAMES):
        return False
    if compared.after.declared.config is None:
        return None if _checked_names(compared.after) else False
    if new.lower() != "true" or not _checked_names(compared.after):
        return False
    if compared.before.declared.config is None:
        return None
    return not (old.lower() == "true" and _checked_names(compared.before))


def _checked_names(side: Side) -> bool:
    names: Iterable[str] = (*side.topology.stores, *side.internal)
    return any(is_generated(name) and _NOT_CHECKED not in name for name in names)


def _addresses(text: str) -> set[str]:
    return {part.strip().lower() for part in text.split(",")} - {""}
