"""`outputs` by the files of a version: its classes on stdout, and one sentence for bad input."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput
from lab.settings import CHECKOUT, Lab, Ports

TOPOLOGY = CHECKOUT / "tests" / "apps" / "orders" / "src" / "test" / "resources" / "topology.txt"
DECLARED = CHECKOUT / "config" / "applications" / "orders" / "4.3.1.yaml"


@pytest.fixture(autouse=True)
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo's own."""
    for name, value in Lab(tmp_path, Ports(1)).fleet_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(CHECKOUT / "config"))


def outputs(*words: str) -> tuple[int, str]:
    """Exit code and stdout."""
    result = CliRunner().invoke(cli, ["outputs", "orders", *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


def test_the_demo_s_outputs_in_each_format() -> None:
    """As docs/compare_outputs.md has them."""
    files = ("--topology", str(TOPOLOGY), "--declaration", str(DECLARED))
    code, text = outputs(*files)
    assert code == 0
    assert text.splitlines()[0] == "orders-enriched: exact; compared: the last value of each key"
    code, table = outputs(*files, "--format", "markdown")
    page = (CHECKOUT / "docs" / "compare_outputs.md").read_text("utf-8")
    assert (code, table.strip() in page) == (0, True), table
    document = json.loads(outputs(*files, "--format", "json")[1])
    assert {one["topic"]: one["kind"] for one in document["outputs"]} == {
        "orders-enriched": "exact",
        "orders-per-customer": "exact",
        "orders-running": "exact_without_fields",
        "orders-windowed": "late_sensitive",
    }


def test_a_description_without_its_declaration_is_not_known() -> None:
    """The fields that decide it are named."""
    code, text = outputs("--topology", str(TOPOLOGY))
    assert code == 3
    assert "orders-running: not known, at least exact" in text
    assert "stores.orders-running-store.kind" in text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--declaration", str(DECLARED)), "--declaration: belongs to --topology"),
        (("--release", "4.3.1", "--topology", str(TOPOLOGY)), "--release: --topology has the version"),
        (("--release", "9.9.9"), "release '9.9.9' is not declared for orders"),
    ],
)
def test_bad_input_is_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    """Before anything is read."""
    with pytest.raises(BadInput, match=sentence):
        outputs(*words)
