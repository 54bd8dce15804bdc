"""Task directories that the version before leaves behind: what the plan says of them, and what a release does.

4.3.1 opens the stores of every task directory that it finds before it starts; 3.4.1 and 3.9.1 open those of the tasks
that they are assigned.
"""

import pytest
from kstreams_runbooks.model.local_state import TaskDirectories
from lab.application import FROM_RELEASE, TO_RELEASE
from lab.trial import LONGS, Begin, long

pytestmark = pytest.mark.long

BETWEEN = "3.9.1"
KEYS = [f"{number:03}" for number in range(40)]
ONE_EACH = [(key, long(1)) for key in KEYS]
TEXTS = [(key, f"{key},1".encode()) for key in KEYS]
COUNTED = {"amounts": 2, "refunds": 2, "rates": 1, "amounts-out": 1, "refunds-out": 1}
EXACTLY_ONCE = {"processing_guarantee": "exactly_once_v2"}


@pytest.mark.parametrize(
    ("partitions", "settings", "why"),
    [
        (1, {}, "Exception caught during initialization of GlobalStreamThread"),
        (2, {}, "Metrics recorder is re-initialised with different task: previous task is 1_"),
        (2, EXACTLY_ONCE, "Metrics recorder is re-initialised with different task: previous task is 1_"),
    ],
    ids=["one-directory", "two-directories", "exactly-once"],
)
def test_a_global_store_takes_the_number_of_task_directories(
    begin: Begin, partitions: int, settings: dict[str, str], why: str
) -> None:
    """4.3.1 dies until exactly the directories of the plan are deleted; their stores restore, the others do not."""
    topics = COUNTED | {"refunds": partitions}
    trial = begin("global-table-added-between-counts", topics, TO_RELEASE, default_value_serde=LONGS, **settings)
    plan = trial.run_before({"amounts": ONE_EACH, "refunds": ONE_EACH})
    assert (plan["runbooks"], plan["stale_task_directories"]) == (["stop_and_restart"], ["1_"])
    assert [one["store"] for one in plan["restores"]] == ["refunds-counts"]

    assert why in trial.run_into_failure()
    gone = trial.to_delete()
    assert gone == TaskDirectories(("1_",), (f"{trial.application_id}-refunds-counts-changelog",))
    trial.delete_directories(gone.names)
    assert trial.run_after({"amounts": ONE_EACH, "refunds": ONE_EACH}) == {"refunds-counts": len(KEYS)}
    assert trial.longs("amounts-out") == trial.longs("refunds-out") == dict.fromkeys(KEYS, 2)


@pytest.mark.parametrize("deleted", [False, True], ids=["kept", "deleted"])
def test_older_releases_start_beside_directories_of_a_global_stores_number(begin: Begin, *, deleted: bool) -> None:
    """They restore the store that has moved, and nothing else, whether the directories are deleted or not."""
    trial = begin("global-table-added-between-counts", COUNTED, FROM_RELEASE, default_value_serde=LONGS)
    plan = trial.run_before({"amounts": ONE_EACH, "refunds": ONE_EACH})
    assert plan["stale_task_directories"] == ["1_"]
    trial.delete_directories(plan["stale_task_directories"] if deleted else ())
    assert trial.run_after({"amounts": ONE_EACH, "refunds": ONE_EACH}) == {"refunds-counts": len(KEYS)}
    assert trial.longs("amounts-out") == trial.longs("refunds-out") == dict.fromkeys(KEYS, 2)
    assert trial.directories().keys() >= ({"2_0", "2_1"} if deleted else {"1_0", "1_1", "2_0", "2_1"})
    assert deleted is not ("1_0" in trial.directories())


@pytest.mark.parametrize("release", [FROM_RELEASE, TO_RELEASE])
@pytest.mark.parametrize("deleted", [False, True], ids=["kept", "deleted"])
def test_a_number_that_goes_stops_no_release(begin: Begin, release: str, *, deleted: bool) -> None:
    """Nothing dies of `1_*` with a store inside; the store is restored where it is now."""
    trial = begin("group-by-to-group-by-key", {"payments": 2, "payment-counts": 1}, release)
    plan = trial.run_before({"payments": TEXTS})
    assert plan["stale_task_directories"] == ["1_"]
    assert [one["store"] for one in plan["restores"]] == ["payments-store"]
    trial.delete_directories(plan["stale_task_directories"] if deleted else ())
    assert trial.run_after({"payments": TEXTS}) == {"payments-store": len(KEYS)}
    assert trial.longs("payment-counts") == dict.fromkeys(KEYS, 2)
    assert deleted is not ("1_0" in trial.directories())


@pytest.mark.parametrize("release", [FROM_RELEASE, TO_RELEASE])
def test_a_number_that_goes_stops_none_of_two_instances(begin: Begin, release: str) -> None:
    """Each of them finds its own directories; tasks that move between the two are restored more than once."""
    topics = {"payments": 4, "payment-counts": 1}
    trial = begin("group-by-to-group-by-key", topics, release, num_stream_threads="2", **EXACTLY_ONCE)
    plan = trial.run_before({"payments": TEXTS}, instances=2)
    assert plan["stale_task_directories"] == ["1_"]
    restored = trial.run_after({"payments": TEXTS}, instances=2)
    assert set(restored) == {"payments-store"}
    assert restored["payments-store"] >= len(KEYS)
    assert trial.longs("payment-counts") == dict.fromkeys(KEYS, 2)


@pytest.mark.parametrize("release", [FROM_RELEASE, TO_RELEASE])
def test_a_number_that_goes_without_state_restores_nothing(begin: Begin, release: str) -> None:
    """The store of the other subtopology keeps its number and its directory."""
    topics = {"payments": 2, "refunds": 2, "payment-counts": 1, "refunds-copy": 1}
    trial = begin("last-subtopology-removed", topics, release)
    plan = trial.run_before({"payments": TEXTS, "refunds": TEXTS})
    assert (plan["stale_task_directories"], plan["restores"]) == (["1_"], [])
    assert trial.run_after({"payments": TEXTS}) == {}
    assert trial.longs("payment-counts") == dict.fromkeys(KEYS, 2)


@pytest.mark.parametrize(
    ("release", "why"),
    [
        (BETWEEN, "RocksDBException: Column families not opened: keyValueWithTimestamp"),
        (TO_RELEASE, "is a timestamped key-value store and cannot be opened as a regular key-value store"),
    ],
)
def test_a_store_that_becomes_versioned_needs_its_directories_deleted(begin: Begin, release: str, why: str) -> None:
    """The new version dies of the local state; without it, it restores every price and joins by it."""
    trial = begin("store-of-joined-table-becomes-versioned", {"prices": 2, "sales": 2, "priced": 1}, release)
    plan = trial.run_before({"prices": [(key, b"7") for key in KEYS]})
    assert plan["runbooks"] == ["stop_and_restart"]
    assert [one["id"] for one in plan["findings"]] == ["store-becomes-versioned"]
    assert [one["store"] for one in plan["restores"]] == ["prices-table"]
    assert why in trial.run_into_failure()
    gone = trial.to_delete()
    assert gone == TaskDirectories(("0_",), (f"{trial.application_id}-prices-table-changelog",))
    trial.delete_directories(gone.names)
    assert trial.run_after({"sales": [(key, b"sale") for key in KEYS]}) == {"prices-table": len(KEYS)}
    assert trial.latest("priced") == dict.fromkeys(KEYS, b"sale,7")
