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
    """The records that a store still keeps, and whether its log still has them."""
    topic, own = log.topic, content.place == "input"
    if isinstance(log.gone, Missing):
        return "unknown", f"whether {topic} has lost records is not known: {log.gone.missing}"
    store = side.declared.stores.get(content.store, DeclaredStore())
    if not own and (short := _too_short(store, log)):
        return short
    if log.gone and not own and _DELETE in log.policy.split(","):
        expires = _expires(content.store, side)
        if expires is None:
            return "unknown", (
                f"{log.gone:,} offsets of {topic} are gone (cleanup.policy={log.policy}), and whether the store "
                f"drops the same records is not declared; declare stores.{content.store}.kind"
            )
        if expires:
            return "restored", ""
    if log.gone:
        return "lost", f"{log.gone:,} offsets of {topic} are gone, so what they held is on local disks alone"
    return "restored", f"from its input {topic}, up to the committed offsets" if own else ""


def _too_short(store: DeclaredStore, log: RestoringLog) -> tuple[Fate, str] | None:
    """The fate of a store whose log keeps records for a shorter time than the store, None if it does not.

    A windowed store that drops what its log has deleted loses nothing. Source: Apache Kafka, InternalTopicConfig
    (retention.ms, min.compaction.lag.ms of changelogs); KIP-889.
    """
    if store.kind == "versioned" and store.history_retention_ms is not None:
        if isinstance(log.lag_ms, Missing):
            return "unknown", f"min.compaction.lag.ms of {log.topic} is not known: {log.lag_ms.missing}"
        if log.lag_ms < store.history_retention_ms:
            return "lost", (
                f"min.compaction.lag.ms of {log.topic} is {duration(log.lag_ms)}, and the store keeps "
                f"{duration(store.history_retention_ms)} of history: local disks alone have older versions"
            )
    if store.kind not in _EXPIRING or _DELETE not in log.policy.split(",") or not log.gone:
        return None
    kept = kept_in_segments_ms(store)
    if isinstance(log.retention_ms, Missing):
        return "unknown", f"retention.ms of {log.topic} is not known: {log.retention_ms.missing}"
    if kept is not None and log.retention_ms is not None and log.retention_ms < kept:
        return "lost", (
            f"retention.ms of {log.topic} is {duration(log.retention_ms)}, and the store keeps {duration(kept)}: local "
            "disks alone have older records"
        )
    return None


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
            log = logs.get(topic)
            gone = Missing(f"topic {topic} was not read") if log is None else log.gone
            if isinstance(gone, Missing):
                fate, why = "unknown", f"whether {topic} has lost records is not known: {gone.missing}"
            elif gone:
                fate = "lost" if mode == "state" else "partly"
                why = f"{gone:,} offsets of {topic} are gone, so what they held is on local disks alone"
            else:
                fate, why = "restored", f"from {topic}, a global table"
        yield StoreFate(
            name, (topic,), topic, fate, why, accepted, why if fate in {"lost", "partly", "unknown"} else ""
        )


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
