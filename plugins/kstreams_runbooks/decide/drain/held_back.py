"""Records that only stream time releases: in suppress buffers, and in windows that are not closed.

They are in no topic that is read, and no offset shows them; stream time is stored with the committed offsets.
"""

from collections.abc import Iterator, Mapping

from kstreams_runbooks.decide.topology.names import is_suppression
from kstreams_runbooks.decide.topology.upstream import store_before
from kstreams_runbooks.model.readings.drain import HeldBack
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredSuppression, Window
from kstreams_runbooks.model.topology.topology import Processor, Subtopology, Topology

_UNDECLARED = HeldBack("suppressions and windows, of which the release declares nothing", None, None)


def held_back(
    topology: Topology, declaration: Declaration | None, stream_times: Mapping[str, int]
) -> tuple[HeldBack, ...]:
    """Suppressions and windows, each until the stream time at which the last record it may hold now is due.

    `stream_times` is the highest known stream time by subtopology id (Unix ms). Undeclared facts are unknown; if the
    release has no declaration, or the release itself is unknown (None), that is reported as well.
    """
    declared = declaration or Declaration()
    found = []
    for sub in topology.subtopologies:
        now = stream_times.get(sub.id)
        found += [*_suppressed(topology, declared, sub, now), *_open_windows(declared, sub, now)]
    return (*found, *([_UNDECLARED] if declaration is None else []))


def _suppressed(topology: Topology, declared: Declaration, sub: Subtopology, now_ms: int | None) -> Iterator[HeldBack]:
    for node in sub.nodes:
        one = declared.suppressions.get(node.name)
        if not isinstance(node, Processor) or (one is None and not is_suppression(node.name)):
            continue
        store = store_before(topology, declared, node.name)
        until = _let_go(one, store.window if store else None, now_ms)
        yield HeldBack(f"suppress operator {node.name}", until, now_ms)


def _let_go(one: DeclaredSuppression | None, window: Window | None, now_ms: int | None) -> int | None:
    if one is None or now_ms is None:
        return None
    if one.mode == "until_time_limit":
        return None if one.time_limit_ms is None else now_ms + one.time_limit_ms
    return None if window is None else _closes(window, now_ms)


def _open_windows(declared: Declaration, sub: Subtopology, now_ms: int | None) -> Iterator[HeldBack]:
    for name in sorted(sub.stores):
        store = declared.stores.get(name)
        if store is not None and store.window is not None:
            until = None if now_ms is None else _closes(store.window, now_ms)
            yield HeldBack(f"the open windows of {name}", until, now_ms)


def _closes(window: Window, now_ms: int) -> int:
    """Stream time at which the newest window that has begun by now is closed: its end and its grace.

    Tumbling and hopping windows are aligned to the epoch (Kafka Streams developer guide, "Windowing"); any other may
    have begun with the newest record.
    """
    if window.kind in {"tumbling", "hopping"}:
        advance = window.advance_ms or window.size_ms
        return now_ms // advance * advance + window.size_ms + window.grace_ms
    return now_ms + window.lasts_ms
