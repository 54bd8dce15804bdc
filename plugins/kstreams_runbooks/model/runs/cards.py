"""What an undo card knows about the object that was changed, by kind of card."""

from dataclasses import dataclass
from typing import Literal

from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.readings.readings import MemberReading, Start
from kstreams_runbooks.model.runs.ledger import INSTANCE
from kstreams_runbooks.model.runs.own_changes import TopicChange
from kstreams_runbooks.model.runs.plan import DeployedInstance
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets, TopicShape


@dataclass(frozen=True, slots=True)
class InstanceMoved:
    """One instance before and after one bounce.

    `previous` is the start that ran when the card was written (None if none did), `members` are those of the instance
    in the group at that time. `by_hand` are the commands for a manual undo, `deletes` the task directories that
    an undo deletes.
    """

    bounce: int
    before: DeployedInstance
    after: DeployedInstance
    previous: Start | None = None
    members: tuple[MemberReading, ...] = ()
    by_hand: tuple[str, ...] = ()
    deletes: TaskDirectories = NO_DIRECTORIES


@dataclass(frozen=True, slots=True)
class TopicCreated:
    """A topic that did not exist; `topic_id` is empty until the broker has given it one."""

    topic: TopicShape
    topic_id: str = ""
    kind: Literal["topic_created"] = "topic_created"


@dataclass(frozen=True, slots=True)
class TopicGrown:
    """A topic, and its partitions before and after."""

    name: str
    topic_id: str
    before: int
    after: int
    kind: Literal["topic_grown"] = "topic_grown"


@dataclass(frozen=True, slots=True)
class TopicDeleted:
    """A topic as it was, to create it again; `again`: the application itself creates it at its next start."""

    topic: TopicShape
    topic_id: str
    again: bool = False
    kind: Literal["topic_deleted"] = "topic_deleted"


@dataclass(frozen=True, slots=True)
class RecordsDeleted:
    """A topic, and for each partition the first offset that is left."""

    name: str
    topic_id: str
    first_left: tuple[tuple[int, int], ...]
    kind: Literal["records_deleted"] = "records_deleted"


@dataclass(frozen=True, slots=True)
class OffsetsSet:
    """All offsets of a group from before, and those that were set.

    `file` is the plain file that has those from before, empty if none was written. `holds`: they were committed again,
    to keep the place of inputs that are held. `ids` has each topic with the id that it had then.
    """

    before: SavedOffsets
    after: tuple[CommittedOffset, ...]
    file: str = ""
    holds: bool = False
    ids: tuple[tuple[str, str], ...] = ()
    kind: Literal["offsets_set"] = "offsets_set"

    @property
    def back(self) -> tuple[CommittedOffset, ...]:
        """The offsets that take it back: those from before, or those that were held."""
        return self.after if self.holds else self.before.offsets


@dataclass(frozen=True, slots=True)
class OffsetsDeleted:
    """All offsets of a group from before, and the topics on which they were deleted."""

    before: SavedOffsets
    topics: tuple[str, ...]
    file: str = ""
    kind: Literal["offsets_deleted"] = "offsets_deleted"


@dataclass(frozen=True, slots=True)
class GroupDeleted:
    """All offsets of a group that was deleted."""

    before: SavedOffsets
    file: str = ""
    kind: Literal["group_deleted"] = "group_deleted"


@dataclass(frozen=True, slots=True)
class StateCleared:
    """Local state of an instance that was deleted; `lost` are stores that no changelog restores."""

    instance: str
    deletes: TaskDirectories = NO_DIRECTORIES
    lost: tuple[str, ...] = ()
    kind: Literal["state_cleared"] = "state_cleared"


@dataclass(frozen=True, slots=True)
class InputsPaused:
    """Inputs that were paused, and how."""

    inputs: tuple[str, ...]
    how: str
    kind: Literal["inputs_paused"] = "inputs_paused"


@dataclass(frozen=True, slots=True)
class InputsResumed:
    """Inputs that were resumed, and how."""

    inputs: tuple[str, ...]
    how: str
    kind: Literal["inputs_resumed"] = "inputs_resumed"


@dataclass(frozen=True, slots=True)
class PersonAsked:
    """What a person was asked to do, and what takes it back."""

    request: str
    back: str
    kind: Literal["person_asked"] = "person_asked"


# Facts of cards about committed offsets: each has all of the group's from before.
OffsetFacts = OffsetsSet | OffsetsDeleted | GroupDeleted
# Facts of other cards than those of instances: each has its kind in it.
OtherFacts = (
    TopicCreated
    | TopicGrown
    | TopicDeleted
    | RecordsDeleted
    | OffsetFacts
    | StateCleared
    | InputsPaused
    | InputsResumed
    | PersonAsked
)
CardFacts = InstanceMoved | OtherFacts

# The kinds of cards that this release knows, as they are in the ledger.
KINDS: dict[str, type[CardFacts]] = {
    INSTANCE: InstanceMoved,
    "topic_created": TopicCreated,
    "topic_grown": TopicGrown,
    "topic_deleted": TopicDeleted,
    "records_deleted": RecordsDeleted,
    "offsets_set": OffsetsSet,
    "offsets_deleted": OffsetsDeleted,
    "group_deleted": GroupDeleted,
    "state_cleared": StateCleared,
    "inputs_paused": InputsPaused,
    "inputs_resumed": InputsResumed,
    "person_asked": PersonAsked,
}
# The kinds of writes to topics and committed offsets.
WRITTEN_KINDS = frozenset(
    {
        "topic_created",
        "topic_grown",
        "topic_deleted",
        "records_deleted",
        "offsets_set",
        "offsets_deleted",
        "group_deleted",
    }
)
# The kinds that change which topics exist, and how many partitions they have.
TOPIC_KINDS = frozenset({"topic_created", "topic_grown", "topic_deleted"})


def kind_of(facts: CardFacts) -> str:
    """The kind of a card with these facts."""
    return INSTANCE if isinstance(facts, InstanceMoved) else facts.kind


def changed_topic(facts: CardFacts) -> TopicChange | None:
    """The change of a topic that a card announces, None for a card about something else."""
    if isinstance(facts, TopicCreated):
        return TopicChange(facts.topic.name, facts.topic_id, facts.topic.partitions, created=True)
    if isinstance(facts, TopicGrown):
        return TopicChange(facts.name, facts.topic_id, facts.after)
    if isinstance(facts, TopicDeleted):
        return TopicChange(facts.topic.name, facts.topic_id, 0, again=facts.again)
    return None


def changed_offsets(facts: OffsetFacts) -> tuple[str, ...]:
    """The topics on which a card's offsets were set or deleted, each once."""
    if isinstance(facts, OffsetsDeleted):
        return facts.topics
    changed = facts.after if isinstance(facts, OffsetsSet) else facts.before.offsets
    return tuple(dict.fromkeys(one.topic for one in changed))
