"""Writes to topics: create, grow, delete, delete records. Every precondition is read before the first write."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from kstreams_runbooks.act.kafka_writer import KafkaWriter, broker_error, demand_written, refuse_if
from kstreams_runbooks.act.topic_checks import (
    another_topic,
    certain,
    known,
    lacks,
    misshapen,
    no_partition,
    not_growable,
    not_its_own,
    past_the_end,
    place_text,
)
from kstreams_runbooks.model.readings.touched import TopicState
from kstreams_runbooks.model.writes import Growth, ObjectWritten, TopicShape, WriteResult
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.creatable import create_requests
from kstreams_runbooks.observe.kafka.ends import ends_at
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.observe.kafka.touched import read_topic_states

# The controller has answered by then; a broker's own view of the topics follows within milliseconds.
_SEEN_WITHIN_S = 30.0
_LOOK_EVERY_S = 0.1
_POLICY = "cleanup.policy"
_NOT_LISTED = f"changed, but a broker does not list all its partitions with leaders after {_SEEN_WITHIN_S:.0f} s"
_STILL_LISTED = "deleted, but a topic of its name is listed: a client creates it (auto.create.topics.enable); stop that"
_UNKNOWN_TOPIC, _TOPIC_EXISTS, _UNKNOWN_TOPIC_ID = 3, 36, 100

_Rows = list[dict[str, Any]]


class TopicWriter(KafkaWriter):
    """Changes topics of one cluster; each method checks all of them before its first write (WriteRefused).

    Inconclusive if one cannot be read. PartlyWritten if the brokers changed some and rejected others: a rerun goes on
    with what is left.
    """

    def create(
        self, topics: Sequence[TopicShape], *, made: Mapping[str, str] | None = None, begun: Collection[str] = ()
    ) -> tuple[ObjectWritten, ...]:
        """Create topics in one call, and wait until a broker lists them with a leader for each partition.

        `made` are ids of topics that this run created, by name. `begun` are topics that did not exist when this run
        began to create them, and whose id it never learned: an existing one that never had a record is taken for its
        own. Its own topics with the wanted shape are done `already`. Refused are every other existing topic, and one of
        its own that is gone.
        """
        made = made or {}
        with self._reader() as reader:
            states = known(read_topic_states(reader, [one.name for one in topics]))
            there = [one for one in topics if states[one.name].exists]
            absent = [one for one in topics if not states[one.name].exists]
            settings = {one.name: dict(one.configs) for one in reader.topics([one.name for one in there], configs=True)}
            unsure = [states[one.name] for one in there if one.name not in made]
            ends = certain(ends_at(reader, _partitions(unsure)))
            reasons = [
                not_its_own(one, states[one.name], made, begun, ends)
                or misshapen(one, states[one.name], settings.get(one.name, {}))
                for one in there
            ]
            checked = _checked(reader, reader.admin.check_create_topics, create_requests(absent))
        refuse_if([*reasons, *(_not_creatable(row, made) for row in checked)])
        done = [_topic(one.name, "already", states[one.name].topic_id) for one in there]
        if self._dry_run:
            self.would_write += [f"create {_words(one)}" for one in absent]
            return (*done, *(_topic(one.name, "rehearsed") for one in absent))
        return demand_written("create topics", [*done, *self._create(absent)])

    def _create(self, topics: Sequence[TopicShape]) -> list[ObjectWritten]:
        if not topics:
            return []
        with self._client() as client:
            rows: _Rows = client.create_topics(create_requests(topics), raise_errors=False)["topics"]
            ids = {row["name"]: str(row["topic_id"]) for row in rows if not row["error_code"]}
            counts = {one.name: one.partitions for one in topics}
            late = _late(client, ids, lambda name, topic: _is_up(topic, ids[name], counts[name]))
        failed = [_topic(row["name"], "failed", error=_not_created(row)) for row in rows if row["error_code"]]
        return [*_done(ids, late, _NOT_LISTED), *failed]

    def grow(self, growths: Sequence[Growth]) -> tuple[ObjectWritten, ...]:
        """Add partitions to topics in one call; a topic that has the wanted count is done `already`.

        Refused for a topic that does not exist, has another id or another count than `partitions`, and for a wanted
        count that is not higher. The number of partitions cannot be reduced again.
        """
        with self._reader() as reader:
            states = known(read_topic_states(reader, [one.topic for one in growths]))
            reasons = [not_growable(one, states[one.topic]) for one in growths]
            left = [one for one in growths if states[one.topic].partitions != one.to]
            checked = [] if any(reasons) else _checked(reader, reader.admin.check_create_partitions, _counts(left))
        refuse_if([*reasons, *(_not_grown(row) for row in checked if row["error_code"])])
        done = [_topic(one.topic, "already", one.topic_id) for one in growths if one not in left]
        if self._dry_run:
            self.would_write += [f"grow topic {one.topic} from {one.partitions} to {one.to} partitions" for one in left]
            return (*done, *(_topic(one.topic, "rehearsed", one.topic_id) for one in left))
        return demand_written("grow topics", [*done, *self._grow(left)])

    def _grow(self, growths: Sequence[Growth]) -> list[ObjectWritten]:
        if not growths:
            return []
        counts, ids = _counts(growths), {one.topic: one.topic_id for one in growths}
        with self._client() as client:
            answer = client.create_partitions(counts, raise_errors=False)
            rows: _Rows = [row.to_dict() for row in answer.results]
            grown = {row["name"]: ids[row["name"]] for row in rows if not row["error_code"]}
            late = _late(client, grown, lambda name, topic: _is_up(topic, ids[name], counts[name]))
        failed = [_topic(row["name"], "failed", error=_not_grown(row)) for row in rows if row["error_code"]]
        return [*_done(grown, late, _NOT_LISTED), *failed]

    def delete(self, topics: Mapping[str, str]) -> tuple[ObjectWritten, ...]:
        """Delete topics by their ids, in one call, and wait until a broker no longer lists them.

        `topics` is the expected id by name. A topic that does not exist is done `already`; one with another id is
        refused: it is another topic of the same name. Records, and the groups' offsets on it, cannot be restored.
        """
        with self._reader() as reader:
            states = known(read_topic_states(reader, topics))
        there = {name: topic_id for name, topic_id in topics.items() if states[name].exists}
        refuse_if(
            [another_topic(states[name], topic_id) for name, topic_id in there.items()]
            + [lacks(states[name], "DELETE", "Delete") for name in there]
        )
        done = [_topic(name, "already", topic_id) for name, topic_id in topics.items() if name not in there]
        if self._dry_run:
            self.would_write += [f"delete topic {name} (id {topic_id})" for name, topic_id in there.items()]
            return (*done, *(_topic(name, "rehearsed", topic_id) for name, topic_id in there.items()))
        return demand_written("delete topics", [*done, *self._delete(there)])

    def _delete(self, topics: Mapping[str, str]) -> list[ObjectWritten]:
        if not topics:
            return []
        named = {topic_id: name for name, topic_id in topics.items()}
        with self._client() as client:
            rows: _Rows = client.delete_topics([UUID(one) for one in named], raise_errors=False)["topics"]
            codes = {named[str(row["topic_id"])]: row for row in rows}
            gone = {name: topics[name] for name, row in codes.items() if row["error_code"] in {0, _UNKNOWN_TOPIC_ID}}
            back: set[str] = set()

            def is_over(name: str, topic: dict[str, Any] | None) -> bool:
                back.update([name] if topic is not None and str(topic["topic_id"]) != topics[name] else [])
                return topic is None or name in back

            late = _late(client, gone, is_over)
        failed = [
            _topic(
                name,
                "failed",
                topics[name],
                broker_error(f"topic {name}", row["error_code"], f"Delete on Topic {name}"),
            )
            for name, row in codes.items()
            if name not in gone
        ]
        return [
            *_done(gone, late | back, _STILL_LISTED),
            *failed,
        ]

    def delete_records(self, before: Mapping[Place, int], ids: Mapping[str, str]) -> tuple[ObjectWritten, ...]:
        """Delete the records before an offset of each partition; `ids` is the expected id of each topic.

        A partition that begins at the offset or behind it is done `already`. Refused for an offset past the end, and
        for a topic that is only compacted: brokers keep its records. The records cannot be restored.
        """
        with self._reader() as reader:
            states = known(read_topic_states(reader, {topic for topic, _ in before}))
            reasons = [
                another_topic(state, ids[name]) or lacks(state, "DELETE", "Delete") for name, state in states.items()
            ]
            policies = reader.settings([name for name, one in states.items() if one.exists], [_POLICY])
            reasons += [
                f"topic {name} is only compacted ({_POLICY}={found[_POLICY]}): brokers keep all its records"
                for name, found in policies.items()
                if "delete" not in found.get(_POLICY, "delete")
            ]
            reasons += [no_partition(place, states[place[0]]) for place in _beyond(before, states)]
            refuse_if(reasons)
            ends = certain(ends_at(reader, before.keys()))
        refuse_if([past_the_end(place, before[place], end) for place, (_, end) in ends.items()])
        left = [place for place, (start, _) in ends.items() if start < before[place]]
        done = [ObjectWritten(place_text(place), "already") for place in ends if place not in left]
        if self._dry_run:
            self.would_write += [
                f"delete the records of {place_text(place)} from {ends[place][0]:,} up to {before[place]:,} (its "
                f"end is {ends[place][1]:,})"
                for place in left
            ]
            return (*done, *(ObjectWritten(place_text(place), "rehearsed") for place in left))
        with self._client() as client:
            done += [_shortened(client, place, before[place]) for place in left]
        return demand_written("delete records", done)


def _checked(reader: ClusterReader, check: Callable[[Any], _Rows], wanted: Mapping[str, Any]) -> _Rows:
    """The controller's answers to a change that it only checks."""
    rows: _Rows = reader.answered("check of topics", lambda: check(wanted)) if wanted else []
    return rows


def _topic(name: str, result: WriteResult, topic_id: str = "", error: str = "") -> ObjectWritten:
    return ObjectWritten(f"topic {name}", result, topic_id, error)


def _done(ids: Mapping[str, str], late: Collection[str], what: str) -> list[ObjectWritten]:
    """The topics that the controller has changed; failed if a broker still has another view after the wait."""
    return [
        _topic(name, "failed", topic_id, f"topic {name} (id {topic_id}) is {what}")
        if name in late
        else _topic(name, "done", topic_id)
        for name, topic_id in ids.items()
    ]


def _late(client: Any, names: Collection[str], seen: Callable[[str, dict[str, Any] | None], bool]) -> set[str]:
    """The topics that a broker does not list as `seen` within the limit; a topic that it does not list is None."""
    until, left = time.monotonic() + _SEEN_WITHIN_S, set(names)
    if not left:
        return left
    while True:
        found = {topic["name"]: topic for topic in client.describe_topics(sorted(left))}
        listed = {name: topic for name, topic in found.items() if topic["error_code"] != _UNKNOWN_TOPIC}
        left = {name for name in left if not seen(name, listed.get(name))}
        if not left or time.monotonic() > until:
            return left
        time.sleep(_LOOK_EVERY_S)


def _is_up(topic: dict[str, Any] | None, topic_id: str, partitions: int) -> bool:
    return (
        topic is not None
        and str(topic["topic_id"]) == topic_id
        and len(topic["partitions"]) == partitions
        and all(one["leader_id"] >= 0 for one in topic["partitions"])
    )


def _shortened(client: Any, place: Place, offset: int) -> ObjectWritten:
    """The records before `offset` deleted. One call for each partition: a batch hides the errors of the others."""
    from kafka import TopicPartition
    from kafka.errors import BrokerResponseError

    what = place_text(place)
    try:
        answer = client.delete_records({TopicPartition(*place): offset})
    except BrokerResponseError as error:
        return ObjectWritten(what, "failed", error=broker_error(what, type(error), f"Delete on Topic {place[0]}"))
    begins = answer[TopicPartition(*place)]["low_watermark"]
    if begins < offset:
        return ObjectWritten(what, "failed", error=f"{what} still begins at {begins:,} (wanted {offset:,})")
    return ObjectWritten(what, "done")


def _not_creatable(row: Mapping[str, Any], made: Mapping[str, str]) -> str:
    """Why a topic that a broker does not list cannot be created, or not again; empty if it can."""
    if row["error_code"]:
        return _not_created(row)
    if row["name"] not in made:
        return ""
    return (
        f"topic {row['name']} (id {made[row['name']]}), which this run created, is gone: another client deleted it; "
        "find out why, then trigger a new run"
    )


def _not_created(row: Mapping[str, Any]) -> str:
    name = row["name"]
    if row["error_code"] == _TOPIC_EXISTS:
        return f"topic {name} is being deleted, or another client has just created it; wait, then clear this step"
    right = f"Create on Topic {name}, or on Cluster"
    return broker_error(f"topic {name}", row["error_code"], right, row.get("error_message"))


def _not_grown(row: Mapping[str, Any]) -> str:
    name = row["name"]
    return broker_error(f"topic {name}", row["error_code"], f"Alter on Topic {name}", row.get("error_message"))


def _counts(growths: Sequence[Growth]) -> dict[str, int]:
    return {one.topic: one.to for one in growths}


def _words(topic: TopicShape) -> str:
    copies = "the default replication factor" if topic.replication < 0 else f"replication factor {topic.replication}"
    settings = "".join(f", {name}={value}" for name, value in topic.settings)
    return f"topic {topic.name} with {topic.partitions} partitions, {copies}{settings}"


def _partitions(states: Sequence[TopicState]) -> list[Place]:
    return [(one.name, number) for one in states for number in range(one.partitions)]


def _beyond(places: Collection[Place], states: Mapping[str, TopicState]) -> list[Place]:
    """Partitions that an existing topic does not have."""
    return sorted(place for place in places if states[place[0]].exists and place[1] >= states[place[0]].partitions)
