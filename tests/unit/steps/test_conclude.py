"""The end of a run whose declaration broke meanwhile: its outcome, its next action and its message are not lost."""

import logging
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.steps.conclude import close, log_level, tell
from kstreams_runbooks.steps.run.contact import keep_contact
from kstreams_runbooks.steps.run.ending import BEGUN
from kstreams_runbooks.steps.run.never_began import NeverBegan
from kstreams_runbooks.steps.run.run import Run, now_ms
from world.samples import STEP, card

Told = Callable[[], list[dict[str, Any]]]
_CLUSTER = "name: demo\nconnection: kafka_demo\n"
_ORDERS = (Path(__file__).resolve().parents[3] / "config" / "applications" / "orders.yaml").read_text(encoding="utf-8")


def _deleted(config: Path) -> None:
    (config / "applications" / "orders.yaml").unlink()


def _empty(config: Path) -> None:
    (config / "applications" / "orders.yaml").write_text("", encoding="utf-8")


def _invalid(config: Path) -> None:
    (config / "applications" / "orders.yaml").write_text("owner: [", encoding="utf-8")


def _renamed(config: Path) -> None:
    (config / "applications" / "orders.yaml").rename(config / "applications" / "orders-of-today.yaml")


def _a_directory(config: Path) -> None:
    (config / "applications" / "orders.yaml").unlink()
    (config / "applications" / "orders.yaml").mkdir()


def _without_cluster(config: Path) -> None:
    (config / "clusters" / "demo.yaml").write_text("connection: 7", encoding="utf-8")


def _gone(config: Path) -> None:
    shutil.rmtree(config / "applications")
    shutil.rmtree(config / "clusters")


@pytest.fixture
def stopped(run: Run, config: Path, told: Told) -> Run:
    """A run past the point of no return that failed at a gate; its declaration is whole until then."""
    assert told() == []
    for folder, name, text in (("clusters", "demo", _CLUSTER), ("applications", "orders", _ORDERS)):
        (config / folder).mkdir()
        (config / folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    keep_contact(run)
    run.ledger.write_card(card(run_key=run.key, point_of_no_return=True))
    run.ledger.mark_written(run.key, now_ms())
    run.keep("note", BEGUN, STEP)
    run.keep("failure", "Refused", {"sentence": "gate of orders-1: lag 7", "exit_code": 1})
    del vars(run)["application"]
    return run


@pytest.mark.parametrize(
    "how", [_deleted, _empty, _invalid, _renamed, _a_directory, _without_cluster, _gone], ids=lambda one: one.__name__
)
def test_the_end_of_a_run_reaches_its_owner(
    stopped: Run, config: Path, told: Told, how: Callable[[Path], None]
) -> None:
    """With its outcome, GO ON and GO BACK, whatever became of the file past the point of no return."""
    how(config)
    with pytest.raises(BadInput):
        assert stopped.application
    step = Run(stopped.record, "conclude", 1, stopped.ledger)
    outcome, action = close(step)
    assert outcome.outcome == "stopped, changed"
    assert outcome.sentence.startswith("gate of orders-1: lag 7; how ")
    tell(step, outcome, action, "head")
    [message] = told()
    assert (message["owner"], message["kind"]) == ("team-orders", "stopped_with_undo")
    assert message["command"] == "kstreams-runbooks clear r bounce_1_first"
    on, back = (message["body"].index(words) for words in ("GO ON: ", "GO BACK: "))
    assert on < back < message["body"].index("kstreams-runbooks trigger undo r")


def test_an_end_is_as_loud_as_it_is_bad() -> None:
    """Left changed is an error; what a person only has to look at is a warning."""
    loud = {one: log_level(one) for one in RunOutcome}
    assert loud == {
        RunOutcome.COMPLETED: logging.INFO,
        RunOutcome.DRY_RUN: logging.INFO,
        RunOutcome.NOTHING_CHANGED: logging.WARNING,
        RunOutcome.STOPPED: logging.ERROR,
        RunOutcome.INCONCLUSIVE: logging.WARNING,
    }


@pytest.mark.parametrize(
    ("code", "outcome"), [(4, RunOutcome.INCONCLUSIVE), (0, RunOutcome.STOPPED)], ids=["ledger away", "worker died"]
)
def test_a_step_that_never_began_is_the_reason_not_the_one_before(run: Run, code: int, outcome: RunOutcome) -> None:
    """That one ended well: clearing it would ask for an approval again."""
    run.ledger.write_card(card(run_key=run.key, kind="topic_created", facts={}))
    replace(run, task_id="approve_plan").keep("note", BEGUN, STEP)
    late = NeverBegan("bounce_1_first", "bounce_1_first did not begin: ledger: away", code)
    asked: list[str] = []

    def missed(reached: str, *, answered: bool) -> NeverBegan:
        assert not answered
        asked.append(reached)
        return late

    found, action = close(replace(run, task_id="conclude"), missed=missed)
    assert asked == ["approve_plan"]
    assert found.outcome is outcome
    assert found.sentence.startswith("bounce_1_first did not begin: ledger: away; changed so far: ")
    assert action.command == "kstreams-runbooks clear r bounce_1_first"
