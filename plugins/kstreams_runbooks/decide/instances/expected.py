"""The topics that a plan expects now: as they were, or as the run's own changes leave them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from kstreams_runbooks.model.readings.readings import TopicReading
from kstreams_runbooks.model.runs.own_changes import OwnChanges, TopicChange


@dataclass(frozen=True, slots=True)
class ExpectedTopic:
    """A topic with one of these ids and one of these numbers of partitions (none: any); it may be absent or not.

    `was` is the id in the plan, empty for a topic that the run creates.
    """

    name: str
    ids: tuple[str, ...]
    partitions: tuple[int, ...]
    was: str = ""
    absent: bool = False
    present: bool = True

    def drift(self, now: TopicReading | None) -> Iterator[str]:
        """How the topic differs from all that is expected of it; None if the cluster does not have it."""
        if now is None:
            if not self.absent:
                yield f"topic {self.name}: gone (id {' or '.join(self.ids)} {self._of})"
        elif not self.present and now.topic_id not in self.ids:
            yield f"topic {self.name}: created again (id {now.topic_id}) after this run deleted it"
        elif self.ids and now.topic_id not in self.ids:
            yield (
                f"topic {self.name}: recreated (id {now.topic_id}, {self._of} {' or '.join(self.ids)}); its records "
                "are lost"
            )
        elif self.partitions and now.partitions not in self.partitions:
            counts = " or ".join(str(count) for count in self.partitions)
            yield f"topic {self.name}: {now.partitions} partitions ({self._of} {counts})"

    @property
    def _of(self) -> str:
        return "in the plan" if self.ids == (self.was,) else "of this run"


def expected_now(planned: Iterable[tuple[str, str, int]], own: OwnChanges) -> tuple[ExpectedTopic, ...]:
    """The topics of a plan (name, id, partitions) after `own` changes, and the topics that these create.

    Each change is announced before it is made, so the state before it is expected too, until a later one shows that it
    was made.
    """
    expected = {name: ExpectedTopic(name, (topic_id,), (count,), topic_id) for name, topic_id, count in planned}
    for change in own.topics:
        before = expected.get(change.name)
        if (after := _after(before, change)) is not None:
            expected[change.name] = after
    return tuple(expected.values())


def _after(before: ExpectedTopic | None, change: TopicChange) -> ExpectedTopic | None:
    """A topic after one more change, None if nothing is expected of it."""
    if change.created:
        was = before.was if before else ""
        ids = (change.topic_id,) if change.topic_id else ()
        return ExpectedTopic(change.name, ids, (change.partitions,), was, absent=not ids)
    if before is None:
        return None
    if change.deleted and change.again:
        return replace(before, ids=(), partitions=(), absent=True)
    if change.deleted:
        return replace(before, absent=True, present=False)
    return replace(before, partitions=tuple(sorted({*before.partitions, change.partitions})))
