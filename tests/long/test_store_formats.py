"""Stores of processors that get another format or class: what the plan says of them, and what a release does.

A processor forwards the value that a key had before, and keeps the value of the record; an empty one only looks.
"""

import time
from dataclasses import replace

import pytest
from kstreams_runbooks.model.local_state import TaskDirectories
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.times import HOUR_MS
from kstreams_runbooks.rules import upgrade_path_rules
from lab.application import FROM_RELEASE, TO_RELEASE
from lab.trial import LONGS, Begin, Trial, long

pytestmark = [pytest.mark.long, pytest.mark.parametrize("release", [FROM_RELEASE, "3.9.1", TO_RELEASE])]

KEYS = [f"{number:03}" for number in range(10)]
LOOK = b""
_REFUSED = {
    FROM_RELEASE: "RocksDBException: Column families not opened: keyValueWithTimestamp",
    "3.9.1": "RocksDBException: Column families not opened: keyValueWithTimestamp",
    TO_RELEASE: "is a timestamped key-value store and cannot be opened as a regular key-value store",
}
_HEADERS, _GUARANTEE = "headers", "processing.guarantee"
DROPPED = "timestamps-of-processor-store-dropped"
LRU = "timestamps-of-lru-map-dropped"


def visits(value: bytes) -> dict[str, list[tuple[str, bytes]]]:
    """One visit of each key."""
    return {"visits": [(key, value) for key in KEYS]}


def test_a_store_without_timestamps_needs_its_directories_deleted(begin: Begin, release: str) -> None:
    """Every release dies of the files; without them every value restores, and none with the bytes of its time."""
    trial = begin(DROPPED, {"visits": 2, "last-visits": 1}, release)
    plan = trial.run_before(visits(b"one"))
    assert plan["runbooks"] == ["stop_and_restart"]
    assert [one["id"] for one in plan["findings"]] == ["store-becomes-plain"]
    assert [one["store"] for one in plan["restores"]] == ["seen"]
    assert _REFUSED[release] in trial.run_into_failure()
    deleted = TaskDirectories(("0_",), (f"{trial.application_id}-seen-changelog",))
    assert trial.to_delete() == deleted
    trial.delete_directories(deleted.names)
    assert trial.run_after(visits(b"two")) == {"seen": len(KEYS)}
    assert trial.latest("last-visits") == dict.fromkeys(KEYS, b"one")


def test_a_store_gets_timestamps_in_place_and_its_undo_deletes_them(begin: Begin, release: str) -> None:
    """A roll: nothing restores. Back again every release dies, until the directories of the card are deleted."""
    trial = begin("timestamps-of-processor-store-added", {"visits": 2, "last-visits": 1}, release)
    plan = trial.run_before(visits(b"one"))
    assert (plan["runbooks"], plan["restores"]) == (["rolling_bounce"], [])
    assert trial.run_after(visits(b"two")) == {}
    assert trial.latest("last-visits") == dict.fromkeys(KEYS, b"one")
    assert _REFUSED[release] in trial.run_into_failure(side="before")
    assert trial.to_delete_in_undo().names == ("0_",)
    trial.delete_directories(trial.to_delete_in_undo().names)
    assert trial.run_again(visits(b"three")) == {"seen": 2 * len(KEYS)}
    assert trial.latest("last-visits") == dict.fromkeys(KEYS, b"two")


def test_a_store_gets_headers_in_place_and_an_undo_does_not_open_it(begin: Begin, release: str) -> None:
    """From 4.3 on: a roll that opens one way. Older releases do not have the setting, and the way back is open."""
    trial = begin("group-by-key-computed-in-equal-way", {"visits": 2, "visit-counts": 1}, release)
    with_headers = replace(trial, topics={}, settings={**trial.settings, "dsl.store.format": "headers"})
    trial.run(visits(b"one"), "before")
    assert with_headers.run(visits(b"one"), "after") == {}
    if release == TO_RELEASE:
        assert _HEADERS in trial.run_into_failure(side="before")
        trial.delete_directories(("1_",))
    trial.run(visits(b"one"), "before")
    assert sum(trial.longs("visit-counts").values()) == 3 * len(KEYS)


def looked_up(trial: Trial, keys: str) -> dict[str, str]:
    """What the last look at each of these keys saw."""
    seen = trial.latest("last-visits")
    return {key: (seen[key] or b"").decode() for key in keys}


# The map keeps three keys: a is read before d comes, and b goes.
EVICTED = {"visits": [("a", b"1"), ("b", b"1"), ("c", b"1"), ("a", LOOK), ("d", b"1")]}


def all_of(keys: str) -> dict[str, list[tuple[str, bytes]]]:
    """One look at each key."""
    return {"visits": [(key, LOOK) for key in keys]}


def test_a_key_that_an_lru_map_of_values_drops_stays_away(begin: Begin, release: str) -> None:
    """It is deleted in the changelog too."""
    trial = begin(LRU, {"visits": 1, "last-visits": 1}, release)
    trial.run_after(EVICTED)
    changelog = trial.records(f"{trial.application_id}-seen-changelog")
    assert [(one.key(), one.value()) for one in changelog][-2:] == [(b"b", None), (b"d", b"1")]
    assert trial.run_after(all_of("abcd")) == {"seen": len(changelog)}
    assert looked_up(trial, "abcd") == {"a": "1", "b": "null", "c": "1", "d": "1"}


def test_a_key_that_an_lru_map_with_timestamps_drops_comes_back_for_another(begin: Begin, release: str) -> None:
    """Its changelog keeps every key. A restart restores the last three that were written: b again, and a no more."""
    trial = begin(LRU, {"visits": 1, "last-visits": 1}, release)
    plan = trial.run_before({"visits": [*EVICTED["visits"], *all_of("abcd")["visits"]]})
    assert looked_up(trial, "abcd") == {"a": "1", "b": "null", "c": "1", "d": "1"}
    assert (plan["runbooks"], plan["stale_task_directories"]) == (["rolling_bounce"], [])
    assert trial.run_again(all_of("abcd")) == {"seen": 4}
    assert looked_up(trial, "abcd") == {"a": "null", "b": "1", "c": "1", "d": "1"}


def test_what_an_lru_map_never_had_stays_in_the_changelog(begin: Begin, release: str) -> None:
    """Of six keys the map restores three; d is dropped and deleted for g. A store on the disk has the others again."""
    trial = begin("store-on-disk-becomes-lru-map", {"visits": 1, "last-visits": 1}, release)
    sent = {"visits": [(key, b"1") for key in "abcdef"]}
    plan = trial.run_before(sent, case="store-on-disk-becomes-lru-map/suppliers-declared")
    assert [one["id"] for one in plan["findings"]] == ["supplier-changed"]
    assert trial.run_after(all_of("abcdef")) == {"seen": 6}
    assert looked_up(trial, "abcdef") == dict.fromkeys("abc", "null") | dict.fromkeys("def", "1")
    trial.run_after({"visits": [("g", b"1")]})
    trial.run_again(all_of("abcdefg"))
    assert looked_up(trial, "abcdefg") == dict.fromkeys("abcefg", "1") | {"d": "null"}


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once_v2"])
def test_a_changelog_that_begins_on_a_kept_disk(begin: Begin, release: str, guarantee: str) -> None:
    """At least once the files stay, and the next write of a key brings all of it; exactly once deletes them."""
    trial = begin("logging-of-count-enabled", {"amounts": 1, "totals-out": 1}, release)
    trial = replace(trial, topics={}, settings={**trial.settings, "default.value.serde": LONGS, _GUARANTEE: guarantee})
    amounts = {"amounts": [(key, long(1)) for key in KEYS]}
    trial.run(amounts, "before")
    trial.run(amounts, "after")
    kept = 2 if guarantee == "at_least_once" else 1
    assert trial.longs("totals-out") == dict.fromkeys(KEYS, kept)
    # From its changelog alone.
    trial.delete_directories(("0_",))
    trial.run(amounts, "after")
    assert trial.longs("totals-out") == dict.fromkeys(KEYS, kept + 1)


@pytest.mark.parametrize(("guarantee", "restored"), [("at_least_once", 0), ("exactly_once_v2", len(KEYS))])
def test_a_new_store_beside_another_one(begin: Begin, release: str, guarantee: str, restored: int) -> None:
    """Exactly once deletes the files of the tasks that it comes to: the store that was there restores in full."""
    trial = begin("second-named-count-added", {"amounts": 1, "totals-out": 1}, release)
    trial = replace(trial, topics={}, settings={**trial.settings, "default.value.serde": LONGS, _GUARANTEE: guarantee})
    amounts = {"amounts": [(key, long(1)) for key in KEYS]}
    trial.run(amounts, "before")
    assert trial.run(amounts, "after")["totals"] == restored


def test_a_versioned_store_forgets_its_history_at_a_start(begin: Begin, release: str) -> None:
    """On kept files a late sale finds no price; a restore has the history. Before 3.5 there are no such stores."""
    if release == FROM_RELEASE:
        assert not known_to_bite("versioned-history-after-a-start", release)
        return
    assert known_to_bite("versioned-history-after-a-start", release)
    trial = begin("store-of-joined-table-becomes-versioned", {"prices": 1, "sales": 1, "priced": 1}, release)
    now = time.time_ns() // 1_000_000
    old, new, late = now - 3 * HOUR_MS, now - HOUR_MS, now - 2 * HOUR_MS
    with trial.instance("after") as instance:
        trial.process([instance], {"prices": [("tea", b"1", old), ("tea", b"2", new)]})
        trial.process([instance], {"sales": [("tea", b"before", late)]})
    trial.empty_the_group()
    assert [one.value() for one in trial.records("priced")] == [b"before,1"]
    trial.run({"sales": [("tea", b"kept", late), ("tea", b"now", now)]}, "after")
    assert [one.value() for one in trial.records("priced")] == [b"before,1", b"now,2"]
    trial.delete_directories(("0_",))
    trial.run({"sales": [("tea", b"restored", late)]}, "after")
    assert trial.records("priced")[-1].value() == b"restored,1"


def known_to_bite(defect: str, release: str) -> bool:
    """Whether a release has a defect by its row."""
    [row] = [row for row in upgrade_path_rules().defects if row.id == defect]
    return within(Release.parse(release), row.releases)
