"""How a side began: by the run that has started it, the processes of that start, and what was read by its end."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.instances.verification import change_verified, undo_verified
from kstreams_runbooks.decide.plans.cutover import cutover_plan
from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.ledger.codec import encode, encode_call
from kstreams_runbooks.model.readings.disorder import HistorySpan
from kstreams_runbooks.model.readings.readings import Missing, Start
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.cutover import history
from kstreams_runbooks.steps.cutover.history import proof_of_start, read_by, side_history, start_of, way_back_text
from kstreams_runbooks.steps.run.run import Run
from world.cutting import cutover, restart
from world.samples import instance, reading

SPANS = (HistorySpan("orders", 0, 1_000, 9_000), HistorySpan("orders", 1, None, None))


@pytest.fixture
def plan() -> Plan:
    """A cutover of two outputs."""
    return cutover_plan(restart(), cutover())


def verified(run: Run, dag_id: str, application: str, about: str, at_ms: int, outcome: str = "completed") -> str:
    """The key of a run of that application that has verified another one, or itself, at that time."""
    decision = undo_verified if dag_id == "undo" else change_verified
    asked = replace(run.record, dag_id=dag_id, run_id=f"{dag_id}-{at_ms}", application=application, started_at_ms=at_ms)
    record = run.ledger.start_run(asked)
    after = reading(instance("orders-1"), at_ms=at_ms)
    call = encode_call(decision, {"after": after}, Verdict(Outcome.PROCEED, ("as planned",)))
    call |= {"application": about}
    run.ledger.record(record.run_key, "verify", 1, "verdict", decision.__name__, call, at_ms)
    run.ledger.conclude(record.run_key, outcome, "it ended", at_ms)
    return record.run_key


def before(run: Run) -> Any:
    """How `orders-v2` began, with what was read by then in place of a reason; None if no run has started it."""
    proof = proof_of_start(run, "orders-v2")
    return None if proof is None else start_of(run, proof, str(read_by(run, proof)))


def note(run: Run, key: str, name: str, **payload: Any) -> None:
    """A note about the application in the journal of that run."""
    run.ledger.record(key, "start", 1, "note", name, encode({"application": "orders-v2", **payload}), 1)


def test_only_a_run_that_has_started_a_side_shows_how_it_began(run: Run) -> None:
    """A cutover to it, or one beside it, found processes that may have been restarted before."""
    assert before(run) is None
    assert side_history(run, "orders-v2").unknown == (
        "no completed run of blue_green_start or blue_green_cutover, and no undo of one after its seam, has started "
        "orders-v2 and verified it"
    )
    verified(run, "blue_green_start", "orders-v2", "orders-v2", 1)
    verified(run, "blue_green_cutover", "orders", "orders-v2", 2)
    verified(run, "blue_green_cutover", "payments", "orders-v2", 3)
    verified(run, "rolling_bounce", "orders-v2", "orders-v2", 4)
    verified(run, "blue_green_cutover", "orders-v2", "orders-v2", 5, "stopped")
    assert before(run).verified.taken.at_ms == 1
    verified(run, "blue_green_cutover", "orders-v2", "orders-v2", 6)
    assert before(run).verified.taken.at_ms == 6


def test_an_undo_shows_how_the_old_side_began_if_it_went_on_from_a_seam(run: Run) -> None:
    """It notes what was read since then; another undo has found processes, or started them elsewhere."""
    verified(run, "blue_green_start", "orders-v2", "orders-v2", 1)
    undone = verified(run, "undo", "orders-v2", "orders-v2", 2)
    assert before(run).verified.taken.at_ms == 1
    note(run, undone, "read before it was verified", application="orders", spans=SPANS)
    assert before(run).verified.taken.at_ms == 1
    note(run, undone, "read before it was verified", spans=SPANS)
    assert (before(run).verified.taken.at_ms, before(run).early) == (2, str(SPANS))


def test_what_was_read_by_the_end_of_the_start_is_that_of_the_same_run(run: Run) -> None:
    """A note from before the proof lacks what came between; another run and another side have their own."""
    first = verified(run, "blue_green_cutover", "orders-v2", "orders-v2", 1)
    lacking = str(Missing("the times of what it had read by then are not kept"))
    assert before(run).early == lacking
    note(run, first, "read before it was verified", application="orders", spans=SPANS)
    assert before(run).early == lacking
    note(run, first, "read before it was verified", spans=SPANS)
    assert before(run).early == str(SPANS)
    note(run, first, "read before it was verified", spans=Missing("no answer"))
    assert before(run).early == str(Missing("no answer"))
    verified(run, "blue_green_cutover", "orders-v2", "orders-v2", 2)
    assert before(run).early == lacking


def test_the_first_process_of_each_instance_counts(run: Run) -> None:
    """One that is started again by a cleared task has counters of its own."""
    key = verified(run, "blue_green_start", "orders-v2", "orders-v2", 1)
    assert before(run).first == {}
    note(run, key, "first seen", starts={"orders-1": Start(500, 41)})
    note(run, key, "first seen", starts={"orders-1": Start(900, 43), "orders-2": Start(901, 44)})
    note(run, key, "first seen", application="orders", starts={"orders-3": Start(1, 1)})
    assert before(run).first == {"orders-1": Start(500, 41), "orders-2": Start(901, 44)}


@pytest.mark.parametrize(
    ("dropped", "text"),
    [
        (0, "orders has dropped 0 late records since its start (a way back: limit 0)"),
        (Missing("orders-1: a task moved"), "would be inconclusive: orders-1: a task moved"),
        (Unreachable("no broker answers"), "would be inconclusive: no broker answers"),
    ],
)
def test_a_way_back_that_would_be_inconclusive_is_said_at_once(
    run: Run, monkeypatch: pytest.MonkeyPatch, dropped: Any, text: str
) -> None:
    """By the proof of this run, which is not completed yet; a look that fails does not end what has succeeded."""

    def of_proof(*_: Any) -> Any:
        if isinstance(dropped, Exception):
            raise dropped
        return dropped

    call = encode_call(change_verified, {"after": reading(instance("orders-1"))}, Verdict(Outcome.PROCEED, ("so",)))
    run.keep("verdict", change_verified.__name__, call | {"application": run.record.application})
    monkeypatch.setattr(history, "_of_proof", of_proof)
    assert text in way_back_text(run)
