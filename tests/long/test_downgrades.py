"""Planned downgrades under traffic that test_downgrade.py leaves out, and their way back."""

import time
from collections.abc import Iterator

import pytest
from lab import report
from lab.afresh import afresh
from lab.application import FROM_RELEASE, TO_RELEASE, Deployed
from lab.judge import judged
from lab.stack import Stack
from world.endings import COMPLETED, Trial, begun, begun_other, ended
from world.given import command_deployer, declared_as
from world.runs import approve, log_of, mark_run, reached

pytestmark = pytest.mark.long

_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2}
_LONG_BAKE = {"bake_s": 60.0}
_WARM_S = 10
_NAMES = ("orders-1", "orders-2")
_BRIDGE = "3.9.1"


@pytest.fixture(scope="module")
def busy(stack: Stack) -> Iterator[Stack]:
    """Two instances on the newer release under traffic, with gates that open soon; the judge reads all of it."""
    afresh(stack, Deployed(release=TO_RELEASE))
    with declared_as(stack, limits=_SHORT):
        stack.start_traffic()
        time.sleep(_WARM_S)
        yield stack
    assert judged(stack).faults() == {}


def runs(stack: Stack, name: str) -> tuple[str, str | None]:
    """Release and upgrade.from of the last start of an instance, by its own log."""
    last = report.starts_in((stack.lab.logs / f"{name}.log").read_text(encoding="utf-8"))[-1]
    return last.version, last.upgrade_from


def all_at(number: int) -> tuple[tuple[int, str], ...]:
    return tuple((number, name) for name in _NAMES)


def taken_back(stack: Stack, trial: Trial, *restarted: tuple[int, str]) -> None:
    """The undo of a run, to the newer release."""
    undo = begun_other(stack, "undo", run=trial.run_id)
    approve(stack, undo.run_id, "approve_undo")
    ended(undo, state="success", outcome=COMPLETED, restarted=restarted)
    assert {name: runs(stack, name) for name in _NAMES} == dict.fromkeys(_NAMES, (TO_RELEASE, None))


def test_equal_formats_need_no_bounce_and_the_undo_takes_all_back(busy: Stack) -> None:
    """4.3.1 to 3.9.1 and back: only the files differ."""
    trial = begun(busy, target=_BRIDGE)
    approve(busy, trial.run_id, "approve_plan")
    ended(trial, state="success", outcome=COMPLETED, restarted=all_at(2))
    assert {name: runs(busy, name) for name in _NAMES} == dict.fromkeys(_NAMES, (_BRIDGE, None))
    assert "not needed" in log_of(busy, trial.run_id, "drain_repartition_topics")
    taken_back(busy, trial, *all_at(1))


def test_scripts_of_a_team_stop_clear_and_start_too(busy: Stack) -> None:
    """The same through deployer `command`."""
    with declared_as(busy, deployer=command_deployer(busy.lab)):
        trial = begun(busy, target=FROM_RELEASE)
        approve(busy, trial.run_id, "approve_plan")
        ended(trial, state="success", outcome=COMPLETED, restarted=(*all_at(1), *all_at(4)))
        taken_back(busy, trial, *all_at(1))


def test_after_the_canary_one_instance_goes_back(busy: Stack) -> None:
    """The run is ended while the canary bakes with upgrade.from: the undo restarts that one instance alone."""
    with declared_as(busy, limits=_LONG_BAKE):
        trial = begun(busy, target=FROM_RELEASE)
        approve(busy, trial.run_id, "approve_plan")
        reached(busy, trial.run_id, "bounce_1_first", "deferred")
        time.sleep(_WARM_S)
        mark_run(busy, trial.run_id, "failed")
    taken_back(busy, trial, (1, "orders-1"))


def test_a_finished_downgrade_goes_back_all_at_once(busy: Stack) -> None:
    """4.3.1 to 3.4.1 and back, over both of its stages in one step."""
    trial = begun(busy, target=FROM_RELEASE)
    approve(busy, trial.run_id, "approve_plan")
    ended(trial, state="success", outcome=COMPLETED, restarted=(*all_at(1), *all_at(4)))
    taken_back(busy, trial, *all_at(1))
