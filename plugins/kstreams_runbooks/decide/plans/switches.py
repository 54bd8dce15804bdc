"""The switches that hold the inputs of an application back while it is changed: the stages that each needs.

All of them have one protocol: the stages that pause, the stages that resume once the application is down, and those
that follow its start. In between the run looks whether the inputs are still held (`Certify.how` names the switch).

- `swap`: the application's own settings name empty topics. It is started on them to read what it has left; its inputs
  wait in their own logs.
- `copier`: the program that copies the records of the inputs to the control topic is stopped. Records wait in front of
  it.
- `manual`: a person pauses the producers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, get_args

from kstreams_runbooks.model.readings.hold import HowHeld
from kstreams_runbooks.model.readings.swap import EmptyTopic
from kstreams_runbooks.model.runs.object_stages import (
    CreateTopics,
    DeleteOffsets,
    DeleteTopics,
    OffsetReset,
    PauseInputs,
    ResumeInputs,
    SetOffsets,
)
from kstreams_runbooks.model.runs.plan import DeployedInstance, SidePart
from kstreams_runbooks.model.runs.stages import Stage, StartAll, StopAll
from kstreams_runbooks.model.writes import TopicShape

SWAP, COPIER, MANUAL = get_args(HowHeld)
# Not the default of the brokers, which may be compact.
_SETTINGS = (("cleanup.policy", "delete"),)


class Switch(Protocol):
    """Numbers of stages are given by the plan."""

    @property
    def name(self) -> HowHeld:
        """One of the words of the form."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The topics whose records wait."""

    @property
    def sides(self) -> tuple[SidePart, ...]:
        """Other applications that it stops and starts."""

    @property
    def waiting(self) -> tuple[str, ...]:
        """The topics in which records wait meanwhile; none if they wait outside of the cluster."""

    def pausing(self) -> Iterator[Stage]:
        """Afterwards no new record reaches the application."""

    def resuming(self) -> Iterator[Stage]:
        """The same undone, while the application is down."""

    def after(self) -> Iterator[Stage]:
        """What is left to do once it has been started."""


@dataclass(frozen=True, slots=True)
class SwapSwitch:
    """Empty topics in place of the inputs, for an application that `runs` like this in group `group`."""

    group: str
    runs: DeployedInstance
    library: str
    empties: tuple[EmptyTopic, ...]
    reset: OffsetReset
    name: HowHeld = "swap"
    sides: tuple[SidePart, ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The real ones."""
        return tuple(one.input for one in self.empties)

    @property
    def waiting(self) -> tuple[str, ...]:
        """The same: producers go on."""
        return self.inputs

    def pausing(self) -> Iterator[Stage]:
        """Down, the inputs' offsets committed again, started on empty topics.

        A group that runs keeps offsets of topics that it does not read for offsets.retention.minutes after their
        commit, however lately it read them (KIP-211): so they are committed again right before.
        """
        yield StopAll(0)
        yield SetOffsets(0, self.group, self.inputs, "same", reset=self.reset)
        if created := self._created:
            yield CreateTopics(
                0, tuple(TopicShape(one.name, one.needed, one.replication, _SETTINGS) for one in created)
            )
        yield SetOffsets(0, self.group, self._names, "start")
        settings = {**dict(self.runs.settings), **{one.setting: one.name for one in self.empties}}
        yield StartAll(0, self.runs.release, tuple(sorted(settings.items())), self.library, must_clear=True)

    def resuming(self) -> Iterator[Stage]:
        """The offsets as they were held; the start, which follows, names the inputs again."""
        yield SetOffsets(0, self.group, self.inputs, "kept")
        yield DeleteOffsets(0, self.group, self._names)

    def after(self) -> Iterator[Stage]:
        """The empty topics go, but for those that the form gave."""
        if created := self._created:
            yield DeleteTopics(0, tuple(one.name for one in created))

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.empties)

    @property
    def _created(self) -> tuple[EmptyTopic, ...]:
        return tuple(one for one in self.empties if one.partitions is None)


@dataclass(frozen=True, slots=True)
class CopierSwitch:
    """The copier that writes all `inputs`, as a side of the run; records wait in its own inputs."""

    inputs: tuple[str, ...]
    side: SidePart
    waiting: tuple[str, ...]
    name: HowHeld = "copier"

    @property
    def sides(self) -> tuple[SidePart, ...]:
        """The copier."""
        return (self.side,)

    def pausing(self) -> Iterator[Stage]:
        """The copier is down, and its group EMPTY."""
        yield StopAll(0, side=self.side.role)

    def resuming(self) -> Iterator[Stage]:
        """The copier runs again."""
        [runs, *_] = self.side.facts.at_start
        library = runs.version if runs.version != runs.release else ""
        yield StartAll(0, runs.release, runs.settings, library, side=self.side.role, must_clear=True)

    def after(self) -> Iterator[Stage]:
        """Nothing."""
        yield from ()


@dataclass(frozen=True, slots=True)
class ManualSwitch:
    """A person, who pauses the producers of the inputs and resumes them."""

    inputs: tuple[str, ...]
    name: HowHeld = "manual"
    sides: tuple[SidePart, ...] = ()
    waiting: tuple[str, ...] = ()

    def pausing(self) -> Iterator[Stage]:
        """The answer of a person; the run watches the ends of the inputs."""
        yield PauseInputs(0, self.inputs)

    def resuming(self) -> Iterator[Stage]:
        """The answer of a person that they write again."""
        yield ResumeInputs(0, self.inputs)

    def after(self) -> Iterator[Stage]:
        """Nothing."""
        yield from ()


AnySwitch = SwapSwitch | CopierSwitch | ManualSwitch
