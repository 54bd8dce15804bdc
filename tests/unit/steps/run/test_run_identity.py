"""Which record belongs to which run of Airflow: what clearing keeps is compared, the run id alone is not."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput, WriteRefused
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.runs.ledger import airflow_run
from kstreams_runbooks.steps.approval.authorize import authorize, is_over
from kstreams_runbooks.steps.run.ending import StepFailed, reported
from kstreams_runbooks.steps.run.notify import page_of
from kstreams_runbooks.steps.run.run import Run, new_record
from world.samples import CONF, DUE, card

Triggered = Callable[..., dict[str, Any]]


@pytest.fixture
def triggered(monkeypatch: pytest.MonkeyPatch, run: Run) -> Triggered:
    """The context of a task of run `r`; arguments are what is other than in the first run of that id."""
    cluster = SimpleNamespace(cluster="demo", copies=False)
    monkeypatch.setattr(Ledger, "open", classmethod(lambda *_: run.ledger))
    monkeypatch.setattr(
        "kstreams_runbooks.steps.run.run.load_fleet", lambda: SimpleNamespace(application=lambda _: cluster)
    )

    def triggered(by: str = "oncall", due: datetime = DUE, try_number: int = 1, **conf: Any) -> dict[str, Any]:
        ti = SimpleNamespace(dag_id="library_bump", run_id="r", task_id="observe", try_number=try_number)
        whole = {**CONF, **conf}
        dag_run = SimpleNamespace(triggering_user_name=by, run_after=due, conf=whole)
        form = SimpleNamespace(dag_id="library_bump", params={**CONF, "target": None})
        return {"ti": ti, "dag": form, "dag_run": dag_run, "params": whole}

    return triggered


def test_a_cleared_task_finds_its_record(triggered: Triggered, run: Run) -> None:
    """Whichever try it is, and whatever the order of the conf."""
    assert Run.begin(triggered(try_number=3)).record == run.ledger.run(run.key)
    turned = triggered()
    turned["dag_run"].conf = dict(reversed(CONF.items()))
    assert Run.begin(turned).key == run.key


@pytest.mark.parametrize(
    "other",
    [
        {"due": DUE + timedelta(seconds=1)},
        {"due": DUE + timedelta(microseconds=1)},
        {"by": "mallory"},
        {"dry_run": True},
        {"target": "4.3.1"},
    ],
)
def test_another_run_of_the_same_id_takes_nothing_over(triggered: Triggered, run: Run, other: dict[str, Any]) -> None:
    """No plan, approval, hold, card or fact; the first one's record stays as it was."""
    first = run.ledger.run(run.key)
    run.ledger.remember(run.key, "digest_shown", "d")
    second = Run.begin(triggered(**other))
    assert (second.key, second.record.number) == (f"{run.key}#2", 2)
    assert second.record.requested_by == other.get("by", "oncall")
    assert second.dry_run is other.get("dry_run", False)
    ledger = run.ledger
    assert (ledger.plan(second.key), ledger.approvals(second.key), ledger.cards(second.key)) == (None, (), [])
    assert ledger.recalled(second.key) == {}
    assert replace(ledger.run(run.key), rows=0, head="") == replace(first, rows=0, head="")
    assert Run.begin(triggered(**other)).key == second.key
    assert Run.begin(triggered(due=DUE + timedelta(hours=2))).key == f"{run.key}#3"


@pytest.mark.usefixtures("triggered")
def test_an_undo_without_an_application_has_that_of_its_run(run: Run) -> None:
    """The ledger knows it; a run that it does not know is refused before anything is kept."""
    asked = replace(run.record, dag_id="undo", run_id="u", application="", params={"run": " r "})
    assert new_record(asked, run.ledger.find_run).application == "orders"
    with pytest.raises(BadInput, match=r"run s: unknown to ledger"):
        new_record(replace(asked, params={"run": "s"}), run.ledger.find_run)
    given = replace(asked, application="payments")
    assert new_record(given, run.ledger.find_run).application == "payments"


def test_what_is_left_of_a_deleted_run_changes_nothing(triggered: Triggered, run: Run) -> None:
    """Its hold is free although Airflow has a run of that id, and a task of it that still runs is refused."""
    run.ledger.take_hold(run.key, ("application:demo:orders",), "demo", 1, 1, lambda _: False)
    second = Run.begin(triggered(by="admin"))
    assert is_over(run.ledger, run.key) is True
    with pytest.raises(WriteRefused, match="run library_bump/r was deleted in Airflow and its id used again"):
        authorize(run, "approve_plan", ())
    second.ledger.take_hold(
        second.key, ("application:demo:orders",), "demo", 1, 2, lambda key: is_over(second.ledger, key)
    )
    assert [hold.run_key for hold in run.ledger.holds()] == [second.key]


def test_an_application_that_is_not_declared_begins_no_run(
    triggered: Triggered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run of an id with a bad application is refused; the first one's record is not shown for it."""

    def unknown(_: str) -> None:
        raise BadInput("application payments: unknown")

    fleet = SimpleNamespace(application=unknown)
    monkeypatch.setattr("kstreams_runbooks.steps.run.run.load_fleet", lambda: fleet)
    context = triggered(application="payments")
    context["ti"].xcom_push = lambda *_: None
    with pytest.raises(StepFailed), reported(context, "reads"):
        pass


def test_a_key_says_what_airflow_calls_the_run() -> None:
    """Messages and links lead to the run that Airflow has."""
    assert airflow_run("library_bump/r") == ("library_bump", "r")
    assert airflow_run("library_bump/r#12") == ("library_bump", "r")
    assert airflow_run("undo/a#b") == ("undo", "a#b")


def test_the_page_of_a_second_run_is_airflows(triggered: Triggered, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its id has no number there."""
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://airflow.example")
    second = Run.begin(triggered(by="admin"))
    assert page_of(second) == "https://airflow.example/dags/library_bump/runs/r"


@pytest.fixture
def three(run: Run) -> Ledger:
    """A ledger with three runs of one id, and one of the same id of another DAG."""
    for by in ("admin", "approver"):
        run.ledger.start_run(replace(run.record, requested_by=by))
    run.ledger.start_run(replace(run.record, dag_id="undo", run_id="u"))
    return run.ledger


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("r", "library_bump/r#3"),
        ("library_bump/r", "library_bump/r#3"),
        ("r#1", "library_bump/r"),
        ("r#2", "library_bump/r#2"),
        ("library_bump/r#2", "library_bump/r#2"),
        ("library_bump/r#1", "library_bump/r"),
        ("u", "undo/u"),
    ],
)
def test_a_person_names_the_newest_or_one_by_its_number(three: Ledger, given: str, found: str) -> None:
    """A key in the ledger itself is always exact."""
    assert three.find_run(given).run_key == found
    assert three.run("library_bump/r").number == 1


@pytest.mark.parametrize("given", ["r#4", "library_bump/r#9", "nothing#1", "#", "r#", ""])
def test_a_number_that_is_not_there_is_bad_input(three: Ledger, given: str) -> None:
    """With the nearest."""
    with pytest.raises(BadInput, match="unknown to ledger"):
        three.find_run(given)


def test_an_id_that_two_dags_have_is_asked_back(three: Ledger, run: Run) -> None:
    """Each of them may have been used again; the key without a number is the newest."""
    three.start_run(replace(run.record, dag_id="undo"))
    with pytest.raises(BadInput, match="2 DAGs have it; give one of library_bump/r, undo/r"):
        three.find_run("r")
    with pytest.raises(BadInput, match="2 DAGs have it"):
        three.run("r")


def test_evidence_says_that_there_are_others(three: Ledger) -> None:
    """On stderr: stdout has one run."""
    url = str(three.database.url)
    said = CliRunner().invoke(cli, ["evidence", "r"], env={"KSTREAMS_RUNBOOKS_LEDGER": url})
    assert said.exit_code == 0
    assert "asked by approver" in said.stdout
    assert "run r is library_bump/r#3; its run id was also used for library_bump/r, library_bump/r#2" in said.stderr


def test_a_card_belongs_to_one_of_them(three: Ledger) -> None:
    """An undo of the id takes back the newest."""
    three.write_card(card(run_key="library_bump/r#3"))
    assert (len(three.cards("library_bump/r")), len(three.cards("library_bump/r#3"))) == (0, 1)
