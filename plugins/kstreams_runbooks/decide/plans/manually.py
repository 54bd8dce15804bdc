"""How a person takes back what an undo card about another thing than an instance has: in words, and by which command.

The commands are those of Kafka's own tools; ADMIN.properties is a login that may make the change. A card that no
command takes back has the reason as a comment.
"""

from dataclasses import dataclass

from kstreams_runbooks.model.runs.cards import (
    GroupDeleted,
    InputsPaused,
    InputsResumed,
    OffsetFacts,
    OffsetsSet,
    OtherFacts,
    PersonAsked,
    RecordsDeleted,
    StateCleared,
    TopicCreated,
    TopicDeleted,
    TopicGrown,
)
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.wording import first_of, pasted, sentence

_LOGIN = ("--command-config", "ADMIN.properties")
UNKNOWN_BOOTSTRAP = "BOOTSTRAP"


@dataclass(frozen=True, slots=True)
class Manually:
    """What takes a change back, with its object in it, and the line to paste; a comment if there is no command."""

    undo: str
    command: str


def manually(facts: OtherFacts, bootstrap: str = UNKNOWN_BOOTSTRAP) -> Manually:
    """The way back of one card, on the brokers of this address."""
    if isinstance(facts, TopicCreated):
        undo = f"delete topic {facts.topic.name}, with the records that it has by then"
        return Manually(undo, _topics(bootstrap, "--delete", "--topic", facts.topic.name))
    if isinstance(facts, TopicDeleted) and not facts.again:
        undo = f"create topic {facts.topic.name} again, empty: its records do not come back"
        return Manually(undo, _created(bootstrap, facts.topic))
    if isinstance(facts, OffsetFacts):
        return _offsets(facts, bootstrap)
    undo, why = _without_command(facts)
    return Manually(undo, f"# {sentence(why)}")


def _without_command(
    facts: TopicDeleted | TopicGrown | RecordsDeleted | StateCleared | InputsPaused | InputsResumed | PersonAsked,
) -> tuple[str, str]:
    """What takes such a change back, and why a person runs no command for it."""
    if isinstance(facts, TopicDeleted):
        name = facts.topic.name
        return f"let the application create topic {name} again at its next start", "no command: the next start does it"
    if isinstance(facts, TopicGrown):
        kept = f"topic {facts.name} keeps its {facts.after} partitions: no way back"
        return kept, "no command: Kafka cannot reduce the partitions of a topic"
    if isinstance(facts, RecordsDeleted):
        return f"the deleted records of topic {facts.name}: no way back", "no command: deleted records do not come back"
    if isinstance(facts, StateCleared):
        lost = f", but not {first_of(facts.lost)}" if facts.lost else ""
        restored = f"the local state of {facts.instance} is restored at its next start{lost}"
        return restored, "no command: the next start does it"
    if isinstance(facts, InputsPaused):
        return f"resume inputs {first_of(facts.inputs)}", f"start the producers of {', '.join(facts.inputs)} again"
    if isinstance(facts, InputsResumed):
        return f"pause inputs {first_of(facts.inputs)} again", f"stop the producers of {', '.join(facts.inputs)}"
    return f"ask a person: {facts.back}", facts.back


def _offsets(facts: OffsetFacts, bootstrap: str) -> Manually:
    """The offsets from before the change, from the file that the run wrote; those that are held stay where they are."""
    group = facts.before.group_id
    if isinstance(facts, OffsetsSet) and facts.holds:
        return Manually(
            f"commit the offsets of group {group} again where they were held",
            "# no command: they are as they were, and brokers keep them for offsets.retention.minutes",
        )
    what = "set the offsets of group" if isinstance(facts, OffsetsSet) else "commit the offsets of group"
    creates = ", which creates it" if isinstance(facts, GroupDeleted) else ""
    undo = f"{what} {group} back, with their metadata{creates}"
    if not facts.file:
        return Manually(
            undo, "# no command: the run wrote no file of these offsets; `kstreams-runbooks evidence` has them"
        )
    words = ("kafka-consumer-groups.sh", "--bootstrap-server", bootstrap, *_LOGIN, "--group", group)
    return Manually(undo, pasted((*words, "--reset-offsets", "--from-file", facts.file, "--execute"), links=False))


def _created(bootstrap: str, topic: TopicShape) -> str:
    replication = () if topic.replication < 0 else ("--replication-factor", str(topic.replication))
    settings = [word for name, value in topic.settings for word in ("--config", f"{name}={value}")]
    size = ("--partitions", str(topic.partitions), *replication)
    return _topics(bootstrap, "--create", "--topic", topic.name, *size, *settings)


def _topics(bootstrap: str, *words: str) -> str:
    return pasted(("kafka-topics.sh", "--bootstrap-server", bootstrap, *_LOGIN, *words), links=False)
