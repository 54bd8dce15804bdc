"""Files given to a command and text of any kind: bad input in time, and no error but our own."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.deployers.supervisord.deployment_file import read_declared
from kstreams_runbooks.documents.json_document import json_document
from kstreams_runbooks.documents.yaml_document import yaml_document
from kstreams_runbooks.errors import BadInput, RunbookError
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.login.command_config import read_command_config
from kstreams_runbooks.properties import dump, parse
from kstreams_runbooks.terminal.change.inputs import SideFiles, read_side, read_topology
from world.called import counted_calls
from world.hostile_files import CASES, make

_GOOD = "Topologies:\n Sub-topology: 0\n  Source: s (topics: [a])\n   --> none\n"
_NO_FILE = {"pipe", "link to a pipe", "socket", "directory", "endless device", "dangling link", "link to itself"}
_WORDS = st.sampled_from(
    [
        *(
            "Topologies:",
            "Sub-topology: 0",
            "Source: a (topics: [b])",
            "Sink: b (topic: c)",
            "Processor: c (stores: [])",
        ),
        *(
            "--> a, b",
            "<-- none",
            "\n",
            "   ",
            "(topics: ",
            "&a",
            "*a",
            "<<: ",
            "- ",
            "{",
            "[",
            "]",
            "}",
            ": ",
            '"',
            "\\u",
        ),
    ]
)
_ANY = st.one_of(st.text(), st.lists(_WORDS, max_size=40).map("".join), st.lists(_WORDS, max_size=40).map("\n".join))


@pytest.mark.parametrize("case", CASES)
def test_a_bad_topology_is_bad_input(tmp_path: Path, case: str) -> None:
    """With the file's name."""
    file = make(case, tmp_path / "topology.txt")
    with pytest.raises(BadInput) as refused:
        read_topology(file)
    assert str(refused.value).startswith(f"{file}: ")
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("case", sorted(_NO_FILE))
def test_settings_that_are_no_file(tmp_path: Path, case: str) -> None:
    """Of `plan`, of --command-config, of an instance: never waited for, never taken for a file that sets nothing."""
    made = make(case, tmp_path / "deployment.properties")
    topology = tmp_path / "topology.txt"
    topology.write_text(_GOOD, encoding="utf-8")
    with pytest.raises(BadInput, match=r"deployment\.properties: "):
        read_side(SideFiles(topology, config=made))
    with pytest.raises(BadInput, match=r"--command-config \S+deployment\.properties: "):
        read_command_config(made)
    assert isinstance(read_declared(tmp_path, frozenset()).release, Missing)


def test_characters_beyond_the_basic_plane() -> None:
    """Both halves are one character, which is written again as Java reads it; half of one is bad input."""
    assert parse(r"a=\ud83d\ude00") == {"a": "\U0001f600"}
    assert parse(dump({"a": "\U0001f600"})) == {"a": "\U0001f600"}
    with pytest.raises(BadInput, match="half a character"):
        parse(r"a=x\ud83d")


@settings(max_examples=150, deadline=None)
@given(_ANY)
def test_any_text_is_read_or_is_bad_input(text: str) -> None:
    """Of a topology, of YAML and of JSON."""
    for read in (parse_topology, yaml_document, json_document):
        with contextlib.suppress(RunbookError):
            read(text)


@pytest.mark.parametrize(
    "line",
    ["Source: a" + " (topics: " * 100_000, "Source:" + " " * 900_000 + "x", "Sink: " + " (topic: " * 100_000 + ")"],
)
def test_a_line_of_a_megabyte(line: str) -> None:
    """Refused, and read and the work grows with its length alone."""
    with counted_calls() as calls, pytest.raises(BadInput):
        parse_topology(f"Topologies:\n Sub-topology: 0\n{line}\n")
    assert calls.number < len(line)
