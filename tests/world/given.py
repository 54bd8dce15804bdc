"""The values of the shared fixtures."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import yaml
from kstreams_runbooks.fleet import Application
from lab.application import FROM_RELEASE, NEWEST, TO_RELEASE, WITH_REPARTITION, WITHOUT_REPARTITION
from lab.settings import Lab
from lab.stack import Stack

_RELEASES = (FROM_RELEASE, TO_RELEASE, NEWEST, WITH_REPARTITION, WITHOUT_REPARTITION)


@dataclass(frozen=True)
class Kafka:
    """A broker that is up."""

    bootstrap: str


@dataclass(frozen=True)
class Orders:
    """The orders application, up on its first release, with its fleet entry."""

    application: Application
    stack: Stack


@contextmanager
def declared_as(stack: Stack, *, limits: dict[str, float] | None = None, **fields: Any) -> Iterator[None]:
    """The orders application declared with other fields and limits while the body runs."""
    file = stack.lab.config / "applications" / "orders.yaml"
    before = file.read_text(encoding="utf-8")
    entry = yaml.safe_load(before)
    libraries = entry["libraries"] | fields.get("libraries", {})
    entry |= fields
    entry["libraries"] = {name: libraries[name] for name in libraries if name in entry["deployer"]["releases"]}
    entry["limits"] |= limits or {}
    file.write_text(yaml.safe_dump(entry), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(before, encoding="utf-8")


def command_deployer(lab: Lab) -> dict[str, Any]:
    """The orders application's `deployer` of kind command: its own deploy script."""

    def run(*words: str) -> dict[str, Any]:
        script = str(lab.apps / "orders" / "bin" / "deploy")
        return {"run": [str(lab.python), script, lab.supervisor_url, str(lab.instances), *words], "timeout_s": 60}

    return {
        "kind": "command",
        "keeps_state": True,
        "instances": [{"name": f"orders-{number}", "metrics": lab.metrics_url(number)} for number in (1, 2)],
        "releases": {release: f"orders:{release}" for release in _RELEASES},
        "commands": {
            "instances": run("instances"),
            "apply": run("apply", "{instance}", "{release}", "{settings}"),
            "stop": run("stop", "{instance}"),
            "start": run("start", "{instance}", "{once}"),
            "state_sizes": run("state_sizes", "{instance}"),
            "log": run("log", "{instance}"),
            "clear_state": run("clear_state", "{instance}", "{directories}", "{aside}"),
            "topology": run("topology", "{release}", "{settings}"),
        },
    }


def manual_deployer(lab: Lab) -> dict[str, Any]:
    """The same of kind manual: a person deploys, the script only reads."""
    entry = command_deployer(lab)
    looking = {verb: entry["commands"][verb] for verb in ("instances", "topology", "log")}
    return entry | {
        "kind": "manual",
        "commands": looking,
        "how": "edit deployment.properties, restart by supervisorctl",
    }
