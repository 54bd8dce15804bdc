"""Facts that a program has on every release: the same code on the oldest, on one between, and on the newest."""

from pathlib import Path
from typing import Any

import pytest
from lab.topology_facts import compiled, facts_of, reasons

RELEASES = [
    "2.4.1",
    "3.4.1",
    "4.3.1",
    *(pytest.param(one, marks=pytest.mark.long) for one in ("2.7.0", "2.8.2", "3.9.1")),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the compiled programs are."""
    return tmp_path_factory.mktemp("everywhere")


@pytest.fixture(scope="module", params=RELEASES)
def programs(request: pytest.FixtureRequest, folder: Path) -> str:
    """The class path of Everywhere.java, compiled with a release."""
    return compiled(request.param, folder / request.param, "Everywhere.java")


def _field(subjects: dict[str, Any], field: str) -> dict[str, Any]:
    return {name: entry.get(field, "not read") for name, entry in subjects.items()}


def test_each_store_is_timestamped_or_not(programs: str) -> None:
    """By the builder that the program chose, and by a supplier of plain files; one store is global."""
    stores = facts_of(programs, "Everywhere::stores")["stores"]
    assert _field(stores, "timestamped") == {
        "countries-store": True,
        "customers-store": True,
        "each-event": False,
        "latest": False,
        "misread": False,
        "plain": False,
        "plain-files": False,
        "plain-window": False,
        "plain-window-files": False,
        "products-store": False,
        "sessions": False,
        "timestamped": True,
        "timestamped-window": True,
    }
    assert [name for name, is_global in _field(stores, "global").items() if is_global] == ["countries-store"]
    assert stores["sessions"]["supplier"].endswith(".InMemorySessionBytesStoreSupplier")
    assert stores["latest"]["supplier"] == "lru_map(max_entries=100)"
    assert (stores["plain-window"]["retention_ms"], stores["sessions"]["retention_ms"]) == (60_000, 60_000)


def test_a_window_store_keeps_duplicates_or_not(programs: str) -> None:
    """A program chooses that for a store of its own; the library keeps them in the stores of a join."""
    stores = facts_of(programs, "Everywhere::stores")["stores"]
    kept = {name: one for name, one in _field(stores, "retain_duplicates").items() if one != "not read"}
    plain = dict.fromkeys(("plain-window", "plain-window-files", "timestamped-window"), False)
    assert kept == {"each-event": True, **plain}
    joins = facts_of(programs, "Everywhere::joins")["stores"]
    assert joins["inner-this-join-store"]["retain_duplicates"] is True


def test_no_store_has_headers_without_the_setting(programs: str, tmp_path: Path) -> None:
    """Before 4.3 no store has any; from then on the setting decides it for stores without a supplier."""
    file = tmp_path / "app.properties"
    file.write_text("application.id=app\nbootstrap.servers=none:0\n", encoding="latin-1")
    stores = facts_of(programs, "Everywhere::stores", "--properties", str(file))["stores"]
    assert set(_field(stores, "headers").values()) == {False}


def test_a_join_of_streams_is_inner_left_or_outer(programs: str) -> None:
    """Both of its operators have the kind of the join, and whether their own side keeps records without a match."""
    facts = facts_of(programs, "Everywhere::joins")
    kinds = {name: kind for name, kind in _field(facts["operators"], "join").items() if kind != "not read"}
    assert kinds == {
        "inner-this-join": "inner",
        "inner-other-join": "inner",
        "left-this-join": "left",
        "left-outer-other-join": "left",
        "outer-outer-this-join": "outer",
        "outer-outer-other-join": "outer",
    }
    unmatched = _field(facts["operators"], "unmatched_records")
    assert (unmatched["left-this-join"], unmatched["left-outer-other-join"]) == (True, False)


def test_the_memory_of_a_suppression_is_its_limit_in_bytes(programs: str) -> None:
    """Without one the program does not bound it: the reason names the limit in records, if there is one."""
    facts = facts_of(programs, "Everywhere::suppressions")
    assert _field(facts["suppressions"], "memory_bytes") == {
        "in-bytes": 4096,
        "in-records": "not read",
        "unbounded": "not read",
    }
    why = {fact[1]: reason for fact, reason in reasons(facts).items() if fact[-1] == "memory_bytes"}
    assert "no limit in bytes and one of 10 records" in why["in-records"]
    assert "no limit in bytes and none in records" in why["unbounded"]


def test_a_partitioner_has_the_state_of_its_object(programs: str) -> None:
    """Two objects of one class choose other partitions; text is left out, and a list is not readable."""
    facts = facts_of(programs, "Everywhere::partitioners")
    by_number = "Everywhere$ByNumber(regions=9, strict=true, type=java.lang.Long)"
    assert _field(facts["operators"], "partitioner") == {
        "KSTREAM-SOURCE-0000000000": "not read",
        "by-number": by_number.replace("9", "7"),
        "by-other": f"Everywhere$ByOther(inner={by_number}, regions=1, strict=true, type=java.lang.Long)",
        "by-list": "not read",
        "by-none": None,
    }
    assert "secret" not in str(facts)
    assert (
        "field inner of class java.util.Collections$SingletonList"
        in reasons(facts)["operators", "by-list", "partitioner"]
    )


def test_a_timestamp_extractor_has_the_state_of_its_object(programs: str) -> None:
    """A number that may change while it runs is not read: two instances would show two values."""
    facts = facts_of(programs, "Everywhere::extractors")
    found = {entry["topics"][0]: entry.get("timestamp_extractor", "not read") for entry in facts["operators"].values()}
    assert found == {
        "by-number": "Everywhere$ByField(field=3)",
        "by-latest": "not read",
        "by-list": "not read",
        "by-kafka": "org.apache.kafka.streams.processor.WallclockTimestampExtractor",
        "by-none": None,
    }
    why = {fact[1]: reason for fact, reason in reasons(facts).items() if fact[-1] == "timestamp_extractor"}
    assert any("may change its field latest while it runs; make the field final" in one for one in why.values())
    assert "secret" not in str(facts)


def test_a_builder_and_its_supplier_have_a_format_each(programs: str) -> None:
    """What is in memory fits any builder."""
    stores = facts_of(programs, "Everywhere::stores")["stores"]
    formats = {
        name: (stores[name].get("builder_format", "not read"), stores[name].get("supplier_format", "not read"))
        for name in sorted(stores)
        if "-store" not in name
    }
    assert formats == {
        "each-event": ("plain", "plain"),
        "latest": ("plain", None),
        "misread": ("plain", "timestamped"),
        "plain": ("plain", None),
        "plain-files": ("timestamped", "plain"),
        "plain-window": ("plain", "plain"),
        "plain-window-files": ("timestamped", "plain"),
        "sessions": ("plain", None),
        "timestamped": ("timestamped", "timestamped"),
        "timestamped-window": ("timestamped", "timestamped"),
    }
