"""Facts of a change that only a declaration tells; None where either side does not declare it."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from kstreams_runbooks.decide.generated_names import is_generated
from kstreams_runbooks.model.declaration import DeclaredStore, DeclaredSuppression, DeclaredTopic, Window
from kstreams_runbooks.model.topology_change import Fact, Subject

_T = TypeVar("_T")

REUSE, MERGE, SELF_JOIN = "reuse.ktable.source.topics", "merge.repartition.topics", "single.store.self.join"

# What stands for "there is no window", which is another thing than not knowing of one.
_NO_WINDOW = Window("tumbling", 0, 0)
_UNDECLARED = DeclaredStore()


def store_facts(before: DeclaredStore | None, after: DeclaredStore | None) -> dict[str, Fact]:
    """What changes in a store that stays, from what either version declares of it."""
    old, new = before or _UNDECLARED, after or _UNDECLARED
    return {
        "is_join": _is(new, "join"),
        "windowed": None if (window := _window(new)) is None else window is not _NO_WINDOW,
        "kind_changed": _changed(old, new, lambda store: store.kind),
        "window_changed": _changed(old, new, _shape),
        "grace_changed": _changed(old, new, lambda store: _of_window(store, lambda window: window.grace_ms)),
        "retention_changed": _changed(old, new, lambda store: store.retention_ms),
        "key_changed": _changed(old, new, lambda store: store.key),
        "format_changed": _either(
            _changed(old, new, lambda store: store.key_format), _changed(old, new, lambda store: store.value_format)
        ),
        "unversioned": _unversioned(new),
    }


def topic_facts(before: DeclaredTopic | None, after: DeclaredTopic | None) -> dict[str, Fact]:
    """What changes in a topic that stays, from what either version declares of it."""
    return {
        "partitions_changed": _both(before, after, lambda topic: topic.partitions),
        "key_changed": _both(before, after, lambda topic: topic.key),
    }


def suppressions(
    before: Mapping[str, DeclaredSuppression],
    after: Mapping[str, DeclaredSuppression],
    there: Mapping[str, tuple[bool, bool]],
) -> Iterator[Subject]:
    """Every suppress operator of `there`: by name, whether it is in the old and in the new topology."""
    for name, (was, now) in there.items():
        old, new = before.get(name), after.get(name)
        stays = was and now
        facts: dict[str, Fact] = {
            "added": now and not was,
            "removed": was and not now,
            "stays": stays,
            "generated": is_generated(name),
            "final": None if new is None else new.mode == "until_window_closes",
            "mode_changed": _both(old, new, lambda one: (one.mode, one.time_limit_ms)) if stays else False,
            "buffer_changed": _both(old, new, _buffer) if stays else False,
        }
        yield Subject("suppression", name, facts, {"name": name})


def settings(before: Mapping[str, str] | None, after: Mapping[str, str] | None) -> Iterator[Subject]:
    """Every setting that either version has; nothing where one of the two configurations is not given."""
    if before is None or after is None:
        return
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        facts: dict[str, Fact] = {
            "setting": key,
            "changed": old != new,
            "was": old or "",
            "is": new or "",
            "set": old is None and new is not None,
            "unset": old is not None and new is None,
        }
        said = {"name": key, "before": old or "not set", "after": new or "not set"}
        yield Subject("setting", key, facts, said)


def optimizations(
    before: Mapping[str, str] | None,
    after: Mapping[str, str] | None,
    effects: Mapping[str, bool | None],
    *,
    all_named: bool,
) -> Iterator[Subject]:
    """Each optimization of `topology.optimization`, and whether it is switched where it has an effect (`effects`)."""
    if before is None or after is None:
        return
    old, new = _optimized(before), _optimized(after)
    for name, effect in effects.items():
        facts: dict[str, Fact] = {
            "which": name,
            "effect": effect,
            "enabled": name in new - old,
            "disabled": name in old - new,
            "switched": name in old ^ new,
            "all_named": all_named,
        }
        yield Subject("optimization", name, facts, {"name": name})


def _optimized(config: Mapping[str, str]) -> set[str]:
    """What `topology.optimization` switches on: names, all of them for `all`, none by default."""
    value = config.get("topology.optimization", "none")
    if value == "all":
        return {REUSE, MERGE, SELF_JOIN}
    return {name.strip() for name in value.split(",")} - {"none"}


def _is(store: DeclaredStore, kind: str) -> bool | None:
    return None if store.kind is None else store.kind == kind


def _window(store: DeclaredStore) -> Window | None:
    """The window of a store, `_NO_WINDOW` where it is known to have none, None where nobody says."""
    if store.window is not None:
        return store.window
    return _NO_WINDOW if store.kind == "key_value" else None


def _of_window(store: DeclaredStore, of: Callable[[Window], _T]) -> _T | None:
    window = _window(store)
    return None if window is None else of(window)


def _shape(store: DeclaredStore) -> tuple[str, int, int | None] | None:
    return _of_window(store, lambda window: (window.kind, window.size_ms, window.advance_ms))


def _changed(old: DeclaredStore, new: DeclaredStore, of: Callable[[DeclaredStore], object]) -> bool | None:
    was, now = of(old), of(new)
    return None if was is None or now is None else was != now


def _both(old: _T | None, new: _T | None, of: Callable[[_T], object]) -> bool | None:
    if old is None or new is None:
        return None
    was, now = of(old), of(new)
    return None if was is None or now is None else was != now


def _either(one: bool | None, other: bool | None) -> bool | None:
    """True where one of the two is, None where neither is and one is not known."""
    if one or other:
        return True
    return None if one is None or other is None else False


def _buffer(one: DeclaredSuppression) -> object:
    return one.max_records, one.max_bytes, one.when_full


def _unversioned(store: DeclaredStore) -> bool | None:
    if store.value_format is None:
        return None
    return store.value_format.schema_version is None
