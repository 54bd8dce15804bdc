"""`evidence`: a document to read, one file of HTML, and JSON in pieces. Covers present/evidence and json_pieces."""

import html
import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from kstreams_runbooks.cli import cli
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.ledger import Approval, Card, RunRecord
from kstreams_runbooks.model.runs.question import UNCOUNTED, WITH_REASON
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.terminal.json_pieces import json_pieces
from kstreams_runbooks.watch.evidence import Readings, pieces
from kstreams_runbooks.wording import unmarked
from world.new_ledger import new_ledger
from world.samples import NEW, declared, reading

KEY, BEGAN = "library_bump/r", 1_763_770_811_000
FAILED = "gate of orders-1: state is REBALANCING (expected RUNNING); clear bounce_1_first"


def gate(instance: str, outcome: str, number: int) -> dict[str, Any]:
    inputs = {"expected": {"instance": instance, "bounce": {"number": 1}}, "samples": ["s" * 1_000]}
    return {"decision": "gate", "inputs": inputs, "result": {"outcome": outcome, "reasons": [f"lag {number:,}"]}}


def restart(instance: str, at_ms: int) -> dict[str, Any]:
    times = {"stop_requested_ms": at_ms, "started_ms": at_ms + 2_100}
    return {"instance": instance, "bounce": 1, "times": times}


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """A run whose first bounce failed, was cleared, and went through."""
    file = tmp_path / "ledger.db"
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{file}")
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    ledger, at = new_ledger(file), BEGAN
    ledger.start_run(RunRecord(KEY, "library_bump", "r", "orders", "demo", "oncall", False, "OPS-7", {}, at))
    plan = bump_plan(reading(), declared(), NEW, upgrade_path_rules(), (), (), "code")
    ledger.record(KEY, "observe", 1, "reading", "application", {"lag": 7}, at + 100)
    ledger.store_plan(KEY, plan.digest, encode(plan))
    ledger.approve(Approval(KEY, "approve_plan", plan.digest, "ada", at + 5_000, at + 9_000_000))
    ledger.approve(Approval(KEY, "approve_plan", plan.digest, "approver", at + 6_000, at + 9_000_000, "disk is full"))
    card = Card(KEY, 1, "bounce_1_first", "bounce 1", "orders-1", "orders-1 to 4.3.1", "back to 3.4.1", "one restart",
                False, False, {}, at + 10_000, "orders", "demo", 1)  # fmt: skip
    ledger.write_card(card)
    for attempt, start in ((1, at + 10_000), (2, at + 400_000)):
        ledger.record(KEY, "bounce_1_first", attempt, "note", "begun", {"what": "one instance first"}, start)
        ledger.record(KEY, "bounce_1_first", attempt, "write", "restart", restart("orders-1", start + 1_000), start + 9)
        if attempt == 2:
            measured = {"write": ledger.evidence(KEY, "write")[-1].id, "restart": {"running_ms": start + 7_200}}
            measured |= {"rebalanced": False, "sentence": "orders-1, bounce 1: 6.2 s from its stop until RUNNING"}
            ledger.record(KEY, "bounce_1_first", attempt, "note", "restart measured", measured, start + 7_500)
        for number in range(9, 0, -1):
            waits = gate("orders-1", "wait", number * 1_000)
            ledger.record(KEY, "bounce_1_first", attempt, "verdict", "gate", waits, start + 20_000 - number * 1_000)
        if attempt == 1:
            failure = {"sentence": FAILED, "exit_code": 1}
            ledger.record(KEY, "bounce_1_first", 1, "failure", "Refused", failure, start + 300_000)
    passed = gate("orders-1", "proceed", 0)
    ledger.record(KEY, "bounce_1_first", 2, "verdict", "gate", passed, at + 400_000 + 13_500)
    ledger.conclude(KEY, "completed", "every instance runs 4.3.1", at + 420_000)
    return ledger


def show(*words: str) -> Result:
    result = CliRunner().invoke(cli, ["evidence", "r", *words])
    assert result.exit_code == 0, (result.output, result.exception)
    return result


@pytest.mark.usefixtures("ledger")
def test_the_page_reads_as_a_document() -> None:
    """Who, when and why; the plan with before → after; measured gaps next to the forecast; one line for many."""
    page = show().stdout
    assert "- asked by oncall: OPS-7\n" in page
    assert "- time: 2025-11-22 00:20:11 UTC to 2025-11-22 00:27:11 UTC (420 s)\n" in page
    assert "approved by ada at 2025-11-22 00:20:16 UTC" in page
    assert "; superseded by a later approval\n" in page
    assert ", in an emergency: disk is full\n" in page
    assert re.search(r"\n- orders-1, orders-2: 3\.4\.1 → .*4\.3\.1.*; undo sets back 3\.4\.1\n", page)
    assert re.search(
        r"\| 1 \| orders-1 \| 2025-11-22 00:26:52 UTC \| 2\.1 s \| 6\.2 s \| 12\.5 s \| \d+–\d+ s \| no \|", page
    )
    assert "- orders-1, bounce 1: 6.2 s from its stop until RUNNING\n" in page
    assert "| 2025-11-22 00:20:22 UTC | 2.1 s | not measured | not reached |" in page
    assert "gate of orders-1, bounce 1: wait: lag 1,000 (9 times in 8 s)" in page
    assert page.count("gate of orders-1, bounce 1: wait") == 1
    assert "| 1 | orders-1 to 4.3.1 | back to 3.4.1 | one restart |" in page


@pytest.mark.parametrize("form", ["markdown", "text", "html"])
def test_every_answer_is_there_with_its_reason(ledger: Ledger, form: str) -> None:
    """In each form: why an approval was given, and that an earlier answer did not count."""
    at = BEGAN + 7_000

    def answered(by: str, reason: str) -> None:
        payload = {"by": by, "chosen": ["Approve"], "reason": reason}
        ledger.record(KEY, "approve_bounce_2", 1, "note", WITH_REASON, payload, at)

    def approved(by: str) -> None:
        ledger.approve(Approval(KEY, "approve_bounce_2", "d1", by, at, at + 9_000))

    answered("oncall", "it is late [bold]")
    why = "oncall's answer did not count: four eyes: another person has to approve"
    ledger.record(KEY, "approve_bounce_2", 1, "note", UNCOUNTED, {"why": why}, at)
    approved("oncall")
    answered("ada", "seen on staging [/red]")
    approved("ada")
    page = unmarked(html.unescape(show("--format", form).stdout))
    own = [line for line in re.split(r"\n|<li>", page) if re.search(r"approve_bounce_2: approved by \w+ at", line)]
    assert [("oncall" in line, "it is late" in line, "superseded by a later approval" in line) for line in own] == [
        (True, False, True),
        (False, False, False),
    ]
    assert "for plan d1, because: seen on staging [/red]" in own[1]
    assert f"asked again: {why}" in page
    assert "ada answered Approve: seen on staging [/red]" in page


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_long_names_and_brackets_fit_every_terminal(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """Only a word that is wider than the terminal sticks out, and a command, which is there to be pasted."""
    name = "payments-of-every-region-[blue]-settlement-instance-1"
    for number in range(3):
        sentence = f"gate of {name}: state is REBALANCING [/expected] RUNNING; lag 12,345 [link=x] of {name}"
        failure = {"sentence": f"{sentence} (try {number})", "exit_code": 1}
        ledger.record(KEY, "bounce_1_rest", number + 1, "failure", "Refused", failure, BEGAN + number)
    ways = (f"{name} to 4.3.1", f"{name} back to 3.4.1", "one restart")
    ledger.write_card(
        Card(KEY, 2, "bounce_1_rest", "bounce 1", name, *ways, False, False, {}, BEGAN + 10_000, "orders", "demo", 1)
    )
    monkeypatch.setenv("COLUMNS", str(columns))
    for words in ((), ("--timeline",)):
        lines = show(*words).stdout.splitlines()
        assert [line for line in lines if len(line) > columns and not line.startswith("    ")] == []
        assert any("[/expected]" in line for line in lines)
        assert any("[link=x]" in line for line in lines)


@pytest.mark.usefixtures("ledger")
def test_the_time_of_a_run_has_its_shares() -> None:
    """The gate that failed is not a gate that passed, and a person cleared the task 90 s after its failure."""
    spent = json.loads(show("--format", "json").stdout)["time_shares"]
    assert sum(spent["ms"].values()) == spent["whole_ms"] == 420_000
    assert spent["ms"]["waiting for people"] == 90_000
    assert spent["ms"]["stopped until running"] == 2_100 + 6_200
    assert spent["ms"]["gates"] == 6_300
    assert spent["sentence"].startswith("of 420 s: waiting for people 90 s, stopped until running (2 restarts) 8 s, ")
    assert f"- time spent: {spent['sentence']}\n" in show().stdout


@pytest.mark.usefixtures("ledger")
def test_the_timeline_has_the_seconds_between_the_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raw readings included, in the order of the journal, within the terminal's width."""
    first, *lines = show("--timeline").stdout.splitlines()
    assert first == "     0.0 s     +0.0  observe: read application"
    assert lines[0].startswith("     4.9 s     +4.9  approve_plan: approved by ada for plan ")
    assert any(
        line.startswith("   399.9 s    +90.0  bounce_1_first (try 2): began: one instance first") for line in lines
    )
    assert lines[-1].startswith("of 420 s: ")
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, show("--timeline").stdout.splitlines())) <= 80


@pytest.mark.usefixtures("ledger")
@pytest.mark.parametrize("other", ["--verify", "--recheck", "--format=json"])
def test_the_timeline_is_a_view_of_its_own(other: str) -> None:
    """Together with another view one of them would silently be left out."""
    result = CliRunner().invoke(cli, ["evidence", "r", "--timeline", other])
    assert "--timeline: is a view of its own" in str(result.exception)


@pytest.mark.usefixtures("ledger")
def test_on_a_terminal_it_is_text_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same parts; no row of a table, and no mark of Markdown."""
    monkeypatch.setenv("COLUMNS", "80")
    text = show().stdout
    assert max(map(len, text.splitlines())) <= 80
    for line in (
        "library_bump of orders @ demo",
        "  COMPLETED: every instance runs 4.3.1",
        "  orders-1, bounce 1: 6.2 s from its stop until RUNNING, its gate passed after",
        "timeline (UTC)",
        "  1. orders-1 to 4.3.1; back: back to 3.4.1 (one restart)",
    ):
        assert line in text.splitlines(), line
    assert "superseded tries" in text
    assert not re.search(r"^\||\\|\*\*|^#", text, re.MULTILINE)
    assert show("--format", "markdown").stdout.startswith("# library_bump of orders @ demo\n")
    monkeypatch.delenv("COLUMNS")
    assert show("--format", "text").stdout.splitlines()[0] == "library_bump of orders @ demo"


def test_the_timeline_as_text_has_each_date(ledger: Ledger) -> None:
    """A run that waited a day for its approval looked like one of an afternoon."""
    for hours in (30, 31):
        ledger.record(KEY, f"verify_{hours}", 1, "note", "begun", {"what": "looks"}, BEGAN + hours * 3_600_000)
    lines = show("--format", "text").stdout.splitlines()
    dates = [(line, lines[at + 1][:10]) for at, line in enumerate(lines) if re.fullmatch(r"  2025-\d\d-\d\d", line)]
    assert dates == [("  2025-11-22", "  00:20:16"), ("  2025-11-23", "  06:20:11")]
    assert "  07:20:11  verify_31: began: looks" in lines


@pytest.mark.usefixtures("ledger")
def test_what_was_superseded_is_one_line() -> None:
    """The first try is named with its end, and is not in the timeline."""
    timeline, _, old = show().stdout.partition("## Superseded tries")
    assert FAILED.partition(";")[0] not in timeline
    assert "- bounce_1_first, try 1: 2025-11-22 00:20:21 UTC to 2025-11-22 00:25:21 UTC, 4 entries" in old
    assert "FAILED: gate of orders-1: state is REBALANCING" in old


@pytest.mark.usefixtures("ledger")
def test_the_html_is_one_file_without_a_network() -> None:
    """Old tries are folded, the course is drawn, and nothing is fetched."""
    page = show("--format", "html").stdout
    assert page.startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in page
    assert not re.search(r"<(script|img|link|iframe|a) |(src|href)=|url\(", page)
    assert page.replace(' xmlns="http://www.w3.org/2000/svg"', "").count("http") == page.count("http-equiv")
    assert page.count("<details>") == 1
    assert page.count("<rect ") == 2
    assert "#b8bfcc" in page
    assert "<svg " in page
    assert "orders-1, orders-2: 3.4.1 → " in page


@pytest.mark.usefixtures("ledger")
@pytest.mark.parametrize(("mode", "readings", "inputs"), [("none", 0, 0), ("verdicts", 0, 19), ("all", 1, 19)])
def test_readings_are_as_many_as_wanted(mode: str, readings: int, inputs: int) -> None:
    """JSON has all without the option; the rest is equal."""
    made = json.loads(show("--format", "json", "--readings", mode).stdout)
    assert len(made["readings"]) == readings
    assert sum("inputs" in one["payload"] for one in made["verdicts"]) == inputs
    whole = json.loads(show("--format", "json").stdout)
    assert {**made, "readings": 0, "verdicts": 0} == {**whole, "readings": 0, "verdicts": 0}
    assert (len(whole["readings"]), len(whole["verdicts"])) == (1, 19)


@pytest.mark.usefixtures("ledger")
def test_readings_of_a_page_are_refused() -> None:
    """A page has none: the option would silently do nothing."""
    result = CliRunner().invoke(cli, ["evidence", "r", "--readings", "all"])
    assert str(result.exception) == "--readings: only --format json has readings; give both"


def test_the_json_of_a_long_run_is_never_in_memory_as_a_whole(ledger: Ledger) -> None:
    """40 MB of readings in at most half of it: a page at a time."""
    for number in range(400):
        ledger.record(KEY, "verify", 1, "reading", "application", {"topology": f"{number}" + "x" * 100_000}, BEGAN)
    tracemalloc.start()
    written = 0
    for text in json_pieces({}, {"readings": pieces(ledger, ledger.run(KEY), "readings", Readings.ALL)}):
        written += len(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert written > 40_000_000
    assert peak < 20_000_000


@pytest.mark.parametrize("lists", [{}, {"b": []}, {"b": [{"y": [1, 2], "x": "a\nb"}, 7]}])
def test_pieces_are_the_json_of_the_whole(lists: dict[str, Any]) -> None:
    """Byte for byte what json.dumps writes."""
    document = {"c": {"z": None, "a": []}, "a": 1}
    whole = json.dumps({**document, **lists}, indent=2, sort_keys=True) + "\n"
    assert "".join(json_pieces(document, {name: iter(values) for name, values in lists.items()})) == whole


def test_the_topologies_of_a_run_are_drawn(ledger: Ledger) -> None:
    """Before and after, each node with its topics and stores, and an edge for each arrow; names are text."""
    text = """Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [orders])
      --> {name}
    Processor: {name} (stores: [totals])
      --> KSTREAM-SINK-0000000002
      <-- KSTREAM-SOURCE-0000000000
    Sink: KSTREAM-SINK-0000000002 (topic: out<b>)
      <-- {name}

"""
    for name in ("KSTREAM-AGGREGATE-0000000001", "sums"):
        streams = {"topology": text.format(name=name)}
        payload = {"instances": [{"streams": streams}, {"streams": {"missing": "no answer"}}]}
        ledger.record(KEY, "verify", 1, "reading", "application", payload, BEGAN)
    page = show("--format", "html").stdout
    before, _, after = page.partition("Topology after")
    assert "Topology before" in before
    for part, name in ((before.partition("Topology before")[2], "KSTREAM-AGGREGATE-0000000001"), (after, "sums")):
        drawn = part.partition("</svg>")[0]
        assert f">{name}<" in drawn
        assert ">totals<" in drawn
        assert "out&lt;b&gt;" in drawn or "out‹b&gt;" in drawn
        assert drawn.count('stroke="#1d2430"') == 2
        assert drawn.count("<rect ") == 3
