"""Plans while a changelog is not the one that its store was written to: what loses the state, and what asks."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.recreated import accepted_before, may_keep_state, never_compared
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.decide.registry import DECISIONS
from kstreams_runbooks.ledger.codec import call_again, encode, encode_call
from kstreams_runbooks.model.local_state import TaskDirectories
from kstreams_runbooks.model.readings.recreated import RecreatedTopic
from kstreams_runbooks.model.runs.object_stages import DeleteTopics
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce, ClearState, StartAll, StopAll
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from world.samples import NEW, OLD, declared, reading

CHANGELOG = "orders-counts-changelog"
LOST = RecreatedTopic(CHANGELOG, "changelog", "a", "b")
GONE = replace(LOST, now=None)
STOP, START = StopAll(1), StartAll(3, OLD, ())


def plan(*, at_once: bool = True, static: bool = True, **changes: Any) -> Plan:
    made = restart_plan(
        reading=reading(),
        declared=declared(static_membership=static),
        release=None,
        settings={} if at_once else {"num.stream.threads": "2"},
        findings=(),
        limits=(),
        code="code",
        at_once=at_once,
    )
    return replace(made, **changes)


def judged(made: Plan, *topics: RecreatedTopic, reason: str = "", automatic: bool = False) -> Verdict:
    return may_keep_state(made, topics or (LOST,), declared(automatic_approval=automatic), reason)


@pytest.mark.parametrize("lost", [LOST, GONE])
@pytest.mark.parametrize("made", [plan(), plan(at_once=False), plan(stages=(STOP, START))])
def test_a_restart_that_keeps_state_and_tasks_is_a_question(made: Plan, lost: RecreatedTopic) -> None:
    """The approval names what is at stake."""
    verdict = judged(made, lost)
    assert verdict.outcome is Outcome.PROCEED
    [question] = verdict.findings
    assert (question.id, question.severity, question.object) == ("recreated-state-at-stake", "danger", CHANGELOG)
    assert lost.sentence in question.message
    assert "loses it for good" in question.message


def cleared(bounce: Bounce, **changes: Any) -> tuple[Bounce, ...]:
    return (replace(bounce, **changes),)


BOUNCE = plan().bounces[0]
DIRECTORY = TaskDirectories(("1_",), (CHANGELOG,))


@pytest.mark.parametrize(
    ("made", "cause"),
    [
        (plan(stages=cleared(BOUNCE, clear_state=True)), "stop_and_restart clears local state"),
        (plan(stages=cleared(BOUNCE, deletes=DIRECTORY)), "stop_and_restart clears task directories 1_*"),
        # What a directory restores is not known.
        (plan(stages=cleared(BOUNCE, deletes=TaskDirectories(("2_3",)))), "clears task directories 2_3"),
        (plan(stages=(STOP, ClearState(2), START)), "stop_and_restart clears local state"),
        (plan(stages=(STOP, replace(START, clear_state=True))), "stop_and_restart clears local state"),
        (plan(at_once=False, static=False), "rolling_bounce moves tasks to other instances"),
        (
            plan(stages=cleared(BOUNCE, settings=(("num.standby.replicas", "1"),))),
            "num.standby.replicas=1 makes instances restore copies of it",
        ),
    ],
)
def test_what_restores_the_store_is_refused_without_a_reason(made: Plan, cause: str) -> None:
    """With one the approval shows it, as a danger."""
    verdict = judged(made)
    assert verdict.outcome is Outcome.REFUSE
    [why] = verdict.reasons
    assert LOST.sentence in why
    assert cause in why
    assert "stop_and_restart with local_state=keep" in why
    assert "trigger a new run with a reason in acknowledge_recreated" in why
    accepted = judged(made, reason="the store is not needed, T-1")
    assert accepted.outcome is Outcome.PROCEED
    [finding] = accepted.findings
    assert (finding.id, finding.severity) == ("recreated-acknowledged", "danger")
    assert "accepted with the reason: the store is not needed, T-1" in finding.message
    assert cause in finding.message


@pytest.mark.parametrize(
    ("made", "topics"),
    [
        # Of another store.
        (plan(stages=cleared(BOUNCE, deletes=replace(DIRECTORY, changelogs=("orders-x-changelog",)))), (LOST,)),
    ],
)
def test_directories_of_other_stores_keep_it(made: Plan, topics: tuple[RecreatedTopic, ...]) -> None:
    assert [one.id for one in judged(made, *topics).findings] == ["recreated-state-at-stake"]


@pytest.mark.parametrize(
    ("made", "topics"),
    [
        (plan(stages=(DeleteTopics(1, ("orders-x",)),)), (LOST,)),
        # A reset of that store.
        (plan(stages=(STOP, ClearState(2), DeleteTopics(3, (CHANGELOG,)), replace(START, number=4))), (LOST,)),
        (plan(stages=cleared(BOUNCE, clear_state=True)), (replace(LOST, kind="input"),)),
        (plan(stages=cleared(BOUNCE, clear_state=True)), (replace(LOST, kind="repartition"),)),
    ],
)
def test_what_has_nothing_to_lose_is_not_asked(made: Plan, topics: tuple[RecreatedTopic, ...]) -> None:
    verdict = judged(made, *topics)
    assert (verdict.outcome, verdict.findings) == (Outcome.PROCEED, ())


def test_automatic_approval_is_not_an_answer() -> None:
    """A person has to accept what is at stake."""
    verdict = judged(plan(), automatic=True)
    assert verdict.outcome is Outcome.REFUSE
    assert "approvals of orders are automatic" in verdict.reasons[0]
    assert judged(plan(), automatic=True, reason="a demo").outcome is Outcome.PROCEED


def test_the_way_back_is_at_stake_too() -> None:
    """What an undo deletes, and the way back from 4.3."""
    up = plan(stages=cleared(BOUNCE, release=NEW, undo_deletes=DIRECTORY))
    [question] = judged(up).findings
    assert "an undo of this run clears its store" in question.message
    assert "the way back from 4.3 clears local state" in question.message
    assert "the way back from 4.3 clears" not in judged(plan()).findings[0].message


def test_the_decision_can_be_made_again_from_its_evidence() -> None:
    inputs: dict[str, Any] = {"plan": plan(), "recreated": (LOST,), "declared": declared(), "reason": ""}
    result = may_keep_state(**inputs)
    payload = encode_call(may_keep_state, inputs, result)
    assert call_again(DECISIONS["may_keep_state"], payload) == encode(result)


def test_a_plan_of_an_application_that_no_check_has_read_names_what_may_be_lost() -> None:
    """Missing data is no sound changelog; a reset of the stores builds them anew, and other stages touch no state."""
    [kept] = never_compared(plan())
    assert (kept.id, kept.severity, kept.object) == ("recreated-not-known", "warning", "orders")
    [lost] = never_compared(plan(stages=cleared(BOUNCE, deletes=DIRECTORY)))
    assert lost.severity == "danger"
    assert lost.message == (
        "fleet_check has not read orders (expected: every few minutes), so whether a changelog was deleted and created "
        "again is not known; stop_and_restart clears task directories 1_*, which loses the state of such a store; run "
        "`kstreams-runbooks trigger fleet_check`, and approve only if no changelog was deleted"
    )
    assert not list(never_compared(plan(stages=(STOP, DeleteTopics(2, (CHANGELOG,)), START))))
    assert not list(never_compared(plan(stages=())))


def test_what_a_check_accepted_is_shown_until_its_store_is_reset() -> None:
    """As a danger if the plan loses the state, with the reason of the person."""
    reasons = {CHANGELOG: "rebuilt anyway"}
    [kept] = accepted_before(plan(), reasons)
    assert (kept.id, kept.severity, kept.object) == ("recreated-acknowledged", "warning", CHANGELOG)
    [lost] = accepted_before(plan(stages=cleared(BOUNCE, clear_state=True)), reasons)
    assert lost.severity == "danger"
    assert lost.message == (
        "it was recreated; stop_and_restart clears local state: its state is lost; accepted at fleet_check with the "
        "reason: rebuilt anyway"
    )
    assert not list(accepted_before(plan(stages=(STOP, DeleteTopics(2, (CHANGELOG,)), START)), reasons))
    assert not list(accepted_before(plan(stages=()), reasons))
