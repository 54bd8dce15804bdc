"""Kept facts next to those of the same program on another release, which have other words for some."""

import pytest
from kstreams_runbooks.decide.topology.kept_facts import kept_facts
from kstreams_runbooks.fleet.topology_facts import read_facts
from world.facts import COUNTED

OLD = COUNTED.replace('library: "4.3.1"', 'library: "3.4.1"').replace(
    "supplier: null", 'supplier: "org.apache.kafka.streams.state.internals.RocksDbWindowBytesStoreSupplier"'
)
_UNREAD = 'not_read:\n  - {{fact: ["stores", "readings-store", "{}"], reason: "the library chooses it"}}\n'


def _differences(old: str, new: str) -> tuple[set[str], tuple[str, ...]]:
    found = kept_facts(read_facts(old, "old"), read_facts(new, "new"))
    return set(found.old) ^ set(found.new), found.not_compared


def test_two_releases_have_other_words() -> None:
    """The default supplier has a class in one release, and facts are null in one reader and absent in the other."""
    older = OLD.replace("    history_retention_ms: null\n", "")
    assert _differences(older, COUNTED) == (set(), ("library",))


def test_the_windows_of_a_supplier_of_the_library_are_those_of_the_operator() -> None:
    """Before 3.9 the library chooses a supplier, from then on none: its windows have the length of the operator."""
    older = OLD.replace("    caching: true\n", "    caching: true\n    supplier_window_ms: 3600000\n")
    newer = COUNTED.replace("    caching: true\n", "    caching: true\n    supplier_window_ms: null\n")
    assert _differences(older, newer)[0] == set()
    join = ('kind: "tumbling", size_ms: 3600000', 'kind: "join", size_ms: 1800000')
    assert join[0] in older
    assert "supplier_window_ms" not in str(_differences(older.replace(*join), newer.replace(*join))[0])
    own = newer.replace("supplier_window_ms: null", "supplier_window_ms: 60000")
    assert "stores.readings-store.supplier_window_ms: 60000" in _differences(older, own)[0]


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("size_ms: 3600000", "size_ms: 600000"),
        ("retention_ms: 3900000", "retention_ms: 9900000"),
        ("supplier: null", 'supplier: "org.apache.kafka.streams.state.internals.InMemoryWindowBytesStoreSupplier"'),
        ("supplier: null", 'supplier: "com.acme.Own"'),
        ("caching: true", "caching: false"),
        ("logging_config: {}", 'logging_config: {"cleanup.policy": "delete"}'),
        ("partitioner: null", 'partitioner: "com.acme.ByRegion"'),
        ('"app"', '"other"'),
    ],
)
def test_what_the_program_changes_is_a_difference(was: str, now: str) -> None:
    """Next to the words of the two releases."""
    found, _ = _differences(OLD, COUNTED.replace(was, now, 1))
    assert any(now.rpartition(": ")[2].strip("}") in line for line in found)


def test_a_fact_that_one_release_does_not_read_is_named() -> None:
    """It may have changed: on one release it is a difference."""
    timestamped = OLD.replace("    caching: true\n", "    caching: true\n    timestamped: false\n")
    unread = COUNTED.replace("not_read:\n", _UNREAD.format("timestamped"))
    assert _differences(timestamped, unread) == (set(), ("library", "stores.*.timestamped"))
    same_release = timestamped.replace('"3.4.1"', '"4.3.1"')
    assert "stores.readings-store.timestamped: false" in _differences(same_release, unread)[0]


def test_the_serializer_of_one_release_is_not_compared_with_the_serde_of_the_other() -> None:
    """The classes have two names by themselves, and Kafka's formats have one."""
    own, other = (f'value_serde: {{name: "com.acme.{one}"}}' for one in ("Order", "Orders"))
    kafka = 'value_serde: {name: "long", schema_version: null}'
    one, two = (text.replace(kafka, serde, 1) for text, serde in ((OLD, own), (COUNTED, other)))
    assert _differences(one, two) == (set(), ("library", "stores.*.value_serde.name"))
    assert 'stores.readings-store.value_serde.name: "com.acme.Orders"' in _differences(OLD, two)[0]


def test_a_window_that_was_kept_for_a_day_is_kept_for_itself() -> None:
    """Releases before 3.0 keep some windows for a day at least."""
    day = OLD.replace("retention_ms: 3900000", "retention_ms: 86400000")
    assert _differences(day.replace("3.4.1", "2.8.2"), COUNTED)[0] == set()
    assert "stores.readings-store.retention_ms: 86400000" in _differences(day, COUNTED)[0]


_SYMMETRIC = 'window: {kind: "join", size_ms: 600000, grace_ms: 60000}'
_ASYMMETRIC = 'window: {kind: "join", before_ms: 300000, after_ms: 900000, grace_ms: 60000}'


def _joined(release: str, window: str) -> str:
    unread = [] if "size_ms" in window else ["the join looks 300000 ms back and 900000 ms ahead"]
    entries = [f'  - {{fact: ["stores", "joined", "window", "size_ms"], reason: "{why}"}}' for why in unread]
    store = ["stores:", "  joined:", '    kind: "join"', f"    {window}"]
    return "\n".join(["facts: 1", f'library: "{release}"', *store, "not_read:" if unread else "not_read: []", *entries])


def test_another_reach_of_a_join_is_a_difference_across_releases() -> None:
    """An older release shows one difference, and none of a join that looks ahead farther than back."""
    was, now = _joined("3.4.1", _SYMMETRIC), _joined("4.3.1", _ASYMMETRIC)
    changed = {f"stores.joined.window.{one}" for one in ("size_ms: 600000", "before_ms: 300000", "after_ms: 900000")}
    assert _differences(was, now) == (changed, ("library",))
    parts = _SYMMETRIC.replace("size_ms: 600000", "size_ms: 600000, before_ms: 600000, after_ms: 600000")
    assert _differences(was, _joined("4.3.1", parts)) == (set(), ("library",))
    spans = ("stores.*.window.after_ms", "stores.*.window.before_ms")
    unread = _joined("3.4.1", 'window: {kind: "join", grace_ms: 60000}')
    assert _differences(unread, now) == (set(), ("library", *spans))


def test_formats_of_a_builder_that_the_library_chose() -> None:
    """Before 3.9 a store of the DSL has a builder too; of two releases that both show it another format is a change."""
    formats = '    caching: true\n    builder_format: "timestamped"\n    supplier_format: "timestamped"\n'
    older = OLD.replace("    caching: true\n", formats)
    assert _differences(older, COUNTED)[0] == set()
    other = COUNTED.replace("    caching: true\n", formats.replace('"timestamped"', '"plain"', 1))
    assert 'stores.readings-store.builder_format: "plain"' in _differences(older, other)[0]
