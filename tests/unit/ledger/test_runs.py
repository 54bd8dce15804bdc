"""Runs, plans, remembered facts, evidence, approvals and cards on a real SQLite file."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from kstreams_runbooks.errors import BadInput, WriteRefused
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.runs.ledger import Approval, Card

Start = Callable[..., str]


def test_a_run_is_kept_once(ledger: Ledger, start: Start) -> None:
    """A later step that starts the run again gets what the first one wrote."""
    key = start("r1")
    again = ledger.start_run(replace(ledger.run(key), reason="another", started_at_ms=9_999))
    assert (again.reason, again.started_at_ms) == ("ticket 7", 1_000)
    assert again == ledger.run(key)


def test_a_bare_run_id_is_enough_where_one_dag_has_it(ledger: Ledger, start: Start) -> None:
    """Two DAGs with the same run id have to be told apart by the person."""
    key = start("r1")
    assert ledger.run("r1").run_key == key
    start("r1", dag_id="undo")
    with pytest.raises(BadInput, match="2 DAGs have it; give one of library_bump/r1, undo/r1"):
        ledger.run("r1")


def test_an_unknown_run_names_the_nearest(ledger: Ledger, start: Start) -> None:
    """A mistyped id is answered with what may have been meant, in an empty ledger with that it is empty."""
    with pytest.raises(BadInput, match="the ledger has no runs"):
        ledger.run("nothing")
    start("manual__2026-11-21T04:00:00")
    with pytest.raises(BadInput, match=r"did you mean library_bump/manual__2026-11-21T04:00:00\?"):
        ledger.run("manual__2026-11-21T04:00:01")


def test_open_runs_are_those_without_an_outcome(ledger: Ledger, start: Start) -> None:
    """Oldest first; a concluded run is listed only when all are asked for."""
    late, early = start("late", at_ms=2_000), start("early", at_ms=1_000)
    ledger.conclude(early, "completed", "all is well", 3_000)
    assert [run.run_key for run in ledger.runs()] == [early, late]
    assert [run.run_key for run in ledger.runs(open_only=True)] == [late]
    assert (ledger.run(early).outcome, ledger.run(early).ended_at_ms) == ("completed", 3_000)


def test_the_first_value_remembered_stays(ledger: Ledger, start: Start) -> None:
    """Also among many that come at once; every one of them is told the value that stayed, as JSON has it."""
    key = start("r1")
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: ledger.remember(key, "start", (number, "x")), range(32)))
    assert len({tuple(answer) for answer in answers}) == 1
    assert ledger.recall(key, "start") == answers[0]
    assert isinstance(answers[0], list)
    assert ledger.recall(key, "other") is None


def test_a_plan_stays_once_the_run_has_written(ledger: Ledger, start: Start) -> None:
    """Before the first write a plan may be replaced; after it only the same one is taken."""
    key = start("r1")
    assert ledger.plan(key) is None
    ledger.store_plan(key, "aaaa", {"n": 1})
    ledger.store_plan(key, "bbbb", {"n": 2})
    ledger.mark_written(key, 5_000)
    ledger.mark_written(key, 6_000)
    ledger.store_plan(key, "bbbb", {"n": 2})
    with pytest.raises(WriteRefused, match="has written under plan bbbb"):
        ledger.store_plan(key, "cccc", {"n": 3})
    assert ledger.plan(key) == {"n": 2}
    assert (ledger.run(key).plan_digest, ledger.run(key).wrote_at_ms) == ("bbbb", 5_000)


def test_a_run_that_writes_again_has_not_ended(ledger: Ledger, start: Start) -> None:
    """Cleared after its end and stopped before its next one: the outcome of before is not shown for it."""
    key = start("r1")
    ledger.mark_written(key, 5_000)
    ledger.conclude(key, "completed", "all well", 6_000)
    ledger.mark_written(key, 7_000)
    again = ledger.run(key)
    assert (again.outcome, again.outcome_sentence, again.ended_at_ms) == (None, None, None)
    assert again.wrote_at_ms == 5_000


def test_evidence_comes_back_as_it_was_written(ledger: Ledger, start: Start) -> None:
    """In order, filtered by kind, name and task; other runs' evidence is not among it."""
    key, other = start("r1"), start("r2")
    payload = {"text": "größer", "nested": [{"offset": 2**53}, None, True]}
    first = ledger.record(key, "observe", 1, "reading", "application", payload, 1)
    second = ledger.record(key, "check", 1, "verdict", "ready", {"outcome": "proceed"}, 2)
    ledger.record(other, "check", 1, "verdict", "ready", {}, 3)
    assert [piece.id for piece in ledger.evidence(key)] == [first, second]
    assert ledger.evidence(key, kind="reading")[0].payload == payload
    assert [piece.id for piece in ledger.evidence(key, name="ready", task_id="check")] == [second]
    with pytest.raises(BadInput, match="kind 'gossip'"):
        ledger.record(key, "check", 1, "gossip", "x", {}, 4)


def test_evidence_needs_a_run(ledger: Ledger) -> None:
    """A foreign key holds what would otherwise be lost from view."""
    with pytest.raises(BadInput, match="a run has to be started"):
        ledger.record("library_bump/none", "observe", 1, "reading", "application", {}, 1)
    with pytest.raises(BadInput, match="unknown to the ledger"):
        ledger.mark_written("library_bump/none", 1)


def test_the_last_approval_of_a_task_counts(ledger: Ledger, start: Start) -> None:
    """Earlier ones stay as evidence."""
    key = start("r1")
    first = Approval(key, "approve_plan", "aaaa", "approver", 1, 100)
    last = Approval(key, "approve_plan", "bbbb", "admin", 2, 200, "broker on fire")
    ledger.approve(first)
    ledger.approve(last)
    assert ledger.approval(key, "approve_plan") == last
    assert ledger.approval(key, "approve_bounce_2") is None
    assert ledger.approvals(key) == (first, last)


def test_cards_are_kept_in_their_order_and_finished_once(ledger: Ledger, start: Start) -> None:
    """A card cannot be overwritten: it may be the only way back."""
    key = start("r1")
    card = Card(
        key,
        2,
        "bounce_1_rest",
        "bounce 1",
        "orders-2",
        "w",
        "u",
        "c",
        False,
        False,
        {"release": "3.4.1"},
        5,
        "orders",
        "demo",
        1,
    )
    ledger.write_card(card)
    ledger.write_card(replace(card, seq=1, object="orders-1"))
    with pytest.raises(BadInput, match="undo card 2 is there already"):
        ledger.write_card(replace(card, undo="another"))
    ledger.finish_card(key, 2)
    assert [(each.seq, each.object, each.done) for each in ledger.cards(key)] == [
        (1, "orders-1", False),
        (2, "orders-2", True),
    ]
    with pytest.raises(BadInput, match="no undo card 3"):
        ledger.finish_card(key, 3)
