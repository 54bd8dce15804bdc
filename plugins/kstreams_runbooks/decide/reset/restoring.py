"""What a log restores of a store once local state is gone: a disk may have what retention deleted from the log.

Brokers move the start of a log if retention or a person deletes records; compaction leaves it where it is.
Source: Apache Kafka documentation, "Log Compaction"; KIP-107 (deleteRecords).
"""

from collections.abc import Iterator, Mapping

from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.topology.names import is_join_window, is_suppress_buffer, suppression_of
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


def restored_fate(name: str, side: Side, changelog: str, log: RestoringLog | None, *, own: bool) -> tuple[Fate, str]:
    """Of mode `state`: a log restores what it still has, and a disk may have more."""
    if not changelog:
        return "lost", "it has no changelog, so nothing restores it"
    if log is None:
        return "unknown", f"whether {changelog} has lost records was not read"
    if isinstance(log.gone, Missing):
        return "unknown", f"whether {changelog} has lost records is not known: {log.gone.missing}"
    if log.gone and not own and _DELETE in log.policy.split(","):
        expires = _expires(name, side)
        if expires is None:
            return "unknown", (
                f"{log.gone:,} offsets of {changelog} are gone (cleanup.policy={log.policy}), and whether the store "
                f"drops the same records is not declared; declare stores.{name}.kind"
            )
        if expires:
            return "restored", ""
    if log.gone:
        return "lost", f"{log.gone:,} offsets of {changelog} are gone, so what they held is on local disks alone"
    return "restored", f"from its input {changelog}, up to the committed offsets" if own else ""


def _expires(name: str, side: Side) -> bool | None:
    """Whether a store drops what is older than its retention, as its changelog does; None if it is not declared."""
    kind = side.declared.stores.get(name, DeclaredStore()).kind
    if kind is None and (is_suppress_buffer(name) or suppression_of(name) in side.declared.suppressions):
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
