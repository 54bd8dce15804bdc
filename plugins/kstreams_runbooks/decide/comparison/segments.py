"""Segments: the pieces of time in which a store keeps its records on the disk.

RocksDB gets a directory for each segment of a windowed store, with the time at which it begins in its name, and a
versioned store begins its keys with the number of the segment. Both are read by the length of the new version: a record
in a segment of another length is not found, or found in the wrong place, and the checkpoint is that of a whole store.
Source: Apache Kafka 2.4 to 4.3, AbstractSegments#openExisting, LogicalKeyValueSegments, Stores#persistentWindowStore,
RocksDbSessionBytesStoreSupplier.
"""

from kstreams_runbooks.model.times import HOUR_MS, MINUTE_MS, SECOND_MS
from kstreams_runbooks.model.topology.declaration import DeclaredStore, Window

_WINDOWED = {"window", "session", "join"}
# Histories up to a limit: the part of them that is a segment, and the shortest segment. Source:
# RocksDbVersionedKeyValueBytesStoreSupplier.
_HISTORIES = (
    (MINUTE_MS, 3, 2 * SECOND_MS),
    (5 * MINUTE_MS, 5, 20 * SECOND_MS),
    (HOUR_MS, 12, MINUTE_MS),
)
_LONG = (24, 5 * MINUTE_MS)


def segments_changed(old: DeclaredStore, new: DeclaredStore) -> bool | None:
    """Whether a store that stays has segments of another length, None if the kind or the retention is unknown.

    A store that changes its kind has no common format, which is another finding. One in memory has none: the library
    keeps it on the disk unless the program or a setting chooses otherwise.
    """
    if old.in_memory or new.in_memory:
        return False
    if None in {old.kind, new.kind}:
        return None
    if old.kind != new.kind or (new.kind != "versioned" and new.kind not in _WINDOWED):
        return False
    before, after = _segment_ms(old), _segment_ms(new)
    if before is None or after is None:
        return None
    return before != after


def kept_in_segments_ms(store: DeclaredStore) -> int | None:
    """What the length follows: the retention, or the history of a versioned store; None if unknown."""
    if store.kind == "versioned":
        return store.history_retention_ms
    return _default_ms(store.window) if store.retention_ms is None else store.retention_ms


def _segment_ms(store: DeclaredStore) -> int | None:
    kept = kept_in_segments_ms(store)
    if kept is None:
        return None
    return _of_history(kept) if store.kind == "versioned" else max(kept // 2, MINUTE_MS)


def _default_ms(window: Window | None) -> int | None:
    """The retention that the library gives a window; a join and a sliding window look back and ahead."""
    if window is None:
        return None
    return window.both_ways_ms if window.kind in {"join", "sliding"} else window.lasts_ms


def _of_history(history_ms: int) -> int:
    part, least = next(((part, least) for limit, part, least in _HISTORIES if history_ms <= limit), _LONG)
    return max(history_ms // part, least)
