"""How much memory suppress buffers take, before and after an instance's tasks move to the others."""

from kstreams_runbooks.model.declaration import Declaration, DeclaredSuppression
from kstreams_runbooks.model.topology import Topology

# Beside key and value each record keeps its timestamp and offset (8 bytes each), its partition (4), the name of its
# topic and its headers. Source: ProcessorRecordContext#residentMemorySizeEstimate (Apache Kafka).
METADATA_BYTES = 64
# StreamsConfig: cache.max.bytes.buffering, from 3.4 on statestore.cache.max.bytes; 10 MiB by default.
_CACHE_SETTINGS = ("statestore.cache.max.bytes", "cache.max.bytes.buffering")
_CACHE_BYTES = 10 * 1024 * 1024
_MIB = 1024 * 1024


def buffer_bytes(one: DeclaredSuppression) -> int | None:
    """What one buffer holds at most on one instance, None where nobody says how many keys of what size.

    The newest value of each key that was seen within the time that results are held back, and the value before it,
    which is kept to forward a change. Source: J. Roesler, Kafka Streams' Take on Watermarks and Triggers (Confluent);
    BufferValue (Apache Kafka).
    """
    if one.max_bytes is not None:
        return one.max_bytes
    if one.key_bytes is None or one.value_bytes is None:
        return None
    records = one.keys if one.max_records is None else min(one.max_records, one.keys or one.max_records)
    if records is None:
        return None
    return records * (one.key_bytes + 2 * one.value_bytes + METADATA_BYTES)


def needed_bytes(declared: Declaration, topology: Topology) -> int | None:
    """All buffers and the record cache of one instance, with the tasks of a stopped one; None where not known."""
    sizes = [buffer_bytes(one) for name, one in declared.suppressions.items() if _stands(name, topology)]
    if declared.memory is None or any(size is None for size in sizes):
        return None
    moved = sum(size or 0 for size in sizes) * declared.memory.instances // max(1, declared.memory.instances - 1)
    return moved + _cache_bytes(declared)


def fits(declared: Declaration, topology: Topology) -> bool | None:
    """Whether the heap has room for it; None where that cannot be told."""
    needed = needed_bytes(declared, topology)
    return None if needed is None or declared.memory is None else needed <= declared.memory.heap_bytes


def estimate(declared: Declaration, topology: Topology) -> str:
    """The estimate in words, or what to declare for one."""
    needed = needed_bytes(declared, topology)
    if needed is None or declared.memory is None:
        return (
            "not estimated: declare keys, key_bytes and value_bytes of every suppression, and memory (heap_bytes and "
            "instances)"
        )
    return (
        f"about {_mib(needed)} for all buffers with those of a stopped instance and the record cache, of a heap of "
        f"{_mib(declared.memory.heap_bytes)}"
    )


def factor(declared: Declaration) -> str:
    """By how much the buffers of an instance grow while another is down."""
    instances = declared.memory.instances if declared.memory else 0
    return f"{instances / (instances - 1):.2f} times" if instances > 1 else "by what the stopped one held"


def _stands(name: str, topology: Topology) -> bool:
    return any(node.name == name for _, node in topology.nodes())


def _cache_bytes(declared: Declaration) -> int:
    values = [(declared.config or {}).get(name) for name in _CACHE_SETTINGS]
    return next((int(value) for value in values if value and value.isdigit()), _CACHE_BYTES)


def _mib(size: int) -> str:
    return f"{size / _MIB:,.1f} MiB"
