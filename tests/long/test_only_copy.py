"""A store without a changelog through the runbooks that delete or move local state: refused, then accepted by its name.

In the first module of tests the store had a changelog before: the topic is left, with records, and restores nothing.
"""

import json
import re
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from kstreams_runbooks.observe import ClusterReader
from lab import kafka
from lab.afresh import afresh
from lab.application import FROM_RELEASE, TO_RELEASE, Deployed
from lab.stack import Stack
from world.endings import COMPLETED, NOTHING_CHANGED, begun, begun_other, ended
from world.given import command_deployer, declared_as
from world.runs import approve, log_of

pytestmark = pytest.mark.long

_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2}
_EACH_ONCE = ((1, "orders-1"), (1, "orders-2"))
_SETTING, _STORE = "windowed.changelog", "orders-windowed-store"
_LOGGED = ("orders-running-store", "orders-store")
_ORPHAN = f"orders-{_STORE}-changelog"
_WARM_S = 10
_OLDER = "3.9.1"


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
    for card in document["cards"]:
        kept = Path(re.search(r"the directories are kept in (\S+)", card["what"])[1])  # type: ignore[index]
        assert kept.parent == Path(unlogged.lab.instances / card["object"] / "state")
        assert list(kept.rglob(_STORE))
    now = entries(unlogged)
    assert not now[_STORE]
    assert all(now[store] for store in _LOGGED)


def test_a_teams_script_keeps_the_directories_too(unlogged: Stack) -> None:
    """It gets the name of the directory that takes them; the card has it."""
    made = command_deployer(unlogged.lab) | {"settable": [_SETTING]}
    with declared_as(unlogged, deployer=made):
        document = done(unlogged, local_state="all", lose_state=_STORE)
    for card in document["cards"]:
        kept = re.search(r"the directories are kept in <state\.dir>/(\S+)", card["what"])
        assert kept, card["what"]
        assert list((unlogged.lab.instances / card["object"] / "state" / kept[1]).rglob(_STORE))


@contextmanager
def never_logged(stack: Stack, release: str, *, static: bool) -> Iterator[None]:
    """Two instances under traffic whose windowed store never had a changelog, as every release declares it."""
    files = [stack.lab.config / "applications" / "orders" / f"{one}.yaml" for one in (FROM_RELEASE, _OLDER, TO_RELEASE)]
    before = [file.read_text(encoding="utf-8") for file in files]
    afresh(stack, Deployed(release=release, static_membership=static, settings={_SETTING: "false"}))
    try:
        for file, text in zip(files, before, strict=True):
            declared = yaml.safe_load(text)
            declared["stores"][_STORE]["logging"] = False
            file.write_text(yaml.safe_dump(declared), encoding="utf-8")
        with declared_as(stack, limits=_SHORT, static_membership=static):
            stack.start_traffic()
            time.sleep(_WARM_S)
            yield
    finally:
        for file, text in zip(files, before, strict=True):
            file.write_text(text, encoding="utf-8")


def test_a_roll_with_dynamic_members_and_its_undo_need_the_name(stack: Stack) -> None:
    """Each task moves while its instance is down: refused both ways, nothing is stopped; then accepted both ways."""
    threads = {"settings": {"num.stream.threads": 2}}
    with never_logged(stack, FROM_RELEASE, static=False):
        refused = begun_other(stack, "rolling_bounce", **threads)
        document = ended(refused, state="failed", outcome=NOTHING_CHANGED)
        sentence = document["run"]["outcome_sentence"]
        assert f"store {_STORE}: it has no changelog: local disks alone have its content" in sentence
        assert "tasks move to other instances while one is down" in sentence
        assert f"--param lose_state={_STORE}" in sentence

        rolled = begun_other(stack, "rolling_bounce", **threads, lose_state=_STORE)
        approve(stack, rolled.run_id, "approve_plan")
        document = ended(rolled, state="success", outcome=COMPLETED, restarted=_EACH_ONCE)
        assert document["plan"]["emptied"] == [_STORE]

        refused = begun_other(stack, "undo", run=rolled.run_id)
        document = ended(refused, state="failed", outcome=NOTHING_CHANGED)
        assert f"--param lose_state={_STORE}" in document["run"]["outcome_sentence"]
        undone = begun_other(stack, "undo", run=rolled.run_id, lose_state=_STORE)
        approve(stack, undone.run_id, "approve_undo")
        document = ended(undone, state="success", outcome=COMPLETED, restarted=_EACH_ONCE)
        assert f"begins empty, as accepted: {_STORE}" in document["run"]["outcome_sentence"]


def test_a_downgrade_that_clears_state_needs_the_name(stack: Stack) -> None:
    """4.3.1 to 3.9.1 deletes all local state: refused, nothing is stopped; accepted, the named store alone is empty."""
    with never_logged(stack, TO_RELEASE, static=True):
        before = directories(stack)
        refused = begun(stack, target=_OLDER)
        document = ended(refused, state="failed", outcome=NOTHING_CHANGED)
        sentence = document["run"]["outcome_sentence"]
        assert f"store {_STORE}: it has no changelog: local disks alone have its content" in sentence
        assert f"--param lose_state={_STORE}" in sentence
        assert directories(stack) == before

        stack.stop_traffic()
        kafka.wait_drained(stack.lab.bootstrap, "orders")
        held = entries(stack)
        assert all(held[store] for store in (_STORE, *_LOGGED))
        accepted = begun(stack, target=_OLDER, lose_state=_STORE)
        approve(stack, accepted.run_id, "approve_plan")
        all_at_once = tuple((2, name) for _, name in _EACH_ONCE)
        document = ended(accepted, state="success", outcome=COMPLETED, restarted=all_at_once)
        assert document["plan"]["emptied"] == [_STORE]
        now = entries(stack)
        assert not now[_STORE]
        assert all(now[store] for store in _LOGGED)
