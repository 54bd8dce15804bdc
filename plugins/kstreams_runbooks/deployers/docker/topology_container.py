"""Runs the topology command in a container of its own, from the image of a release; it is removed afterwards.

It has no network. It gets the environment of the first instance's container and, read-only, its mounts without the
state.
"""

import io
import os
import secrets
import tarfile
import time
from collections.abc import Mapping
from typing import Any

import requests.exceptions

from kstreams_runbooks.deployers.bounded_process import MOST_OUTPUT
from kstreams_runbooks.deployers.docker.engine import Engine
from kstreams_runbooks.deployers.docker.inspected import Container
from kstreams_runbooks.deployers.docker.present import Present
from kstreams_runbooks.deployers.docker.recreated import own_config
from kstreams_runbooks.deployers.printed import PrintedTopology, printed_topology
from kstreams_runbooks.deployers.scripts import tail_of
from kstreams_runbooks.errors import Refused, Unreachable
from kstreams_runbooks.fleet.deployers.docker import DockerSettings
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.properties import dump
from kstreams_runbooks.wording import outside

_TIMEOUT_S = 60
_LABEL = "kstreams-runbooks.topology"
# The project of Compose whose instance is described. Under Compose's own label it would be a container of no service:
# `docker compose up` would report it as an orphan, and `docker compose ps` would list it.
_PROJECT, _OF_COMPOSE = "kstreams-runbooks.compose-project", "com.docker.compose.project"
# What an interruption has left behind is removed by a later call; no command runs for this long.
_LEFT_AFTER_S = 5 * _TIMEOUT_S
_FILE = "kstreams-runbooks.properties"


def describe(engine: Engine, settings: DockerSettings, first: Present, target: Target) -> PrintedTopology:
    """The topology that the command prints for a target, with the configuration of the `first` instance's container.

    Refused for a command that fails, and for an image that is not there; Unreachable for one that does not end.
    """
    if first.images.config(settings.images[target.release]) is None:
        raise Refused(
            f"image {outside(settings.images[target.release], 200)} of release {target.release} is not on the docker "
            f"engine; pull it there ({engine.address})"
        )
    container = first.containers.declared
    image = None if container is None else first.images.config(container.image_id)
    like = None if container is None or image is None else (container, image)
    given = {} if first.variables is None else first.variables.of(target.settings)
    ours = frozenset[str]() if first.variables is None else first.variables.names
    environment = settings.environment
    inherited = {name: os.environ[name] for name in environment.inherit if name in os.environ}
    body = _configuration(settings, like)
    body["Env"] = [one for one in body.get("Env", ()) if one.partition("=")[0] not in ours]
    body["Env"] += [f"{key}={value}" for key, value in sorted((inherited | environment.values | given).items())]
    project = None if container is None else container.labels.get(_OF_COMPOSE)
    body["Labels"] = {} if project is None else {_PROJECT: project}
    return _printed(engine, settings, target, body)


def _printed(engine: Engine, settings: DockerSettings, target: Target, like: Mapping[str, Any]) -> PrintedTopology:
    artifact, image = settings.releases[target.release], settings.images[target.release]
    values = {"release": target.release, "artifact": artifact, "settings_file": f"/{_FILE}"}
    words = [word.format(**values) for word in settings.topology]
    name = f"kstreams-runbooks-topology-{secrets.token_hex(6)}"
    body = {
        **like,
        "Image": image,
        "Entrypoint": words[:1],
        "Cmd": words[1:],
        "Healthcheck": {"Test": ["NONE"]},
        "Labels": {**like["Labels"], _LABEL: name},
    }
    who = f"{outside(words[0], 200)} in image {outside(image, 200)}: topology of {target.release}"

    def run(api: Any) -> tuple[int, str, str]:
        _sweep(api)
        made = api.create_container_from_config(body, name)["Id"]
        try:
            api.put_archive(made, "/", _archive(dump(dict(target.settings), "settings that a runbook sets")))
            api.start(made)
            try:
                code = int(api.wait(made, timeout=_TIMEOUT_S)["StatusCode"])
            except requests.exceptions.RequestException:
                raise Unreachable(f"{who} not printed within {_TIMEOUT_S} s") from None
            return code, _output(api, made, who), _end_of_errors(api, made)
        finally:
            api.remove_container(made, v=True, force=True)

    code, out, err = engine.asked(f"{who}: ", run)
    printed = None if code else printed_topology(out, who)
    if printed is None:
        raise Refused(f"{who} not printed (exit {code}: {tail_of(err) or 'nothing on stderr'})")
    return printed


def _configuration(settings: DockerSettings, like: tuple[Container, Mapping[str, Any]] | None) -> dict[str, Any]:
    host: dict[str, Any] = {"NetworkMode": "none", "LogConfig": {"Type": "json-file", "Config": {}}}
    if like is None:
        return {"HostConfig": host}
    container, image = like
    own = own_config(container.raw["Config"], image)
    state = container.mount_of(settings.state)
    host["Binds"] = [
        f"{one.name or one.source}:{one.destination}:ro"
        for one in container.mounts
        if one != state and one.kind in {"volume", "bind"}
    ]
    kept = ("Env", "User", "WorkingDir")
    return {key: own[key] for key in kept if own.get(key)} | {"HostConfig": host}


def _archive(text: str) -> bytes:
    data = text.encode("latin-1")
    entry = tarfile.TarInfo(_FILE)
    entry.size, entry.mode, entry.mtime = len(data), 0o644, int(time.time())
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        archive.addfile(entry, io.BytesIO(data))
    return written.getvalue()


def _output(api: Any, made: str, who: str) -> str:
    out = bytearray()
    for block in api.logs(made, stdout=True, stderr=False, stream=True):
        out += block
        if len(out) > MOST_OUTPUT:
            raise Refused(f"{who}: more than {MOST_OUTPUT:,} bytes on stdout, cut off there; print it alone")
    return out.decode("utf-8", "replace")


def _end_of_errors(api: Any, made: str) -> str:
    return bytes(api.logs(made, stdout=False, stderr=True, tail=20)).decode("utf-8", "replace")


def _sweep(api: Any) -> None:
    for one in api.containers(all=True, filters={"label": _LABEL}):
        if time.time() - float(one.get("Created") or 0) > _LEFT_AFTER_S:
            api.remove_container(one["Id"], v=True, force=True)
