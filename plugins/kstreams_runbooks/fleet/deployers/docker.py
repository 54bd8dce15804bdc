"""Declaration of an application whose instances are containers of a Docker Engine."""

import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator, model_validator

from kstreams_runbooks.fleet.deployers.base import (
    ARTIFACTS,
    INSTANCES,
    ArtifactByRelease,
    DeployerDeclaration,
    Instance,
    apart,
    placeholders,
)
from kstreams_runbooks.fleet.values import AbsolutePath, Amount, Argument, FleetModel, StatePath, Words, distinct
from kstreams_runbooks.model.web_address import web_address

# What the names of the containers before and after a change end with, next to the instance's own.
NEXT, BEFORE = ".next", ".before"
# Settings that a runbook may set in any case (deployers/settable.py).
_ALWAYS = ("processing.guarantee", "upgrade.from")
_TCP = "tcp://"
_TOPOLOGY = ("release", "artifact", "settings_file")


def _engine(url: str) -> str:
    if url.startswith("unix://"):
        web_address(url, unix=True)
        return url
    if not url.startswith(_TCP):
        raise ValueError("must begin with unix:// or tcp://")
    at = web_address(f"https://{url.removeprefix(_TCP)}")
    if urlsplit(url).port is None:
        raise ValueError("names no port; an engine with TLS is usually at tcp://host:2376")
    if at.user is not None or at.path.strip("/"):
        raise ValueError("must be tcp://host:port alone; a certificate is the login of an engine")
    return url


def _container(name: str) -> str:
    if name.endswith((NEXT, BEFORE)):
        raise ValueError(f"ends with {NEXT} or {BEFORE}, which are the names of the containers of a change; rename it")
    return name


def _image(template: str) -> str:
    if not placeholders(template, ("release", "artifact")):
        raise ValueError("has neither {release} nor {artifact}, so every release would be the same image; add one")
    return template


def _in_container(path: PurePosixPath) -> PurePosixPath:
    if not path.is_absolute() or ".." in path.parts or not str(path).isprintable():
        raise ValueError("must be an absolute path in the container without '..'")
    return path


def _of_the_topology(word: str) -> str:
    placeholders(word, _TOPOLOGY)
    return word


def variable_of(prefix: str, setting: str) -> str:
    """`STREAMS_UPGRADE_FROM` for `upgrade.from`."""
    return prefix + re.sub(r"[.-]", "_", setting).upper()


EngineUrl = Annotated[str, Field(max_length=2_000), AfterValidator(_engine)]
ContainerName = Annotated[str, Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,200}$"), AfterValidator(_container)]
ContainerPath = Annotated[PurePosixPath, AfterValidator(_in_container)]


class EngineTls(FleetModel):
    """Certificates for an engine that is reached over the network."""

    ca: AbsolutePath = Field(description="file with the certificate of the authority that signed the engine's")
    certificate: AbsolutePath = Field(description="file with the client's certificate")
    key: AbsolutePath = Field(description="file with the client's key")


class DockerInstance(Instance):
    """One instance: its container, its metrics, and where its folders are on this machine."""

    container: ContainerName = Field(
        default_factory=lambda given: str(given.get("name", "")),
        validate_default=True,
        description="name of its container (default: the instance's name)",
    )
    state_dir: StatePath | None = Field(
        default=None,
        description="folder on this machine that is `state` of the container; nothing outside of it is ever deleted "
        "(default: the source of the container's mount)",
    )
    directory: AbsolutePath | None = Field(
        default=None,
        description="folder on this machine that is the folder of `settings_file` in the container (default: the "
        "source of the container's mount)",
    )


class DockerSettings(DeployerDeclaration):
    """Deployer settings of kind `docker`."""

    kind: Literal["docker"] = Field(description="which deployer: docker")
    url: EngineUrl = Field(
        default="unix:///var/run/docker.sock",
        description="address of the engine: unix:///path/to/socket, or tcp://host:port with tls",
    )
    tls: EngineTls | None = Field(default=None, description="certificates, for an engine at tcp://")
    instances: tuple[DockerInstance, ...] = Field(min_length=1, description=INSTANCES)
    releases: ArtifactByRelease = Field(min_length=1, description=ARTIFACTS)
    image: Annotated[Words, AfterValidator(_image)] = Field(
        default="{artifact}", description="image of a release; {release} and {artifact} are replaced"
    )
    state: ContainerPath = Field(
        description="state.dir of the application in its containers; it has to be in a volume or a bind mount"
    )
    variable_prefix: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")] | None = Field(
        default=None,
        description="settings are environment variables of this prefix: upgrade.from is STREAMS_UPGRADE_FROM with "
        "STREAMS_; give this or settings_file",
    )
    settings_file: ContainerPath | None = Field(
        default=None,
        description="settings are in this properties file, whose folder in the containers is a volume or a bind mount",
    )
    once_file: Annotated[str, Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$")] | None = Field(
        default=None,
        description="file next to settings_file that the application reads, over the others, and deletes at a start: "
        "settings for that start alone",
    )
    topology: tuple[Annotated[Argument, AfterValidator(_of_the_topology)], ...] = Field(
        default=(),
        description="command in the image of a release that prints its topology description or its topology facts and "
        "exits; {release} and {artifact} are replaced, {settings_file} by a properties file with the settings that a "
        "runbook sets",
    )
    stop_timeout_s: Amount = Field(
        default=120.0, gt=0, description="seconds that a clean stop may take; Streams flushes and commits in them"
    )

    @property
    def images(self) -> Mapping[str, str]:
        """The image of each release, by its reference."""
        return {
            release: self.image.format(release=release, artifact=artifact)
            for release, artifact in self.releases.items()
        }

    @property
    def describes_settings(self) -> bool:
        """Whether the topology command gets the settings that a runbook sets."""
        named = any("settings_file" in placeholders(word, _TOPOLOGY) for word in self.topology)
        return bool(self.topology) and (named or self.variable_prefix is not None)

    @field_validator("instances")
    @classmethod
    def _apart(cls, instances: tuple[DockerInstance, ...]) -> tuple[DockerInstance, ...]:
        """Instances share nothing: readings and deletions for one must not affect another."""
        apart(instances, ("name", "container", "directory", "metrics"))
        declared = [one for one in instances if one.state_dir is not None]
        for one, other in pairwise(sorted(declared, key=lambda each: _parts(each.state_dir))):
            if _parts(other.state_dir)[: len(_parts(one.state_dir))] == _parts(one.state_dir):
                raise ValueError(
                    f"has overlapping state_dir {one.state_dir} ({one.name}) and {other.state_dir} ({other.name}); "
                    "clearing one would clear the other"
                )
        return instances

    @model_validator(mode="after")
    def _fits(self) -> "DockerSettings":
        if self.url.startswith("unix://") == (self.tls is not None):
            raise ValueError(
                "has tls for a socket; remove it"
                if self.tls
                else "has no tls, and without it every client of the engine is root on its machine; declare tls"
            )
        if (self.variable_prefix is None) == (self.settings_file is None):
            raise ValueError("needs variable_prefix or settings_file, and not both: a runbook sets settings by one")
        if self.settings_file is None and (self.once_file or any(one.directory for one in self.instances)):
            raise ValueError("has once_file or directory without settings_file; declare that, or remove them")
        if self.settings_file is not None and self.once_file == self.settings_file.name:
            raise ValueError("has one name for once_file and settings_file; the first is deleted at a start")
        if self.variable_prefix is not None:
            keys = {*_ALWAYS, *self.settable}
            distinct(tuple(variable_of(self.variable_prefix, key) for key in sorted(keys)))
        distinct(tuple(self.images.values()))
        return self


def _parts(path: Path | None) -> tuple[str, ...]:
    return path.parts if path else ()
