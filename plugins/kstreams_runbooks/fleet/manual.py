"""Declaration of an application that a person, or a repository that a person changes, deploys."""

from typing import Literal

from pydantic import Field, field_validator

from kstreams_runbooks.fleet.commands import LookingCommands
from kstreams_runbooks.fleet.deployer import (
    ARTIFACTS,
    INSTANCES,
    ArtifactByRelease,
    DeployerDeclaration,
    Instance,
    apart,
)
from kstreams_runbooks.fleet.values import Words


class ManualSettings(DeployerDeclaration):
    """Deployer settings of kind `manual`."""

    kind: Literal["manual"] = Field(description="which deployer: manual")
    instances: tuple[Instance, ...] = Field(min_length=1, description=INSTANCES)
    releases: ArtifactByRelease = Field(min_length=1, description=ARTIFACTS)
    how: Words | None = Field(
        default=None, description="one sentence for the person who is asked: where and how this application is deployed"
    )
    commands: LookingCommands = Field(
        default_factory=LookingCommands, description="describe and topology, which only look"
    )

    @field_validator("instances")
    @classmethod
    def _apart(cls, instances: tuple[Instance, ...]) -> tuple[Instance, ...]:
        apart(instances, ("name", "metrics"))
        return instances
