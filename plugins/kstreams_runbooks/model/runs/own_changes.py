"""What a run itself has changed, or is about to: no drift for its guards, its proofs and the fleet check."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TopicChange:
    """A change of one topic, announced by an undo card: it may have happened or not.

    `topic_id` is the id of the topic that is created, grown or deleted; empty if it was created and nothing has shown
    its id yet. `partitions` is their number afterwards, 0 for a deleted topic. `again`: after its deletion the
    application creates it again.
    """

    name: str
    topic_id: str
    partitions: int
    created: bool = False
    again: bool = False

    @property
    def deleted(self) -> bool:
        """Whether the topic is gone afterwards."""
        return self.partitions == 0


@dataclass(frozen=True, slots=True)
class OwnChanges:
    """Changed topics, in order, and topics on which committed offsets were set or deleted."""

    topics: tuple[TopicChange, ...] = ()
    offsets: tuple[str, ...] = ()


NO_CHANGES = OwnChanges()
