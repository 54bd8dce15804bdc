"""The deployer's part of the fleet file of a copier as deployed: without releases, topology and local state."""

from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from kstreams_runbooks.fleet.deployers.base import INSTANCES, ArtifactByRelease, Instance
from kstreams_runbooks.fleet.deployers.command import Command, Commands, CommandSettings, WhatToRun
from kstreams_runbooks.fleet.deployers.docker import ContainerPath, DockerInstance, DockerSettings
from kstreams_runbooks.fleet.deployers.manual import ManualSettings, Stated
from kstreams_runbooks.fleet.deployers.supervisord import SupervisordInstance, SupervisordSettings
from kstreams_runbooks.fleet.settable import SettableKeys
from kstreams_runbooks.fleet.values import AbsolutePath, HttpUrl, ReleaseName, StatePath, Words
from kstreams_runbooks.model.copying import AS_DEPLOYED


def _meaningless(_: Any) -> None:
    raise ValueError(
        "has no meaning for a copier without `program: topic-copier`: runbooks only stop it and start it again as it "
        "is deployed; remove it"
    )


# For a field of a Streams application. A default is not validated, so only what a file has is refused.
NOT_AS_DEPLOYED: Final = BeforeValidator(_meaningless)
# Nothing can exist in it: a copier has neither deployment.properties nor local state that a runbook touches.
_NOWHERE: Final = Path("/dev/null/copier")
_CLIENT = (
    "client.id of its consumers, alone or followed by - and more (default: any member of the group may be its own)"
)

NoUrl = Annotated[HttpUrl, NOT_AS_DEPLOYED]
NoCommand = Annotated[Command | None, NOT_AS_DEPLOYED]
NoReleases = Annotated[ArtifactByRelease, NOT_AS_DEPLOYED]
NoSettings = Annotated[SettableKeys, NOT_AS_DEPLOYED]


def _no_artifact() -> ArtifactByRelease:
    return {AS_DEPLOYED: AS_DEPLOYED}


class CopierInstance(Instance):
    """One instance: its name, and the name of its members in the group."""

    metrics: NoUrl = ""
    client_id: Words | None = Field(default=None, description=_CLIENT)


class CopierProgram(SupervisordInstance):
    """The same under supervisord: the program that supervisord knows."""

    metrics: NoUrl = ""
    directory: Annotated[AbsolutePath, NOT_AS_DEPLOYED] = Field(
        default_factory=lambda given: _NOWHERE / str(given.get("program"))
    )
    state_dir: Annotated[StatePath, NOT_AS_DEPLOYED] = Field(
        default_factory=lambda given: _NOWHERE / str(given.get("program")) / "state"
    )
    client_id: Words | None = Field(default=None, description=_CLIENT)


class CopierSupervisord(SupervisordSettings):
    """Deployer settings of kind `supervisord`."""

    instances: tuple[CopierProgram, ...] = Field(min_length=1, description=INSTANCES)
    releases: Annotated[dict[ReleaseName, AbsolutePath], NOT_AS_DEPLOYED] = Field(
        default_factory=lambda: {AS_DEPLOYED: _NOWHERE}
    )
    topology: Annotated[tuple[str, ...], NOT_AS_DEPLOYED] = ()
    once_file: Annotated[str | None, NOT_AS_DEPLOYED] = None
    settable: NoSettings = ()


class CopierContainer(DockerInstance):
    """The same in a container."""

    metrics: NoUrl = ""
    state_dir: Annotated[StatePath | None, NOT_AS_DEPLOYED] = None
    directory: Annotated[AbsolutePath | None, NOT_AS_DEPLOYED] = None
    client_id: Words | None = Field(default=None, description=_CLIENT)


class CopierDocker(DockerSettings):
    """Deployer settings of kind `docker`."""

    instances: tuple[CopierContainer, ...] = Field(min_length=1, description=INSTANCES)
    releases: NoReleases = Field(default_factory=_no_artifact)
    image: Annotated[str, NOT_AS_DEPLOYED] = "{artifact}"
    state: Annotated[ContainerPath, NOT_AS_DEPLOYED] = PurePosixPath("/dev/null/copier")
    # No variable begins with it: a runbook sets nothing of a copier.
    variable_prefix: Annotated[str | None, NOT_AS_DEPLOYED] = "_"
    settings_file: Annotated[ContainerPath | None, NOT_AS_DEPLOYED] = None
    once_file: Annotated[str | None, NOT_AS_DEPLOYED] = None
    topology: Annotated[tuple[str, ...], NOT_AS_DEPLOYED] = ()
    settable: NoSettings = ()


class CopierCommands(Commands):
    """One command per verb: read, stop, start."""

    apply: Annotated[WhatToRun, NOT_AS_DEPLOYED] = Command(run=("false",))
    clear_state: NoCommand = None
    topology: NoCommand = None
    state_sizes: NoCommand = None


class CopierCommand(CommandSettings):
    """Deployer settings of kind `command`."""

    instances: tuple[CopierInstance, ...] = Field(min_length=1, description=INSTANCES)
    releases: NoReleases = Field(default_factory=_no_artifact)
    commands: CopierCommands = Field(description="instances, stop and start, each {run: [program, …], timeout_s: 60}")
    settable: NoSettings = ()


class CopierManual(ManualSettings):
    """Deployer settings of kind `manual`."""

    instances: tuple[CopierInstance, ...] = Field(min_length=1, description=INSTANCES)
    releases: NoReleases = Field(default_factory=_no_artifact)
    stated: Annotated[Stated | None, NOT_AS_DEPLOYED] = None
    settable: NoSettings = ()


CopierDeployerSettings = Annotated[
    CopierSupervisord | CopierDocker | CopierCommand | CopierManual, Field(discriminator="kind")
]
