"""An instance under exactly once that a kill ends: what its next start does with the local state (KAFKA-20685).

RocksDB has flushed writes of a transaction that the kill aborts. An instance that still has the checkpoint of its
start takes the store for good, and counts the same records once more.
"""

import time
from collections import Counter
from dataclasses import replace

import pytest
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.rules import upgrade_path_rules
from lab.application import FROM_RELEASE, TO_RELEASE
from lab.supervise import until
from lab.trial import WAIT_S, Begin, Instance, Trial

pytestmark = pytest.mark.long

BITTEN, NEWEST = "3.9.1", "4.4.0"
# As many bytes as RocksDB keeps in memory before it flushes, and more.
KEYS = [f"{number:05}{'k' * 10_000}" for number in range(4000)]
ORDERS = {"orders": [(key, b"1") for key in KEYS]}
_FLUSHED_S = 2


def started_again(begin: Begin, release: str, *, kill: bool, deletes: bool) -> Trial:
    """Counts each key once, starts again, counts each once more in a transaction that no commit ends, and ends there.

    Then an instance that commits goes on, on the directories of before or without them.
    """
    topics = {"orders": 1, "order-counts": 1}
    trial = begin("commit-interval-changed", topics, release, processing_guarantee="exactly_once_v2")
    trial.run(ORDERS, "before")
    seldom = {**trial.settings, "commit.interval.ms": "100000", "producer.transaction.timeout.ms": "200000"}
    with replace(trial, topics={}, settings=seldom).instance("before") as instance:
        _write_uncommitted(trial, instance)
        if kill:
            instance.kill()
    trial.empty_the_group()
    if deletes:
        trial.delete_directories(("0_",))
    restored = trial.run({"orders": [("last", b"1")]}, "before")
    assert bool(restored) is (deletes or restored_by_itself(release, kill=kill))
    return trial


def restored_by_itself(release: str, *, kill: bool) -> bool:
    """Whether a start after that end does not take the local state as it is: the row has the other releases."""
    [row] = [one for one in upgrade_path_rules().defects if one.id == "KAFKA-20685"]
    return kill and not within(Release(release), row.releases)


def _write_uncommitted(trial: Trial, instance: Instance) -> None:
    log = f"{trial.application_id}-orders-store-changelog"
    instance.wait_running()
    assert instance.restored() == {}
    had = trial.held([log])[log]
    trial.send("orders", ORDERS["orders"])
    until(lambda: trial.held([log])[log] >= had + len(KEYS), WAIT_S, "the writes are in the changelog")
    # RocksDB flushes in the background; the files of the first start are those of its stop.
    until(lambda: _files(trial) > 1, WAIT_S, "RocksDB has flushed a part of them")
    time.sleep(_FLUSHED_S)


def _files(trial: Trial) -> int:
    return sum(1 for path in trial.directories().values() for _ in path.rglob("*.sst"))


def counts(trial: Trial) -> Counter[int]:
    """How often each key but the last was counted, by the last count that was committed."""
    latest = trial.latest("order-counts")
    assert set(latest) == {*KEYS, "last"}
    return Counter(int.from_bytes(latest[key] or b"") for key in KEYS)


def test_a_kill_doubles_records_on_a_release_with_the_defect(begin: Begin) -> None:
    """Records of the aborted transaction are in the store, and are counted again; the rest is right."""
    found = counts(started_again(begin, BITTEN, kill=True, deletes=False))
    assert set(found) == {2, 3}
    assert found[3] > len(KEYS) // 2


def test_deleted_directories_avoid_it(begin: Begin) -> None:
    """What the runbook does before that start: the store restores to what was committed."""
    assert counts(started_again(begin, BITTEN, kill=True, deletes=True)) == {2: len(KEYS)}


def test_a_clean_stop_keeps_its_directories(begin: Begin) -> None:
    """It commits; nothing has to be deleted."""
    assert counts(started_again(begin, BITTEN, kill=False, deletes=False)) == {2: len(KEYS)}


@pytest.mark.parametrize("release", [FROM_RELEASE, TO_RELEASE, NEWEST])
def test_releases_without_the_defect_restore_by_themselves(begin: Begin, release: str) -> None:
    """They find that the state is not of a clean end."""
    assert counts(started_again(begin, release, kill=True, deletes=False)) == {2: len(KEYS)}


@pytest.mark.parametrize("release", [FROM_RELEASE, BITTEN, TO_RELEASE, NEWEST])
def test_an_instance_is_running_once_its_tasks_are_restored(begin: Begin, release: str) -> None:
    """What the gate before a stop relies on: RUNNING comes after the end of each restore."""
    trial = begin("commit-interval-changed", {"orders": 1, "order-counts": 1}, release)
    trial.run(ORDERS, "before")
    trial.delete_directories(("0_",))
    with trial.instance("before") as instance:
        instance.wait_running()
        assert instance.restored() == {"orders-store": len(KEYS)}
        lines = instance.lines()
    assert lines.index(f"restored orders-store 0 {len(KEYS)}") < lines.index("state RUNNING")
