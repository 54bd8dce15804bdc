"""The change of a window as the ledger has it: the newest verified run between two declarations that differ."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from kstreams_runbooks.decide.change.mixed_windows import window_changes
from kstreams_runbooks.errors import BadInput, Inconclusive
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, Window
from kstreams_runbooks.terminal.mixed_windows import mixed_windows_command
from kstreams_runbooks.watch.mixed_windows import change_in_ledger
from world.new_ledger import new_ledger
from world.samples import NEW, OLD, partition, reading

LIBRARIES = {OLD: OLD, NEW: NEW}
ENTRY: Any = SimpleNamespace(
    name="orders",
    cluster="demo",
    declared=lambda: SimpleNamespace(releases=tuple(LIBRARIES), library=LIBRARIES.get),
)
TIMES = (replace(partition(), stream_time_ms=5_000), replace(partition(number=1), stream_time_ms=None))
VERIFIED = reading(partitions=TIMES)
SIDES = tuple(
    Declaration(stores={"counts": DeclaredStore("window", Window("tumbling", size, 0))}) for size in (1_000, 2_000)
)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """An empty ledger."""
    return new_ledger(tmp_path / "ledger.db")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the releases are declared, each with another window."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    (made := tmp_path / "applications" / "orders").mkdir(parents=True)
    declare(made, OLD, 1_000)
    declare(made, NEW, 2_000)
    return made


def declare(folder: Path, release: str, size_ms: int) -> None:
    window = f"{{kind: tumbling, size_ms: {size_ms}, grace_ms: 0}}"
    (folder / f"{release}.yaml").write_text(f"stores:\n  counts: {{kind: window, window: {window}}}\n")


def run(ledger: Ledger, run_id: str, at_ms: int, outcome: str = "proceed", **record: Any) -> None:
    """A run that has ended, with the plan of a bump and its verification."""
    fields: dict[str, Any] = {"application": "orders", "cluster": "demo", "dry_run": False, **record}
    told: dict[str, Any] = {"requested_by": "oncall", "reason": "r", "params": {}, "started_at_ms": at_ms}
    started = RunRecord("", "library_bump", run_id, **fields, **told)
    key = ledger.start_run(started).run_key
    ledger.store_plan(key, "p1", stored_plan())
    ledger.mark_written(key, at_ms)
    payload = {"decision": "change_verified", "inputs": {"after": encode(VERIFIED)}, "result": {"outcome": outcome}}
    ledger.record(key, "verify", 1, "verdict", "change_verified", payload, at_ms)


def stored_plan() -> Any:
    instances = [{"instance": "orders-1", "release": OLD, "settings": [], "version": OLD}]
    facts = {"group_type": "classic", "topics": [], "instances": ["orders-1"], "at_start": instances}
    return {
        "runbook": "library_bump",
        "application": "orders",
        "cluster": "demo",
        "change": [],
        "limits": [],
        "stages": [{"kind": "bounce", "number": 1, "release": NEW, "settings": []}],
        "facts": {**facts, "static_membership": True, "code": "c"},
        "costs": [],
        "findings": [],
        "undo": [],
        "title": "t",
        "worst_case": "w",
    }


def test_the_newest_verified_run_is_the_change(ledger: Ledger, folder: Path) -> None:
    """With the stream times at which every instance ran the new version; a partition without one is left out."""
    assert folder
    run(ledger, "first", 1_000)
    run(ledger, "second", 2_000)
    run(ledger, "of-another", 4_000, application="payments")
    run(ledger, "elsewhere", 5_000, cluster="far")
    found = change_in_ledger(ledger, ENTRY, None)
    assert found.source == "verified by run second"
    assert found.since == {("orders", 0): 5_000}
    assert [(one.store, one.mixed_ms) for one in found.changes] == [("counts", 2_000)]


def test_a_run_that_was_not_verified_makes_it_unknown(ledger: Ledger, folder: Path) -> None:
    """An undo after the change has other windows, and begins another mixture."""
    assert folder
    run(ledger, "first", 1_000)
    run(ledger, "stopped", 2_000, outcome="wait")
    with pytest.raises(Inconclusive, match="run stopped changed it and was not verified"):
        change_in_ledger(ledger, ENTRY, None)
    # The change after it is the newest one.
    run(ledger, "second", 3_000)
    assert change_in_ledger(ledger, ENTRY, None).source == "verified by run second"


def test_a_run_that_changed_no_window_is_none(ledger: Ledger, folder: Path) -> None:
    """Nor one whose releases declare nothing; given declarations need no others."""
    run(ledger, "first", 1_000)
    declare(folder, NEW, 1_000)
    with pytest.raises(Inconclusive, match=r"no verified run in the ledger changed a declared window \(1 runs\); give"):
        change_in_ledger(ledger, ENTRY, None)
    (folder / f"{OLD}.yaml").unlink()
    with pytest.raises(Inconclusive):
        change_in_ledger(ledger, ENTRY, None)
    before, after = SIDES
    found = change_in_ledger(ledger, ENTRY, (before, after))
    assert (found.changes, found.since) == (window_changes(before, after), {("orders", 0): 5_000})
    assert change_in_ledger(ledger, ENTRY, (before, before)).changes == ()


@pytest.mark.parametrize("kept", ["plan", "verification"])
def test_a_run_in_a_format_of_before_makes_it_unknown(
    ledger: Ledger, folder: Path, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    """One sentence and no traceback; with both declarations only its reading is needed."""
    assert folder
    run(ledger, "first", 1_000)
    key = ledger.runs()[-1].run_key
    if kept == "plan":
        monkeypatch.setattr(Ledger, "plan", lambda *_: stored_plan() | {"stages": [{"kind": "leap"}]})
    else:
        payload = {"decision": "change_verified", "inputs": {"after": {"x": 1}}, "result": {"outcome": "proceed"}}
        ledger.record(key, "verify", 1, "verdict", "change_verified", payload, 2_000)
    why = "run first was kept in a format that this release does not read, so which windows it changed is unknown; give"
    with pytest.raises(Inconclusive, match=why):
        change_in_ledger(ledger, ENTRY, None)
    if kept == "plan":
        before, after = SIDES
        assert change_in_ledger(ledger, ENTRY, (before, after)).changes


def test_without_a_ledger_nothing_is_known() -> None:
    """And never over."""
    with pytest.raises(Inconclusive, match=r"\(0 runs\)"):
        change_in_ledger(None, ENTRY, None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--since", "2026-11-20T10:15:00Z"], "belong together, and --since needs both"),
        (["--from-declaration", "a.yaml"], "belong together"),
        (["--since", "soon", "--from-declaration", "a", "--to-declaration", "b"], "--since soon: is not a time with a"),
        (
            ["--since", "2026-11-20T10:15:00", "--from-declaration", "a", "--to-declaration", "b"],
            "is not a time with a zone",
        ),
    ],
)
def test_options_that_do_not_fit_are_bad_input(words: list[str], said: str) -> None:
    """Before anything is read."""
    result = CliRunner().invoke(mixed_windows_command, ["orders", *words])
    assert isinstance(result.exception, BadInput)
    assert said in str(result.exception)
