"""The deployer's part of the fleet file of a consumer: releases and settings, without metrics, topology and state."""

from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from kstreams_runbooks.fleet.deployers.base import INSTANCES, Instance
from kstreams_runbooks.fleet.deployers.command import Command, Commands, CommandSettings
from kstreams_runbooks.fleet.deployers.docker import ContainerPath, DockerInstance, DockerSettings
from kstreams_runbooks.fleet.deployers.manual import ManualSettings, Stated
from kstreams_runbooks.fleet.deployers.supervisord import SupervisordInstance, SupervisordSettings
from kstreams_runbooks.fleet.values import AbsolutePath, HttpUrl, StatePath, Words


def _meaningless(_: Any) -> None:
    raise ValueError(
        "has no meaning for a consumer, which has neither a topology nor local state of Kafka Streams; remove it"
    )


# For a field of a Streams application. A default is not validated, so only what a file has is refused.
NOT_OF_A_CONSUMER: Final = BeforeValidator(_meaningless)
_NO_STATE: Final = Path("/dev/null/consumer")
_CLIENT: Final = (
    "client.id of its consumers, alone or followed by - and more (default: any member of the group may be its own)"
)

_NoUrl = Annotated[HttpUrl, NOT_OF_A_CONSUMER]
_NoCommand = Annotated[Command | None, NOT_OF_A_CONSUMER]
_NoFile = Annotated[str | None, NOT_OF_A_CONSUMER]


class ConsumerInstance(Instance):
    """One instance: its name, and the name of its members in the group."""

    metrics: _NoUrl = ""
    client_id: Words | None = Field(default=None, description=_CLIENT)


class ConsumerProgram(SupervisordInstance):
    """The same under supervisord, with the folder of its settings."""

    metrics: _NoUrl = ""
    state_dir: Annotated[StatePath, NOT_OF_A_CONSUMER] = Field(
        default_factory=lambda given: _NO_STATE / str(given.get("program"))
    )
    client_id: Words | None = Field(default=None, description=_CLIENT)


class ConsumerSupervisord(SupervisordSettings):
    """Deployer settings of kind `supervisord`."""

    instances: tuple[ConsumerProgram, ...] = Field(min_length=1, description=INSTANCES)
    topology: Annotated[tuple[str, ...], NOT_OF_A_CONSUMER] = ()
    once_file: _NoFile = None


class ConsumerContainer(DockerInstance):
    """The same in a container."""

    metrics: _NoUrl = ""
    state_dir: Annotated[StatePath | None, NOT_OF_A_CONSUMER] = None
    directory: AbsolutePath | None = None
    client_id: Words | None = Field(default=None, description=_CLIENT)


class ConsumerDocker(DockerSettings):
    """Deployer settings of kind `docker`."""

    instances: tuple[ConsumerContainer, ...] = Field(min_length=1, description=INSTANCES)
    state: Annotated[ContainerPath, NOT_OF_A_CONSUMER] = PurePosixPath("/dev/null/consumer")
    once_file: _NoFile = None
    topology: Annotated[tuple[str, ...], NOT_OF_A_CONSUMER] = ()


class ConsumerCommands(Commands):
    """One command per verb: read, set, stop, start."""

    clear_state: _NoCommand = None
    topology: _NoCommand = None
    state_sizes: _NoCommand = None


class ConsumerCommand(CommandSettings):
    """Deployer settings of kind `command`."""

    instances: tuple[ConsumerInstance, ...] = Field(min_length=1, description=INSTANCES)
    commands: ConsumerCommands = Field(
        description="instances, apply, stop and start, each {run: [program, …], timeout_s: 60}"
    )


class ConsumerManual(ManualSettings):
    """Deployer settings of kind `manual`."""

    instances: tuple[ConsumerInstance, ...] = Field(min_length=1, description=INSTANCES)
    stated: Annotated[Stated | None, NOT_OF_A_CONSUMER] = None


ConsumerDeployerSettings = Annotated[
    ConsumerSupervisord | ConsumerDocker | ConsumerCommand | ConsumerManual, Field(discriminator="kind")
]
