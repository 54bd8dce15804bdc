"""One row a runbook: a pretended one, in the table alone, is in everything that lists runbooks.

Covers decide/registry
"""

import json
from typing import get_args

import pytest
from kstreams_runbooks.decide import runbooks
from kstreams_runbooks.decide.change.answer import Alternative, ChangePlan
from kstreams_runbooks.decide.registry import DECISIONS
from kstreams_runbooks.decide.runbooks import RUNBOOKS, Runbook, closing_decisions
from kstreams_runbooks.decide.runs.choice import choices, commands, started_with
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.model.topology.change import ChangeRunbook
from kstreams_runbooks.model.verdicts import Outcome
from world.sides import AFTER, BEFORE

PRETENDED = Runbook(
    "pretended", needs=("approver",), is_dag=True, field="wanted", plan="pretended_plan", closing="pretended_verified"
)
# Kept by their steps as verdicts: nothing is decided again from them.
SAID = {"change_answered", "rehearsed"}


@pytest.fixture
def _pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runbooks, "RUNBOOKS", (*RUNBOOKS, PRETENDED))


@pytest.mark.usefixtures("_pretended")
def test_a_new_row_is_in_every_list() -> None:
    """Offered, started, planned, closed, presented."""
    plan = ChangePlan(Outcome.PROCEED, (), ("library_bump",), (Alternative("pretended", "why"),))  # type: ignore[arg-type] # not a runbook of the rules
    assert choices(plan, parsed(BEFORE), parsed(AFTER)).runbooks == ("library_bump", "pretended")
    assert list(commands(("pretended",), "4.3.1", "orders")) == [
        "kstreams-runbooks trigger pretended --application orders --param wanted=4.3.1"
    ]
    conf = started_with("pretended", "4.3.1", application="orders", dry_run=True, reason="", run_id="r", limits={})
    assert conf["wanted"] == "4.3.1"
    assert "pretended_verified" in closing_decisions()


@pytest.mark.usefixtures("_pretended")
def test_readiness_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    """As a DAG, with what it lacks."""
    from kstreams_runbooks.decide.discovery.readiness import readiness
    from kstreams_runbooks.model.discovery.readiness import Condition, NoteReadiness
    from kstreams_runbooks.present.readiness import ApplicationReadiness, as_text, document

    answers = readiness({"approver": Condition(holds=False, why="no approver declared")}, (PRETENDED,))
    found = [ApplicationReadiness("orders", "lab", answers)]
    note = NoteReadiness("ready", "")
    print(json.dumps(document(found, note)), *as_text(found, note))
    shown = capsys.readouterr().out
    assert '"runbook": "pretended", "kind": "dag"' in shown
    assert "pretended             missing     no approver declared" in shown


def test_every_decision_in_the_table_is_one() -> None:
    """A name that nothing decides would let no run end."""
    planning = {row.plan for row in RUNBOOKS if row.plan} | {plan for row in RUNBOOKS for plan, _ in row.of_modes}
    assert {*planning, *closing_decisions()} - SAID <= DECISIONS.keys()
    assert set(get_args(ChangeRunbook)) <= {row.name for row in RUNBOOKS}
