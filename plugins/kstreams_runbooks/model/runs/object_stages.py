"""Stages about topics, offsets, inputs and people: what each does, what it costs, and what takes it back.

The fields of every stage are those of stages.py.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from kstreams_runbooks.model.writes import TopicShape

# The targets of a group's offsets: the start of the log (`unset`: of partitions without a committed offset alone), its
# end, the offsets on an undo card, the same again, those that an earlier stage of the run committed again, a target of
# its own for each topic, what another group has committed, or the ends that the run has noted at its seam.
OffsetsTo = Literal["start", "unset", "end", "card", "same", "kept", "target", "group", "seam"]
# The place at which a group begins a partition without a committed offset, in the words of auto.offset.reset.
OffsetReset = Literal["", "earliest", "latest"]
_TO = {
    "unset": "to the start of the log where none is committed",
    "card": "back to where they were",
    "same": "again to where they are",
    "kept": "to where they were held",
    "seam": "to the ends that the run notes at the seam",
}


@dataclass(frozen=True, slots=True)
class CreateTopics:
    """Topics that do not exist are created. The ids that they get are on the cards of the run, not in its plan."""

    number: int
    topics: tuple[TopicShape, ...]
    side: str = ""
    undoes: tuple[int, ...] = ()
    kind: Literal["create_topics"] = "create_topics"
    costs: ClassVar[str] = "nothing"
    undo: ClassVar[str] = "delete them, with the records that they have by then"

    @property
    def sentence(self) -> str:
        """What it does."""
        return f"create {', '.join(f'{one.name} ({one.partitions} partitions)' for one in self.topics)}"


@dataclass(frozen=True, slots=True)
class GrowTopics:
    """Topics get more partitions: pairs of a name and the number of partitions afterwards."""

    number: int
    topics: tuple[tuple[str, int], ...]
    side: str = ""
    undoes: tuple[int, ...] = ()
    kind: Literal["grow_topics"] = "grow_topics"
    costs: ClassVar[str] = "keys move to other partitions"
    undo: ClassVar[str] = "no way back: Kafka cannot reduce the partitions of a topic"

    @property
    def sentence(self) -> str:
        """What it does."""
        return f"grow {', '.join(f'{name} to {partitions} partitions' for name, partitions in self.topics)}"


@dataclass(frozen=True, slots=True)
class DeleteTopics:
    """Topics are deleted, with their records.

    `retired`: for good. That nothing uses them is decided again right before, and they are watched afterwards, as long
    as a client may still have the metadata to create one again.

    With `at_rest` only if nothing has written to them since an earlier stage noted their ends, and nothing else uses
    them; the stage ends once no broker lists one, and no offset is committed on one. `again`: the application creates
    them itself at its next start.
    """

    number: int
    topics: tuple[str, ...]
    side: str = ""
    undoes: tuple[int, ...] = ()
    retired: bool = False
    at_rest: bool = False
    again: bool = False
    kind: Literal["delete_topics"] = "delete_topics"
    costs: ClassVar[str] = "their records are lost"
    undo: ClassVar[str] = "create them again, empty: their records do not come back"

    @property
    def sentence(self) -> str:
        """What it does."""
        gone = " for good" if self.retired else ", once nothing writes to them" if self.at_rest else ""
        return f"delete {', '.join(self.topics)}{gone}"


@dataclass(frozen=True, slots=True)
class DeleteRecords:
    """The records of topics are deleted up to their end at that time; the topics stay.

    With `certified` only up to the ends of the run's drain certificate, which prove them read. With `shown` only up to
    those that the plan has shown, once every reader has read them; `readers` are the entries of the fleet among them,
    and an approver of each is asked.
    """

    number: int
    topics: tuple[str, ...]
    side: str = ""
    undoes: tuple[int, ...] = ()
    certified: bool = False
    shown: bool = False
    readers: tuple[str, ...] = ()
    kind: Literal["delete_records"] = "delete_records"
    undo: ClassVar[str] = "no way back: deleted records do not come back"

    @property
    def costs(self) -> str:
        """What is lost."""
        return "nothing: the certificate proves these records read" if self.certified else "these records are lost"

    @property
    def sentence(self) -> str:
        """What it does."""
        up_to = " up to the ends of the certificate" if self.certified else ""
        up_to = " up to the ends that the plan shows" if self.shown else up_to
        return f"delete the records of {', '.join(self.topics)}{up_to}"


@dataclass(frozen=True, slots=True)
class SetOffsets:
    """The committed offsets of a group are set; the offsets themselves are on the cards of the run.

    `same` commits each offset again: brokers forget offsets of topics that a running group does not subscribe to by the
    time of their commit (KIP-211). A partition without one gets the place at which `reset` would have it begin. `kept`
    commits what brokers have forgotten since then. `target` is resolved when it is written: `targets` has a topic and
    its target as a text (decide/reset/targets.py). It is refused if retention has deleted more than `most_lost` offsets
    that the plan would read. `group` commits what the group `like` has committed; with `reset` a partition that it has
    not committed begins at its start. `pairs` have a topic, and the topic whose committed metadata (the stream time)
    goes with the offsets.
    """

    number: int
    group: str
    topics: tuple[str, ...]
    to: OffsetsTo
    side: str = ""
    undoes: tuple[int, ...] = ()
    reset: OffsetReset = ""
    targets: tuple[tuple[str, str], ...] = ()
    most_lost: int = 0
    like: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    kind: Literal["set_offsets"] = "set_offsets"
    costs: ClassVar[str] = "records in between are read again, or never"
    undo: ClassVar[str] = "set them back, with their metadata"

    @property
    def sentence(self) -> str:
        """What it does."""
        if self.to == "target":
            return f"set the offsets of group {self.group}: {', '.join(f'{one} to {to}' for one, to in self.targets)}"
        to = f"to those of group {self.like}" if self.like else _TO.get(self.to, f"to the {self.to} of the log")
        time = f", with the stream time of {', '.join(one for _, one in self.pairs)}" if self.pairs else ""
        return f"set the offsets of group {self.group} on {', '.join(self.topics)} {to}{time}"


@dataclass(frozen=True, slots=True)
class SaveOffsets:
    """The committed offsets of an EMPTY group are saved, and the ends of topics noted that a later stage deletes.

    A broker deletes the offsets on a topic together with the topic. Nothing is changed, so no undo card is written.
    """

    number: int
    group: str
    topics: tuple[str, ...] = ()
    side: str = ""
    undoes: tuple[int, ...] = ()
    kind: Literal["save_offsets"] = "save_offsets"
    costs: ClassVar[str] = "nothing"
    undo: ClassVar[str] = "nothing: it only reads"

    @property
    def sentence(self) -> str:
        """What it does."""
        return f"save the offsets of group {self.group}"


@dataclass(frozen=True, slots=True)
class DeleteOffsets:
    """The committed offsets of a group on these topics are deleted; `running` if its members no longer read them."""

    number: int
    group: str
    topics: tuple[str, ...]
    side: str = ""
    undoes: tuple[int, ...] = ()
    running: bool = False
    kind: Literal["delete_offsets"] = "delete_offsets"
    costs: ClassVar[str] = "a reader of these topics in this group begins at its auto.offset.reset"
    undo: ClassVar[str] = "set them again, with their metadata"

    @property
    def sentence(self) -> str:
        """What it does."""
        return f"delete the offsets of group {self.group} on {', '.join(self.topics)}"


@dataclass(frozen=True, slots=True)
class DeleteGroups:
    """Groups are deleted with all their committed offsets."""

    number: int
    groups: tuple[str, ...]
    side: str = ""
    undoes: tuple[int, ...] = ()
    kind: Literal["delete_groups"] = "delete_groups"
    costs: ClassVar[str] = "a reader in these groups begins at its auto.offset.reset"
    undo: ClassVar[str] = "set their offsets again, with their metadata, which creates the groups"

    @property
    def sentence(self) -> str:
        """What it does."""
        return f"delete {'groups' if len(self.groups) > 1 else 'group'} {', '.join(self.groups)} with all offsets"


@dataclass(frozen=True, slots=True)
class PauseInputs:
    """Inputs are held back."""

    number: int
    inputs: tuple[str, ...]
    side: str = ""
    undoes: tuple[int, ...] = ()
    kind: Literal["pause_inputs"] = "pause_inputs"
    costs: ClassVar[str] = "no new input until they are resumed"
    undo: ClassVar[str] = "resume them"

    @property
    def sentence(self) -> str:
        """What it does."""
        return f"pause {', '.join(self.inputs)}"


@dataclass(frozen=True, slots=True)
class ResumeInputs:
    """Inputs flow again."""

    number: int
    inputs: tuple[str, ...]
    side: str = ""
    undoes: tuple[int, ...] = ()
    kind: Literal["resume_inputs"] = "resume_inputs"
    costs: ClassVar[str] = "nothing"
    undo: ClassVar[str] = "pause them again"

    @property
    def sentence(self) -> str:
        """What it does."""
        return f"resume {', '.join(self.inputs)}"


@dataclass(frozen=True, slots=True)
class AskPerson:
    """A person does something that no deployer and no client can; `back` is what takes it back."""

    number: int
    request: str
    back: str
    side: str = ""
    undoes: tuple[int, ...] = ()
    kind: Literal["ask_person"] = "ask_person"
    costs: ClassVar[str] = "a person's time"

    @property
    def sentence(self) -> str:
        """What it does."""
        return f"ask a person: {self.request}"

    @property
    def undo(self) -> str:
        """What takes it back."""
        return f"ask a person: {self.back}"


TopicStage = CreateTopics | GrowTopics | DeleteTopics | DeleteRecords
OffsetStage = SaveOffsets | SetOffsets | DeleteOffsets | DeleteGroups
PersonStage = AskPerson | PauseInputs | ResumeInputs


def changed_topics(stage: TopicStage) -> tuple[str, ...]:
    """Names of the topics that a stage changes."""
    if isinstance(stage, CreateTopics):
        return tuple(topic.name for topic in stage.topics)
    if isinstance(stage, GrowTopics):
        return tuple(name for name, _ in stage.topics)
    return stage.topics
