"""The deployer entry of an application that a person deploys, directly or through a repository."""

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from kstreams_runbooks.fleet.deployers.base import (
    ARTIFACTS,
    ArtifactByRelease,
    DeployerDeclaration,
    Instance,
    KeepsState,
    StaysStopped,
    apart,
)
from kstreams_runbooks.fleet.deployers.command import LookingCommands
from kstreams_runbooks.fleet.values import FleetModel, ReleaseName, Words


class Stated(FleetModel):
    """A person's statement of the deployment of every instance."""

    release: ReleaseName = Field(description="one of releases")
    settings: dict[str, str] = Field(
        default_factory=dict, description="what a runbook would have set, including upgrade.from"
    )


class ManualSettings(DeployerDeclaration):
    """Deployer settings of kind `manual`."""

    kind: Literal["manual"] = Field(description="which deployer: manual")
    releases: ArtifactByRelease = Field(min_length=1, description=ARTIFACTS)
    how: Words | None = Field(
        default=None, description="one sentence for the person who is asked, with the place and the way of deployment"
    )
    commands: LookingCommands = Field(
        default_factory=LookingCommands, description="instances and topology, which only read"
    )
    stays_stopped: StaysStopped = False
    keeps_state: KeepsState = None
    stated: Stated | None = Field(
        default=None,
        description="release and settings of every instance, stated by a person: a dry run plans with it if no "
        "instances command is declared, a real run never does",
    )

    @field_validator("instances")
    @classmethod
    def _apart(cls, instances: tuple[Instance, ...]) -> tuple[Instance, ...]:
        apart(instances, ("name", "metrics"))
        return instances

    @field_validator("stated")
    @classmethod
    def _a_declared_one(cls, stated: Stated | None, info: ValidationInfo) -> Stated | None:
        releases = info.data.get("releases", {})
        if stated is not None and releases and stated.release not in releases:
            raise ValueError(
                f"has release {stated.release}, which is not one of {', '.join(releases)}; declare that release"
            )
        return stated
