"""Declaration of an application whose instances run under supervisord, reached over XML-RPC."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator

from kstreams_runbooks.fleet.deployers.base import INSTANCES, DeployerDeclaration, Instance, apart, placeholders
from kstreams_runbooks.fleet.values import AbsolutePath, Amount, Argument, ReleaseName, StatePath, SupervisorUrl, Words


class SupervisordInstance(Instance):
    """One instance: the program that supervisord knows, its folder on disk, its metrics."""

    program: Words = Field(description="program (or group:program) in supervisord's configuration")
    directory: AbsolutePath = Field(description="folder with base.properties and deployment.properties")
    state_dir: StatePath = Field(
        default_factory=lambda given: given.get("directory", Path("/")) / "state",
        validate_default=True,
        description="state.dir of the instance; nothing outside of it is ever deleted (default: <directory>/state)",
    )


_KEPT_FILES = frozenset({"base.properties", "deployment.properties"})
_TOPOLOGY = ("release", "directory", "settings_file")


def _known_placeholders(word: str) -> str:
    placeholders(word, _TOPOLOGY)
    return word


class SupervisordSettings(DeployerDeclaration):
    """Deployer settings of kind `supervisord`."""

    kind: Literal["supervisord"] = Field(description="which deployer: supervisord")
    url: SupervisorUrl = Field(
        repr=False,
        description="supervisord's XML-RPC address, http://host:port or unix:///path/to/socket; "
        "`connection=ID@` in front of the host names the Airflow connection with its login",
    )
    instances: tuple[SupervisordInstance, ...] = Field(min_length=1, description=INSTANCES)
    releases: dict[ReleaseName, AbsolutePath] = Field(
        min_length=1, description="release: folder with its jars; no other release can be deployed"
    )
    topology: tuple[Annotated[Argument, AfterValidator(_known_placeholders)], ...] = Field(
        min_length=1,
        description="command that prints a release's topology description or its topology facts and exits; {release} "
        "and {directory} are replaced by the release and its folder, {settings_file} by a properties file with the "
        "settings that a runbook sets",
    )
    once_file: Annotated[str, Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$")] | None = Field(
        default=None,
        description="file in an instance's directory that its launcher reads, over the others, and deletes at a start: "
        "settings for that start alone",
    )
    stop_timeout_s: Amount = Field(
        default=120.0, gt=0, description="seconds that a clean stop may take; Streams flushes and commits in them"
    )
    start_timeout_s: Amount = Field(
        default=120.0, gt=0, description="seconds until a started process has to be running (not until it is RUNNING)"
    )

    def addresses(self) -> Iterator[tuple[str, str]]:
        """Those of the agents, and of supervisord."""
        yield "url", self.url
        yield from super().addresses()

    @property
    def describes_settings(self) -> bool:
        """Whether the topology command gets the settings that a runbook sets."""
        return any("settings_file" in placeholders(word, _TOPOLOGY) for word in self.topology)

    @field_validator("once_file")
    @classmethod
    def _of_its_own(cls, once_file: str | None) -> str | None:
        if once_file in _KEPT_FILES:
            raise ValueError(f"is {once_file}, which is kept; give a file that the launcher may delete")
        return once_file

    @field_validator("instances")
    @classmethod
    def _apart(cls, instances: tuple[SupervisordInstance, ...]) -> tuple[SupervisordInstance, ...]:
        """Instances share nothing: readings and deletions for one must not affect another."""
        apart(instances, ("name", "program", "directory", "metrics"))
        # Sorted by its parts, a folder comes right before those inside it.
        ordered = sorted(instances, key=lambda one: one.state_dir.parts)
        for one, other in pairwise(ordered):
            if other.state_dir.is_relative_to(one.state_dir):
                earlier, later = sorted((one, other), key=instances.index)
                raise ValueError(
                    f"has overlapping state_dir {earlier.state_dir} ({earlier.name}) and {later.state_dir} "
                    f"({later.name}); clearing one would clear the other"
                )
        return instances
