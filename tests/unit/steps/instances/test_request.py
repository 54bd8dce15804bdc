"""Where a person deploys: what is requested, and that a rerun finds its place; on a real SQLite ledger."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks.deployers.manual import ManualDeployer
from kstreams_runbooks.errors import Inconclusive, Refused, WriteRefused
from kstreams_runbooks.fleet.deployers.manual import ManualSettings
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, Start
from kstreams_runbooks.model.runs.gate import Awaited
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.question import QUESTION
from kstreams_runbooks.steps.instances.request import REQUESTED, remove_left, request_bounce
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.wording import unmarked
from world.samples import BOUNCE_1, NEW, declared, down, instance, member, reading

BEFORE = Start(500, 41)
AFTER = Start(900, 50)
DONE = instance("orders-1", release=NEW, settings=BOUNCE_1.settings, start=AFTER)


@pytest.fixture
def plan(plan: Plan) -> Plan:
    """The plan of a bump that a person deploys, without static membership, with the limits of its waits."""
    limits = (*plan.limits, ("deploy_wait_h", 8.0), ("gate_interval_s", 0.01))
    return replace(plan, limits=limits, facts=replace(plan.facts, static_membership=False))


@pytest.fixture
def by_hand(run: Run, tmp_path: Path) -> Run:
    """The same run where a person deploys; what can be looked at is always the old state."""
    document = {
        "schema_version": 1,
        "instances": [
            {
                "instance": "orders-1",
                "process": "running",
                "started_at_ms": None,
                "pid": 41,
                "release": "3.4.1",
                "settings": {},
                "applied": True,
            }
        ],
    }
    (tmp_path / "instances.json").write_text(json.dumps(document))
    settings = ManualSettings.model_validate(
        {
            "kind": "manual",
            "instances": [{"name": name, "metrics": "http://x:1"} for name in ("orders-1",)],
            "releases": {"3.4.1": "orders:17", NEW: "orders:18"},
            "commands": {"instances": {"run": ["cat", str(tmp_path / "instances.json")]}},
        }
    )
    run.__dict__["declared"] = declared()
    run.__dict__["deployer"] = ManualDeployer(settings, application_id="orders", dry_run=False)
    return run


@pytest.fixture
def removed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the members that were removed, instead of a broker."""
    ids: list[str] = []
    monkeypatch.setattr(
        "kstreams_runbooks.steps.instances.request.remove",
        lambda _, members: ids.extend(one.member_id for one in members),
    )
    return ids


def said(run: Run, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Lines that begin with the run's application."""
    return [record.getMessage().partition("] ")[2] for record in caplog.records if run.record.application]


def requested(run: Run, now: ApplicationReading) -> Awaited | None:
    """One request for orders-1 in bounce 1."""
    one = now.instance("orders-1")
    assert not isinstance(one, Missing)
    return request_bounce(run, BOUNCE_1, now, one)


def test_a_person_is_asked_with_everything_that_is_needed(
    by_hand: Run, removed: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Card first, then the sentence; nothing is removed while the old start lives."""
    caplog.set_level("INFO", "kstreams_runbooks.run")
    awaited = requested(by_hand, reading())
    assert awaited == Awaited("orders-1", BOUNCE_1, BEFORE, (member("orders-1"),))
    [card] = by_hand.ledger.cards(by_hand.key)
    assert (card.object, card.undo) == (
        "orders-1",
        "set orders-1 back to 3.4.1, with local state cleared first (no way back in place)",
    )
    assert card.facts["by_hand"][-1].startswith("# set orders-1 to release 3.4.1 (orders:17) without settings")
    assert by_hand.ledger.run(by_hand.key).wrote_at_ms is not None
    [note] = by_hand.ledger.evidence(by_hand.key, kind="note", name=REQUESTED)
    [request] = note.payload["requests"]
    assert request.startswith(
        "set orders-1 to release 4.3.1 (orders:18) with upgrade.from=3.4 and without other setting"
    )
    lines = said(by_hand, caplog)
    assert f"PLEASE {request}" in lines
    assert "waits for it for up to 8 h (deploy_wait_h)" in lines
    assert removed == []


def test_the_person_is_told(by_hand: Run, removed: list[str], told: Callable[[], list[dict[str, Any]]]) -> None:
    """What is wanted and until when; cleared and asked by the same try, nothing new."""
    requested(by_hand, reading())
    requested(by_hand, reading())
    [message] = told()
    assert message["subject"] == "[orders @ demo] needs you: deploy orders-1"
    assert "set orders-1 to release 4.3.1 (orders:18) with upgrade.from=3.4" in message["body"]
    assert message["deadline_ms"] - message["at_ms"] == pytest.approx(8 * 3_600_000, abs=5_000)
    assert removed == []


def test_the_request_is_left_where_a_terminal_can_read_it(by_hand: Run, left: list[tuple[str, dict[str, Any]]]) -> None:
    """The note and the message alone had it; once it is done nothing is asked any more."""
    requested(by_hand, reading())
    [(key, asked)] = left
    assert key == QUESTION
    assert asked["subject"] == "[orders @ demo] deploy orders-1; the run observes it and goes on"
    assert "set orders-1 to release 4.3.1 (orders:18) with upgrade.from=3.4 and without other setting" in unmarked(
        asked["body"]
    )
    assert (asked["may_answer"], " UTC" in asked["until"]) == ("", True)
    assert asked["asked_at_ms"] == pytest.approx(now_ms(), abs=60_000)


def test_state_is_cleared_by_the_person_too(by_hand: Run, removed: list[str]) -> None:
    """Stopped first: it is asked for in this order."""
    one = reading().instance("orders-1")
    assert not isinstance(one, Missing)
    request_bounce(by_hand, replace(BOUNCE_1, clear_state=True), reading(), one)
    [note] = by_hand.ledger.evidence(by_hand.key, kind="note", name=REQUESTED)
    assert [request.split(" ")[0] for request in note.payload["requests"]] == ["stop", "delete", "set"]
    assert removed == []


def test_a_rerun_while_nothing_was_done_asks_again(by_hand: Run) -> None:
    """For the same, from the same start; the way back stays the one from before."""
    first, second = requested(by_hand, reading()), requested(by_hand, reading())
    assert first == second
    assert {card.undo for card in by_hand.ledger.cards(by_hand.key)} == {
        "set orders-1 back to 3.4.1, with local state cleared first (no way back in place)"
    }


def test_a_rerun_after_it_was_done_asks_nobody(by_hand: Run) -> None:
    """Only the gate is left; and it is the same where the run never asked."""
    now = reading(DONE, instance("orders-2"))
    assert requested(by_hand, now) is None
    assert by_hand.ledger.cards(by_hand.key) == []
    requested(by_hand, reading())
    assert requested(by_hand, now) is None
    assert len(by_hand.ledger.cards(by_hand.key)) == 1


def test_what_is_set_but_still_the_old_start_is_not_done(by_hand: Run) -> None:
    """Whatever an instances command says of it: no restart was seen since it was asked for."""
    requested(by_hand, reading())
    same = instance("orders-1", release=NEW, settings=BOUNCE_1.settings, start=BEFORE)
    awaited = requested(by_hand, reading(same, instance("orders-2")))
    assert awaited is not None
    assert awaited.previous == BEFORE


def test_a_rerun_in_the_middle_removes_what_the_old_start_left(by_hand: Run, removed: list[str]) -> None:
    """The person has stopped it: its members go, and it is waited for without them."""
    now = reading()
    requested(by_hand, now)
    stopped = reading(down("orders-1"), instance("orders-2"), group=now.group)
    awaited = requested(by_hand, stopped)
    assert awaited == Awaited("orders-1", BOUNCE_1, BEFORE)
    assert removed == ["orders-1-1"]


def test_nobody_is_asked_where_it_could_not_be_seen(by_hand: Run) -> None:
    """No metrics, no start: a new one could not be told from the old one. Nothing was written."""
    blind = replace(instance("orders-1"), streams=Missing("connection refused"))
    with pytest.raises(Inconclusive, match="orders-1 is not requested: which start it runs cannot be read"):
        requested(by_hand, reading(blind, instance("orders-2")))
    unseen = replace(instance("orders-1"), deployment=Missing("the instances command is away"))
    with pytest.raises(Inconclusive, match="orders-1 is not touched: the instances command is away"):
        requested(by_hand, reading(unseen, instance("orders-2")))
    assert by_hand.ledger.cards(by_hand.key) == []


def test_guards_speak_before_a_person_is_asked(by_hand: Run, tmp_path: Path) -> None:
    """The other instance is not well; an obstacle that `instances` names."""
    with pytest.raises(Refused, match="orders-1 is not touched: orders-2 is in ERROR"):
        requested(by_hand, reading(instance("orders-1"), instance("orders-2", state="ERROR")))
    text = (tmp_path / "instances.json").read_text().replace('"settings": {}', '"settings": {"a.b": "c"}')
    (tmp_path / "instances.json").write_text(text)
    with pytest.raises(WriteRefused, match=r"orders-1: the instances command prints a\.b among its settings"):
        requested(by_hand, reading())
    assert by_hand.ledger.cards(by_hand.key) == []


def test_members_go_once_the_old_start_is_certainly_gone(by_hand: Run, removed: list[str]) -> None:
    """A second time there is nothing left to do."""
    awaited = Awaited("orders-1", BOUNCE_1, BEFORE, (member("orders-1"),))
    assert remove_left(by_hand, reading(), awaited) == awaited
    now = reading(DONE, instance("orders-2"), group=reading().group)
    assert remove_left(by_hand, now, awaited).members == ()
    assert remove_left(by_hand, now, replace(awaited, members=())).members == ()
    assert removed == ["orders-1-1"]
