"""A deployer reads again what nothing answered around a write, and writes once (supervisord: tests/hostile)."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from kstreams_runbooks import patience
from kstreams_runbooks.deployers.command import deployer as by_command
from kstreams_runbooks.deployers.command import shown
from kstreams_runbooks.deployers.docker import deployer as by_docker
from kstreams_runbooks.errors import Inconclusive, Refused, Unreachable
from kstreams_runbooks.fleet.deployers.command import CommandSettings
from kstreams_runbooks.fleet.deployers.docker import DockerSettings

ENTRY: dict[str, Any] = {"instances": [{"name": "o1", "metrics": "http://o1:1"}], "releases": {"3.4.1": "v1"}}
ONE = {"run": ["deploy", "{instance}"]}
APPLY = {"run": ["deploy", "{instance}", "{release}", "{settings}"]}
COMMANDS = {"commands": {"instances": {"run": ["deploy"]}, "apply": APPLY, "stop": ONE, "start": ONE}}
DOCKER = {"image": "orders:{artifact}", "state": "/state", "variable_prefix": "STREAMS_"}
AWAY = Unreachable("the team's inventory is away")


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "READ_AGAIN_S", 1.0)
    monkeypatch.setattr(patience, "_FIRST_PAUSE_S", 0.01)


def printed(process: str, pid: int | None) -> str:
    """The output of a command about the instance."""
    one: dict[str, Any] = {
        "instance": "o1",
        "process": process,
        "started_at_ms": None,
        "pid": pid,
        "release": "3.4.1",
        "settings": {},
    }
    return json.dumps({"schema_version": 1, "instances": [one | {"applied": None, "missing": "not seen"}]})


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[by_command.CommandDeployer, list[str]]]:
    """A deployer for real whose commands answer so, one after another; and the verbs that were called."""

    def made(*answers: str | Exception) -> tuple[by_command.CommandDeployer, list[str]]:
        left, verbs = list(answers), list[str]()

        def run_script(_: str, verb: str, *__: Any) -> str:
            verbs.append(verb)
            answer = left.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        for module in (by_command, shown):
            monkeypatch.setattr(module, "run_script", run_script)
        settings = CommandSettings.model_validate({"kind": "command", **ENTRY, **COMMANDS})
        return by_command.CommandDeployer(settings, application_id="orders", dry_run=False), verbs

    return made


def test_a_script_without_an_answer_is_called_again(
    scripts: Callable[..., tuple[by_command.CommandDeployer, list[str]]], caplog: pytest.LogCaptureFixture
) -> None:
    """Only the one that looks; the log has each reason."""
    deployer, verbs = scripts(AWAY, Inconclusive("exit 7"), printed("running", 7), printed("stopped", None))
    deployer.stop("o1")
    assert verbs == ["instances", "instances", "instances", "stop"]
    assert [line.partition(": ")[2] for line in caplog.messages] == [str(AWAY), "exit 7"]
    deployer, verbs = scripts(printed("running", 7), AWAY)
    with pytest.raises(Unreachable):
        deployer.stop("o1")
    assert verbs == ["instances", "stop"]


def test_an_engine_that_does_not_answer_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Before anything is done to a container."""
    answers: list[Exception] = [AWAY, Refused("it was read")]

    def present(*_: Any) -> Any:
        raise answers.pop(0)

    monkeypatch.setattr(by_docker, "present", present)
    settings = DockerSettings.model_validate({"kind": "docker", **ENTRY, **DOCKER})
    with pytest.raises(Refused, match="it was read"):
        by_docker.DockerDeployer(settings, application_id="orders", dry_run=False).stop("o1")
    assert caplog.messages == [f"reads again (0 of 1 s): {AWAY}"]
