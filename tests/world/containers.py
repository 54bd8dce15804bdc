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


def without_others(found: Mapping[str, Any]) -> Any:
    """An inspected container without ids, times and image, and without its id in names and aliases."""
    text = json.dumps(_pruned(found)).replace(found["Id"][:12], "(id)")
    return json.loads(text)


def starts(engine: OwnEngine, name: str = "o1") -> list[str]:
    """What each start of an instance has read."""
    return [line.strip() for line in (volume(engine, f"{name}-state") / "starts").read_text().splitlines()]


def volume(engine: OwnEngine, name: str) -> Path:
    """The folder of a volume on this machine."""
    return Path(engine.api.inspect_volume(name)["Mountpoint"])


def _pruned(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _pruned(one) for key, one in value.items() if key not in _OTHERS}
    return [_pruned(one) for one in value] if isinstance(value, list) else value
