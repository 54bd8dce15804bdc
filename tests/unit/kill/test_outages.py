"""What is done to three brokers, and what is printed about it, without a cluster."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kill.brokers import NAMES, OLDER_BROKER, TWO_DOWN, Draw, drawn_runs, run, strikes
from kill.harness import Row, Struck
from kill.moments import Kill
from kill.outage_table import Tried, document, kept_page, page
from kill.outages import Blow, Outage, dealt, passed_without_quorum, said
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.runs.ledger import Evidence
from kstreams_runbooks.steps.instances.watch_trigger import SAW
from lab.report import FAULTS

TASKS = ("observe", "check", "plan", "approve_plan", "stop_application", "start_application", "verify", "conclude")
KILL = Kill("plan", Outage.COORDINATOR, 1, 0.8, "derives", away="broker 2, 14 s", meanwhile=("gate: wait | lag",))
NONE: dict[str, int | None] = dict.fromkeys(FAULTS, 0)
ROW = Row("undo", "kill-1", (Struck(KILL, "went on by itself"),), "completed", 12_345, NONE, (), 90.0)


def blow(strike: Any) -> Blow:
    """The outage of a strike."""
    assert isinstance(strike.give, Blow)
    return strike.give


def test_five_runs_strike_every_task_before_any_twice() -> None:
    """In the order of the tasks, no task twice in a run; the same seed deals the same."""
    runs = dealt(TASKS, 5, 5, 3)
    assert runs == dealt(TASKS, 5, 5, 3)
    assert runs != dealt(TASKS, 6, 5, 3)
    named = [[one.task for one in strikes] for strikes in runs]
    assert all(len(tasks) == 3 == len({*tasks}) and sorted(tasks, key=TASKS.index) == tasks for tasks in named)
    assert {task for tasks in named[:3] for task in tasks} == {*TASKS}


def test_an_election_comes_after_a_kill() -> None:
    """It changes nothing while every leader is the preferred one."""
    kinds = [[blow(one).outage for one in strikes] for seed in range(30) for strikes in dealt(TASKS, seed, 2, 3)]
    assert any(Outage.ELECTION in each for each in kinds)
    assert all(Outage.ELECTION not in each[:-1] for each in kinds)
    assert {one for each in kinds for one in each} == {*Outage} - {Outage.TWO, Outage.BELOW}


def test_two_brokers_down_is_one_strike_on_the_certificate() -> None:
    """Long enough for several readings; every second run has one broker less than the topics demand."""
    found = [strikes(Draw(TWO_DOWN, 3, number, 2), ("observe", "certify", "conclude")) for number in range(2)]
    assert [(one.task, blow(one).outage) for [one] in found] == [("certify", Outage.TWO), ("certify", Outage.BELOW)]
    assert all(blow(one).away_s > 25 for [one] in found)


def test_runs_are_of_one_runbook_or_of_all() -> None:
    """Drawn ones are of the usual runbooks."""
    assert [one.number for one in drawn_runs("undo", 5, 7)] == [0, 1, 2, 3, 4]
    assert [one.name for one in drawn_runs("", None, 7)] == [*NAMES]
    drawn = {one.name for seed in range(40) for one in drawn_runs("", 2, seed)}
    assert drawn == {*NAMES} - {TWO_DOWN, OLDER_BROKER}


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"RUNBOOK": "udno"}, "RUNBOOK=udno: unknown; set RUNBOOK to one of library_bump, two_brokers_down, undo"),
        ({"COUNT": "0"}, "COUNT=0: no run; set COUNT from 1 or leave it out"),
        ({"SEED": "x"}, "SEED=x: not a whole number from 0"),
        ({"FORMAT": "xml"}, "FORMAT=xml: unknown"),
    ],
)
def test_bad_input_is_one_sentence(environ: dict[str, str], sentence: str) -> None:
    """Before a stack is started."""
    with pytest.raises(BadInput) as error:
        run(environ)
    assert str(error.value).startswith(sentence)


def test_a_page_has_a_section_per_runbook_and_keeps_the_others(tmp_path: Path) -> None:
    """A line per strike; a fault counts and is written out."""
    file = tmp_path / "page.md"
    file.write_text(kept_page(file, [Tried("undo", 7, ROW)]), encoding="utf-8")
    text = kept_page(file, [Tried("certify_drain", 8, replace(ROW, faults=("false certificate",)))])
    assert text.count("\n## ") == 2
    assert (
        "| 1 | plan | the broker with the group's offsets is killed, 0.8 s after its start | broker 2, 14 s "
        "| gate: wait \\| lag | went on by itself; completed | 0, 0, 0, 0 of 12,345 |" in text
    )
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## certify_drain, seed 8", "## undo, seed 7"]
    assert "Together 2 runs, 2 strikes, 24,690 inputs; runs with a fault: 1." in text
    assert "1 runs, 1 strikes, 12,345 inputs judged; 1 run with a fault" in text
    assert "- run 1: false certificate" in text
    assert kept_page(tmp_path / "none.md", [Tried("undo", 7, ROW)]) == page([Tried("undo", 7, ROW)])
    assert document([Tried("undo", 7, ROW)])["ok"]


def _saw(sentence: str, at_ms: int = 5_000) -> Evidence:
    return Evidence(at_ms, "undo/r", "certify", 1, "note", SAW, at_ms, {"sentence": sentence})


def test_what_gates_said_is_one_sentence_of_each_kind() -> None:
    """And how many more there were."""
    verdict = {"result": {"outcome": "proceed", "reasons": []}}
    kept = [_saw("wait: 3 records"), _saw("wait: 3 records"), Evidence(1, "r", "t", 1, "verdict", "gate", 1, verdict)]
    assert said(kept) == ("wait: 3 records", "gate: proceed", "and 1 more")
    assert said([]) == ()


def test_a_gate_that_passes_while_two_brokers_are_away_is_a_fault() -> None:
    """A gate that waits gives no certificate, and neither does one without an answer."""
    verdict = {"result": {"outcome": "proceed", "reasons": ["drained"]}}
    passing = Evidence(1, "r", "certify", 1, "verdict", "certified", 9_000, verdict)
    kept = [_saw("wait: 3 records"), _saw("inconclusive: no leader answers"), passing]
    assert [*passed_without_quorum(kept, 1.0, 20.0)] == [
        "certify passed while no record could be acknowledged: certified: proceed: drained"
    ]
    assert not [*passed_without_quorum(kept, 8.0, 20.0)]
    assert not [*passed_without_quorum(kept, 1.0, 8.0)]
