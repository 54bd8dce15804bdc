"""Suppliers of two releases: before 3.9 the default of the library is a class, from then on none."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.state.makers import becomes_plain, maker_facts
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.change import Undeclared
from kstreams_runbooks.model.topology.declaration import DEFAULT, Declaration, DeclaredStore
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
        (("3.4.1", "4.3.1"), LIBRARY, OWN, (False, False)),
        (("3.8.1", "3.9.0"), LIBRARY, MEMORY, (False, False)),
        ((None, "4.3.1"), LIBRARY, OWN, (False, False)),
        ((None, None), LIBRARY, OWN, (True, False)),
        (("4.3.1", "4.3.1"), DeclaredStore(), OWN, (False, False)),
        (("4.3.1", "4.3.1"), OWN, OWN, (False, False)),
        (("4.3.1", "4.3.1"), LIBRARY, LRU, (True, False)),
        (("4.3.1", "4.3.1"), MEMORY, replace(LRU, in_memory=True), (True, False)),
    ],
)
def test_suppliers_compare_within_a_family(
    libraries: tuple[str | None, str | None], old: DeclaredStore, new: DeclaredStore, found: tuple[bool, bool]
) -> None:
    """What one side alone shows, and what another family shows, is not part of the change."""
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


@pytest.mark.parametrize(("store", "found"), [(LIBRARY, True), (OWN, True), (MEMORY, False), (LRU, False)])
def test_a_store_without_files_loses_no_column_family(store: DeclaredStore, found: bool) -> None:
    """An LRU map is in memory; a class of the program may have files."""
    assert becomes_plain(replace(store, timestamped=True), replace(store, timestamped=False)) is found
