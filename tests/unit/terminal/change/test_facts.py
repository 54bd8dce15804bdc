"""`plan`, `verify`, `lint`, `diagram` and `declare` on topology facts in place of descriptions."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput, Inconclusive
from world.facts import COUNTED, with_code

SMALLER = COUNTED.replace("size_ms: 3600000", "size_ms: 600000").replace(
    "retention_ms: 3900000", "retention_ms: 900000"
)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def _files(folder: Path, before: str = COUNTED, after: str = SMALLER) -> tuple[str, ...]:
    (folder / "old.facts.yaml").write_text(before, "utf-8")
    (folder / "new.facts.yaml").write_text(after, "utf-8")
    return (
        "--from-topology",
        str(folder / "old.facts.yaml"),
        "--to-topology",
        str(folder / "new.facts.yaml"),
    )


def _plan(folder: Path, *more: str | Path, before: str = COUNTED, after: str = SMALLER) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("plan", *_files(folder, before, after), *more, "--format", "json").stdout)
    return found


def _rules(plan: dict[str, Any]) -> set[tuple[str, str]]:
    return {(one["id"], one["object"]) for one in plan["findings"]}


def test_one_file_for_each_release_has_windows_settings_and_release(tmp_path: Path) -> None:
    """The change of a window that no description shows, and nothing that is not compared."""
    plan = _plan(tmp_path)
    assert ("window-size-changed", "readings-store") in _rules(plan)
    assert plan["not_compared"] == []


def test_a_description_is_still_taken(tmp_path: Path) -> None:
    """One side may have facts, and the other one its description."""
    plan = _plan(tmp_path, before=_description())
    assert ("window-size-changed", "readings-store") not in _rules(plan)
    assert any("stores.readings-store" in asked for one in plan["undecided"] for asked in one["declare"])


def test_a_declaration_has_what_code_does_not_show_and_is_contradicted_by_name(tmp_path: Path) -> None:
    """What was read wins."""
    declared = tmp_path / "new.yaml"
    declared.write_text(
        "stores:\n  readings-store: {key: sensor, window: {kind: tumbling, size_ms: 3600000, grace_ms: 300000}}\n"
        "config: {application.id: app}\n",
        "utf-8",
    )
    plan = _plan(tmp_path, "--to-declaration", declared)
    assert ("window-size-changed", "readings-store") in _rules(plan)
    [one] = [one for one in plan["findings"] if one["id"] == "declaration-contradicted"]
    assert (one["object"], one["severity"]) == ("stores.readings-store.window.size_ms", "info")
    assert "the new version declares 3600000, and its program has 600000" in one["message"]


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--from-version", "3.4.1", "version 3.4.1: {folder}/old.facts.yaml has library 4.3.1"),
        ("--to-config", "application.id=other\n", "application.id is other, and app in {folder}/new.facts.yaml"),
        ("--to-declaration", COUNTED, "these are topology facts (expected a declaration)"),
    ],
)
def test_options_that_contradict_the_facts_are_bad_input(
    tmp_path: Path, option: str, value: str, sentence: str
) -> None:
    """Both values are named."""
    if "\n" in value:
        file = tmp_path / "given.yaml"
        file.write_text(value, "utf-8")
        value = str(file)
    result = run("plan", *_files(tmp_path), option, value)
    assert isinstance(result.exception, BadInput)
    assert sentence.format(folder=tmp_path) in str(result.exception)


def test_facts_without_a_topology_say_why(tmp_path: Path) -> None:
    """The reader's reason, and what to give instead."""
    unread = 'facts: 1\nnot_read:\n  - {fact: ["topology"], reason: "two named topologies"}\n'
    result = run("plan", *_files(tmp_path, before=unread))
    assert isinstance(result.exception, BadInput)
    assert "the topology was not read: two named topologies; give the text of Topology#describe" in str(
        result.exception
    )


def test_verify_sees_a_changed_window(tmp_path: Path) -> None:
    """The descriptions are equal: kept facts differ by a line."""
    _files(tmp_path)
    old, new = tmp_path / "old.facts.yaml", tmp_path / "new.facts.yaml"
    changed = run("verify", "--expected", old, "--actual", new)
    assert changed.exit_code == 1
    assert "-stores.readings-store.window.size_ms: 3600000\n+stores.readings-store.window.size_ms: 600000" in (
        changed.stdout
    )
    assert "window-size-changed" in changed.stdout
    same = run("verify", "--expected", old, "--actual", old)
    assert (same.exit_code, same.stdout) == (0, "the topology is the same\n")


CODE = """\
code:
  facts: {"operators.closed.code": "0000000000000001"}
  digests: {"0000000000000001": {methods: "0"}}
  methods: {"app.App": "closed 1a2b3c4d"}
  java: [61]
  jvm: 17
  rules: 2
"""


def _verified(folder: Path, before: str, after: str, *more: str) -> Result:
    _files(folder, before, after)
    return run("verify", "--expected", folder / "old.facts.yaml", "--actual", folder / "new.facts.yaml", *more)


def test_verify_compares_code_and_shows_what_it_reaches(tmp_path: Path) -> None:
    """The rest of the facts is the same; stderr has the command that keeps the present file."""
    kept, other = (
        with_code(COUNTED, CODE.replace("0000000000000001", digest).replace("1a2b3c4d", method))
        for digest, method in (("0" * 15 + "1", "1a2b3c4d"), ("0" * 15 + "2", "5e6f7a8b"))
    )
    changed = _verified(tmp_path, kept, other)
    assert changed.exit_code == 1
    assert (
        "-code.operators.closed.code: 0000000000000001\n+code.operators.closed.code: 0000000000000002" in changed.stdout
    )
    assert "operator closed (subtopology 0, reaches closed-store)\n  changed app.App.closed" in changed.stdout
    keep = f"keep the present file: cp {tmp_path / 'new.facts.yaml'} {tmp_path / 'old.facts.yaml'}"
    assert keep in changed.stderr
    [entry] = json.loads(_verified(tmp_path, kept, other, "--format", "json").stdout)["changed_code"]
    assert (entry["stores"], entry["changed"]) == (["closed-store"], ["app.App.closed"])
    assert _verified(tmp_path, kept, kept).stdout == "the topology is the same\n"


@pytest.mark.parametrize(
    ("present", "reason"),
    [
        (COUNTED, "new.facts.yaml: has no digests of code, and the kept file has: code is not compared; print it with"),
        (
            with_code(COUNTED, CODE.replace("rules: 2", "rules: 3")),
            "code is not compared of 1 part of the program: the two documents have digests of other rules: print both",
        ),
    ],
)
def test_verify_is_inconclusive_if_code_was_not_compared(tmp_path: Path, present: str, reason: str) -> None:
    """With the command that keeps the present file; a change of the rest is a change."""
    result = _verified(tmp_path, with_code(COUNTED, CODE), present)
    assert isinstance(result.exception, Inconclusive)
    assert reason in str(result.exception)
    assert "; the rest is the same; if no code changed, keep the present file: cp " in str(result.exception)
    result = _verified(tmp_path, with_code(SMALLER, CODE), present)
    assert result.exit_code == 1
    assert reason in result.stderr


def test_verify_says_that_the_kept_file_has_no_code(tmp_path: Path) -> None:
    """It compares what both have, as before."""
    result = _verified(tmp_path, COUNTED, with_code(COUNTED, CODE))
    assert (result.exit_code, result.stdout) == (0, "the topology is the same\n")
    assert "old.facts.yaml: has no digests of code; keep the present file to compare it: cp " in result.stderr


def _description() -> str:
    text = COUNTED.partition("topology: |\n")[2].partition("config:")[0]
    return "\n".join(line.removeprefix("  ") for line in text.splitlines())


def test_verify_across_releases_names_what_it_does_not_compare(tmp_path: Path) -> None:
    """On stderr; JSON has it too."""
    _files(tmp_path, after=COUNTED.replace('library: "4.3.1"', 'library: "3.9.1"'))
    files = ("--expected", tmp_path / "old.facts.yaml", "--actual", tmp_path / "new.facts.yaml")
    same = run("verify", *files)
    assert (same.exit_code, same.stdout) == (0, "the topology is the same\n")
    assert "are of two releases of the library, so these facts are not compared: library; print both" in same.stderr
    assert json.loads(run("verify", *files, "--format", "json").stdout)["facts_not_compared"] == ["library"]


def test_verify_is_inconclusive_if_one_file_has_no_facts(tmp_path: Path) -> None:
    """The two descriptions are compared: equal ones prove nothing about windows, different ones are a change."""
    _files(tmp_path)
    text = tmp_path / "kept.txt"
    text.write_text(_description(), "utf-8")
    result = run("verify", "--expected", text, "--actual", tmp_path / "new.facts.yaml")
    assert isinstance(result.exception, Inconclusive)
    assert f"{text}: has no topology facts, and the other file has" in str(result.exception)
    assert result.stdout == ""
    text.write_text(_description().replace("reading-counts", "counts"), "utf-8")
    assert run("verify", "--expected", text, "--actual", tmp_path / "new.facts.yaml").exit_code == 1


@pytest.mark.parametrize("text", ["", " \n\n"])
def test_an_empty_file_is_bad_input(tmp_path: Path, text: str) -> None:
    """A program that printed nothing: not a description without subtopologies."""
    result = run("plan", *_files(tmp_path, after=text))
    assert isinstance(result.exception, BadInput)
    assert str(result.exception).startswith(f"{tmp_path / 'new.facts.yaml'}: is empty (expected the text of")


def test_plan_says_which_side_has_no_facts(tmp_path: Path) -> None:
    """Its facts answer what a declaration would be asked for; two sides of one kind are not mentioned."""
    old_text = run("plan", *_files(tmp_path, before=_description()))
    assert old_text.stderr.startswith("the old side has no facts: print them for it too")
    new_text = run("plan", *_files(tmp_path, after=_description()))
    assert new_text.stderr.startswith("the new side has no facts")
    assert run("plan", *_files(tmp_path)).stderr == ""
    assert run("plan", *_files(tmp_path, before=_description(), after=_description())).stderr == ""


def test_lint_and_diagram_take_facts(tmp_path: Path) -> None:
    """Formats of Kafka have no version to declare; a declared one of the program's class without it is named."""
    _files(tmp_path)
    declared = tmp_path / "declared.yaml"
    declared.write_text("topics:\n  readings: {value_serde: {name: json}}\n", "utf-8")
    for more, unversioned in (((), set()), (("--declaration", declared), {"readings"})):
        linted = json.loads(run("lint", tmp_path / "old.facts.yaml", *more, "--format", "json").stdout)
        assert {one["object"] for one in linted["findings"] if one["id"] == "format-version-missing"} == unversioned
    assert "readings-store" in run("diagram", tmp_path / "old.facts.yaml").stdout


def test_no_command_proposes_to_write_over_facts(tmp_path: Path) -> None:
    """The declaration that is asked for gets another name."""
    commands = _plan(tmp_path)["declare_with"]
    assert any(line.endswith("> " + str(tmp_path / "old.facts.declaration.yaml")) for line in commands)


def test_declare_asks_only_for_what_facts_leave_open(tmp_path: Path) -> None:
    """Of one release, and of a change: here no fact of the old side matters."""
    _files(tmp_path)
    printed = run("declare", tmp_path / "old.facts.yaml").stdout
    assert "partitions: null" in printed
    assert "window" not in printed
    asked = run("declare", *_files(tmp_path))
    assert asked.exit_code == 0
    assert "kind" not in asked.stdout
