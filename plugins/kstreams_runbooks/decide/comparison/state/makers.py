"""What makes a store: the class of its supplier, its place in memory or on the disk, and the format of its values."""

from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.decide.comparison.facts import DeclaredFacts, ToDeclare
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.change import Fact, Undeclared
from kstreams_runbooks.model.topology.declaration import DEFAULT, DeclaredStore

# From this release on a program that sets no supplier has none; before it, the class that the library chose.
_CHOOSES = Release("3.9")


def maker_facts(
    compared: Compared, was: str, name: str, before: DeclaredStore | None, after: DeclaredStore | None
) -> DeclaredFacts:
    """Changes of a store that stays, called `was` before and `name` now; what to declare if its supplier was not read.

    What one side alone shows is not part of the change.
    """
    old, new = before or DeclaredStore(), after or DeclaredStore()
    unread = [
        label
        for side, store, known, label in (
            (compared.before, was, old, "old"),
            (compared.after, name, new, "new"),
        )
        if known.supplier is None and f"stores.{store}.supplier" in side.declared.not_read
    ]
    asked: ToDeclare = {"supplier_changed": (Undeclared(f"stores.{name}", "supplier", ", ".join(unread)),)}
    differs = _of_one_family(compared) and None not in {old.supplier, new.supplier} and old.supplier != new.supplier
    facts: dict[str, Fact] = {
        "supplier_changed": None if unread else differs and not (_of_library(old) and _of_library(new)),
        "medium_changed": differs
        and _of_library(old)
        and _of_library(new)
        and bool(old.in_memory) != bool(new.in_memory),
        "changelog_set": _other_settings(old, new),
        "becomes_plain": becomes_plain(old, new),
    }
    return facts, asked


def maker_words(before: DeclaredStore | None, after: DeclaredStore | None) -> dict[str, str]:
    """The suppliers of both sides."""
    old, new = before or DeclaredStore(), after or DeclaredStore()
    return {"supplier_before": old.supplier or "not declared", "supplier_after": new.supplier or "not declared"}


def _other_settings(old: DeclaredStore, new: DeclaredStore) -> bool:
    """Whether the program gives a changelog that stays other settings."""
    both = (old.logging_config, new.logging_config)
    return bool(old.logging and new.logging) and None not in both and both[0] != both[1]


def becomes_plain(old: DeclaredStore, new: DeclaredStore) -> bool:
    """Whether a store on the disk keeps no timestamps any more, in a directory that has a column family of them.

    The other way a store upgrades its files in place. Source: Apache Kafka, RocksDBTimestampedStore#openRocksDB (column
    family keyValueWithTimestamp); RocksDB refuses to open a database without one of its column families;
    tests/long/test_store_formats.py.
    """
    return old.on_disk and new.on_disk and old.kind == new.kind and old.timestamped is True and new.timestamped is False


def _of_library(store: DeclaredStore) -> bool:
    """Whether the library makes the store, and keeps all of it."""
    return store.supplier == DEFAULT or (store.in_memory is not None and not store.is_lru_map)


def _of_one_family(compared: Compared) -> bool:
    """Whether the classes of both releases compare: before 3.9 the default of the library is a class too."""
    libraries = (compared.before.declared.library, compared.after.declared.library)
    families = {None if one is None else one >= _CHOOSES for one in libraries}
    return len(families) == 1 and (None not in families or libraries == (None, None))
