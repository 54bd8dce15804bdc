"""A planned downgrade on a real cluster under traffic: a library bump to an older release."""

import time

import pytest
from lab import report
from lab.afresh import afresh
from lab.application import FROM_RELEASE, TO_RELEASE, Deployed
from lab.judge import judged
from lab.stack import Stack
from world.endings import COMPLETED, NOTHING_CHANGED, begun, ended
from world.given import declared_as
from world.runs import command, finished, log_of

_NAMES = ("orders-1", "orders-2")


@pytest.fixture(scope="module")
def newer(stack: Stack) -> Stack:
    """Two instances on the newer release, under traffic."""
    afresh(stack, Deployed(release=TO_RELEASE))
    stack.start_traffic()
    time.sleep(5)
    return stack


@pytest.mark.long
def test_a_dry_run_shows_every_stage(newer: Stack) -> None:
    """What would be done, stage after stage; nothing is changed."""
    trial = begun(newer, target=FROM_RELEASE, dry_run=True)
    assert finished(newer, trial.run_id) == "success"
    assert "upgrade.from=3.4" in log_of(newer, trial.run_id, "bounce_1_first")
    drain = log_of(newer, trial.run_id, "drain_repartition_topics")
    assert "would wait until what is in the repartition topics now has been read" in drain
    assert "would delete local state of orders-1" in log_of(newer, trial.run_id, "start_application")
    ended(trial, state="success", outcome="dry run")


@pytest.mark.long
def test_a_downgrade_under_traffic_loses_nothing(newer: Stack) -> None:
    """4.3.1 to 3.4.1: upgrade.from first, drained, all down, state cleared, then the old release; judge at zero."""
    logs = {name: newer.lab.logs / f"{name}.log" for name in _NAMES}
    before = {name: len(log.read_text(encoding="utf-8")) for name, log in logs.items()}
    with declared_as(newer, limits={"bake_s": 3}):
        trial = begun(newer, target=FROM_RELEASE)
        assert finished(newer, trial.run_id) == "success"
    judgement = judged(newer)
    assert (judgement.code, judgement.faults()) == (0, {})
    restarted = tuple((number, name) for number in (1, 4) for name in _NAMES)
    document = ended(trial, state="success", outcome=COMPLETED, restarted=restarted)
    assert [card["misreads"] for card in document["cards"]] == [False] * 4
    for name in _NAMES:
        log = logs[name].read_text(encoding="utf-8")[before[name] :]
        assert [(start.version, start.upgrade_from) for start in report.starts_in(log)] == [
            (TO_RELEASE, "3.4"),
            (FROM_RELEASE, None),
        ]
        assert [line for line in log.splitlines() if report.COMPLAINT.search(line)] == []
    assert "every partition with something to read advances" in log_of(newer, trial.run_id, "verify")
    assert command(newer, "snapshot", "orders")[0] == 0


@pytest.mark.long
def test_a_second_downgrade_is_refused(newer: Stack) -> None:
    """After the test above everything runs the target: one sentence, nothing changed."""
    trial = begun(newer, target=FROM_RELEASE)
    ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert "every instance already runs 3.4.1" in log_of(newer, trial.run_id, "plan")
