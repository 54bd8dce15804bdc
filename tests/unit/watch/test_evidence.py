"""`evidence --recheck`: every verdict is made again from the raw readings, and any difference is told."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from kstreams_runbooks.cli import cli
from kstreams_runbooks.decide.instances.gate import gate
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import encode_call
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.message import Kind, Notification
from kstreams_runbooks.wording import markdown
from world.new_ledger import new_ledger
from world.samples import expectation, reading

KEY = "library_bump/r"


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """A ledger with one run."""
    file = tmp_path / "ledger.db"
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{file}")
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    opened = new_ledger(file)
    opened.start_run(RunRecord(KEY, "library_bump", "r", "orders", "demo", "oncall", False, "", {}, 1_000))
    return opened


def decided() -> dict[str, Any]:
    """What a step keeps of a gate that waits."""
    samples, expected = (reading(),), expectation()
    return encode_call(gate, {"samples": samples, "expected": expected}, gate(samples, expected))


def recheck() -> Result:
    """The command, as a person runs it."""
    return CliRunner().invoke(cli, ["evidence", "r", "--recheck", "--format", "json"])


def test_equal_verdicts_exit_with_zero(ledger: Ledger) -> None:
    """Nothing was touched."""
    ledger.record(KEY, "bounce_1_first", 1, "verdict", "gate", decided(), 1_000)
    result = recheck()
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["recheck"] == {"equal": 1, "different": []}


def test_what_a_run_holds_is_shown_with_what_it_does(ledger: Ledger) -> None:
    """Of every kind; another run's holds are not its own."""
    other = RunRecord("undo/x", "undo", "x", "orders", "demo", "oncall", False, "", {}, 1_000)
    ledger.start_run(other)
    ledger.take_hold(other.run_key, ("topic:demo:out",), "demo", 2, 1, lambda _: False)
    held = ("application:demo:orders", "route:demo:to-orders")
    ledger.take_hold(KEY, held, "demo", 2, 1_700_000_000_000, lambda _: False)
    text = CliRunner().invoke(cli, ["evidence", "r"]).stdout
    assert "- holds application demo orders since 2023-11-14 22:13:20 UTC, and changes something" in text
    assert "- holds route demo to-orders since 2023-11-14 22:13:20 UTC, and changes something" in text
    assert "topic" not in text
    ledger.hold_waits(KEY, 1_700_000_000_001)
    shown = json.loads(CliRunner().invoke(cli, ["evidence", "r", "--format", "json"]).stdout)["holds"]
    assert [(one["resource"], one["changing"]) for one in shown] == [(one, False) for one in held]
    assert "waits: it does not count" in CliRunner().invoke(cli, ["evidence", "r"]).stdout


def test_a_verdict_that_does_not_follow_from_its_readings_is_told(ledger: Ledger) -> None:
    """Somebody wrote proceed where the readings say wait."""
    forged = decided()
    forged["result"]["outcome"] = "proceed"
    ledger.record(KEY, "bounce_1_first", 1, "verdict", "gate", forged, 1_000)
    result = recheck()
    assert result.exit_code == 1
    [different] = json.loads(result.stdout)["recheck"]["different"]
    assert (different["then"]["outcome"], different["today"]["outcome"]) == ("proceed", "wait")
    assert "1 decisions have another result today" in result.stderr


@pytest.mark.parametrize("broken", [{"decision": "gone"}, {"inputs": {}}, {"inputs": {"samples": 7, "expected": {}}}])
def test_a_decision_that_cannot_be_made_again_is_different(ledger: Ledger, broken: dict[str, Any]) -> None:
    """Unknown or unreadable is never equal."""
    ledger.record(KEY, "bounce_1_first", 1, "verdict", "gate", decided() | broken, 1_000)
    result = recheck()
    assert result.exit_code == 1
    [different] = json.loads(result.stdout)["recheck"]["different"]
    assert different["today"].startswith(("cannot be made again: ", "no decision has the name gone any more"))


def test_who_was_told_and_who_was_not_stands_in_the_evidence(ledger: Ledger) -> None:
    """A notifier that was away all the time is named with its reason."""
    subject = "[orders @ demo] concluded: library_bump completed"
    message = Notification(
        KEY, Kind.CONCLUDED, "conclude/1", "orders", "demo", "team", False, subject, ("done",), "", "", None, 1_000
    )
    ledger.queue_notification(message, ("chat", "mail"))
    chat, mail = ledger.due_notifications(("chat", "mail"), 1_000)
    ledger.notification_sent(mail, 2_000)
    ledger.notification_failed(chat, "ConnectionError: refused", 2_000)
    result = CliRunner().invoke(cli, ["evidence", "r"])
    assert f"- chat was not notified: {markdown(subject)} (ConnectionError: refused)" in result.stdout
    assert "mail was not notified" not in result.stdout
    kept = json.loads(CliRunner().invoke(cli, ["evidence", "r", "--format", "json"]).stdout)["notifications"]
    assert {one["channel"]: one["sent_at_ms"] for one in kept} == {"chat": None, "mail": 2_000}
