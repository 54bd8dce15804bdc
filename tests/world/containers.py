"""Instances in containers of a real engine, and what a deployer reads of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kstreams_runbooks.deployers.docker.deployer import DockerDeployer
from kstreams_runbooks.fleet.deployers.docker import DockerSettings
from kstreams_runbooks.model.readings.readings import Deployment
from lab.engine import OwnEngine

# What is another one after a container was created again: ids, times, addresses that the engine assigns, and the image.
_OTHERS = frozenset(
    {
        *("Id", "Created", "Image", "State", "ResolvConfPath", "HostnamePath", "HostsPath", "LogPath", "GraphDriver"),
        *("SandboxID", "SandboxKey", "EndpointID", "Gateway", "IPAddress", "IPPrefixLen", "MacAddress", "RestartCount"),
        *("Hostname", "NetworkID", "Ports"),
    }
)


def settings(engine: OwnEngine, **given: object) -> DockerSettings:
    """As a fleet entry declares a docker deployer of o1 and o2, with variables."""
    instances = [{"name": name, "metrics": f"http://127.0.0.1:9/{name}"} for name in ("o1", "o2")]
    declared: dict[str, object] = {
        "kind": "docker",
        "url": engine.url,
        "instances": instances,
        "image": "orders:{artifact}",
        "releases": {"3.4.1": "3.4.1", "4.3.1": "4.3.1"},
        "state": "/state",
        "settable": ["num.stream.threads"],
        "topology": ["/bin/describe", "{settings_file}"],
        "stop_timeout_s": 5,
    }
    if "settings_file" not in given:
        declared["variable_prefix"] = "STREAMS_"
    return DockerSettings.model_validate(declared | given)


def deployer(made: DockerSettings, *, dry_run: bool = False) -> DockerDeployer:
    """A deployer for real."""
    return DockerDeployer(made, application_id="orders", dry_run=dry_run)


def described(made: DockerSettings, instance: str = "o1") -> Deployment:
    """What a new deployer reports of one instance."""
    return next(one for one in deployer(made).instances() if one.instance == instance)


def created(engine: OwnEngine, name: str = "o1", release: str = "3.4.1", **given: Any) -> None:
    """A container of the test's program with a named volume for its state, as a team would create it."""
    host = {"NetworkMode": "none", "Binds": [f"{name}-state:/state"]} | given.pop("HostConfig", {})
    body = {"Image": f"orders:{release}", "HostConfig": host} | given
    engine.api.create_container_from_config(body, name)


def inspected(engine: OwnEngine, name: str = "o1") -> dict[str, Any]:
    """`docker inspect`."""
    found: dict[str, Any] = engine.api.inspect_container(name)
    return found


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What differs between two inspected containers, but for ids, times, image and what the engine assigns."""
    one, other = (_plain(found) for found in (before, after))
    return [
        f"{path}: {one.get(path)} → {other.get(path)}"
        for path in sorted({*one, *other})
        if one.get(path) != other.get(path)
    ]


def starts(engine: OwnEngine, name: str = "o1") -> list[str]:
    """What each start of an instance has read."""
    return [line.strip() for line in (volume(engine, f"{name}-state") / "starts").read_text().splitlines()]


def volume(engine: OwnEngine, name: str) -> Path:
    """The folder of a volume on this machine."""
    return Path(engine.api.inspect_volume(name)["Mountpoint"])


def _plain(found: Mapping[str, Any]) -> dict[str, str]:
    """Values by path; variables by name, and its id in an alias by a word."""
    values: dict[str, str] = {}

    def add(path: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                if key not in _OTHERS:
                    add(f"{path}/{key}", inner)
        elif path == "/Config/Env":
            values.update({f"{path}/{one.partition('=')[0]}": one.partition("=")[2] for one in value or []})
        elif path != "/Config/Image":
            ordered = sorted(value, key=json.dumps) if path == "/Mounts" else value
            values[path] = json.dumps(ordered or None).replace(found["Id"][:12], "(id)")

    add("", dict(found))
    return values
