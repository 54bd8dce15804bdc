"""`orphans`: an application that is not looked at is not one without orphans."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput, Inconclusive


def test_a_bad_declaration_is_unknown_and_an_empty_fleet_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither prints an empty answer with exit code 0."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{tmp_path / 'ledger.db'}")
    for folder in ("applications", "clusters"):
        (tmp_path / folder).mkdir()
    empty = CliRunner().invoke(cli, ["orphans"])
    assert isinstance(empty.exception, BadInput)
    (tmp_path / "applications" / "orders.yaml").write_text("kind: streams\n", encoding="utf-8")
    broken = CliRunner().invoke(cli, ["orphans"])
    assert isinstance(broken.exception, Inconclusive)
    assert str(broken.exception).startswith("orders is not checked: its declaration is bad: ")
    assert broken.stdout == ""
