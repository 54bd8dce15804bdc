"""Declaration of an application whose team has scripts of its own to deploy it."""

from typing import Literal

from pydantic import Field, field_validator

from kstreams_runbooks.fleet.commands import Commands
from kstreams_runbooks.fleet.deployer import (
    ARTIFACTS,
    INSTANCES,
    ArtifactByRelease,
    DeployerDeclaration,
    Instance,
    apart,
)


class CommandSettings(DeployerDeclaration):
    """Deployer settings of kind `command`."""

    kind: Literal["command"] = Field(description="which deployer: command")
    instances: tuple[Instance, ...] = Field(min_length=1, description=INSTANCES)
    releases: ArtifactByRelease = Field(min_length=1, description=ARTIFACTS)
    commands: Commands = Field(description="one command per verb, each {run: [program, argument, …], timeout_s: 60}")

    @field_validator("instances")
    @classmethod
    def _apart(cls, instances: tuple[Instance, ...]) -> tuple[Instance, ...]:
        apart(instances, ("name", "metrics"))
        return instances
