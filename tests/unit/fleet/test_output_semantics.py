"""What an entry declares of its outputs: a path, a class with its reason, and only of its own outputs."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.output_classes import OutputSemantics
from lab.settings import CHECKOUT, Lab, Ports

CONFIG = CHECKOUT / "config"
Declared = tuple[OutputSemantics, ...]


def loaded(folder: Path, monkeypatch: pytest.MonkeyPatch, semantics: Any) -> tuple[list[str], Declared]:
    """The problems of the demo's entry with these semantics, and what decisions see of them."""
    for name, value in Lab(folder, Ports(1)).fleet_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(folder))
    entry = yaml.safe_load((CONFIG / "applications" / "orders.yaml").read_text("utf-8"))
    entry["output_semantics"] = semantics
    for part in ("clusters", "applications"):
        (folder / part).mkdir()
    (folder / "clusters" / "demo.yaml").write_text((CONFIG / "clusters" / "demo.yaml").read_text("utf-8"), "utf-8")
    (folder / "applications" / "orders.yaml").write_text(yaml.safe_dump(entry), "utf-8")
    fleet = load_fleet()
    if fleet.problems:
        return [str(one) for one in fleet.problems], ()
    return [], fleet.application("orders").declared().output_semantics


def test_decisions_see_what_is_declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By output, with all values masked unless a mask is given."""
    declared = {
        "orders-windowed": {"compare": "windows", "class": "late_sensitive", "because": "its key has the window"},
        "orders-running": {"ignore": ["$.event", "$.lines[*].at"], "mask": []},
    }
    assert loaded(tmp_path, monkeypatch, declared) == (
        [],
        (
            OutputSemantics("orders-running", ignore=("$.event", "$.lines[*].at"), mask=()),
            OutputSemantics("orders-windowed", "windows", (), "late_sensitive", "its key has the window"),
        ),
    )
    assert OutputSemantics("x").mask == ("value", "headers")


@pytest.mark.parametrize(
    ("semantics", "sentence"),
    [
        ({"orders-runing": {"ignore": ["$.event"]}}, "names orders-runing, which is not one of its outputs"),
        ({"orders-running": {"ignore": ["event"]}}, "has event, which is not a path; give one such as $.event"),
        ({"orders-running": {"ignore": ["$.a,$.b"]}}, "has $.a,$.b, which is not a path"),
        ({"orders-running": {"ignore": ["$"]}}, "has $, which is not a path"),
        ({"orders-running": {"ignore": ["$.a", "$.a"]}}, "names $.a twice"),
        ({"orders-running": {"mask": ["values"]}}, "has values, which is not a path"),
        ({"orders-running": {"class": "exact"}}, "a declared class needs its reason"),
        ({"orders-running": {"class": "right", "because": "so"}}, "class"),
        ({"orders-running": {"compare": "record"}}, "compare"),
        ({"orders-running": {"ignored": ["$.event"]}}, "ignored"),
        ({"orders-running": "exact"}, "orders-running"),
        (["orders-running"], "output_semantics"),
    ],
)
def test_bad_semantics_disable_the_entry_with_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, semantics: Any, sentence: str
) -> None:
    """Before a run compares anything."""
    problems, _ = loaded(tmp_path, monkeypatch, semantics)
    assert len(problems) == 1
    assert sentence in problems[0]


def test_a_copier_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its outputs are copies, record by record."""
    problems, _ = loaded(tmp_path, monkeypatch, {})
    assert not problems
    entry = yaml.safe_load((tmp_path / "applications" / "orders.yaml").read_text("utf-8"))
    entry |= {"kind": "copier", "delivery": "exactly_once", "output_semantics": {"orders-running": {}}}
    (tmp_path / "applications" / "orders.yaml").write_text(yaml.safe_dump(entry), "utf-8")
    assert any("output_semantics" in str(one) for one in load_fleet().problems)
