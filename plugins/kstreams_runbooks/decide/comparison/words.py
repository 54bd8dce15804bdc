"""Old and new values as a sentence shows them, `tumbling 1 h → tumbling 2 h`; empty if either value is unknown."""

from collections.abc import Callable

from kstreams_runbooks.decide.comparison.compared import Compared, Side, topics_of
from kstreams_runbooks.decide.comparison.facts import NO_WINDOW, duration, kept_ms, window_of
from kstreams_runbooks.decide.comparison.segments import kept_in_segments_ms
from kstreams_runbooks.model.topology.declaration import DeclaredStore, DeclaredTopic, Serde, Window

_ARROW = " → "
# Differences listed in a sentence; more are counted.
_MOST = 4
# Of what neither side declares: most stores and topics of a large program.
_NO_STORE_WORDS = dict.fromkeys(
    ("kinds", "windows", "graces", "emits", "retentions", "histories", "segments", "keys", "serdes"), ""
)
_NO_TOPIC_WORDS = dict.fromkeys(("partitions", "keys", "serdes", "extractors"), "")


def store_words(before: DeclaredStore | None, after: DeclaredStore | None) -> dict[str, str]:
    """The words of a store's declared changes, each ` (old → new)`."""
    if before is None and after is None:
        return _NO_STORE_WORDS
    old, new = before or DeclaredStore(), after or DeclaredStore()
    return {
        "kinds": _both(_kind(old), _kind(new)),
        "windows": _both(_window(window_of(before)), _window(window_of(after))),
        "graces": _both(_of_window(before, _grace), _of_window(after, _grace)),
        "emits": _both(_of_window(before, _emit), _of_window(after, _emit)),
        "retentions": _both(*(_kept(one) for one in (old, new))),
        "histories": _both(*(_history(one) for one in (old, new))),
        "segments": _segments(old, new),
        "keys": _both(old.key, new.key),
        "serdes": _serdes(old, new),
    }


def topic_words(before: DeclaredTopic | None, after: DeclaredTopic | None) -> dict[str, str]:
    """The words of a topic's declared changes, each ` (old → new)`."""
    if before is None and after is None:
        return _NO_TOPIC_WORDS
    old, new = before or DeclaredTopic(), after or DeclaredTopic()
    counts = (None if one.partitions is None else str(one.partitions) for one in (old, new))
    return {
        "partitions": _both(*counts),
        "keys": _both(old.key, new.key),
        "serdes": _serdes(old, new),
        "extractors": _both(old.timestamp_extractor, new.timestamp_extractor),
    }


def disagreement(compared: Compared) -> str:
    """The subtopologies and stores on which old and new instances disagree, as the parts of one sentence."""
    old, new = _reads(compared.before), _reads(compared.after)
    parts = [
        _subtopology(sub, old.get(sub), new.get(sub)) for sub in sorted({*old, *new}) if old.get(sub) != new.get(sub)
    ]
    parts += [
        f"store {store} is new"
        for store in sorted(set(compared.after.store_places) - set(compared.before.store_places))
    ]
    more = len(parts) - _MOST
    return "; ".join([*parts[:_MOST], *([f"and {more:,} more"] if more > 0 else [])])


def _reads(side: Side) -> dict[str, frozenset[str]]:
    return {
        sub.id: frozenset(topic for source in sub.sources for topic in topics_of(source))
        for sub in side.topology.subtopologies
        if not sub.is_global
    }


def _subtopology(sub: str, old: frozenset[str] | None, new: frozenset[str] | None) -> str:
    if new is None:
        return f"subtopology {sub} is gone (it read {_listed(old)})"
    if old is None:
        return f"subtopology {sub} is new and reads {_listed(new)}"
    return f"subtopology {sub} reads {_listed(old)}{_ARROW}{_listed(new)}"


def _listed(topics: frozenset[str] | None) -> str:
    names = sorted(topics or ())
    more = len(names) - _MOST
    return ", ".join([*names[:_MOST], *([f"{more:,} more"] if more > 0 else [])]) or "no topic"


def _both(old: str | None, new: str | None) -> str:
    return "" if old is None or new is None or old == new else f" ({old}{_ARROW}{new})"


def _kind(store: DeclaredStore) -> str | None:
    return None if store.kind is None else store.kind.replace("_", "-")


def _window(window: Window | None) -> str | None:
    if window is None:
        return None
    if window is NO_WINDOW:
        return "no window"
    advance = "" if window.advance_ms in {None, window.size_ms} else f" every {duration(window.advance_ms or 0)}"
    return f"{window.kind} {_span(window)}{advance}"


def _span(window: Window) -> str:
    """`10 min`, or `5 min back and 15 min ahead` of a join with two differences; one may be negative."""
    back, ahead = window.size_ms, window.ahead_ms
    if back == ahead:
        return duration(back)
    if back < 0:
        return f"{duration(-back)} to {duration(ahead)} ahead"
    if ahead < 0:
        return f"{duration(-ahead)} to {duration(back)} back"
    return f"{duration(back)} back and {duration(ahead)} ahead"


def _grace(window: Window) -> str:
    return duration(window.grace_ms)


def _emit(window: Window) -> str:
    return window.emit.replace("_", " ")


def _of_window(store: DeclaredStore | None, words: Callable[[Window], str]) -> str | None:
    window = window_of(store)
    return None if window is None or window is NO_WINDOW else words(window)


def _kept(store: DeclaredStore) -> str | None:
    found = kept_ms(store)
    return None if found is None else duration(found)


def _segments(old: DeclaredStore, new: DeclaredStore) -> str:
    """Why segments get another length: `, because the retention changes (1 d → 2 d)`."""
    kept = (kept_in_segments_ms(one) for one in (old, new))
    values = _both(*(None if one is None else duration(one) for one in kept))
    return f", because the {'history' if new.kind == 'versioned' else 'retention'} changes{values}" if values else ""


def _history(store: DeclaredStore) -> str | None:
    return None if store.history_retention_ms is None else duration(store.history_retention_ms)


def _serdes(old: DeclaredStore | DeclaredTopic, new: DeclaredStore | DeclaredTopic) -> str:
    pairs = (("keys", old.key_serde, new.key_serde), ("values", old.value_serde, new.value_serde))
    changed = [
        f"{what} {_serde(one)}{_ARROW}{_serde(other)}" for what, one, other in pairs if one and other and one != other
    ]
    return f" ({', '.join(changed)})" if changed else ""


def _serde(serde: Serde) -> str:
    return serde.name if serde.schema_version is None else f"{serde.name} v{serde.schema_version}"
