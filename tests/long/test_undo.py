"""Undo on a real cluster under traffic: after every step of a library bump, and after its point of no return."""

import time
from collections.abc import Iterator

import pytest
from lab import report
from lab.afresh import afresh
from lab.airflow import APPROVER
from lab.application import FROM_RELEASE, TO_RELEASE, Deployed
from lab.judge import judged
from lab.stack import Stack
from world.endings import COMPLETED, DRY_RUN, NOTHING_CHANGED, STOPPED, begun, begun_other, ended
from world.given import declared_as
from world.runs import approve, dag_of, evidence, log_of, mark_run, question, reached

pytestmark = pytest.mark.long

_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2}
_LONG_BAKE = {"bake_s": 60.0}
_WARM_S = 10
_GUARDED = (TO_RELEASE, "3.4")


@pytest.fixture(scope="module")
def busy(stack: Stack) -> Iterator[Stack]:
    """Two instances on the old release under traffic, with gates that open soon; the judge looks at all of it."""
    afresh(stack, Deployed())
    with declared_as(stack, limits=_SHORT):
        stack.start_traffic()
        time.sleep(_WARM_S)
        yield stack
    assert judged(stack).faults() == {}


def starts(stack: Stack, name: str) -> list[tuple[str, str | None]]:
    """Release and upgrade.from of every start of an instance, by its own log."""
    text = (stack.lab.logs / f"{name}.log").read_text(encoding="utf-8")
    return [(start.version, start.upgrade_from) for start in report.starts_in(text)]


def undone(stack: Stack, run_id: str, *restarted: tuple[int, str]) -> dict[str, object]:
    """Take a run back, approved by another than who asks."""
    trial = begun_other(stack, "undo", run=run_id)
    approve(stack, trial.run_id, "approve_undo")
    document = ended(trial, state="success", outcome=COMPLETED, restarted=restarted)
    assert all(card["done"] for card in evidence(stack, run_id)["cards"])
    return document


def test_after_the_canary_one_instance_goes_back(busy: Stack) -> None:
    """The run is ended while the canary bakes: undo restarts that one instance, with its local state cleared."""
    with declared_as(busy, limits=_LONG_BAKE):
        trial = begun(busy)
        approve(busy, trial.run_id, "approve_plan")
        reached(busy, trial.run_id, "bounce_1_first", "deferred")
        time.sleep(_WARM_S)
        mark_run(busy, trial.run_id, "failed")
    before = starts(busy, "orders-2")
    document = undone(busy, trial.run_id, (1, "orders-1"))
    assert starts(busy, "orders-1")[-2:] == [_GUARDED, (FROM_RELEASE, None)]
    assert starts(busy, "orders-2") == before
    plan = document["plan"]
    assert isinstance(plan, dict)
    assert [(one["instances"], one["clear_state"]) for one in plan["stages"]] == [(["orders-1"], True)]
    [card] = evidence(busy, trial.run_id)["cards"]
    assert "MB in all of them, about" in card["cost"]


def test_after_bounce_1_every_instance_goes_back(busy: Stack) -> None:
    """Rejected at the point of no return: both go back, one after another. A dry run said so before."""
    trial = begun(busy)
    approve(busy, trial.run_id, "approve_plan")
    question(busy, trial.run_id, "Will do:** bounce 2")
    busy.api(APPROVER).answer(dag_of(trial.run_id), trial.run_id, "approve_bounce_2", "Reject")
    ended(trial, state="failed", outcome=STOPPED, restarted=((1, "orders-1"), (1, "orders-2")))
    rehearsal = begun_other(busy, "undo", run=trial.run_id, dry_run=True)
    ended(rehearsal, state="success", outcome=DRY_RUN)
    assert "would delete everything in" in log_of(busy, rehearsal.run_id, "undo")
    undone(busy, trial.run_id, (1, "orders-1"), (1, "orders-2"))
    for name in ("orders-1", "orders-2"):
        assert starts(busy, name)[-2:] == [_GUARDED, (FROM_RELEASE, None)]
    again = begun_other(busy, "undo", run=trial.run_id)
    document = ended(again, state="failed", outcome=NOTHING_CHANGED)
    assert "has no undo card left" in document["run"]["outcome_sentence"]


def test_after_the_point_of_no_return_the_guard_comes_back_first(busy: Stack) -> None:
    """upgrade.from on every instance, the repartition topics read to their end, then the old release: nothing lost."""
    trial = begun(busy)
    approve(busy, trial.run_id, "approve_plan")
    approve(busy, trial.run_id, "approve_bounce_2")
    ended(
        trial,
        state="success",
        outcome=COMPLETED,
        restarted=((1, "orders-1"), (1, "orders-2"), (2, "orders-1"), (2, "orders-2")),
    )
    document = undone(busy, trial.run_id, (1, "orders-1"), (1, "orders-2"), (2, "orders-1"), (2, "orders-2"))
    for name in ("orders-1", "orders-2"):
        assert starts(busy, name)[-4:] == [_GUARDED, (TO_RELEASE, None), _GUARDED, (FROM_RELEASE, None)]
    verdicts = document["verdicts"]
    assert isinstance(verdicts, list)
    assert {one["payload"]["result"]["outcome"] for one in verdicts if one["name"] == "read_up_to"} == {"proceed"}


def test_an_unknown_run_and_another_applications_run_are_bad_input(busy: Stack) -> None:
    """One sentence, before anything is changed."""
    trial = begun_other(busy, "undo", run="no-such-run")
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert "run no-such-run: unknown to ledger" in document["run"]["outcome_sentence"]
    assert "REFUSED, nothing was changed" in log_of(busy, trial.run_id, "read_cards")


def test_a_world_that_has_moved_on_is_refused(busy: Stack) -> None:
    """Another run changed the application since: its own undo comes first."""
    first = begun(busy)
    approve(busy, first.run_id, "approve_plan")
    question(busy, first.run_id, "Will do:** bounce 2")
    busy.api(APPROVER).answer(dag_of(first.run_id), first.run_id, "approve_bounce_2", "Reject")
    ended(first, state="failed", outcome=STOPPED, restarted=((1, "orders-1"), (1, "orders-2")))
    second = begun(busy)
    approve(busy, second.run_id, "approve_plan")
    approve(busy, second.run_id, "approve_bounce_2")
    ended(second, state="success", outcome=COMPLETED, restarted=((2, "orders-1"), (2, "orders-2")))
    late = begun_other(busy, "undo", run=first.run_id)
    document = ended(late, state="failed", outcome=NOTHING_CHANGED)
    assert "it was changed since; undo that first" in document["run"]["outcome_sentence"]
