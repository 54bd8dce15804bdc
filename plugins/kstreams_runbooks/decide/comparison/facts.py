"""Facts of a change that only a declaration has; None if either side does not declare it."""

from collections.abc import Callable, Collection
from typing import TypeVar

from kstreams_runbooks.decide.comparison.segments import segments_changed
from kstreams_runbooks.model.times import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from kstreams_runbooks.model.topology.change import Fact, Undeclared
from kstreams_runbooks.model.topology.declaration import DEFAULT, DeclaredStore, DeclaredTopic, Serde, Unchanged, Window

_T = TypeVar("_T")
ToDeclare = dict[str, tuple[Undeclared, ...]]
DeclaredFacts = tuple[dict[str, Fact], ToDeclare]

# The end of a key that has a window too.
_WINDOWED = " (windowed)"
_NO_STORE, _NO_TOPIC = DeclaredStore(), DeclaredTopic()
# Operators of the DSL that fill a windowed store have a window.
_WITH_WINDOWS = {"count", "reduce", "aggregate"}
# Means "there is no window", as opposed to an unknown one.
NO_WINDOW = Window("tumbling", 0, 0)


def store_facts(
    name: str, before: DeclaredStore | None, after: DeclaredStore | None, unchanged: Collection[Unchanged] = ()
) -> DeclaredFacts:
    """Changes in a store that stays, and what to declare if they are unknown, unless it is declared as `unchanged`."""
    old, new = before or _NO_STORE, after or _NO_STORE
    facts: dict[str, Fact] = {
        "is_join": None if new.kind is None else new.kind == "join",
        "slides": any(store.window is not None and store.window.kind == "sliding" for store in (old, new)),
        "bounded": _ends(new) is not None,
        "loss_acceptable": new.loss_acceptable,
    }
    where = f"stores.{name}"
    asked: ToDeclare = {}
    compared: dict[str, tuple[str, Callable[[DeclaredStore], object]]] = {
        "kind_changed": ("kind", lambda store: store.kind),
        "window_changed": ("window", shape_of),
        "grace_changed": ("window", lambda store: _of_window(store, lambda window: window.grace_ms)),
        "emit_changed": ("window", lambda store: _of_window(store, lambda window: window.emit)),
    }
    for fact, (field, of) in compared.items():
        facts[fact], asked[fact] = _compared(where, field, of(old), of(new))
    for fact, found in _formats(where, old, new, unchanged).items():
        facts[fact], asked[fact] = found
    asked["is_join"] = asked["kind_changed"]
    facts["becomes_versioned"] = (old.kind, new.kind) == ("key_value", "versioned")
    facts["retention_changed"], asked["retention_changed"] = _compared(where, "retention_ms", *_kept_in(old, new))
    facts["segments_changed"] = segments_changed(old, new)
    asked["segments_changed"] = _segments_asked(where, old, new)
    histories = old.history_retention_ms, new.history_retention_ms
    facts["history_changed"] = bool(changed(*histories))
    facts["reads_old"] = _reads_old(old, new)
    facts["unversioned"] = any(
        serde is not None and serde.schema_version is None for serde in (old.value_serde, new.value_serde)
    )
    return facts, asked


def topic_facts(
    name: str, before: DeclaredTopic | None, after: DeclaredTopic | None, unchanged: Collection[Unchanged] = ()
) -> DeclaredFacts:
    """Changes in a topic that stays.

    Partitions and an extractor of timestamps that neither side declares are not part of the change.
    """
    old, new = before or _NO_TOPIC, after or _NO_TOPIC
    facts: dict[str, Fact] = {}
    asked: ToDeclare = {}
    where = f"topics.{name}"
    facts["partitions_changed"], asked["partitions_changed"] = _compared(
        where, "partitions", old.partitions, new.partitions
    )
    for fact, found in _formats(where, old, new, unchanged).items():
        facts[fact], asked[fact] = found
    facts["serde_changed"], asked["serde_changed"] = of_serdes(facts, asked)
    facts["reads_old"] = _reads_old(old, new)
    facts["fewer"] = (new.partitions or 0) < (old.partitions or 0)
    extractors = old.timestamp_extractor, new.timestamp_extractor
    facts["extractor_changed"] = choice_changed(*extractors)
    asked["extractor_changed"] = (Undeclared(where, "timestamp_extractor", sides(*extractors)),)
    if old.partitions is None and new.partitions is None:
        facts["partitions_changed"] = False
    return facts, asked


def of_serdes(facts: dict[str, Fact], asked: ToDeclare) -> tuple[bool | None, tuple[Undeclared, ...]]:
    """Whether either serde changed, and what to declare if that is unknown."""
    both = ("key_serde_changed", "value_serde_changed")
    return either(*(facts[fact] for fact in both)), tuple(
        one for fact in both if facts[fact] is None for one in asked[fact]
    )


def _formats(
    where: str,
    old: DeclaredStore | DeclaredTopic,
    new: DeclaredStore | DeclaredTopic,
    unchanged: Collection[Unchanged],
) -> dict[str, tuple[bool | None, tuple[Undeclared, ...]]]:
    """Changes of key and serdes: what is unknown stays the same if the change declares it."""
    serdes: tuple[Unchanged, ...] = ("key_serde", "value_serde")
    found = {field: _compared(where, field, getattr(old, field), getattr(new, field)) for field in serdes}
    found["key"] = _key_changed(where, old, new)
    return {
        f"{field}_changed": (False if is_changed is None and field in unchanged else is_changed, asked)
        for field, (is_changed, asked) in found.items()
    }


def _key_changed(
    where: str, old: DeclaredStore | DeclaredTopic, new: DeclaredStore | DeclaredTopic
) -> tuple[bool | None, tuple[Undeclared, ...]]:
    """By the declared words, else by the topics whose keys they are: those of other topics may mean the same."""
    found, asked = _compared(where, "key", old.key, new.key)
    if found is None and old.key_of is not None and new.key_of is not None:
        windowed = {one.endswith(_WINDOWED) for one in (*old.key_of, *new.key_of)}
        found = False if old.key_of == new.key_of else len(windowed) > 1 or None
    return found, asked


def _reads_old(old: DeclaredStore | DeclaredTopic, new: DeclaredStore | DeclaredTopic) -> bool:
    """Whether the new serdes read what the old ones wrote; a key is looked up by its bytes, which must not change."""
    same_keys = changed(old.key_serde, new.key_serde) is False or (old.key_serde is None and new.key_serde is None)
    return same_keys and new.value_serde is not None and new.value_serde.takes(old.value_serde)


def until(before: DeclaredStore | None, after: DeclaredStore | None) -> str:
    """Until when a store has earlier results, in stream time: its longest window with grace, retention or TTL."""
    lasts = lasts_ms(before, after)
    return (
        "for ever, as far as is declared"
        if lasts is None
        else f"until stream time is {duration(lasts)} past the change"
    )


def lasts_ms(before: DeclaredStore | None, after: DeclaredStore | None) -> int | None:
    """How long after a change a store has earlier results, in ms of stream time; None if unknown, or unlimited."""
    return max((end for store in (before, after) if store and (end := _ends(store)) is not None), default=None)


def duration(milliseconds: int) -> str:
    """`1 d 2 h`, in the units that are not 0; `0 ms` for none."""
    parts = []
    for unit, size in (("d", DAY_MS), ("h", HOUR_MS), ("min", MINUTE_MS), ("s", SECOND_MS), ("ms", 1)):
        count, milliseconds = divmod(milliseconds, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts) or "0 ms"


def closes_later(old: Window | None, new: Window | None) -> bool:
    """Whether windows are waited for longer than before: a closed one is open again, and takes late records."""
    return old is not None and new is not None and new.lasts_ms > old.lasts_ms


def closing_words(old: Window | None, new: Window | None) -> dict[str, str]:
    """How long windows are waited for before and now, and by how much longer."""
    if old is None or new is None:
        return {"closing": "", "later": ""}
    waits = f"{duration(old.lasts_ms)} → {duration(new.lasts_ms)}"
    return {"closing": waits, "later": duration(max(new.lasts_ms - old.lasts_ms, 0))}


def changed(old: object, new: object) -> bool | None:
    """Whether two known values differ, None if one of them is not known, or if code alone cannot compare them."""
    if old is None or new is None:
        return None
    return new.differs(old) if isinstance(old, Serde) and isinstance(new, Serde) else old != new


def choice_changed(old: str | None, new: str | None) -> bool | None:
    """Whether a choice that few programs make changes; None if one version makes it and nothing is known of the other.

    DEFAULT is the choice of the library or of the settings. Next to an unknown one it has not changed.
    """
    if None not in {old, new}:
        return old != new
    return False if {old, new} <= {None, DEFAULT} else None


def either(*facts: Fact) -> bool | None:
    """True if one of them is, None if none is and one is unknown."""
    if any(facts):
        return True
    return None if any(fact is None for fact in facts) else False


def sides(old: object, new: object) -> str:
    """The versions whose declaration lacks a value: `old`, `new` or both."""
    if old is None:
        return "old, new" if new is None else "old"
    return "new" if new is None else ""


def window_of(store: DeclaredStore | None) -> Window | None:
    """The window of a store, NO_WINDOW if it is known to have none, None if unknown."""
    if store is None or store.kind is None:
        return None if store is None else store.window
    if store.window is not None:
        return store.window
    # A window store of a custom processor has a retention, and no window that a library would apply. A join has one,
    # and so has an aggregation, also if it is a class of the program, which is not read.
    without = store.retention_ms is not None and store.kind != "join" and store.made_by not in _WITH_WINDOWS
    return NO_WINDOW if without or store.kind in {"key_value", "versioned", "buffer"} else None


def _compared(where: str, field: str, old: object, new: object) -> tuple[bool | None, tuple[Undeclared, ...]]:
    found = changed(old, new)
    if found is None and any(isinstance(one, Serde) and one.is_class for one in (old, new)):
        # A class does not show the version of its schema: no declared format compares with it.
        return found, (Undeclared(where, field, sides(None, None)),)
    return found, (Undeclared(where, field, sides(old, new)),)


def _kept_in(old: DeclaredStore, new: DeclaredStore) -> tuple[int | None, int | None]:
    """The retention of both; if it follows the window on both sides, the window has rules of its own."""
    kept = kept_ms(old), kept_ms(new)
    if _follows_window(old) and _follows_window(new) and None not in kept:
        return 0, 0
    return kept


def _follows_window(store: DeclaredStore) -> bool:
    """Whether the library computes the retention: none is declared, or the one that was read is what it computes."""
    window = store.window
    if store.retention_ms is None or window is None:
        return store.retention_ms is None
    return store.retention_ms in {window.lasts_ms, window.both_ways_ms}


def kept_ms(store: DeclaredStore) -> int | None:
    """How long a store keeps its records, in ms; 0 without a retention."""
    if store.retention_ms is not None:
        return store.retention_ms
    window = window_of(store)
    if window is NO_WINDOW:
        return 0
    # The library keeps a window's results for its size and grace unless declared otherwise.
    return None if window is None else window.lasts_ms


def _segments_asked(where: str, old: DeclaredStore, new: DeclaredStore) -> tuple[Undeclared, ...]:
    field = "history_retention_ms" if new.kind == "versioned" else "window"
    if None in {old.kind, new.kind}:
        field = "kind"
    return (Undeclared(where, field, sides(getattr(old, field), getattr(new, field))),)


def _ends(store: DeclaredStore) -> int | None:
    """The time in ms until a store's present content is gone, None if that is never or unknown."""
    if store.ttl_ms is not None:
        return store.ttl_ms
    kept = kept_ms(store)
    window = store.window
    lasts = 0 if window is None else window.lasts_ms
    return max(kept or 0, lasts) or None


def _of_window(store: DeclaredStore, of: Callable[[Window], _T]) -> _T | None:
    window = window_of(store)
    return None if window is None else of(window)


def shape_of(store: DeclaredStore) -> tuple[str, int, int, int] | None:
    """Kind, size, advance and how far it looks ahead; a tumbling window advances by its size."""
    return _of_window(
        store, lambda window: (window.kind, window.size_ms, window.advance_ms or window.size_ms, window.ahead_ms)
    )
