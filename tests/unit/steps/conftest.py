"""A run at its first write, on a real SQLite ledger."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.topics_seen import RepartitionsSeen, TopicsSeen
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.approval.code import code_digest
from kstreams_runbooks.steps.run.run import Run, now_ms
from world.new_ledger import new_ledger
from world.samples import CONF_DIGEST, DUE, NEW, declared, reading


@pytest.fixture
def plan() -> Plan:
    """The plan of a bump, made by the code that runs."""
    now = reading()
    limits, code = (("max_lag", 1000.0),), code_digest("library_bump")
    return bump_plan(now, declared(), NEW, upgrade_path_rules(), (), limits, code)


@pytest.fixture
def run(tmp_path: Path, plan: Plan) -> Run:
    """A run with a stored plan."""
    ledger = new_ledger(tmp_path / "ledger.db")
    record = ledger.start_run(
        RunRecord(
            "library_bump/r",
            "library_bump",
            "r",
            "orders",
            "demo",
            "oncall",
            False,
            "",
            {},
            now_ms(),
            run_after=DUE.isoformat(),
            conf_digest=CONF_DIGEST,
        )
    )
    ledger.store_plan(record.run_key, plan.digest, encode(plan))
    return Run(record, "bounce_1_first", 1, ledger)


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of declarations of the test's own, without notifiers."""
    folder = tmp_path / "config"
    folder.mkdir()
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(folder))
    return folder


@pytest.fixture
def told(config: Path, tmp_path: Path, run: Run) -> Callable[[], list[dict[str, Any]]]:
    """A file notifier that is told everything about the run; answers what it has been told."""
    file = tmp_path / "told.jsonl"
    notifier = {
        "notifier": "kstreams_runbooks.demo.file_notifier.FileNotifier",
        "arguments": {"path": str(file)},
    }
    (config / "notifications.yaml").write_text(yaml.safe_dump({"notifiers": {"file": notifier}}), encoding="utf-8")
    owned(run)
    return lambda: [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture(autouse=True)
def topics(monkeypatch: pytest.MonkeyPatch) -> TopicsSeen:
    """What the cluster has of topics: none but repartition topics that are committed, until a test puts them there."""
    seen = TopicsSeen({}, {}, {})
    monkeypatch.setattr(Run, "topics_seen", lambda *_: seen)
    monkeypatch.setattr(
        Run, "repartitions_seen", lambda _, names, __: RepartitionsSeen(dict.fromkeys(names, "id"), (), "Stable")
    )
    return seen


def owned(run: Run) -> None:
    """Give the run an application without a fleet."""
    vars(run)["application"] = SimpleNamespace(owner="team-orders", zone="UTC", declared=declared)
