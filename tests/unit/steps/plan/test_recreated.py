"""Whether `plan` demands a reason while a changelog is not the one that its store was written to."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.model.readings.lag import ApplicationLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.recreated import RecreatedSeen, RecreatedTopic
from kstreams_runbooks.model.readings.status import KeptReading
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.plan import recreated
from kstreams_runbooks.steps.plan.recreated import require_state_kept
from kstreams_runbooks.steps.run.run import Run
from world.samples import declared, reading

LOST = RecreatedTopic("orders-counts-changelog", "changelog", "a", "b")


@pytest.fixture
def made() -> Plan:
    """A stop and restart that keeps the local state."""
    return restart_plan(reading(), declared(), None, {}, (), (), "code", at_once=True)


def asked(run: Run, **params: Any) -> Run:
    """The run with these fields of its form."""
    made = replace(run, record=replace(run.record, params=params))
    vars(made).update(declared=declared(), kafka={"bootstrap.servers": "127.0.0.1:1"})
    return made


def seen(monkeypatch: pytest.MonkeyPatch, found: RecreatedSeen | Missing) -> None:
    monkeypatch.setattr(recreated, "read_recreated", lambda *_: found)


def test_an_application_that_no_check_has_read_is_not_taken_for_a_sound_one(run: Run, made: Plan) -> None:
    """No broker is asked; a reading of another application.id counts as none."""
    [unread] = require_state_kept(asked(run), made)
    assert (unread.id, unread.severity, unread.object) == ("recreated-not-known", "warning", "orders")
    other = ApplicationLag("orders", "another", "classic", "Stable", ())
    run.ledger.keep_lag("demo", {"orders": KeptReading(1, other, expected={"orders": "a"})})
    assert require_state_kept(asked(run), made) == (unread,)


def test_what_fleet_check_accepted_is_shown_with_its_reason(
    run: Run, made: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lifts the refusal for later runs: each of them shows why."""
    seen(monkeypatch, RecreatedSeen((), {LOST.name: "rebuilt anyway"}))
    [finding] = require_state_kept(asked(run), made)
    assert (finding.id, finding.object) == ("recreated-acknowledged", LOST.name)
    assert finding.message.endswith("accepted at fleet_check with the reason: rebuilt anyway")


def test_a_restart_is_shown_and_kept_as_a_decision(
    run: Run, made: Plan, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seen(monkeypatch, RecreatedSeen((LOST,)))
    with caplog.at_level("INFO", logger="kstreams_runbooks.run"):
        [finding] = require_state_kept(asked(run), made)
    assert finding.id == "recreated-state-at-stake"
    assert "danger recreated-state-at-stake on orders-counts-changelog" in caplog.text
    assert len(run.ledger.evidence(run.key, kind="verdict", name="may_keep_state")) == 1


def test_what_loses_the_state_needs_a_reason_in_words(run: Run, made: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    seen(monkeypatch, RecreatedSeen((LOST,)))
    clears = replace(made, stages=(replace(made.bounces[0], clear_state=True),))
    with pytest.raises(Refused, match="trigger a new run with a reason in acknowledge_recreated"):
        require_state_kept(asked(run), clears)
    with pytest.raises(BadInput, match="acknowledge_recreated: is 1, without 3 letters"):
        require_state_kept(asked(run, acknowledge_recreated="1"), clears)
    [finding] = require_state_kept(asked(run, acknowledge_recreated=" rebuilt anyway "), clears)
    assert finding.message.endswith("accepted with the reason: rebuilt anyway")


def test_topics_that_cannot_be_compared_are_not_taken_for_the_same(
    run: Run, made: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen(monkeypatch, Missing("topic orders-counts-changelog is not visible to this login"))
    with pytest.raises(Inconclusive, match="whether a topic of orders was recreated is not known"):
        require_state_kept(asked(run), made)
