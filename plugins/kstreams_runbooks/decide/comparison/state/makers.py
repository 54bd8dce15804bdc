"""What makes a store: the class of its supplier, its place in memory or on the disk, and the format of its values."""

from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.decide.comparison.facts import DeclaredFacts, ToDeclare, sides
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.change import Fact, Undeclared
from kstreams_runbooks.model.topology.declaration import DEFAULT, DeclaredStore

# From this release on a program that sets no supplier has none; before it, the class that the library chose.
_CHOOSES = Release("3.9")
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
    where = f"stores.{name}"
    asked: ToDeclare = {
        "supplier_changed": (Undeclared(where, "supplier", ", ".join(lacking)),),
        "becomes_plain": (Undeclared(where, "timestamped", sides(old.timestamped, new.timestamped)),),
    }
    differs = None not in {old.supplier, new.supplier} and old.supplier != new.supplier
    both_of_library = _of_library(old) and _of_library(new)
    facts: dict[str, Fact] = {
        "supplier_changed": None if lacking else differs and not both_of_library,
        "medium_changed": differs
        and both_of_library
        and _of_one_family(compared)
        and bool(old.in_memory) != bool(new.in_memory),
        "changelog_set": _other_settings(old, new),
        "becomes_plain": False if _stays_timestamped(compared, old, new) else becomes_plain(old, new),
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
            or (other.supplier is not None and not _of_library(other))
        )
    ]


def maker_words(before: DeclaredStore | None, after: DeclaredStore | None) -> dict[str, str]:
    """The suppliers of both sides."""
    old, new = before or DeclaredStore(), after or DeclaredStore()
    return {"supplier_before": old.supplier or "not declared", "supplier_after": new.supplier or "not declared"}


def _other_settings(old: DeclaredStore, new: DeclaredStore) -> bool:
    """Whether the program gives a changelog that stays other settings."""
    both = (old.logging_config, new.logging_config)
    return bool(old.logging and new.logging) and None not in both and both[0] != both[1]


def becomes_plain(old: DeclaredStore, new: DeclaredStore) -> bool | None:
    """Whether a store on the disk keeps no timestamps any more, in a directory that has a column family of them.

    A class of the library in place of its default may write plain files under an operator that keeps timestamps. None
    if one side alone shows that it keeps them, or that it keeps none. The other way a store upgrades its files in
    place. Source: Apache Kafka, RocksDBTimestampedStore#openRocksDB (column family keyValueWithTimestamp); RocksDB
    refuses to open a database without one of its column families.
    """
    kinds = {old.kind, new.kind} - {None}
    if kinds <= _WITH_TIMESTAMPS and _may_be_made_plain(old, new):
        return True
    if old.in_memory or new.in_memory or len(kinds) > 1 or old.timestamped is False or new.timestamped is True:
        return False
    if None not in {old.timestamped, new.timestamped}:
        return True
    # Stores of other kinds keep none, or the library chooses whether they do.
    return None if kinds and kinds <= _WITH_TIMESTAMPS and {old.timestamped, new.timestamped} != {None} else False


def _may_be_made_plain(old: DeclaredStore, new: DeclaredStore) -> bool:
    """Whether Stores.persistentKeyValueStore, or its like, replaces the default: its class hides which format it is.

    Source: Stores, RocksDbKeyValueBytesStoreSupplier#returnTimestampedStore, PlainToTimestampedAdapter (Apache Kafka).
    """
    replaced = old.supplier == DEFAULT and new.supplier not in {None, DEFAULT} and new.in_memory is False
    return replaced and old.timestamped is True and old.kind == new.kind


def _stays_timestamped(compared: Compared, old: DeclaredStore, new: DeclaredStore) -> bool:
    """Whether it is declared as unchanged, or one side does not show it and has an operator of the DSL."""
    unknown = [one for one in (old, new) if one.timestamped is None]
    of_dsl = any(one.source_table or one.join is not None or one.window is not None for one in unknown)
    return bool(unknown) and (of_dsl or "timestamped" in compared.after.declared.unchanged)


def _of_library(store: DeclaredStore) -> bool:
    """Whether the library makes the store, and keeps all of it."""
    return store.supplier == DEFAULT or store.in_memory is not None


def _of_one_family(compared: Compared) -> bool:
    """Whether the classes of both releases compare: before 3.9 the default of the library is a class too."""
    libraries = (compared.before.declared.library, compared.after.declared.library)
    families = {None if one is None else one >= _CHOOSES for one in libraries}
    return len(families) == 1 and (None not in families or libraries == (None, None))
