"""The engine's answers about containers and images, with the types that they must have.

Docker Engine API, "Inspect a container", "List containers", "Inspect an image". The answer about one container or image
is kept: a container is created again from both.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, RootModel, ValidationError

from kstreams_runbooks.model.readings.readings import ProcessState
from kstreams_runbooks.wording import outside

_NEVER = "0001-01-01"
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z")
# Docker Engine API, State.Status. A paused container lives; one that is being removed is neither up nor down.
_PROCESS: Mapping[str, ProcessState] = {
    "created": "stopped",
    "running": "running",
    "paused": "running",
    "restarting": "starting",
    "removing": "unknown",
}
# A process that SIGTERM ended: a JVM exits with it after its shutdown hooks.
_TERMINATED = 128 + 15


class _Loose(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class _State(_Loose):
    Status: str
    StartedAt: str
    ExitCode: int
    OOMKilled: bool = False


class _Restart(_Loose):
    Name: str = ""


class _HostConfig(_Loose):
    RestartPolicy: _Restart = _Restart()
    AutoRemove: bool = False
    NetworkMode: str = ""
    Binds: list[str] | None = None
    Mounts: list[dict[str, Any]] | None = None
    VolumesFrom: list[str] | None = None
    Links: list[str] | None = None
    Init: bool | None = None


class _OfImage(_Loose):
    """What a container and its image have alike."""

    Env: list[str] | None = None
    Labels: dict[str, str] | None = None
    ExposedPorts: dict[str, Any] | None = None
    Volumes: dict[str, Any] | None = None


class _Config(_OfImage):
    Image: str
    Hostname: str = ""
    StopSignal: str = ""


class _Mount(_Loose):
    Type: str
    Name: str = ""
    Source: str = ""
    Destination: str


class _Endpoint(_Loose):
    NetworkID: str = ""
    Aliases: list[str] | None = None


class _Networks(_Loose):
    Networks: dict[str, _Endpoint] | None = None


class _Answer(_Loose):
    Id: str
    Name: str
    Image: str
    State: _State
    Config: _Config
    HostConfig: _HostConfig
    Mounts: list[_Mount] = []
    NetworkSettings: _Networks


class _Mode(_Loose):
    NetworkMode: str = ""


class _Entry(_Loose):
    Names: list[str] | None = None
    HostConfig: _Mode = _Mode()


class _Entries(RootModel[list[_Entry]]):
    model_config = ConfigDict(strict=True, frozen=True)


class _Image(_Loose):
    Id: str
    Config: _OfImage | None = None


_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Listed:
    """One container in the engine's list, by its names without the slash; `network_mode` is empty if not reported."""

    names: tuple[str, ...]
    network_mode: str


@dataclass(frozen=True, slots=True)
class Mounted:
    """A mount: `kind` is `volume`, `bind` or another of the engine's, `source` a path on the engine's machine.

    `name` is that of a volume.
    """

    kind: str
    name: str
    source: str
    destination: PurePosixPath


@dataclass(frozen=True, slots=True)
class Container:
    """One container. `image` is what it was created from, `image_id` what that was then.

    `started_at_ms` is None if no process of it lives, `was_started` whether it ever had one. `raw` is the whole answer.
    """

    id: str
    name: str
    image: str
    image_id: str
    status: str
    started_at_ms: int | None
    was_started: bool
    exit_code: int
    out_of_memory: bool
    environment: Mapping[str, str]
    labels: Mapping[str, str]
    stop_signal: str
    restart_policy: str
    removes_itself: bool
    has_init: bool
    mounts: tuple[Mounted, ...]
    unnamed_volumes: tuple[str, ...]
    networks: frozenset[str]
    raw: Mapping[str, Any] = field(repr=False)

    @property
    def is_up(self) -> bool:
        """Whether it has a process, or gets one by itself."""
        return self.status in {"running", "paused", "restarting", "removing"}

    @property
    def process(self) -> ProcessState:
        """A container that has ended failed, unless its exit code is that of a clean end or of a requested one."""
        if self.status in _PROCESS:
            return _PROCESS[self.status]
        if self.status not in {"exited", "dead"}:
            return "unknown"
        return "stopped" if self.exit_code in {0, _TERMINATED} and not self.out_of_memory else "failed"

    def mount_of(self, path: PurePosixPath) -> Mounted | None:
        """The volume or bind mount that has a path of the container, the innermost one; None if that is another."""
        holding = [one for one in self.mounts if path.is_relative_to(one.destination)]
        innermost = max(holding, key=lambda one: len(one.destination.parts), default=None)
        return innermost if innermost and innermost.kind in {"volume", "bind"} else None

    @property
    def ended_cleanly(self) -> bool | None:
        """Of a container that has ended; None if an init process hides whether a signal ended the program."""
        if self.out_of_memory or self.exit_code not in {0, _TERMINATED}:
            return False
        # The first process of a container ends of a signal only if it handles it, or of SIGKILL.
        return None if self.exit_code and self.has_init else True


def container_of(answer: Any) -> Container:
    """The container of an answer; ValueError, with the place and no value, if it has another shape."""
    found = _checked(_Answer, answer, "the container")
    started = _ms(found.State.StartedAt)
    host, lives = found.HostConfig, found.State.Status in {"running", "paused"}
    return Container(
        id=found.Id,
        name=found.Name.lstrip("/"),
        image=found.Config.Image,
        image_id=found.Image,
        status=found.State.Status,
        started_at_ms=started if lives else None,
        was_started=started is not None,
        exit_code=found.State.ExitCode,
        out_of_memory=found.State.OOMKilled,
        environment=variables(found.Config.Env),
        labels=found.Config.Labels or {},
        stop_signal=found.Config.StopSignal or "SIGTERM",
        restart_policy=host.RestartPolicy.Name or "no",
        removes_itself=host.AutoRemove,
        has_init=bool(host.Init),
        mounts=tuple(Mounted(one.Type, one.Name, one.Source, PurePosixPath(one.Destination)) for one in found.Mounts),
        unnamed_volumes=tuple(_unnamed(found)),
        networks=frozenset(found.NetworkSettings.Networks or {}),
        raw=answer,
    )


def listed(answer: Any) -> tuple[Listed, ...]:
    """Every container of the engine's list; ValueError, with the place and no value, if it has another shape."""
    return tuple(
        Listed(tuple(name.lstrip("/") for name in one.Names or []), one.HostConfig.NetworkMode)
        for one in _checked(_Entries, answer, "its list of containers").root
    )


def image_of(answer: Any) -> Mapping[str, Any]:
    """The image of an answer, as it is; ValueError, with the place and no value, if it has another shape."""
    _checked(_Image, answer, "the image")
    image: Mapping[str, Any] = answer
    return image


def _checked(model: type[_Model], answer: Any, whole: str) -> _Model:
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(outside(part, 40) for part in first["loc"][:3]) or whole
        raise ValueError(f"{where}: {outside(first['msg'], 100)}") from None


def variables(environment: list[str] | None) -> dict[str, str]:
    """Variables by name; the last of one name counts, as for the engine."""
    return dict(one.partition("=")[::2] for one in environment or [])


def _unnamed(found: _Answer) -> list[str]:
    """Destinations of volumes that this container alone names: another one would get empty ones in their place."""
    host = found.HostConfig
    if host.VolumesFrom:
        return []
    given = {parts[1] for bind in host.Binds or [] if len(parts := bind.split(":")) > 1}
    given |= {str(one.get("Target")) for one in host.Mounts or [] if one.get("Source") or one.get("Type") != "volume"}
    return [one.Destination for one in found.Mounts if one.Type == "volume" and one.Destination not in given]


def _ms(text: str) -> int | None:
    """Unix ms of a time of the engine; None for its zero. ValueError for anything else."""
    if text.startswith(_NEVER):
        return None
    if (parts := _TIME.fullmatch(text)) is None:
        raise ValueError("State.StartedAt: not a time")
    whole = datetime.fromisoformat(parts[1]).replace(tzinfo=UTC)
    return int(whole.timestamp()) * 1000 + int((parts[2] or "0").ljust(3, "0")[:3])
