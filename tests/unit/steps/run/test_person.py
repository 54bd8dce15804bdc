"""A person's answer, and nothing else, ends a stage that only a person can make; on a real ledger."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.exceptions import TaskAwaitingInput
from kstreams_runbooks import CHECKOUT
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.ledger.card_facts import card_facts
from kstreams_runbooks.model.runs.cards import InputsPaused, InstanceMoved, PersonAsked
from kstreams_runbooks.model.runs.object_stages import AskPerson, PauseInputs, ResumeInputs
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.question import WITH_REASON
from kstreams_runbooks.model.runs.stages import StartAll
from kstreams_runbooks.steps.run.person import ANSWERED, require_done
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import Step
from kstreams_runbooks.steps.stages.perform import perform
from world.samples import NEW, card, declared

ASKS = AskPerson(1, "stop the nightly job", "start the nightly job")
PAUSES = PauseInputs(3, ("orders-running", "elsewhere"))
STAGES = (ASKS, StartAll(2, NEW, ()), PAUSES, ResumeInputs(4, ("elsewhere",)))
DEMO = {
    "SUPERVISOR": "http://127.0.0.1:19002",
    "DIR": "/srv/demo",
    "RELEASES": "/srv/releases",
    "METRICS_1": "http://127.0.0.1:19011/jolokia",
    "METRICS_2": "http://127.0.0.1:19012/jolokia",
}
OPTIONS = ["Stage 1 is done", "Stage 3 is done", "Stage 4 is done", "It cannot be done"]


@pytest.fixture
def plan(plan: Plan) -> Plan:
    """A plan that asks a person three times."""
    return replace(plan, stages=STAGES)


@pytest.fixture
def asked(run: Run, config: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Every question that Airflow got; the fleet declares `orders-running` as an output of `orders`."""
    questions: list[dict[str, Any]] = []

    @contextmanager
    def reported(*_: object) -> Iterator[Run]:
        yield run

    shutil.copytree(CHECKOUT / "config", config, dirs_exist_ok=True)
    (config / "notifications.yaml").unlink()
    for name, value in DEMO.items():
        monkeypatch.setenv(f"DEMO_{name}", value)
    room = "kstreams_runbooks.steps.run"
    monkeypatch.setattr(f"{room}.person.upsert_hitl_detail", lambda **asked: questions.append(asked))
    monkeypatch.setattr(f"{room}.person.get_current_context", lambda: {"ti": SimpleNamespace(id="7")})
    monkeypatch.setattr(f"{room}.person.reported", reported)
    monkeypatch.setattr(f"{room}.step.reported", reported)
    vars(run)["declared"] = declared(limits=(("deploy_wait_h", 8.0),))
    return questions


@pytest.fixture
def task(run: Run, asked: list[dict[str, Any]]) -> Step:  # noqa: ARG001 - it asks
    """A task that performs the first stage and the third."""

    def act(of: Run) -> None:
        perform(of, ASKS, {})
        perform(of, PAUSES, {})

    return Step(task_id="act", what="acts", act=act)


def answer(task: Step, option: str | list[str], by: str = "oncall", reason: str | None = None) -> None:
    """An answer comes, and the task begins again."""
    event = {"chosen_options": [option] if isinstance(option, str) else option, "params_input": {"reason": reason}}
    task.person_answered({}, {**event, "responded_by_user": {"id": "7", "name": by}})


def answers(run: Run) -> list[tuple[int, bool, str]]:
    """Stage, done, and who, of every answer that counted."""
    kept = [one.payload for one in run.ledger.evidence(run.key, kind="note", name=ANSWERED)]
    return [(one["stage"], one["done"], one["by"]) for one in kept]


def test_each_request_waits_for_its_own_answer(run: Run, asked: list[dict[str, Any]], task: Step) -> None:
    """Airflow keeps the first question of a task: it has all of them, and an answer names its stage."""
    with pytest.raises(TaskAwaitingInput) as parked:
        task.execute({})
    assert parked.value.method_name == "person_answered"
    (question,) = asked
    assert question["options"] == OPTIONS
    assert "- **Stage 1:** stop the nightly job" in question["body"]
    assert "pause the producers of orders-running (written by orders of team-orders), elsewhere; keep" in (
        question["body"].replace("\\", "")
    )
    # A stop before it has written the cards of a later start.
    run.ledger.write_card(card(run_key=run.key, seq=2, stage=9))
    with pytest.raises(TaskAwaitingInput):
        answer(task, "Stage 1 is done")
    answer(task, "Stage 3 is done", "approver")
    assert answers(run) == [(1, True, "oncall"), (3, True, "approver")]
    kinds = [type(card_facts(one)) for one in run.ledger.cards(run.key)]
    assert kinds == [PersonAsked, InstanceMoved, InputsPaused]
    task.execute({})
    assert len(asked) == 2


def test_a_clear_without_an_answer_asks_again(run: Run, asked: list[dict[str, Any]], task: Step) -> None:
    """A cleared task proves nothing."""
    for _ in range(3):
        with pytest.raises(TaskAwaitingInput):
            task.execute({})
    assert len(asked) == 3
    assert (len(run.ledger.cards(run.key)), answers(run)) == (1, [])


def test_an_answer_from_before_a_later_stop_does_not_count(run: Run, asked: list[dict[str, Any]], task: Step) -> None:
    """Instances may have run, and left state, after somebody answered that it is deleted."""
    with pytest.raises(TaskAwaitingInput):
        task.execute({})
    with pytest.raises(TaskAwaitingInput):
        answer(task, "Stage 1 is done")
    require_done(run, 1, {1: "clear it"})
    stopped = run.keep("write", "stop", {})
    with pytest.raises(TaskAwaitingInput):
        require_done(run, 1, {1: "clear it"}, since=stopped)
    assert asked[-1]["options"] == ["Stage 1 is done", "It cannot be done"]


@pytest.mark.parametrize(
    ("option", "by"),
    [
        ("Stage 3 is done", "oncall"),
        ("Stage 1 is done", "stranger"),
        (OPTIONS[-1], "stranger"),
        ([], "oncall"),
        (["Stage 1 is done", OPTIONS[-1]], "oncall"),
    ],
)
def test_what_is_no_answer_to_it_does_not_count(
    run: Run, asked: list[dict[str, Any]], task: Step, option: str | list[str], by: str
) -> None:
    """About a stage that is not due, of a login that may not, or not one choice: it is asked again."""
    with pytest.raises(TaskAwaitingInput):
        task.execute({})
    with pytest.raises(TaskAwaitingInput):
        answer(task, option, by)
    assert (len(asked), answers(run)) == (2, [])


def test_an_answer_that_does_not_count_is_told_with_that_first(
    run: Run, asked: list[dict[str, Any]], task: Step, told: Callable[[], list[dict[str, Any]]]
) -> None:
    """One more message each time; what is asked follows. A reason comes with any answer, and is kept."""
    with pytest.raises(TaskAwaitingInput):
        task.execute({})
    assert asked[0]["params"].keys() == {"reason"}
    for _ in range(2):
        with pytest.raises(TaskAwaitingInput):
            answer(task, "Stage 3 is done", reason="it is late")
    lines = [message["body"].splitlines() for message in told()]
    assert lines[0][0] == "stop the nightly job"
    why = "oncall's answer did not count: 'Stage 3 is done' is not about stage 1, which is due"
    assert [one[:2] for one in lines[1:]] == [[why, "stop the nightly job"]] * 2
    with pytest.raises(Refused, match=r"as oncall answered \(no access\); undo this run"):
        answer(task, OPTIONS[-1], reason="no access")
    kept = run.ledger.evidence(run.key, kind="note", name=WITH_REASON)
    assert [one.payload["reason"] for one in kept] == ["it is late", "it is late", "no access"]


def test_what_cannot_be_done_ends_the_task(run: Run, asked: list[dict[str, Any]], task: Step) -> None:
    """So does a wait without an answer; cleared, both ask again."""
    with pytest.raises(TaskAwaitingInput):
        task.execute({})
    with pytest.raises(Refused, match=r"stage 1 cannot be done, as oncall answered; undo this run, or clear bounce_1"):
        answer(task, OPTIONS[-1])
    with pytest.raises(Refused, match=r"no answer in time \(limit deploy_wait_h\); clear bounce_1_first, which"):
        task.person_answered({}, {"error": "no response", "error_type": "timeout"})
    with pytest.raises(TaskAwaitingInput):
        task.execute({})
    assert (len(asked), answers(run)) == (2, [(1, False, "oncall")])


def test_a_dry_run_asks_nobody(run: Run, asked: list[dict[str, Any]], caplog: pytest.LogCaptureFixture) -> None:
    """It shows each request."""
    caplog.set_level("INFO", "kstreams_runbooks.run")
    dry = replace(run, record=replace(run.record, dry_run=True))
    for stage in (ASKS, PAUSES):
        perform(dry, stage, {})
    assert "would ask a person: stop the nightly job" in caplog.text
    assert (asked, run.ledger.cards(run.key)) == ([], [])
