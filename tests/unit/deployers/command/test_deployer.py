"""What a command prints of a process where that contradicts itself (the rest: tests/integration)."""

import json
from typing import Any

import pytest
from kstreams_runbooks.deployers.command.deployer import CommandDeployer
from kstreams_runbooks.errors import Refused, WriteRefused
from kstreams_runbooks.fleet.deployers.command import CommandSettings


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The verbs that were called; each prints an instance that is stopped and has a process id."""
    verbs: list[str] = []
    instance: dict[str, Any] = {
        "instance": "o1",
        "process": "stopped",
        "started_at_ms": None,
        "pid": 4711,
        "release": "3.4.1",
        "settings": {},
        "applied": False,
    }

    def run_script(_: str, verb: str, *__: Any) -> str:
        verbs.append(verb)
        return json.dumps({"schema_version": 1, "instances": [instance]})

    for module in ("deployer", "shown"):
        monkeypatch.setattr(f"kstreams_runbooks.deployers.command.{module}.run_script", run_script)
    return verbs


def test_stopped_with_a_process_id_is_not_stopped(called: list[str]) -> None:
    """It is told to stop, and what it prints afterwards is not believed; its state stays."""
    run = {verb: {"run": ["deploy", "{instance}"]} for verb in ("stop", "start", "clear_state")}
    settings = CommandSettings.model_validate(
        {
            "kind": "command",
            "instances": [{"name": "o1", "metrics": "http://127.0.0.1:9/jolokia"}],
            "releases": {"3.4.1": "v1"},
            "commands": {
                "instances": {"run": ["deploy"]},
                "apply": {"run": ["deploy", "{instance}", "{release}", "{settings}"]},
                **run,
            },
        }
    )
    deployer = CommandDeployer(settings, application_id="orders", dry_run=False)
    with pytest.raises(Refused, match=r"o1: stop ended with 0, but prints the process stopped, pid 4711"):
        deployer.stop("o1")
    assert called == ["instances", "stop"]
    with pytest.raises(
        WriteRefused, match=r"o1: the instances command prints the process stopped, pid 4711; its state is not clea"
    ):
        deployer.clear_state("o1")
    assert "clear_state" not in called
