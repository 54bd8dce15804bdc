"""Task directories that fit no task of the new release: a stop and restart deletes exactly these."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from lab import kafka
from lab.afresh import afresh
from lab.application import FROM_RELEASE, Deployed
from lab.judge import judged
from lab.stack import Stack
from world.endings import COMPLETED, DRY_RUN, NOTHING_CHANGED, begun_other, ended
from world.given import declared_as
from world.runs import approve, log_of

pytestmark = pytest.mark.long

_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2}
_EACH_ONCE = ((1, "orders-1"), (1, "orders-2"))
_WARM_S = 10
# The same program under another name, as a team calls its builds: with a name of its own its topology is compared.
_BUILD = f"{FROM_RELEASE}.9"


@pytest.fixture(scope="module")
def audited(stack: Stack) -> Iterator[Stack]:
    """Two instances with `audit`, which adds a last subtopology, under traffic; the judge looks at all of it."""
    build = stack.lab.releases / _BUILD
    build.unlink(missing_ok=True)
    build.symlink_to(stack.lab.releases / FROM_RELEASE)
    afresh(stack, Deployed())
    entry = yaml.safe_load((stack.lab.config / "applications" / "orders.yaml").read_text(encoding="utf-8"))
    deployer: dict[str, Any] = entry["deployer"] | {"settable": [*entry["deployer"]["settable"], "audit"]}
    deployer["releases"] |= {_BUILD: str(build)}
    with declared_as(stack, limits=_SHORT, deployer=deployer, libraries={_BUILD: FROM_RELEASE}):
        stack.start_traffic()
        time.sleep(_WARM_S)
        done(stack, settings={"audit": True})
        yield stack
    build.unlink()
    assert judged(stack).faults() == {}


def done(stack: Stack, **conf: Any) -> tuple[str, dict[str, Any]]:
    """A stop and restart to its end: its run id and its evidence."""
    trial = begun_other(stack, "stop_and_restart", **conf)
    approve(stack, trial.run_id, "approve_plan")
    return trial.run_id, ended(trial, state="success", outcome=COMPLETED, restarted=_EACH_ONCE)


def directories(stack: Stack) -> dict[str, set[int]]:
    """Task directories of both instances, with the inodes that they have: one that is made anew has another."""
    found: dict[str, set[int]] = {}
    for name in Deployed().names:
        for path in Path(stack.lab.instances / name / "state" / "orders").glob("*_*"):
            found.setdefault(path.name, set()).add(path.stat().st_ino)
    return found


def test_named_directories_are_restored_and_the_others_are_not(audited: Stack) -> None:
    """As an operator names them for an application that does not start: what they held restores from the changelogs."""
    before = directories(audited)
    chosen = {name for name in before if name.startswith("1_")}
    _, document = done(audited, local_state="1_*")
    assert document["plan"]["stages"][0]["deletes"]["names"] == ["1_"]
    assert document["plan"]["stages"][0]["deletes"]["changelogs"]
    assert "a restore of the stores in deleted directories" in document["plan"]["costs"][0]["why"]
    after = directories(audited)
    assert chosen
    assert all(not after[name] & before[name] for name in chosen)
    assert all(after[name] >= before[name] for name in before.keys() - chosen)


def test_a_directory_that_is_none_is_refused_while_everything_runs(audited: Stack) -> None:
    """One sentence; nothing is stopped."""
    trial = begun_other(audited, "stop_and_restart", local_state="../orders")
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert (
        "local_state: '../orders' is not a task directory (expected stale, keep, all, or task directories"
        in (document["run"]["outcome_sentence"])
    )
    assert "Traceback" not in log_of(audited, trial.run_id, "plan")


def test_exactly_the_directories_of_no_task_go_and_undo_brings_them_back(audited: Stack) -> None:
    """The last subtopology goes with the build: a dry run names its directories, the run deletes them and no other."""
    before = directories(audited)
    last = max(int(name.partition("_")[0]) for name in before)
    stale = {name for name in before if name.startswith(f"{last}_")}
    conf = {"release": _BUILD, "settings": {"audit": None}}
    trial = begun_other(audited, "stop_and_restart", dry_run=True, **conf)
    document = ended(trial, state="success", outcome=DRY_RUN)
    assert document["plan"]["stages"][0]["deletes"]["names"] == [f"{last}_"]
    assert f"delete task directories {last}_* of orders-1" in str(document["writes"])
    assert directories(audited) == before
    # Records that no operator reads any more would be counted as left behind, and refused.
    audited.stop_traffic()
    kafka.wait_drained(audited.lab.bootstrap, "orders")
    run_id, document = done(audited, **conf)
    assert [card["undo"] for card in document["cards"]] == [
        f"{name} back to {FROM_RELEASE} with audit=true" for name in Deployed().names
    ]
    assert "local-state-deleted" in {finding["id"] for finding in document["plan"]["findings"]}
    after = directories(audited)
    assert stale
    assert not stale & after.keys()
    assert {name: after[name] & inodes for name, inodes in before.items() if name not in stale} == {
        name: inodes for name, inodes in before.items() if name not in stale
    }
    back = begun_other(audited, "undo", run=run_id)
    approve(audited, back.run_id, "approve_undo")
    ended(back, state="success", outcome=COMPLETED, restarted=_EACH_ONCE)
    assert stale <= directories(audited).keys()
