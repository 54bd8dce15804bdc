"""`version-path` on the terminal: one document on stdout, one sentence on stderr, the exit codes of its help."""

import json
import sys
from typing import Any

import pytest
from kstreams_runbooks.cli import main

KNOWN = ("--broker", "4.3", "--processing-guarantee", "exactly_once_v2")
ALO = ("--processing-guarantee", "at_least_once")
CLASSIC = ("--group-protocol", "classic")


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the real entry point."""
    monkeypatch.setattr(sys, "argv", ["kstreams-runbooks", "version-path", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    return int(str(ended.value.code)), said.out, said.err


@pytest.mark.parametrize(
    ("arguments", "code", "verdict"),
    [
        (("--from", "3.9.1", "--to", "4.3.1", *KNOWN), 0, "proceed"),
        (("--from", "3.4.1", "--to", "4.3.1", *KNOWN), 1, "proceed"),
        (("--from", "4.3.1", "--to", "4.2.1", *KNOWN), 1, "proceed"),
        (("--from", "3.4.1", "--to", "4.3.0", *KNOWN), 1, "refuse"),
        (("--from", "3.4.1", "--to", "4.3.1"), 3, "inconclusive"),
        (("--from", "2.8.2", "--to", "3.2.3", "--broker", "2.4", *ALO), 0, "proceed"),
        (("--from", "2.8.2", "--to", "3.2.3", "--broker", "2.3", *ALO), 1, "proceed"),
        (("--from", "2.7.2", "--to", "2.8.2", "--broker", "2.8", *ALO), 1, "proceed"),
        (("--from", "2.8.2", "--to", "2.7.2", "--broker", "2.8", *ALO), 1, "proceed"),
    ],
)
def test_exit_code_and_verdict(
    arguments: tuple[str, ...],
    code: int,
    verdict: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """0 one plain rolling bounce, 1 more than that, a setting to make or a refusal, 3 inconclusive."""
    ended, out, err = run(capsys, monkeypatch, *arguments, "--format", "json")
    assert (ended, json.loads(out)["verdict"], err) == (code, verdict, "")


def test_the_document(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What a program reads: bounces in order, and findings with severity, source and runbook."""
    _, out, _ = run(capsys, monkeypatch, "--from", "4.3.1", "--to", "3.4.1", *KNOWN, *CLASSIC, "--format", "json")
    document: dict[str, Any] = json.loads(out)
    assert document["schema_version"] == 1
    assert document["bridge"] is None
    assert document["bounces"] == [
        {"target": "4.3.1", "upgrade_from": "3.4", "processing_guarantee": None, "before": [], "at_once": False},
        {
            "target": "3.4.1",
            "upgrade_from": None,
            "processing_guarantee": None,
            "before": ["drain", "clear_state"],
            "at_once": True,
        },
    ]
    assert document["legs"] == [
        {"runbook": "library_bump", "target": "4.3.1", "bounces": 1},
        {"runbook": "library_bump", "target": "3.4.1", "bounces": 1},
    ]
    assert {one["runbook"] for one in document["findings"]} == {"library_bump", None}
    assert {key for finding in document["findings"] for key in finding} == {
        "id",
        "severity",
        "object",
        "message",
        "source",
        "runbook",
    }


def test_the_text_of_a_path(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdict, runs with their bounces, what was assumed, then findings, worst first."""
    _, out, _ = run(capsys, monkeypatch, "--from", "4.3.1", "--to", "3.4.1", *KNOWN, *CLASSIC)
    assert out.startswith(
        """\
LIBRARY BUMP: 4.3.1 to 3.4.1: one rolling bounce, with upgrade.from=3.4, drain, all instances down at once,
clear state

one run: library_bump
   1. every instance, one after another, to 4.3.1 with upgrade.from=3.4
   2. wait until the repartition topics are read to their end, then stop every instance, then start all on
      3.4.1, local state cleared before
   undo of the run that went from 3.4.1 to 4.3.1, while that run is the last one, rolls the instances back and
   knows what ran before.

not known, counted as used: foreign-key joins, table aggregations

group.protocol=classic is taken as the present one, and no path changes it; to change it, ask `plan`

danger
  KAFKA-18943: 3.4.1
"""
    )
    assert "\nwarning\n  table-aggregations-drain: 4.3.1 to 3.4.1 [library_bump]\n" in out
    assert out.index("\nwarning\n") < out.index("\ninfo\n")
    assert "source: KIP-1035; Kafka Streams Upgrade Guide" in out


def test_a_setting_comes_before_the_first_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One order of steps: what a warning asks to set, then the runs."""
    arguments = ("--from", "2.7.2", "--to", "3.2.3", "--broker", "2.3", *ALO)
    _, out, _ = run(capsys, monkeypatch, *arguments)
    assert out.startswith(
        """\
LIBRARY BUMP: 2.7.2 to 3.2.3: one rolling bounce

before run 1, set where it is not set yet:
   replication.factor
   default.key.serde and default.value.serde, or a serde for every operator

run 1 of 1: library_bump
   1. every instance, one after another, to 3.2.3
"""
    )
    _, out, _ = run(capsys, monkeypatch, *arguments, "--format", "json")
    assert json.loads(out)["settings"] == [
        "replication.factor",
        "default.key.serde and default.value.serde, or a serde for every operator",
    ]


def test_the_text_of_a_refusal_says_why_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person at night reads the first line."""
    _, out, _ = run(capsys, monkeypatch, "--from", "3.4.1", "--to", "3.5.1", *KNOWN)
    assert out.splitlines()[0].startswith("REFUSE  3.4.1 to 3.5.1: The format of table aggregations changed in 3.5")
    assert "\ndanger\n" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--from", "3.4.1", "--to", "3.4.1"), "target 3.4.1: every instance already runs 3.4.1; give another release"),
        (("--from", "nine", "--to", "4.3.1"), "release 'nine' is not a Kafka release; give one such as 4.3.1"),
        (("--from", "3.4.1", "--to", "4.3.1", "--broker", "new"), "release 'new' is not a Kafka release"),
        (("--from", "3.4.1", "--to", "4.3.1", "--processing-guarantee", "twice"), "processing guarantee 'twice': not"),
        (("--from", "3.4.1", "--to", "4.3.1", "--group-protocol", "share"), "group protocol 'share': not one"),
    ],
)
def test_bad_input_is_one_sentence_on_stderr(
    arguments: tuple[str, ...],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing on stdout, exit code 2."""
    code, out, err = run(capsys, monkeypatch, *arguments, "--format", "json")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert sentence in err
