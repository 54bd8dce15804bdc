"""Suppliers of two releases: before 3.9 the default of the library is a class, from then on none."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.state.makers import loses_files, maker_facts
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.change import Fact, Undeclared
from kstreams_runbooks.model.topology.declaration import (
    DEFAULT,
    Declaration,
    DeclaredStore,
    StoreFormat,
    StoreKind,
    Window,
)
from world.sides import COUNTS

OWN = DeclaredStore(supplier="com.acme.Own")
LIBRARY = DeclaredStore(supplier=DEFAULT)
MEMORY = DeclaredStore(supplier="InMemory", in_memory=True)
LRU = DeclaredStore(supplier="lru_map(max_entries=100)")


@pytest.mark.parametrize(
    ("libraries", "old", "new", "found"),
    [
        (("4.3.1", "4.3.1"), LIBRARY, OWN, (True, False)),
        (("3.9.1", "4.3.1"), OWN, LIBRARY, (True, False)),
        (("2.8.2", "3.4.1"), LIBRARY, MEMORY, (False, True)),
        (("3.4.1", "4.3.1"), LIBRARY, OWN, (True, False)),
        (("3.8.1", "3.9.0"), LIBRARY, MEMORY, (False, False)),
        ((None, "4.3.1"), MEMORY, OWN, (True, False)),
        ((None, None), LIBRARY, OWN, (True, False)),
        (("4.3.1", "4.3.1"), DeclaredStore(), OWN, (None, False)),
        (("4.3.1", "4.3.1"), OWN, DeclaredStore(), (None, False)),
        (("4.3.1", "4.3.1"), LIBRARY, DeclaredStore(), (False, False)),
        (("4.3.1", "4.3.1"), DeclaredStore(), MEMORY, (False, False)),
        (("4.3.1", "4.3.1"), OWN, OWN, (False, False)),
        (("4.3.1", "4.3.1"), LIBRARY, LRU, (True, False)),
        (("4.3.1", "4.3.1"), MEMORY, replace(LRU, in_memory=True), (True, False)),
    ],
)
def test_suppliers_compare_within_a_family(
    libraries: tuple[str | None, str | None],
    old: DeclaredStore,
    new: DeclaredStore,
    found: tuple[bool | None, bool],
) -> None:
    """The library's own ones; a class of the program is another one in each family, and is asked for if it is alone."""
    before, after = (
        Side(parse_topology(COUNTS), Declaration(library=None if one is None else Release(one))) for one in libraries
    )
    facts, _ = maker_facts(Compared(before, after), "counts", "counts", old, new)
    assert (facts["supplier_changed"], facts["medium_changed"]) == found


def test_a_supplier_that_was_not_read_is_asked_for() -> None:
    """It may be another one; a declared word answers it."""
    read, unread = (
        Side(parse_topology(COUNTS), Declaration(library=Release("4.3.1"), not_read=missing))
        for missing in ({}, {"stores.counts.supplier": "a lambda"})
    )
    facts, asked = maker_facts(Compared(read, unread), "counts", "counts", LIBRARY, DeclaredStore())
    assert facts["supplier_changed"] is None
    assert asked["supplier_changed"] == (Undeclared("stores.counts", "supplier", "new"),)
    facts, _ = maker_facts(Compared(read, unread), "counts", "counts", LIBRARY, LIBRARY)
    assert facts["supplier_changed"] is False


def _made(old: DeclaredStore, new: DeclaredStore, *formats: str) -> dict[str, Fact]:
    before, after = (
        Side(parse_topology(COUNTS), Declaration(config={"dsl.store.format": one} if one else {})) for one in formats
    )
    return maker_facts(Compared(before, after), "counts", "counts", old, new)[0]


@pytest.mark.parametrize(("store", "found"), [(LIBRARY, True), (OWN, True), (MEMORY, False), (LRU, False)])
def test_a_store_without_files_loses_no_column_family(store: DeclaredStore, found: bool) -> None:
    """An LRU map is in memory; a class of the program may have files."""
    assert _made(replace(store, timestamped=True), replace(store, timestamped=False), "", "")["becomes_plain"] is found


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        (True, False, True),
        (False, True, True),
        (True, True, False),
        (None, None, False),
        (False, None, False),
        (None, True, None),
        (True, None, None),
    ],
)
def test_duplicates_of_a_window_store(old: bool | None, new: bool | None, changes: bool | None) -> None:
    """Few programs keep any: next to none, one of which nothing is known keeps none."""
    was, now = (DeclaredStore("window", retain_duplicates=one) for one in (old, new))
    assert _made(was, now, "", "")["duplicates_changed"] is changes


def test_a_join_keeps_duplicates_by_itself() -> None:
    """The library does, for the store of one side."""
    read, declared = DeclaredStore("join", retain_duplicates=True), DeclaredStore("join")
    assert _made(read, declared, "", "")["duplicates_changed"] is False


def test_duplicates_that_were_not_read_are_asked_for() -> None:
    """A supplier of the program may hide them."""
    read, unread = (
        Side(parse_topology(COUNTS), Declaration(not_read=missing))
        for missing in ({}, {"stores.counts.retain_duplicates": "no method"})
    )
    kept = DeclaredStore("window", retain_duplicates=False)
    facts, asked = maker_facts(Compared(read, unread), "counts", "counts", kept, DeclaredStore("window"))
    assert facts["duplicates_changed"] is None
    assert asked["duplicates_changed"] == (Undeclared("stores.counts", "retain_duplicates", "new"),)


@pytest.mark.parametrize(
    ("old", "new", "formats", "dropped"),
    [
        (True, False, ("", ""), True),
        (False, True, ("", ""), False),
        (True, True, ("HEADERS", "DEFAULT"), False),
        (None, None, ("headers", ""), True),
        (None, None, ("DEFAULT", "HEADERS"), False),
        (None, False, ("HEADERS", "HEADERS"), True),
        (None, None, ("", ""), False),
    ],
)
def test_headers_of_a_store(old: bool | None, new: bool | None, formats: tuple[str, str], dropped: bool) -> None:
    """As the store shows them, else as the setting has them; one in memory has no files."""
    was, now = (DeclaredStore("key_value", headers=one) for one in (old, new))
    assert _made(was, now, *formats)["headers_dropped"] is dropped
    assert _made(was, replace(now, in_memory=True), *formats)["headers_dropped"] is False


KEEPS, PLAIN, TEXT = (DeclaredStore(kind="key_value", timestamped=one) for one in (True, False, None))
# A table, by the default of the library and by a supplier of it.
MADE = replace(KEEPS, supplier=DEFAULT)
DISK = replace(KEEPS, supplier="RocksDb", in_memory=False)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (KEEPS, PLAIN, True),
        (PLAIN, KEEPS, False),
        (KEEPS, TEXT, None),
        (TEXT, PLAIN, None),
        (TEXT, KEEPS, False),
        (PLAIN, TEXT, False),
        (TEXT, TEXT, False),
        (KEEPS, DeclaredStore(), None),
        (KEEPS, DeclaredStore(kind="key_value", in_memory=True), False),
        (KEEPS, DeclaredStore(kind="key_value", source_table=True), False),
        (MADE, DISK, False),
        (MADE, replace(DISK, timestamped=False), True),
        (DISK, MADE, False),
        (DISK, DISK, False),
        (MADE, replace(DISK, in_memory=True), False),
        (MADE, replace(DISK, in_memory=None), False),
        (replace(MADE, kind="versioned"), replace(DISK, kind="versioned"), False),
        (DeclaredStore(kind="window", timestamped=True), DeclaredStore(kind="window", retention_ms=1000), None),
        (
            DeclaredStore(kind="window", timestamped=True),
            DeclaredStore(kind="window", window=Window("tumbling", 1000, 0)),
            False,
        ),
        *(
            (DeclaredStore(kind=kind), DeclaredStore(kind=kind, timestamped=False), False)
            for kind in ("session", "join")
        ),
    ],
)
def test_timestamps_of_one_side_alone_are_asked_for_where_they_decide(
    old: DeclaredStore, new: DeclaredStore, found: bool | None
) -> None:
    """RocksDB does not open a database of values with timestamps as one without; an operator of the DSL keeps them."""
    facts, asked = maker_facts(_declaring(Declaration()), "counts", "counts", old, new)
    assert facts["becomes_plain"] is found
    if found is None:
        lacking = "new" if new.timestamped is None else "old"
        assert asked["becomes_plain"] == (Undeclared("stores.counts", "timestamped", lacking),)
    unchanged = _declaring(Declaration(unchanged=frozenset({"timestamped"})))
    assert maker_facts(unchanged, "counts", "counts", old, new)[0]["becomes_plain"] is bool(found)


def _declaring(after: Declaration) -> Compared:
    topology = parse_topology(COUNTS)
    return Compared(Side(topology), Side(topology, after))


TUMBLING = Window("tumbling", 300_000, 0)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ((TUMBLING, 300_000), (TUMBLING, 1_200_000), (True, True)),
        ((TUMBLING, 1_200_000), (TUMBLING, 300_000), (True, False)),
        ((TUMBLING, None), (TUMBLING, 1_200_000), (True, True)),
        ((TUMBLING, 1_200_000), (TUMBLING, 1_200_000), (False, True)),
        ((TUMBLING, 300_000), (TUMBLING, None), (False, False)),
        ((None, 1_200_000), (None, 300_000), (False, False)),
        ((Window("join", 300_000, 0), 600_000), (Window("join", 300_000, 0), 900_000), (False, False)),
    ],
)
def test_windows_end_by_the_supplier(
    old: tuple[Window | None, int | None], new: tuple[Window | None, int | None], found: tuple[bool, bool]
) -> None:
    """One that has the length of its operator, or that the library chooses, changes nothing; a join has both ways."""
    stores = [DeclaredStore("window", window=window, supplier_window_ms=length) for window, length in (old, new)]
    side = Side(parse_topology(COUNTS), Declaration())
    facts, _ = maker_facts(Compared(side, side), "counts", "counts", *stores)
    assert (facts["supplier_window_changed"], facts["supplier_window_differs"]) == found


@pytest.mark.parametrize(("old", "new", "found"), [(True, False, True), (False, False, False), (None, False, False)])
def test_a_cache_that_one_version_alone_shows_is_no_change(old: bool | None, new: bool | None, found: bool) -> None:
    """The other version was not read, and `other_code` answers for it."""
    side = Side(parse_topology(COUNTS), Declaration())
    stores = DeclaredStore(caching=old), DeclaredStore(caching=new)
    assert maker_facts(Compared(side, side), "counts", "counts", *stores)[0]["caching_changed"] is found


@pytest.mark.parametrize(
    ("kind", "builder", "supplier", "built_for", "misread"),
    [
        ("key_value", "plain", "timestamped", "plain over timestamped", True),
        ("key_value", "plain", "headers", "plain over headers", True),
        ("session", "plain", "headers", "plain over headers", True),
        ("window", "timestamped", "headers", "timestamped over headers", True),
        # the adapter of the library restores right, and gives no times
        ("key_value", "timestamped", "headers", "timestamped over headers", False),
        ("key_value", "timestamped", "plain", "", False),
        ("key_value", "plain", "plain", "", False),
        ("key_value", "plain", None, "", False),
        ("key_value", None, "timestamped", "", False),
    ],
)
def test_a_builder_that_reads_less_than_its_supplier_keeps(
    kind: StoreKind, builder: StoreFormat | None, supplier: StoreFormat | None, built_for: str, misread: bool
) -> None:
    """What fits any builder, or is not known, is not misread."""
    store = DeclaredStore(kind, builder_format=builder, supplier_format=supplier)
    assert (store.built_for, store.is_misread) == (built_for, misread)


def test_files_of_the_other_format_are_left() -> None:
    """Only code shows it: a side without both formats loses nothing by them."""
    side = Side(parse_topology(COUNTS), Declaration())
    misread = DeclaredStore("key_value", builder_format="plain", supplier_format="timestamped", timestamped=False)
    fits = replace(misread, supplier_format="plain")
    assert loses_files(Compared(side, side), misread, fits)
    assert not loses_files(Compared(side, side), fits, fits)
    assert not loses_files(Compared(side, side), misread, DeclaredStore("key_value", timestamped=False))
