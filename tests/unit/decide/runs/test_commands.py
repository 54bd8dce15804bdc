"""Commands that a person pastes."""

from dataclasses import replace

from kstreams_runbooks.decide.runs.commands import clear_command, evidence_command, trigger_command, undo_command
from kstreams_runbooks.model.runs.ledger import RunRecord

RECORD = RunRecord(
    "library_bump/r",
    "library_bump",
    "r",
    "orders",
    "demo",
    "oncall",
    False,
    "OPS-7",
    {"application": "orders", "target": "4.3.1", "dry_run": False, "reason": "OPS-7", "bake_s": 0.5, "max_lag": None},
    1_790_000_000_000,
)


def test_a_run_is_named_as_the_ledger_finds_it() -> None:
    """By its id; an id that was used before has its number."""
    assert undo_command(RECORD) == "kstreams-runbooks trigger undo r"
    assert clear_command(RECORD, "verify") == "kstreams-runbooks clear r verify"
    assert evidence_command(RECORD) == "kstreams-runbooks evidence r"
    again = replace(RECORD, run_key="library_bump/r#2", number=2)
    assert undo_command(again) == "kstreams-runbooks trigger undo 'library_bump/r#2'"


def test_a_dry_run_is_repeated_as_one() -> None:
    """Only where it is asked for."""
    assert not trigger_command(RECORD, execute=False).endswith("--execute")


def test_the_command_triggers_the_same_once_more() -> None:
    """Every field that was given, quoted for a shell; nothing that was left empty."""
    assert trigger_command(replace(RECORD, reason="it's urgent")) == (
        "kstreams-runbooks trigger library_bump --application orders --param bake_s=0.5 --param target=4.3.1 "
        "--reason 'it'\"'\"'s urgent' --execute"
    )


def test_a_pasted_text_comes_from_a_file_again() -> None:
    """A description of many lines in a command of one line is of no use to anybody."""
    pasted = replace(
        RECORD, dag_id="plan_change", params={"topology_text": "Topologies:\n", "release": None}, reason=""
    )
    assert trigger_command(pasted) == (
        "kstreams-runbooks trigger plan_change --application orders "
        '--param "topology_text=$(cat topology_text.txt)" --execute'
    )


def test_a_run_without_an_application_is_repeated_without_one() -> None:
    """An undo may have none in its form, and `trigger` refuses an empty name."""
    undo = replace(RECORD, dag_id="undo", application="", reason="", params={"run": "x"})
    assert trigger_command(undo) == "kstreams-runbooks trigger undo --param run=x --execute"
