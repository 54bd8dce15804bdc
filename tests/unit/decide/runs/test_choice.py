"""What may be started for a planned change."""

from kstreams_runbooks.decide.change.answer import Alternative, ChangePlan
from kstreams_runbooks.decide.runs.approval import Asking
from kstreams_runbooks.decide.runs.choice import (
    Choices,
    accepted,
    choices,
    commands,
    question,
    started_id,
    started_with,
)
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.model.topology.change import ChangeRunbook
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Finding, Outcome
from world.samples import NEW, OLD, declared
from world.sides import AFTER, AUDITED, BEFORE, described


def offered(made: ChangePlan, before: Described, after: Described) -> Choices:
    return choices(made, parsed(before), parsed(after))


def plan(*runbooks: ChangeRunbook, instead: tuple[ChangeRunbook, ...] = ()) -> ChangePlan:
    return ChangePlan(Outcome.PROCEED, (), runbooks, tuple(Alternative(one, "why not") for one in instead))


def test_the_runbook_of_the_plan_comes_first_and_alternatives_after_it() -> None:
    """As far as they are DAGs."""
    found = offered(plan("stop_and_restart", instead=("store_migration",)), BEFORE, described(AUDITED))
    assert found.runbooks == ("stop_and_restart",)
    assert found.left_out == ("store_migration is not a DAG yet: it is a manual procedure",)
    assert offered(plan("library_bump"), BEFORE, AFTER).runbooks == ("library_bump",)


def test_what_would_be_refused_anyway_is_not_offered() -> None:
    """With the reason: another library, no release to deploy, nothing to do."""
    (why,) = offered(plan("stop_and_restart"), BEFORE, described(AUDITED, NEW)).left_out
    assert why.startswith("stop_and_restart cannot be started: it does not change the library (3.4.1 to 4.3.1)")
    (why,) = offered(plan("stop_and_restart"), BEFORE, described(AUDITED, "")).left_out
    assert why == (
        "stop_and_restart cannot be started: topology_text does not belong to a release that can be deployed; give "
        "its release"
    )
    (why,) = offered(plan("rolling_bounce"), BEFORE, BEFORE).left_out
    assert why == "rolling_bounce has nothing to do: release 3.4.1 runs already"


def test_what_the_runbook_itself_refuses_is_left_out_too() -> None:
    """With its own sentence, after those that were left out before."""
    found = accepted(Choices(("library_bump", "stop_and_restart"), ("x is not a DAG",)), {"library_bump": "no way"})
    assert found == Choices(("stop_and_restart",), ("x is not a DAG", "library_bump cannot be started: no way"))


def test_the_started_run_has_its_parameters_and_leads_back() -> None:
    """Each runbook calls its release by its own name; nothing but the form makes it more than a dry run."""
    given = {"application": "orders", "dry_run": True, "run_id": "r1", "limits": {"max_lag": 5.0}}
    assert started_with("library_bump", NEW, reason="OPS-7", **given) == {  # type: ignore[arg-type]
        "application": "orders",
        "target": NEW,
        "dry_run": True,
        "reason": "OPS-7; planned by plan_change, run r1",
        "max_lag": 5.0,
    }
    conf = started_with("rolling_bounce", OLD, reason="", **given)  # type: ignore[arg-type]
    assert (conf["release"], conf["reason"]) == (OLD, "planned by plan_change, run r1")
    assert list(commands(("rolling_bounce",), OLD, "orders")) == [
        "kstreams-runbooks trigger rolling_bounce --application orders --param release=3.4.1"
    ]


def test_what_the_form_named_goes_to_the_started_run() -> None:
    """It compares the two releases and accepts losses itself; the command from a terminal has it too."""
    named = {"unchanged": ("key", "value_serde"), "lose_state": ("counts",), "accept_late_loss": "OPS-7 accepts it"}
    conf = started_with(
        "library_bump",
        NEW,
        application="orders",
        dry_run=True,
        reason="",
        run_id="r1",
        limits={},
        named=named,
    )
    assert conf["unchanged"] == ["key", "value_serde"]
    assert (conf["lose_state"], conf["accept_late_loss"]) == (["counts"], "OPS-7 accepts it")
    [command] = commands(("library_bump",), NEW, "orders", named)
    assert "--param target=4.3.1 --param unchanged=key,value_serde --param lose_state=counts" in command
    assert command.endswith("--param 'accept_late_loss=OPS-7 accepts it'")


def test_the_id_of_the_started_run_is_the_same_each_time() -> None:
    """Airflow refuses a second run of it, and ids of more than 250 characters."""
    assert started_id("library_bump", "r1", 1) == "library_bump.r1"
    assert started_id("library_bump", "r1", 2) == "library_bump.r1.2"
    long, other = "r" * 240, "r" * 239 + "s"
    assert len(started_id("library_bump", long, 1)) <= 250
    assert started_id("library_bump", long, 1) != started_id("library_bump", other, 1)


def test_the_question_is_fifteen_lines_at_most() -> None:
    """What is started, how, what none means, who may answer until when."""
    text = question(
        Asking(declared(), "oncall", "OPS-7", 0, 0, "https://airflow.example/run"),
        before=BEFORE,
        after=AFTER,
        headline="RUNBOOK NEEDED: library_bump",
        findings=(
            Finding("a", "warning", "counts", "something", ""),
            Finding("b", "danger", "totals", "begins empty", ""),
            Finding("a", "warning", "maxima", "something", ""),
        ),
        options=("library_bump", "none"),
        left_out=("store_migration is not a DAG yet: it is a manual procedure",),
        dry_run=True,
        digest="abc",
    )
    lines = text.split("\n\n")
    assert len(lines) <= 15
    assert "**Change:** 3.4.1 to 4.3.1 (4.3.1)" in lines
    assert "**Risks:**\n- danger: totals: begins empty\n- warning: counts, maxima: something" in lines
    assert "**may approve:** approver, admin" in text
    assert "start library_bump as a dry run, which shows its own plan and changes nothing" in text
