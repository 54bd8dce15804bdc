"""What makes a store: the class of its supplier, its place in memory or on the disk, and the format of its values."""

from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.decide.comparison.content import keeps_files
from kstreams_runbooks.decide.comparison.facts import DeclaredFacts, ToDeclare, duration, sides
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.change import Fact, Undeclared
from kstreams_runbooks.model.topology.declaration import DeclaredStore

# From this release on a program that sets no supplier has none; before it, the class that the library chose.
_CHOOSES = Release("3.9")
# The library refuses another length for a join, and a session has an end of its own.
_WITH_ENDS = {"tumbling", "hopping", "sliding"}
# What a restore puts in front of a value that the builder does not take away again.
_IN_FRONT = {
    "plain over timestamped": "a timestamp",
    "plain over headers": "headers and a timestamp",
    "timestamped over headers": "headers",
}
# A builder whose adapter takes the time of each value away, and gives -1 in its place.
_TIMES_DROPPED = "timestamped over headers"
# Kinds of store that keep a timestamp with each value unless a program builds them without.
_WITH_TIMESTAMPS = {"key_value", "window"}


def maker_facts(
    compared: Compared, was: str, name: str, before: DeclaredStore | None, after: DeclaredStore | None
) -> DeclaredFacts:
    """Changes of a store that stays, called `was` before and `name` now; what to declare if one is unknown.

    What neither side has is not part of the change. Settings of a changelog that one side alone has are not asked for:
    a changelog that is there keeps its own.
    """
    old, new = before or DeclaredStore(), after or DeclaredStore()
    lacking = _suppliers_lacking(compared, was, name, old, new)
    duplicates, missing = _duplicates_changed(compared, was, name, old, new)
    where = f"stores.{name}"
    asked: ToDeclare = {
        "supplier_changed": (Undeclared(where, "supplier", ", ".join(lacking)),),
        "duplicates_changed": (Undeclared(where, "retain_duplicates", missing),),
        "becomes_plain": (Undeclared(where, "timestamped", sides(old.timestamped, new.timestamped)),),
    }
    differs = None not in {old.supplier, new.supplier} and old.supplier != new.supplier
    both_of_library = old.is_of_library and new.is_of_library
    facts: dict[str, Fact] = {
        "supplier_changed": None if lacking else differs and not both_of_library,
        "medium_changed": differs
        and both_of_library
        and _of_one_family(compared)
        and keeps_files(compared.before, was, old) != keeps_files(compared.after, name, new),
        # A changelog that begins has a finding of its own.
        "memory_left": old.logging is False
        and not keeps_files(compared.before, was, old)
        and keeps_files(compared.after, name, new)
        and new.logging is not True,
        "changelog_set": _other_settings(old, new),
        "becomes_plain": False if _stays_timestamped(compared, old, new) else _becomes_plain(old, new),
        "headers_dropped": _drops_headers(compared, old, new),
        "misread": new.is_misread,
        "misread_before": old.is_misread,
        "mended": not new.built_for and bool(old.built_for),
        "times_dropped": new.built_for == _TIMES_DROPPED != old.built_for and not new.is_misread,
        "duplicates_changed": duplicates,
        "supplier_window_changed": _ends_of_supplier(old) != _ends_of_supplier(new),
        "supplier_window_differs": _ends_of_supplier(new) is not None,
        "ends_forwarded": new.caching is not False,
        "caching_changed": None not in {old.caching, new.caching} and old.caching != new.caching,
    }
    return facts, asked


def _suppliers_lacking(compared: Compared, was: str, name: str, old: DeclaredStore, new: DeclaredStore) -> list[str]:
    """The sides whose supplier was not read, or is not known next to one that the library does not make."""
    both = ((compared.before, was, old, new, "old"), (compared.after, name, new, old, "new"))
    return [
        label
        for side, store, known, other, label in both
        if known.supplier is None
        and (
            f"stores.{store}.supplier" in side.declared.not_read
            or (other.supplier is not None and not other.is_of_library)
        )
    ]


def maker_words(before: DeclaredStore | None, after: DeclaredStore | None) -> dict[str, str]:
    """The suppliers of both sides, and whether they keep duplicates."""
    old, new = before or DeclaredStore(), after or DeclaredStore()
    return {
        "supplier_before": old.supplier or "not declared",
        "supplier_after": new.supplier or "not declared",
        "medium_before": _medium(old),
        "medium_after": _medium(new),
        **_lengths(old, new),
        "caching_after": "switched on" if new.caching else "switched off",
        "built_for": new.built_for,
        "built_before": old.built_for,
        "in_front": _IN_FRONT.get(new.built_for, ""),
        "duplicates": "kept from now on" if new.retain_duplicates else "no longer kept",
    }


def _lengths(old: DeclaredStore, new: DeclaredStore) -> dict[str, str]:
    """How long the windows of the operator are, and how long those of its supplier, before and now."""
    was, now = (duration(one.supplier_window_ms or (one.window.size_ms if one.window else 0)) for one in (old, new))
    return {
        "operator_window": "" if new.window is None else duration(new.window.size_ms),
        "supplied_before": was,
        "supplied": now,
    }


def _ends_of_supplier(store: DeclaredStore) -> tuple[int, int] | None:
    """The lengths of windows that the operator has and its supplier, None unless they are known and differ.

    The start of a window is in the store, and its end is added by the supplier where the cache forwards a result and
    where an entry is looked up. Source: Apache Kafka, CachingWindowStore, MeteredWindowedKeyValueIterator.
    """
    window, supplied = store.window, store.supplier_window_ms
    if window is None or supplied is None or window.kind not in _WITH_ENDS or window.size_ms == supplied:
        return None
    return window.size_ms, supplied


def _medium(store: DeclaredStore) -> str:
    return "in memory" if store.in_memory else "on the disk"


def loses_files(compared: Compared, old: DeclaredStore, new: DeclaredStore) -> bool:
    """Whether a store on the disk has files with a column family that the new one does not open."""
    on_disk = old.on_disk and new.on_disk
    built_otherwise = on_disk and _shows_formats(old, new) and old.built_for != new.built_for
    return _becomes_plain(old, new) is True or _drops_headers(compared, old, new) or built_otherwise


def _shows_formats(*stores: DeclaredStore) -> bool:
    return all(one.builder_format is not None for one in stores)


def new_column_family(compared: Compared, old: DeclaredStore, new: DeclaredStore) -> str:
    """What the files of a store on the disk get that the old version does not open: timestamps, headers, or nothing."""
    back = Compared(compared.after, compared.before)
    if _becomes_plain(new, old) is True:
        return "timestamps"
    return "headers" if _drops_headers(back, new, old) else ""


def _unread(compared: Compared, was: str, name: str, old: DeclaredStore, new: DeclaredStore, field: str) -> str:
    """The versions whose reader could not read a field of the store, and whose owner does not declare it."""
    unread = [
        label
        for side, store, known, label in (
            (compared.before, was, old, "old"),
            (compared.after, name, new, "new"),
        )
        if getattr(known, field) is None and f"stores.{store}.{field}" in side.declared.not_read
    ]
    return ", ".join(unread)


def _duplicates_changed(
    compared: Compared, was: str, name: str, old: DeclaredStore, new: DeclaredStore
) -> tuple[bool | None, str]:
    """Whether a window store begins to keep duplicates, or keeps none any more; else the versions that lack the fact.

    Few programs keep any. If one version keeps none and nothing is known of the other, both count as keeping none. The
    library keeps those of a join's records.
    """
    values = old.retain_duplicates, new.retain_duplicates
    if unread := _unread(compared, was, name, old, new, "retain_duplicates"):
        return None, unread
    if None not in values:
        return values[0] != values[1], ""
    known = True in values and old.kind == new.kind and new.kind != "join"
    return (None if known else False), sides(*values)


def _other_settings(old: DeclaredStore, new: DeclaredStore) -> bool:
    """Whether the program gives a changelog that stays other settings."""
    both = (old.logging_config, new.logging_config)
    return bool(old.logging and new.logging) and None not in both and both[0] != both[1]


def _becomes_plain(old: DeclaredStore, new: DeclaredStore) -> bool | None:
    """Whether a store on the disk keeps no timestamps any more, in a directory that has a column family of them.

    None if one side alone shows that it keeps them, or that it keeps none. The other way a store upgrades its files in
    place. Source: Apache Kafka, RocksDBTimestampedStore#openRocksDB (column family keyValueWithTimestamp); RocksDB
    refuses to open a database without one of its column families; tests/long/test_store_formats.py.
    """
    kinds = {old.kind, new.kind} - {None}
    on_disk = old.on_disk and new.on_disk
    if not on_disk or len(kinds) > 1 or old.timestamped is False or new.timestamped is True:
        return False
    if None not in {old.timestamped, new.timestamped}:
        return True
    # Stores of other kinds keep none, or the library chooses whether they do.
    return None if kinds and kinds <= _WITH_TIMESTAMPS and {old.timestamped, new.timestamped} != {None} else False


def _stays_timestamped(compared: Compared, old: DeclaredStore, new: DeclaredStore) -> bool:
    """Whether it is declared as unchanged, or one side does not show it and has an operator of the DSL."""
    unknown = [one for one in (old, new) if one.timestamped is None]
    of_dsl = any(one.source_table or one.join is not None or one.window is not None for one in unknown)
    return bool(unknown) and (of_dsl or "timestamped" in compared.after.declared.unchanged)


def _drops_headers(compared: Compared, old: DeclaredStore, new: DeclaredStore) -> bool:
    """Whether the files of a store have headers, and the new store opens files without them.

    The other way a store upgrades its files in place. Source: KIP-1271, KIP-1285.
    """
    on_disk = old.on_disk and new.on_disk
    had, has = compared.before.declared.keeps_headers(old), compared.after.declared.keeps_headers(new)
    return on_disk and old.kind == new.kind and had is True and has is False


def _of_one_family(compared: Compared) -> bool:
    """Whether the classes of both releases compare: before 3.9 the default of the library is a class too."""
    libraries = (compared.before.declared.library, compared.after.declared.library)
    families = {None if one is None else one >= _CHOOSES for one in libraries}
    return len(families) == 1 and (None not in families or libraries == (None, None))
