"""Writes to committed offsets: set, delete, and delete groups. Every precondition is read before the first write."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kstreams_runbooks.act.kafka_writer import (
    KafkaWriter,
    broker_error,
    demand_written,
    refuse_if,
)
from kstreams_runbooks.act.offset_checks import SHARE, lacks_on_group, moved, not_writable, outside_the_log
from kstreams_runbooks.act.topic_checks import another_topic, certain, known, lacks, place_text
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.readings import GroupReading, Missing
from kstreams_runbooks.model.writes import CommittedOffset, ObjectWritten, SavedOffsets
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_at
from kstreams_runbooks.observe.kafka.groups import unknown_group
from kstreams_runbooks.observe.kafka.moving import again_while_moving
from kstreams_runbooks.observe.kafka.offsets import Committed, Place, read_committed
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved, require_all_topics
from kstreams_runbooks.observe.kafka.touched import read_group_operations, read_topic_states

_MEMBER = "UnknownMemberIdError"
_NO_GROUP = "GroupIdNotFoundError"


class OffsetWriter(KafkaWriter):
    """Changes the committed offsets of groups of one cluster, while a group has no member.

    `emptied` is for a dry run: for each group that a step before the real write leaves without members, the words for
    that step. Then neither its members of now nor offsets that they commit meanwhile refuse. `say` gets the lines of a
    wait for a transaction that commits offsets.

    Each method checks everything before its first write (WriteRefused). `before` is what the caller has saved of the
    group: an offset that is neither as saved nor as wanted is refused, so nothing is replaced that is not saved.
    Inconclusive if something cannot be read. PartlyWritten if the brokers accepted some partitions and rejected others:
    a rerun goes on with what is left. It writes to classic, consumer and streams groups alike, never to a share group.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        *,
        dry_run: bool = True,
        emptied: Mapping[str, str] | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        super().__init__(config, dry_run=dry_run)
        if emptied and not dry_run:
            raise ValueError("emptied is for a dry run: a write needs the group as it is")
        self._emptied = dict(emptied or {})
        self._say = say

    def set(
        self, group_id: str, offsets: Sequence[CommittedOffset], *, ids: Mapping[str, str], before: SavedOffsets
    ) -> tuple[ObjectWritten, ...]:
        """Commit these offsets with their metadata and leader epochs, and read them back.

        `ids` is the expected id of each topic. Refused for an offset outside the log of its partition. A group that no
        broker knows is created (classic, without a protocol). Offsets that are already as wanted are committed again:
        that renews the time after which brokers forget them.
        """
        wanted = {one.place: one for one in offsets}
        with self._reader() as reader:
            states = known(read_topic_states(reader, {topic for topic, _ in wanted}))
            reasons = [
                another_topic(state, ids[name]) or lacks(state, "READ", "Read") for name, state in states.items()
            ]
            reasons += self._group_reasons(reader, group_id, "READ", "Read")
            refuse_if(reasons)
            now = read_saved(reader, group_id, stable=not self._dry_run, say=self._say).by_place()
            places = sorted(place for place in wanted if place[1] < states[place[0]].partitions)
            ends = certain(ends_at(reader, places))
        saved = before.by_place()
        refuse_if(
            [outside_the_log(one, states[one.topic], ends) for one in offsets]
            + [self._moved(group_id, place, now.get(place), saved.get(place), one) for place, one in wanted.items()]
        )
        if self._dry_run:
            self.would_write += [
                f"set {place_text(place)} of group {group_id} from {_offset(now.get(place))} to {_offset(one)}"
                for place, one in wanted.items()
            ]
            return tuple(ObjectWritten(_of(place, group_id), "rehearsed") for place in wanted)
        return demand_written(f"set offsets of group {group_id}", self._set(group_id, wanted))

    def _set(self, group_id: str, wanted: Mapping[Place, CommittedOffset]) -> list[ObjectWritten]:
        from kafka import TopicPartition
        from kafka.structs import OffsetAndMetadata

        request = {
            TopicPartition(*place): OffsetAndMetadata(one.offset, one.metadata, one.leader_epoch)
            for place, one in wanted.items()
        }
        with self._client() as client:
            answer = again_while_moving(client, lambda: client.alter_group_offsets(group_id, request))
            errors = _errors(answer)
            found = again_while_moving(client, lambda: read_committed(client, [group_id]))[group_id]
        return [
            ObjectWritten(_of(place, group_id), "failed", error=why)
            if (why := _not_set(group_id, one, errors.get(place, ""), found.get(place)))
            else ObjectWritten(_of(place, group_id), "done")
            for place, one in wanted.items()
        ]

    def delete(
        self, group_id: str, topics: Sequence[str], *, before: SavedOffsets, running: bool = False
    ) -> tuple[ObjectWritten, ...]:
        """Delete every offset that the group has committed on these topics; a topic without one is done `already`.

        With `running` the group may have members: brokers refuse for a topic that one of them subscribes to (KIP-496).
        """
        with self._reader() as reader:
            states = known(read_topic_states(reader, topics))
            stable = not (self._dry_run or running)
            now = {
                one.place: one
                for one in read_saved(reader, group_id, stable=stable, say=self._say).offsets
                if one.topic in states
            }
            touched = {topic for topic, _ in now}
            reasons = [lacks(states[topic], "READ", "Read") for topic in sorted(touched)]
            if now:
                reasons += self._group_reasons(reader, group_id, "DELETE", "Delete", running=running)
        saved = before.by_place()
        refuse_if(
            [*reasons, *(self._moved(group_id, place, one, saved.get(place), None) for place, one in now.items())]
        )
        done = [
            ObjectWritten(f"topic {topic} of group {group_id}", "already") for topic in topics if topic not in touched
        ]
        if self._dry_run:
            self.would_write += [
                f"delete the offset {_offset(one)} of group {group_id} on {place_text(place)}"
                for place, one in now.items()
            ]
            return (*done, *(ObjectWritten(_of(place, group_id), "rehearsed") for place in now))
        return demand_written(f"delete offsets of group {group_id}", [*done, *self._delete(group_id, list(now))])

    def _delete(self, group_id: str, places: Sequence[Place]) -> list[ObjectWritten]:
        from kafka import TopicPartition

        if not places:
            return []
        partitions = [TopicPartition(*place) for place in places]
        with self._client() as client:
            answer = again_while_moving(client, lambda: client.delete_group_offsets(group_id, partitions))
            errors = _errors(answer)
            found = again_while_moving(client, lambda: read_committed(client, [group_id]))[group_id]
        return [
            ObjectWritten(_of(place, group_id), "done")
            if place not in found
            else ObjectWritten(
                _of(place, group_id), "failed", error=_not_deleted(group_id, place, errors.get(place, ""))
            )
            for place in places
        ]

    def delete_groups(self, before: Sequence[SavedOffsets]) -> tuple[ObjectWritten, ...]:
        """Delete these groups with all their offsets; a group that no broker knows is done `already`.

        Inconclusive if topics are not visible to this login: a group may have offsets on them that are not saved.
        """
        with self._reader() as reader:
            groups = {one.group_id: _found(reader, one.group_id) for one in before}
            there = [one for one in before if groups[one.group_id] is not None]
            if there:
                require_all_topics(reader, [one.group_id for one in there])
            reasons: list[str] = []
            for one in there:
                reasons += self._group_reasons(reader, one.group_id, "DELETE", "Delete")
                saved, now = (
                    one.by_place(),
                    read_saved(reader, one.group_id, stable=not self._dry_run, say=self._say).by_place(),
                )
                reasons += [self._moved(one.group_id, place, at, saved.get(place), None) for place, at in now.items()]
        refuse_if(reasons)
        done = [ObjectWritten(f"group {name}", "already") for name, group in groups.items() if group is None]
        if self._dry_run:
            self.would_write += [f"delete group {one.group_id} with {len(one.offsets)} offsets" for one in there]
            return (*done, *(ObjectWritten(f"group {one.group_id}", "rehearsed") for one in there))
        return demand_written("delete groups", [*done, *self._delete_groups([one.group_id for one in there])])

    def _delete_groups(self, group_ids: Sequence[str]) -> list[ObjectWritten]:
        if not group_ids:
            return []
        with self._client() as client:
            answer = again_while_moving(client, lambda: client.delete_groups(list(group_ids)))
        return [
            ObjectWritten(f"group {group}", "done")
            if answer.get(group) in {"OK", _NO_GROUP}
            else ObjectWritten(f"group {group}", "failed", error=_group_left(group, answer.get(group)))
            for group in group_ids
        ]

    def _group_reasons(
        self, reader: ClusterReader, group_id: str, operation: str, right: str, *, running: bool = False
    ) -> list[str]:
        group = _found(reader, group_id)
        refused = lacks_on_group(group_id, read_group_operations(reader, group_id), operation, right)
        busy = "" if group is None or (running and group.type != SHARE) else not_writable(group)
        if group is not None and busy and group.type != SHARE and (stop := self._emptied.get(group_id)):
            line = f"write after {stop}, which stops the {len(group.members)} members of group {group_id}"
            self.would_write += [line] if line not in self.would_write else []
            busy = ""
        return [busy, refused]

    def _moved(
        self,
        group_id: str,
        place: Place,
        now: CommittedOffset | None,
        saved: CommittedOffset | None,
        wanted: CommittedOffset | None,
    ) -> str:
        return "" if group_id in self._emptied else moved(group_id, place, now, saved, wanted)


def _found(reader: ClusterReader, group_id: str) -> GroupReading | None:
    """The group, None if no broker knows it; Inconclusive if that, or its members, cannot be read."""
    listed = {group.group_id: group for group in reader.listed()}
    if group_id not in listed:
        if (why := reader.unlisted([group_id])[group_id]) != unknown_group(group_id):
            raise Inconclusive(why)
        return None
    group = listed[group_id]
    if group.type == SHARE:
        return GroupReading(reader.taken(), group_id, group.type, group.state, ())
    found = reader.group_of(group_id, group.type)
    if isinstance(found, Missing):
        raise Inconclusive(found.missing)
    return found


def _errors(answer: Mapping[Any, type[Exception]]) -> dict[Place, type[Exception] | str]:
    """The error of each partition, empty if it has none."""
    return {
        (place.topic, place.partition): "" if error.__name__ == "NoError" else error for place, error in answer.items()
    }


def _not_set(group_id: str, wanted: CommittedOffset, error: type[Exception] | str, found: Committed | None) -> str:
    """Why an offset is not committed as wanted, empty if it is."""
    what = _of(wanted.place, group_id)
    if not isinstance(error, str):
        if error.__name__ == _MEMBER:
            return f"{what}: the group has a member again; stop it"
        return broker_error(what, error, f"Read on Group {group_id} and on Topic {wanted.topic}")
    if found is None or tuple(found) != (wanted.offset, wanted.metadata, wanted.leader_epoch):
        return f"{what}: reads back as {found} (wanted {wanted.offset:,}, {wanted.metadata!r}, {wanted.leader_epoch})"
    return ""


def _not_deleted(group_id: str, place: Place, error: type[Exception] | str) -> str:
    what = _of(place, group_id)
    if isinstance(error, str):
        return f"{what}: is still there after the broker deleted it; another client commits for this group"
    return broker_error(what, error, f"Delete on Group {group_id} and Read on Topic {place[0]}")


def _group_left(group_id: str, answer: str | None) -> str:
    why = answer or "no answer"
    if "Authorization" in why:
        return f"group {group_id}: this login may not do this; grant it Delete on Group {group_id}"
    return f"group {group_id}: not deleted ({why.removesuffix('Error')})"


def _of(place: Place, group_id: str) -> str:
    return f"{place_text(place)} of group {group_id}"


def _offset(one: CommittedOffset | None) -> str:
    return "none" if one is None else f"{one.offset:,}"
