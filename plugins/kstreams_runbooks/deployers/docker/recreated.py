"""The request that creates a container again, equal but for its image and the variables of a runbook.

`docker inspect` does not separate what a container was given from what its image had: an entry that is equal to the
image's is taken for the image's, and the new image has its own. The engine joins both (moby, daemon/commit.go, merge).
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_SCALARS = ("User", "WorkingDir", "StopSignal", "Shell", "Healthcheck", "OnBuild")
_SETS = ("ExposedPorts", "Volumes", "Labels")
# Compose 2 sets these labels on a container and on an image that it builds: they are the container's in any case.
# Without them Compose does not know the container, and starts another one next to it.
_OF_COMPOSE = "com.docker.compose."
# The engine gives a container the beginning of its id as host name, and adds both to its aliases in a network.
_SHORT_ID = 12


@dataclass(frozen=True, slots=True)
class Creation:
    """The body of the request, and the networks to which the new container is connected afterwards, by name."""

    body: Mapping[str, Any]
    connect: Mapping[str, Mapping[str, Any]]


def creation(
    raw: Mapping[str, Any], had: Mapping[str, Any], image: str, variables_set: Mapping[str, str], ours: frozenset[str]
) -> Creation:
    """How to create a container again that was inspected as `raw`, from another image.

    `had` is the Config of the image that it has, `ours` are the variables that a runbook sets: exactly `variables_set`
    of them are set.
    """
    config = own_config(raw["Config"], had)
    config["Image"] = image
    config["Env"] = [one for one in config["Env"] or [] if one.partition("=")[0] not in ours]
    config["Env"] += [f"{name}={value}" for name, value in sorted(variables_set.items())]
    host = dict(raw["HostConfig"])
    host["Links"] = [_link(one) for one in host.get("Links") or []] or None
    mode = str(host.get("NetworkMode") or "default")
    if config.get("Hostname") == raw["Id"][:_SHORT_ID] or mode == "host" or mode.startswith("container:"):
        config["Hostname"] = ""
    assigned = {raw["Id"][:_SHORT_ID], raw["Config"].get("Hostname")}
    networks = {name: _endpoint(one, assigned) for name, one in _networks(raw).items()}
    primary = _primary(raw, mode)
    first = {primary: networks.pop(primary)} if primary in networks else {}
    return Creation({**config, "HostConfig": host, "NetworkingConfig": {"EndpointsConfig": first}}, networks)


def own_config(config: Mapping[str, Any], image: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a container's Config that its image does not have."""
    own = dict(config)
    of_image = set(image.get("Env") or [])
    own["Env"] = [one for one in config.get("Env") or [] if one not in of_image]
    for key in _SCALARS:
        if config.get(key) == image.get(key):
            own.pop(key, None)
    for key in _SETS:
        there = image.get(key) or {}
        own[key] = {
            name: value
            for name, value in (config.get(key) or {}).items()
            if name not in there or there[name] != value or name.startswith(_OF_COMPOSE)
        }
    # An entrypoint of its own makes the engine ignore the image's command, also one that is equal to the image's.
    ignored = bool(config.get("Entrypoint") and image.get("Cmd") and not config.get("Cmd"))
    if config.get("Entrypoint") == image.get("Entrypoint") and not ignored:
        own.pop("Entrypoint", None)
        if config.get("Cmd") == image.get("Cmd"):
            own.pop("Cmd", None)
    return own


def taken_for_the_images(own: Mapping[str, Any], image: Mapping[str, Any]) -> Iterator[str]:
    """Entries of a container's own that another image has too, with the same value: the way back would drop them."""
    of_image = set(image.get("Env") or [])
    yield from sorted(f"variable {one.partition('=')[0]}" for one in own.get("Env") or [] if one in of_image)
    for key in _SETS:
        there = image.get(key) or {}
        yield from sorted(
            f"{key} {name}"
            for name, value in (own.get(key) or {}).items()
            if name in there and there[name] == value and not name.startswith(_OF_COMPOSE)
        )
    for key in (*_SCALARS, "Entrypoint"):
        if own.get(key) and own[key] == image.get(key):
            yield key
    if "Entrypoint" not in own and own.get("Cmd") and own["Cmd"] == image.get("Cmd"):
        yield "Cmd"


def _networks(raw: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    return raw["NetworkSettings"].get("Networks") or {}


def _primary(raw: Mapping[str, Any], mode: str) -> str:
    """The network that the container is created in; the engine's own have no settings of a container."""
    if mode in {"default", "bridge"}:
        return "bridge"
    by_id = (name for name, one in _networks(raw).items() if one.get("NetworkID") == mode)
    return mode if mode in _networks(raw) else next(by_id, mode)


def _endpoint(settings: Mapping[str, Any], assigned: Collection[object]) -> dict[str, Any]:
    """What was given for a network, without what the engine has assigned."""
    aliases = [one for one in settings.get("Aliases") or [] if one not in assigned]
    return {
        "IPAMConfig": settings.get("IPAMConfig"),
        "Links": settings.get("Links"),
        "Aliases": aliases or None,
        "DriverOpts": settings.get("DriverOpts"),
    }


def _link(shown: str) -> str:
    """`other:alias` of `/other:/own/alias`."""
    other, _, alias = shown.partition(":")
    return f"{other.lstrip('/')}:{alias.rpartition('/')[2]}"
