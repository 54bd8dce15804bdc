"""Options of `internal-topics` that contradict each other: one sentence before anything is read."""

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "give APPLICATION, or --cluster with --topology"),
        (["--cluster", "demo"], "give APPLICATION, or --cluster with --topology"),
        (["orders", "--cluster", "demo"], "--cluster demo: the cluster is that of orders"),
        (["orders", "--release", "4.3.1", "--topology", "a.txt"], "--release 4.3.1: belongs to APPLICATION"),
        (["--cluster", "demo", "--topology", "a.txt", "--release", "1"], "--release 1: belongs to APPLICATION"),
        (["orders", "--declaration", "a.yaml"], "--declaration: belongs to --topology"),
        (["orders", "--config", "a.properties"], "--config: belongs to --topology"),
        (["orders", "--version", "4.3.1"], "--version: belongs to --topology"),
        (["orders", "--topology", "-", "--config", "-"], "stdin: cannot be two of the files"),
    ],
)
def test_options_that_contradict_each_other(words: list[str], sentence: str) -> None:
    """The sentence names the option and what to leave out."""
    result = CliRunner().invoke(cli, ["internal-topics", *words])
    assert isinstance(result.exception, BadInput)
    assert sentence in str(result.exception)
