"""What a log restores of a store once local state is gone: a disk may have what retention deleted from the log.

Brokers move the start of a log if retention or a person deletes records; compaction leaves it where it is.
Source: Apache Kafka documentation, "Log Compaction"; KIP-107 (deleteRecords).
"""

from collections.abc import Iterator, Mapping

from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.comparison.content import Content, buffer_of
from kstreams_runbooks.decide.comparison.facts import duration
from kstreams_runbooks.decide.comparison.segments import kept_in_segments_ms
from kstreams_runbooks.decide.topology.names import is_join_window
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import Fate, ResetMode, RestoringLog, StoreFate
from kstreams_runbooks.model.topology.declaration import DeclaredStore
from kstreams_runbooks.model.topology.topology import Processor, Source

_DELETE = "delete"
# Kinds of stores that drop what is older than their retention.
_EXPIRING = frozenset({"window", "session", "join"})


def from_its_input(own: RestoringLog) -> tuple[Fate, str]:
    """A table that its input restores once local state is gone: what the log lost was on local disks alone."""
    kept = f"its input {own.topic} is its own changelog"
    if isinstance(own.gone, Missing):
        return "unknown", f"{kept}, and whether its log has lost records is not known: {own.gone.missing}"
    if own.gone:
        return "partly", f"{kept}, and {own.gone:,} offsets of it are gone: keys in them are on local disks alone"
    return "kept", f"{kept} and keeps its content"


def restored_fate(content: Content, side: Side, log: RestoringLog | Missing | None) -> tuple[Fate, str]:
    """Of local state that goes: what restores a store, and what only a disk has of it. One decision for all runbooks.

    `log` is that of the topic that restores the store, None if the cluster does not have the topic, Missing if it was
    not read. A topic with the name of a changelog is not proof that the store writes to it.
    """
    if content.place == "memory":
        return "gone", "it is in memory without a changelog: each restart loses it"
    if content.is_join_buffer:
        return "lost", "the changelog of a join's buffer does not restore it: local disks alone have what waits in it"
    if content.place == "disk":
        return "lost", "it has no changelog: local disks alone have its content"
    if content.place == "unknown":
        asks = " and ".join(content.asks)
        or_input = f", or stores.{content.store}.changelog if a topic that is read restores it"
        return "unknown", f"whether a changelog has its content is not known; declare {asks}{or_input}"
    if log is None:
        return "lost", f"{content.topic}, which would restore it, does not exist: local disks alone have its content"
    if isinstance(log, Missing):
        return "unknown", f"whether {content.topic} has lost records is not known: {log.missing}"
    return _of_log(content, side, log)


def _of_log(content: Content, side: Side, log: RestoringLog) -> tuple[Fate, str]:
    """The records that a store still keeps, and whether its log has them, and has them until local state is gone.

    A run may wait for hours between this look and the deletion: a log that keeps less than its store is not whole, also
    while nothing of it is gone yet.
    """
    topic, own = log.topic, content.place == "input"
    if isinstance(log.gone, Missing):
        return "unknown", f"whether {topic} has lost records is not known: {log.gone.missing}"
    if not log.policy:
        return "unknown", f"cleanup.policy of {topic} is not known: grant this login DescribeConfigs on Topic {topic}"
    deletes = _DELETE in log.policy.split(",")
    if log.gone and not deletes:
        return "lost", f"{log.gone:,} offsets of {topic} are gone, so what they held is on local disks alone"
    expires = False if own else _expires(content.store, side)
    short = None if own else _too_short_history(content.store, side, log)
    if short is None and deletes:
        short = _deleted(content.store, side, log) if expires else _deleted_for_good(content.store, log, expires)
    return short or ("restored", f"from its input {topic}, up to the committed offsets" if own else "")


def _too_short_history(name: str, side: Side, log: RestoringLog) -> tuple[Fate, str] | None:
    """The fate of a versioned store whose log may compact a version that the store keeps, None if it does not.

    The library leaves the changelog of another store without a lag: a lag may be that of a history.
    Source: Apache Kafka, InternalTopicConfig (min.compaction.lag.ms of changelogs); KIP-889.
    """
    store = side.declared.stores.get(name, DeclaredStore())
    may_be = store.kind is None and _expires(name, side) is None and log.lag_ms != 0
    if store.kind != "versioned" and not may_be:
        return None
    if may_be:
        return "unknown", f"whether it keeps a history is not known; declare stores.{name}.kind"
    if store.history_retention_ms is None:
        return "unknown", f"how long it keeps a history is not known; declare stores.{name}.history_retention_ms"
    if isinstance(log.lag_ms, Missing):
        return "unknown", f"min.compaction.lag.ms of {log.topic} is not known: {log.lag_ms.missing}"
    if log.lag_ms >= store.history_retention_ms:
        return None
    return "lost", (
        f"min.compaction.lag.ms of {log.topic} is {duration(log.lag_ms)}, and the store keeps "
        f"{duration(store.history_retention_ms)} of history: local disks alone have older versions"
    )


def _deleted(name: str, side: Side, log: RestoringLog) -> tuple[Fate, str] | None:
    """The fate of a store that expires if brokers delete from its log what it still keeps, None if they do not.

    Source: Apache Kafka, WindowedChangelogTopicConfig (retention.ms of changelogs).
    """
    kept = kept_in_segments_ms(side.declared.stores.get(name, DeclaredStore()))
    if isinstance(log.retention_ms, Missing):
        return "unknown", f"retention.ms of {log.topic} is not known: {log.retention_ms.missing}"
    if log.limited_bytes:
        return "unknown", f"retention.bytes of {log.topic} deletes records of any age; set it to -1"
    if log.retention_ms is None:
        return (
            ("unknown", f"{log.gone:,} offsets of {log.topic} are gone, and its retention.ms has no limit")
            if log.gone
            else None
        )
    if kept is None:
        return "unknown", (
            f"{log.topic} keeps {duration(log.retention_ms)}, and how long the store keeps its records is not known; "
            f"declare stores.{name}.retention_ms"
        )
    if log.retention_ms >= kept:
        return None
    older = "local disks alone have older records" if log.gone else f"set retention.ms of the topic to {kept} first"
    return (
        "lost",
        f"retention.ms of {log.topic} is {duration(log.retention_ms)}, and the store keeps {duration(kept)}: {older}",
    )


def _deleted_for_good(name: str, log: RestoringLog, expires: bool | None) -> tuple[Fate, str] | None:
    """The fate of a store that drops nothing by age if brokers delete from its log, None if it has no limit.

    `expires` is None if it is not declared whether the store drops records.
    """
    limited = log.retention_ms is not None or log.limited_bytes
    if not log.gone and not limited:
        return None
    policy = f"cleanup.policy={log.policy}"
    if expires is None:
        gone = f"{log.gone:,} offsets of {log.topic} are gone" if log.gone else f"{log.topic} deletes old records"
        return "unknown", (
            f"{gone} ({policy}), and whether the store drops the same records is not declared; declare "
            f"stores.{name}.kind"
        )
    if log.gone:
        return "lost", f"{log.gone:,} offsets of {log.topic} are gone, so what they held is on local disks alone"
    if isinstance(log.retention_ms, Missing) and not log.limited_bytes:
        return "unknown", f"retention.ms of {log.topic} is not known: {log.retention_ms.missing}"
    limit = (
        f"retention.ms of {duration(log.retention_ms)}" if isinstance(log.retention_ms, int) else "a retention.bytes"
    )
    return "lost", (
        f"{log.topic} has {policy} and {limit}, and the store keeps every key: brokers may delete keys also while the "
        "run waits for an approval; set cleanup.policy=compact on the topic first, if each record is the row of its key"
    )


def _expires(name: str, side: Side) -> bool | None:
    """Whether a store drops what is older than its retention, as its changelog does; None if it is not declared."""
    kind = side.declared.stores.get(name, DeclaredStore()).kind
    if kind is None and buffer_of(side, name) is not None:
        return False
    if kind is None:
        return True if is_join_window(name) else None
    return kind in _EXPIRING


def global_fates(side: Side, mode: ResetMode, logs: Mapping[str, RestoringLog]) -> Iterator[StoreFate]:
    """Global stores, which their topics restore in full at each start on a disk without them."""
    for name, topic in sorted(_global_stores(side).items()):
        accepted = side.declared.stores.get(name, DeclaredStore()).loss_acceptable
        fate: Fate = "gone" if mode == "retire" else "kept"
        why = ""
        if mode in {"reset", "state"}:
            log = logs.get(topic, RestoringLog(topic, "", Missing(f"topic {topic} was not read")))
            back, lacking = _of_log(Content(name, "input", topic), side, log)
            fate, why = (back, lacking) if back != "restored" else ("restored", f"from {topic}, a global table")
            if fate == "lost" and mode == "reset":
                fate = "partly"
        local_only = why if fate in {"lost", "partly", "unknown"} else ""
        yield StoreFate(name, (topic,), topic, fate, why, accepted, local_only, fate == "lost" and topic in logs)


def _global_stores(side: Side) -> dict[str, str]:
    """Each global store with the topic that fills it."""
    found: dict[str, str] = {}
    for sub in side.topology.subtopologies:
        for source in (node for node in sub.nodes if isinstance(node, Source) and sub.is_global):
            for name in source.successors:
                node = side.nodes[name]
                # The source of a global store reads one topic.
                for store in node.stores if isinstance(node, Processor) else ():
                    found[store] = min(source.topics)
    return found
