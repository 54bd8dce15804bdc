"""The stages of a plan: what each does, what it costs, and what takes it back; those of instances.

A stage has a number, from 1 in the order of the plan, and the side (role) whose application it concerns, empty for the
only one. `undoes` are the undo cards of another run that it takes back: only stages of an undo have them.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.runs.object_stages import OffsetStage, PersonStage, TopicStage
from kstreams_runbooks.model.target import RunbookSettings, Target


def deployed(release: str, settings: tuple[tuple[str, str], ...]) -> str:
    """Release and settings, for a person."""
    text = ", ".join(f"{key}={value}" for key, value in settings)
    return f"{release} with {text}" if text else release


def for_these_starts(once: RunbookSettings) -> str:
    """`, with a=b for these starts alone`, empty without such a setting."""
    return f", with {', '.join(f'{key}={value}' for key, value in once)} for these starts alone" if once else ""


@dataclass(frozen=True, slots=True)
class Bounce:
    """One step of a plan: its instances end on `release` with exactly `settings` set by the runbook.

    `library` is the Kafka Streams release inside `release`, empty if the release is named after it. `instances` are
    its instances, empty for all of them. With `clear_state` all local state is deleted between stop and start, with
    `deletes` these task directories; `undo_deletes` are those that an undo of this bounce deletes. With `must_clear` an
    instance starts only after that, on this release; together with others only once each of them is cleared. `once` are
    settings of these starts alone. With `again` an instance that has all of that is restarted too. With `after_drain`
    the records in the repartition topics are read to their end before the first instance is stopped. `back`: an
    instance that does not start is set back to what it ran before, if nothing speaks against it then.
    """

    number: int
    release: str
    settings: tuple[tuple[str, str], ...]
    library: str = ""
    instances: tuple[str, ...] = ()
    clear_state: bool = False
    after_drain: bool = False
    deletes: TaskDirectories = NO_DIRECTORIES
    undo_deletes: TaskDirectories = NO_DIRECTORIES
    side: str = ""
    must_clear: bool = False
    once: RunbookSettings = ()
    again: bool = False
    back: bool = False
    kind: Literal["bounce"] = "bounce"

    @property
    def clears(self) -> TaskDirectories | None:
        """The local state that is deleted between stop and start: all of it if it names no directory, None for none."""
        if self.clear_state:
            return replace(self.deletes, names=())
        return self.deletes if self.deletes.names else None

    @property
    def version(self) -> str:
        """The Kafka Streams release that an instance reports after this bounce."""
        return self.library or self.release

    @property
    def target(self) -> Target:
        """What its instances are set to."""
        return Target(self.release, self.settings)

    def takes(self, instance: str) -> bool:
        """Whether an instance is one of its own."""
        return not self.instances or instance in self.instances

    @property
    def deployed(self) -> str:
        """Release and settings, for a person."""
        return deployed(self.release, self.settings)

    @property
    def sentence(self) -> str:
        """The actions of this bounce, for a person."""
        return (
            f"bounce {self.number}: {'a restart of ' if self.again else ''}{self.deployed}"
            + (f", {self.clears.what} cleared first" if self.clears is not None else "")
            + for_these_starts(self.once)
            + (", once the repartition topics are drained" if self.after_drain else "")
        )

    @property
    def costs(self) -> str:
        """What it costs."""
        return "one restart of each instance" + (", and a restore of what is cleared" if self.clears else "")

    @property
    def undo(self) -> str:
        """What takes it back."""
        return "every instance back to what it ran before"


@dataclass(frozen=True, slots=True)
class Drain:
    """The records that the repartition topics of a side have when it begins are read to their end, and committed."""

    number: int
    side: str = ""
    undoes: tuple[int, ...] = ()
    kind: Literal["drain"] = "drain"
    costs: ClassVar[str] = "a wait while the application processes"
    undo: ClassVar[str] = "nothing: only a wait"

    @property
    def sentence(self) -> str:
        """What it does."""
        return f"wait until what is in the repartition topics{_of(self.side)} now has been read"


@dataclass(frozen=True, slots=True)
class Certify:
    """Nothing is left to read while `inputs` are held: a drain certificate. `how` is the switch that holds them.

    It is in the middle of a hold (model/runs/input_holds.py): the `pauses` stages right before it hold the inputs, and
    as many as `resumes` let them flow again, after the stops that rely on it. `behind` are the roles of the sides that
    read nothing new meanwhile.
    """

    number: int
    inputs: tuple[str, ...]
    how: str
    pauses: int
    resumes: int
    behind: tuple[str, ...] = ("",)
    side: str = ""
    undoes: tuple[int, ...] = ()
    kind: Literal["certify"] = "certify"
    costs: ClassVar[str] = "a wait while the application processes what is left"
    undo: ClassVar[str] = "nothing: only a wait"

    @property
    def sentence(self) -> str:
        """What it does."""
        return (
            f"prove that nothing{_of(self.side)} is left to read while {', '.join(self.inputs)} are held ({self.how})"
        )


@dataclass(frozen=True, slots=True)
class StopAll:
    """Every instance of a side is down, and its group EMPTY.

    `stays` is what its instances are set to if no later stage starts them.
    """

    number: int
    instances: tuple[str, ...] = ()
    side: str = ""
    undoes: tuple[int, ...] = ()
    stays: Target | None = None
    kind: Literal["stop_all"] = "stop_all"
    costs: ClassVar[str] = "nothing is processed until the start"
    undo: ClassVar[str] = "start every instance as it was"

    @property
    def sentence(self) -> str:
        """What it does."""
        stays = f"; set to {self.stays.text}, they stay down" if self.stays else ""
        return f"stop {_who(self.instances)}{_of(self.side)} until the group is EMPTY{stays}"

    @property
    def bounce(self) -> Bounce:
        """What instances that stay down are set to, as a bounce; only if they do."""
        if self.stays is None:
            raise ValueError(f"stage {self.number} has a start after it")
        return Bounce(self.number, self.stays.release, self.stays.settings, instances=self.instances, side=self.side)


@dataclass(frozen=True, slots=True)
class StartAll:
    """Every instance of a side runs `release` with exactly `settings`; the other fields are those of a bounce."""

    number: int
    release: str
    settings: tuple[tuple[str, str], ...]
    library: str = ""
    instances: tuple[str, ...] = ()
    clear_state: bool = False
    deletes: TaskDirectories = NO_DIRECTORIES
    must_clear: bool = False
    once: RunbookSettings = ()
    side: str = ""
    undoes: tuple[int, ...] = ()
    undo_deletes: TaskDirectories = NO_DIRECTORIES
    back: bool = False
    kind: Literal["start_all"] = "start_all"
    costs: ClassVar[str] = "one start of each instance"
    undo: ClassVar[str] = "stop every instance again"

    @property
    def bounce(self) -> Bounce:
        """The same as a bounce: guards, gates and proofs judge where an instance ends, however it got there."""
        return Bounce(
            self.number,
            self.release,
            self.settings,
            self.library,
            self.instances,
            self.clear_state,
            deletes=self.deletes,
            undo_deletes=self.undo_deletes,
            side=self.side,
            must_clear=self.must_clear,
            once=self.once,
            back=self.back,
        )

    @property
    def sentence(self) -> str:
        """What it does."""
        clears = self.bounce.clears
        return (
            f"start {_who(self.instances)}{_of(self.side)} on {deployed(self.release, self.settings)}"
            + (f", {clears.what} cleared first" if clears is not None else "")
            + for_these_starts(self.once)
        )


@dataclass(frozen=True, slots=True)
class ClearState:
    """The local state of every instance of a side is deleted, or these task directories of it.

    If it is to be `seen`, the deployer has to report the state of each instance as gone, and once more before a start.
    With `at_start` the application deletes it itself as it starts: this stage keeps what there is, and right after
    each start all of that has to be gone.
    """

    number: int
    instances: tuple[str, ...] = ()
    deletes: TaskDirectories = NO_DIRECTORIES
    side: str = ""
    undoes: tuple[int, ...] = ()
    seen: bool = False
    at_start: bool = False
    kind: Literal["clear_state"] = "clear_state"
    costs: ClassVar[str] = "a restore from the topics of the stores; a store without one begins empty"
    undo: ClassVar[str] = "nothing: the next start restores it"

    @property
    def sentence(self) -> str:
        """What it does."""
        if self.at_start:
            return (
                f"note local state of {_who(self.instances)}{_of(self.side)}, which KafkaStreams#cleanUp deletes at "
                "its start: it is seen gone right after that start, not before"
            )
        seen = ", until its deployer reports it gone" if self.seen else ""
        return f"clear {self.deletes.what} of {_who(self.instances)}{_of(self.side)}{seen}"


OtherStage = Drain | Certify | StopAll | StartAll | ClearState | TopicStage | OffsetStage | PersonStage
Stage = Bounce | OtherStage


def _who(instances: tuple[str, ...]) -> str:
    return ", ".join(instances) or "every instance"


def _of(side: str) -> str:
    return f" of {side}" if side else ""
