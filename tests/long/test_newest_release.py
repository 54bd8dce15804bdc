"""Bumps to the newest release under traffic and the ways back: by undo, and planned to the minor before it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from lab import report
from lab.afresh import afresh
from lab.application import FROM_RELEASE, NEWEST, TO_RELEASE, Deployed
from lab.judge import judged
from lab.stack import Stack
from world.endings import COMPLETED, begun, begun_other, ended
from world.given import declared_as
from world.runs import approve

pytestmark = pytest.mark.long

_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2}
_NAMES = Deployed().names
_WARM_S = 10
_TRANSACTIONAL = "enable.transactional.statestores"
_BRIDGE = "3.9.1"


@pytest.fixture(params=[_BRIDGE, TO_RELEASE])
def older(stack: Stack, request: pytest.FixtureRequest) -> Iterator[str]:
    """Two instances on an older release under traffic; the judge reads all of it at the end."""
    with under_traffic(stack, Deployed(release=request.param)):
        yield request.param


@pytest.fixture(params=["false", "true"])
def newest(stack: Stack, request: pytest.FixtureRequest) -> Iterator[Stack]:
    """The same on the newest release, with and without transactional stores."""
    with under_traffic(stack, Deployed(release=NEWEST, settings={_TRANSACTIONAL: request.param})):
        yield stack


@contextmanager
def under_traffic(stack: Stack, deployed: Deployed) -> Iterator[None]:
    """The application from nothing, in the middle of traffic; nothing is lost or doubled until the body has ended."""
    afresh(stack, deployed)
    with declared_as(stack, limits=_SHORT):
        stack.start_traffic()
        time.sleep(_WARM_S)
        yield
    assert judged(stack).faults() == {}


def runs(stack: Stack) -> set[tuple[str, str | None]]:
    """Release and upgrade.from of the last start of each instance, by its own log."""
    logs = [(stack.lab.logs / f"{name}.log").read_text(encoding="utf-8") for name in _NAMES]
    return {(last.version, last.upgrade_from) for last in (report.starts_in(text)[-1] for text in logs)}


def each(*numbers: int) -> tuple[tuple[int, str], ...]:
    return tuple((number, name) for number in numbers for name in _NAMES)


def test_a_bump_with_two_bounces(stack: Stack) -> None:
    """From 3.4, with upgrade.from in the first."""
    with under_traffic(stack, Deployed(release=FROM_RELEASE)):
        trial = begun(stack, target=NEWEST)
        approve(stack, trial.run_id, "approve_plan")
        approve(stack, trial.run_id, "approve_bounce_2")
        ended(trial, state="success", outcome=COMPLETED, restarted=each(1, 2))
        assert runs(stack) == {(NEWEST, None)}


def test_a_bump_with_one_bounce_and_its_undo(stack: Stack, older: str) -> None:
    """From 3.9 and from 4.3."""
    trial = begun(stack, target=NEWEST)
    approve(stack, trial.run_id, "approve_plan")
    ended(trial, state="success", outcome=COMPLETED, restarted=each(1))
    assert runs(stack) == {(NEWEST, None)}
    undo = begun_other(stack, "undo", run=trial.run_id)
    approve(stack, undo.run_id, "approve_undo")
    ended(undo, state="success", outcome=COMPLETED, restarted=each(1))
    assert runs(stack) == {(older, None)}


def test_the_minor_before_opens_the_stores(newest: Stack) -> None:
    """4.4 to 4.3: both instances are down at once, and their directories stay."""
    before = directories(newest)
    trial = begun(newest, target=TO_RELEASE)
    approve(newest, trial.run_id, "approve_plan")
    ended(trial, state="success", outcome=COMPLETED, restarted=each(2))
    assert runs(newest) == {(TO_RELEASE, None)}
    assert before
    assert before <= directories(newest)


def directories(stack: Stack) -> set[tuple[str, int]]:
    """The task directories of both instances, with the inode that a deletion would change."""
    return {
        (str(path), path.stat().st_ino)
        for name in _NAMES
        for path in (stack.lab.instances / name / "state").glob("*/[0-9]*_[0-9]*")
    }
