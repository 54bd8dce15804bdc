"""What `rights` refuses, and what it prints while no cluster can be read."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from lab.fake_streams import FakeStreams

TOPOLOGY = "Topologies:\n  Sub-topology: 0\n    Source: a (topics: [in])\n      --> none\n"
RESTART = ("stop_and_restart", "--application", "app")


@pytest.fixture(autouse=True)
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    FakeStreams(tmp_path, "app", TOPOLOGY).declare()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*RESTART, "--release", "9.9"), "release 9.9 is not declared for app (it has 4.3.1); give one of them"),
        ((*RESTART, "--setting", "threads"), "--setting threads: is not NAME=VALUE; correct it"),
        ((*RESTART, "--setting", "=2"), "is not NAME=VALUE; correct it"),
        (("--setting", "a=1"), "belong to a runbook; name one"),
        (("--release", "4.3.1"), "belong to a runbook; name one"),
    ],
)
def test_bad_input_is_one_sentence(words: tuple[str, ...], said: str) -> None:
    """Before anything is read."""
    found = CliRunner().invoke(cli, ["rights", *words])
    assert said in str(found.exception)


def test_without_a_cluster_internal_topics_are_one_prefix() -> None:
    """A release changes nothing in that: its internal topics begin with it too."""
    for more in ((), ("--release", "4.3.1")):
        found = CliRunner().invoke(cli, ["rights", *RESTART, *more])
        assert found.exit_code == 0
        assert "--topic app- --resource-pattern-type prefixed" in found.stdout
