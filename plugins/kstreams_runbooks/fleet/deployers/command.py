"""The deployer entry of an application that its team deploys with scripts of its own."""

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator

from kstreams_runbooks.fleet.deployers.base import (
    ARTIFACTS,
    ArtifactByRelease,
    DeployerDeclaration,
    Instance,
    KeepsState,
    StaysStopped,
    apart,
    placeholders,
    require,
)
from kstreams_runbooks.fleet.values import Amount, CommandLine, FleetModel

# The release: by its own name, or by the name used where it is deployed.
_RELEASE = ("release", "artifact")
_EVERY = ("application_id", "instance", "directories", "aside", "settings", "once", *_RELEASE)


class Command(FleetModel):
    """One command line, and how long it may take."""

    run: CommandLine = Field(min_length=1, description="program and arguments; no shell runs them")
    timeout_s: Amount = Field(default=60.0, gt=0, description="seconds after which the command is ended")

    def takes(self, name: str) -> bool:
        """Whether one of its words has this placeholder."""
        return any(name in placeholders(word, _EVERY) for word in self.run)


def _about(*names: str, needed: tuple[tuple[str, ...], ...] = ()) -> AfterValidator:
    """The command may use {application_id} and `names`, and has to use one of each group of `needed`."""

    def check(command: Command) -> Command:
        require(command.run, ("application_id", *names), needed)
        return command

    checked: Callable[[Command], Command] = check
    return AfterValidator(checked)


Everything = Annotated[Command, _about()]
OneInstance = Annotated[Command, _about("instance", needed=(("instance",),))]
StartedInstance = Annotated[Command, _about("instance", "once", needed=(("instance",),))]
OneRelease = Annotated[Command, _about(*_RELEASE, "settings", needed=(_RELEASE,))]
ClearedInstance = Annotated[Command, _about("instance", "directories", "aside", needed=(("instance",),))]
WhatToRun = Annotated[
    Command, _about("instance", *_RELEASE, "settings", needed=(("instance",), _RELEASE, ("settings",)))
]


_LOG = Field(
    default=None,
    description="prints the end of the log of {instance} as plain text: of one that died, sentences quote the last "
    "error in it",
)


class LookingCommands(FleetModel):
    """Commands of a deployer through which a person acts: they only read."""

    instances: Everything | None = Field(
        default=None,
        description="prints every instance with its settings as one JSON document; no run can go on without it",
    )
    topology: OneRelease | None = Field(
        default=None,
        description="prints the topology description of {release}, or its facts, as one JSON document; with {settings} "
        "as it is with these settings of a runbook",
    )
    log: OneInstance | None = _LOG


class Commands(FleetModel):
    """One command per verb; an undeclared verb cannot run."""

    instances: Everything = Field(description="prints every instance as one JSON document, and changes nothing")
    apply: WhatToRun = Field(description="sets {release} and exactly {settings} of {instance} for its next start")
    stop: OneInstance = Field(description="stops {instance} and returns when its process is gone")
    start: StartedInstance = Field(
        description="starts {instance} and returns when its process is up; with {once} it has these settings for this "
        "start alone"
    )
    clear_state: ClearedInstance | None = Field(
        default=None,
        description="deletes the application's local state of {instance}, which is stopped; with {directories} these "
        "directories alone, such as `1_*,2_3,global`, or `*` for everything; with {aside}, unless that is empty, moves "
        "them to the directory of this name in the state.dir",
    )
    topology: OneRelease | None = Field(
        default=None,
        description="prints the topology description of {release}, or its facts, as one JSON document; with {settings} "
        "as it is with these settings of a runbook",
    )
    state_sizes: OneInstance | None = Field(
        default=None, description="prints the bytes of each task directory of {instance} as one JSON document"
    )
    log: OneInstance | None = _LOG

    @property
    def clears_directories(self) -> bool:
        """Whether clear_state can delete single task directories."""
        return self.clear_state is not None and self.clear_state.takes("directories")

    @property
    def keeps_aside(self) -> bool:
        """Whether clear_state can move what it clears, instead of deleting it."""
        return self.clear_state is not None and self.clear_state.takes("aside")


class CommandSettings(DeployerDeclaration):
    """Deployer settings of kind `command`."""

    kind: Literal["command"] = Field(description="which deployer: command")
    releases: ArtifactByRelease = Field(min_length=1, description=ARTIFACTS)
    commands: Commands = Field(description="one command per verb, each {run: [program, argument, …], timeout_s: 60}")
    stays_stopped: StaysStopped = False
    keeps_state: KeepsState = None

    @field_validator("instances")
    @classmethod
    def _apart(cls, instances: tuple[Instance, ...]) -> tuple[Instance, ...]:
        apart(instances, ("name", "metrics"))
        return instances
