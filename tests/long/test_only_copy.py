"""A store without a changelog through a stop and restart that deletes local state: refused, then accepted by its name.

The store had a changelog before: the topic is left, with records, and restores nothing.
"""

import json
import re
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kstreams_runbooks.observe import ClusterReader
from lab import kafka
from lab.afresh import afresh
from lab.application import FROM_RELEASE, Deployed
from lab.stack import Stack
from world.endings import COMPLETED, NOTHING_CHANGED, begun_other, ended
from world.given import declared_as
from world.runs import approve, log_of

pytestmark = pytest.mark.long

_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2}
_EACH_ONCE = ((1, "orders-1"), (1, "orders-2"))
_SETTING, _STORE = "windowed.changelog", "orders-windowed-store"
_LOGGED = ("orders-running-store", "orders-store")
_ORPHAN = f"orders-{_STORE}-changelog"
_WARM_S = 10


@pytest.fixture(scope="module")
def unlogged(stack: Stack) -> Iterator[Stack]:
    """Two instances under traffic whose windowed store had a changelog, and has none since a restart."""
    afresh(stack, Deployed())
    entry = yaml.safe_load((stack.lab.config / "applications" / "orders.yaml").read_text(encoding="utf-8"))
    deployer: dict[str, Any] = entry["deployer"] | {"settable": [*entry["deployer"]["settable"], _SETTING]}
    file = stack.lab.config / "applications" / "orders" / f"{FROM_RELEASE}.yaml"
    before = file.read_text(encoding="utf-8")
    with declared_as(stack, limits=_SHORT, deployer=deployer):
        stack.start_traffic()
        time.sleep(_WARM_S)
        done(stack, settings={_SETTING: "false"}, local_state="keep")
        declared = yaml.safe_load(before)
        declared["stores"][_STORE]["logging"] = False
        file.write_text(yaml.safe_dump(declared), encoding="utf-8")
        try:
            time.sleep(_WARM_S)
            yield stack
        finally:
            file.write_text(before, encoding="utf-8")


def done(stack: Stack, **conf: Any) -> dict[str, Any]:
    """A stop and restart to its end: its evidence."""
    trial = begun_other(stack, "stop_and_restart", **conf)
    approve(stack, trial.run_id, "approve_plan")
    return ended(trial, state="success", outcome=COMPLETED, restarted=_EACH_ONCE)


def directories(stack: Stack) -> set[tuple[str, int]]:
    """Task directories of both instances, with the inodes that they have."""
    return {
        (f"{name}/{path.name}", path.stat().st_ino)
        for name in Deployed().names
        for path in Path(stack.lab.instances / name / "state" / "orders").glob("*_*")
    }


def entries(stack: Stack) -> Counter[str]:
    """How many entries RocksDB estimates in each store, over all tasks of both instances."""
    found = Counter[str]()
    for number, _ in enumerate(Deployed().names, 1):
        url = f"{stack.lab.metrics_url(number)}/read/kafka.streams:type=stream-state-metrics,*/estimate-num-keys"
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - http on this machine
            for bean, values in json.load(answer)["value"].items():
                named = re.search(r"(?:rocksdb-state|rocksdb-window-state)-id=([^,]+)", bean)
                if named:
                    found[named[1]] += values["estimate-num-keys"]
    return found


def test_the_deletion_of_the_only_copy_is_refused_and_nothing_is_stopped(unlogged: Stack) -> None:
    """The changelog of before is there, and no proof."""
    with ClusterReader({"bootstrap.servers": unlogged.lab.bootstrap}) as reader:
        assert _ORPHAN in reader.topic_names()
    before = directories(unlogged)
    trial = begun_other(unlogged, "stop_and_restart", local_state="all")
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    sentence = document["run"]["outcome_sentence"]
    assert f"store {_STORE}: it has no changelog: local disks alone have its content" in sentence
    assert f"--param lose_state={_STORE}" in sentence
    assert "Traceback" not in log_of(unlogged, trial.run_id, "plan")
    assert directories(unlogged) == before


def test_a_store_that_has_a_changelog_may_not_be_named(unlogged: Stack) -> None:
    """The form names exactly the stores that begin empty."""
    trial = begun_other(unlogged, "stop_and_restart", local_state="all", lose_state=f"{_STORE},orders-store")
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert "lose_state: store orders-store keeps its content in this run" in document["run"]["outcome_sentence"]


def test_exactly_the_named_store_begins_empty(unlogged: Stack) -> None:
    """Plan, cards and outcome name it; the others are restored from their changelogs."""
    unlogged.stop_traffic()
    kafka.wait_drained(unlogged.lab.bootstrap, "orders")
    held = entries(unlogged)
    assert all(held[store] for store in (_STORE, *_LOGGED))
    document = done(unlogged, local_state="all", lose_state=_STORE)
    assert document["plan"]["emptied"] == [_STORE]
    assert f"begins empty, as accepted: {_STORE}" in document["run"]["outcome_sentence"]
    assert all(f"{_STORE} begins empty" in card["what"] for card in document["cards"])
    now = entries(unlogged)
    assert not now[_STORE]
    assert all(now[store] for store in _LOGGED)
