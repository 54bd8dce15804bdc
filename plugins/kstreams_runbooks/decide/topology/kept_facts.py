"""The facts of a program that is kept next to those of the present one, each as a line.

The same program has other facts on another release of the library: internal classes have other names, and a reader
finds less in some of them. Of two releases only what a change of the program can cause is compared.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.times import DAY_MS
from kstreams_runbooks.model.topology.declaration import DEFAULT, Declaration, DeclaredStore, TopologyFacts

_LIBRARY = "library"
# Facts that readers of some releases write as null, and others leave out, if the program sets none.
_LEFT_OUT = ("retention_ms", "history_retention_ms")
# What each store of a join shows from release 3.9 on: the two parts of the difference, and how long it keeps records.
_OF_A_JOIN = ("window.before_ms", "window.after_ms", "retention_ms")
# What a builder and its supplier keep with each value.
_FORMATS = ("builder_format", "supplier_format")
# How far a window looks: one difference, or from release 3.9 on both.
_SPAN = ("window.size_ms", "window.before_ms", "window.after_ms")
# The changelog of a store with duplicates is never compacted; from some release on the library sets that itself.
_POLICY = ("logging_config", "logging_config.cleanup.policy")
# Until then the windows of some programs are kept for a day at least (Windows#maintainMs).
_KEEPS_NO_DAY = Release("3.0")


@dataclass(frozen=True, slots=True)
class KeptFacts:
    """The lines of both sides that compare, and the facts that do not (`stores.*.supplier`), if the releases differ."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    not_compared: tuple[str, ...] = ()


def kept_facts(old: TopologyFacts, new: TopologyFacts) -> KeptFacts:
    """The facts of both as lines: all of them on one release, else those that a change of the program can cause."""
    before, after = _by_path(old), _by_path(new)
    if before.get(_LIBRARY) == after.get(_LIBRARY):
        return KeptFacts(old.lines, new.lines)
    paths = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    left = {path for path in paths if _by_release(path, before, after, old.read, new.read)}
    kept = [tuple(f"{path}: {value}" for path, value in one.items() if path not in left) for one in (before, after)]
    # What means the same in other words has been compared.
    named = {_general(path, old, new) for path in left if not _means_the_same(path, before, after, old.read, new.read)}
    return KeptFacts(kept[0], kept[1], tuple(sorted(named)))


def _by_path(facts: TopologyFacts) -> dict[str, str]:
    pairs = (line.partition(": ") for line in facts.lines)
    return {path: value for path, _, value in pairs}


_Values = Mapping[str, str]


def _by_release(path: str, before: _Values, after: _Values, old: Declaration, new: Declaration) -> bool:
    """Whether a difference may be that of the two releases alone."""
    if path == _LIBRARY or _unread(path, old) or _unread(path, new):
        return True
    one_alone = path not in before or path not in after
    values = {before.get(path), after.get(path)}
    name, field = _of(path, "stores", old, new)
    joins = any(side.stores[name].kind == "join" for side in (old, new) if name in side.stores)
    joins = joins and not (field in _SPAN and _spans(name, old, new))
    if one_alone and ((joins and field in _OF_A_JOIN) or any(value and "(lambda)" in value for value in values)):
        return True
    return _means_the_same(path, before, after, old, new) or _is_of_classes(path, old, new)


def _means_the_same(path: str, before: _Values, after: _Values, old: Declaration, new: Declaration) -> bool:
    """Whether both values mean the same, in the words of two releases."""
    values = {before.get(path), after.get(path)}
    if path.endswith(_LEFT_OUT) and values == {None, "null"}:
        return True
    name, field = _of(path, "stores", old, new)
    both = old.stores.get(name, DeclaredStore()), new.stores.get(name, DeclaredStore())
    if field in _SPAN:
        return len(set(_spans(name, old, new))) == 1
    if field in _POLICY and all(one.retain_duplicates for one in both):
        return values <= {None, "{}", '"delete"'}
    if field == "supplier":
        return both[0].is_of_library and both[1].is_of_library and bool(both[0].in_memory) == bool(both[1].in_memory)
    if field in _FORMATS and None in values:
        # Before 3.9 the library has a builder and a supplier for each store of the DSL too.
        return True
    if field == "supplier_window_ms":
        # Before 3.9 the library chooses a supplier too, with the window of the operator.
        return all(_has_windows_of_operator(one) for one in both)
    if field == "retention_ms":
        return all(_keeps_its_window(one, side.library) for one, side in zip(both, (old, new), strict=True))
    name, field = _of(path, "operators", old, new)
    operators = [side.operators.get(name) for side in (old, new)]
    return field == "partitioner" and all(one is not None and one.partitioner == DEFAULT for one in operators)


def _spans(name: str, old: Declaration, new: Declaration) -> list[tuple[int, int]]:
    """How far the windows of a store look back and ahead; empty unless both are known."""
    windows = [side.stores[name].window for side in (old, new) if name in side.stores]
    known = [(one.size_ms, one.ahead_ms) for one in windows if one is not None]
    return known if len(known) > 1 else []


def _is_of_classes(path: str, old: Declaration, new: Declaration) -> bool:
    """Whether it is part of a serde whose class one release shows, and the other that of its serializer."""
    name, field = _of(path, "stores", old, new)
    serdes = [side.stores[name].value_serde for side in (old, new) if name in side.stores]
    own = [one.by_serializer for one in serdes if one is not None and one.is_class]
    return field.startswith("value_serde.") and len(own) == len(serdes) and len(set(own)) > 1


def _of(path: str, section: str, old: Declaration, new: Declaration) -> tuple[str, str]:
    """The name of a store or an operator, and the fact; the name may have dots. Empty for another section."""
    held: Mapping[str, object] = {**getattr(old, section), **getattr(new, section)}
    found: Iterator[str] = (name for name in held if path.startswith(f"{section}.{name}."))
    name = max(found, key=len, default="")
    return (name, path.removeprefix(f"{section}.{name}.")) if name else ("", "")


def _general(path: str, old: TopologyFacts, new: TopologyFacts) -> str:
    """The fact of any store, suppression, topic or operator."""
    for section in ("stores", "suppressions", "topics", "operators"):
        name, field = _of(path, section, old.read, new.read)
        if name:
            return f"{section}.*.{field}"
    return path


def _unread(path: str, side: Declaration) -> bool:
    return any(path == one or path.startswith(f"{one}.") for one in side.not_read if not one.startswith("config."))


def _has_windows_of_operator(store: DeclaredStore) -> bool:
    """Those of a join look both ways; the library refuses others there."""
    window, length = store.window, store.supplier_window_ms
    if length is None or window is None:
        return length is None
    return length == (window.size_ms + window.ahead_ms if window.kind == "join" else window.size_ms)


def _keeps_its_window(store: DeclaredStore, library: Release | None) -> bool:
    """Whether a store is kept for as long as the library computes from its window."""
    window = store.window
    if store.retention_ms is None or window is None:
        return False
    own = {window.lasts_ms, window.both_ways_ms}
    keeps_a_day = library is None or library < _KEEPS_NO_DAY
    return store.retention_ms in own or (keeps_a_day and store.retention_ms == DAY_MS)
