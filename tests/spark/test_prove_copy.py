"""Whether a copy equals its input after retention, DeleteRecords and compaction: real topics, compared by Spark."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from kstreams_runbooks.decide.outputs.proven import copy_is_proven
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.model.readings.outputs import (
    CompareLimits,
    CompareMode,
    ExplainedKeys,
    OutputComparison,
    SkippedRecords,
)
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.watch.outputs import OutputsAsked, outputs_here, read_outputs
from kstreams_runbooks.watch.topic_ends import existing_topics, known_ends
from lab.supervise import until
from world.compared import BEGAN_MS, Compared, Written, changed, compared
from world.given import Kafka

_HOUR = 3_600_000
# More than a block of 4,096 records.
_MANY = [[Written(b"%d" % at, b"v", number, BEGAN_MS + at) for at in range(10_000)] for number in (0, 1)]
_COMPACTS = {"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.01"}
_BOTH = {"cleanup.policy": "compact,delete"}
Ends = dict[str, list[int]]
Proof = tuple[Verdict, OutputComparison]


@pytest.fixture(autouse=True)
def connected(remote: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Connect server answers."""
    monkeypatch.setenv("SPARK_REMOTE", remote)


def ends_of(topics: Compared) -> Ends:
    """The ends of both topics now, by partition."""
    names = (topics.first, topics.second)
    with ClusterReader({"bootstrap.servers": topics.bootstrap}) as reader:
        return {one.name: [known.stable for known in known_ends(reader, one)] for one in existing_topics(reader, names)}


def proven(topics: Compared, mode: CompareMode = "record", ends: Ends | None = None) -> Proof:
    """The verdict on the copy from its first offset to these ends, or those of now, and what Spark has found."""
    ranges = tuple(
        OffsetRange(topic, number, 0, end)
        for topic, its_ends in (ends or ends_of(topics)).items()
        for number, end in enumerate(its_ends)
    )
    limits = CompareLimits(sum(one.offsets for one in ranges), None, 300)
    asked = OutputsAsked(
        topics.first, topics.second, limits, mode, ranges=ranges, reads_behind=mode == "latest", is_copy=True
    )
    config = {"bootstrap.servers": topics.bootstrap}
    reading = read_outputs(config, asked, outputs_here(config))
    assert reading.comparison is not None
    return copy_is_proven(reading), reading.comparison


def copied(topics: Compared, rows: Sequence[Sequence[Written]], copies: Sequence[Sequence[Written]]) -> None:
    """The input, and a copy in transactions, of which some are aborted: its records have other offsets."""
    for one in rows:
        topics.write(topics.first, one)
    for one in copies:
        topics.transaction(topics.second, one[:50], commits=True)
        topics.transaction(topics.second, one[50:60], commits=False)
        topics.transaction(topics.second, one[50:], commits=True)


@pytest.mark.parametrize(
    ("before", "skipped"),
    [
        # Of the input alone, of the copy alone (12 offsets of its front are no record), and of both.
        ({"first": 5_000}, (0, 5_000)),
        ({"second": 5_012}, (5_000, 0)),
        ({"first": 100, "second": 5_012}, (4_900, 0)),
        ({"first": 9_000, "second": 5_012}, (0, 4_000)),
        ({"first": 5_000, "second": 5_012}, None),
    ],
)
def test_the_front_that_one_topic_has_lost_is_left_out_of_the_other(
    kafka: Kafka, before: dict[str, int], skipped: tuple[int, int] | None
) -> None:
    """Both are aligned at their ends, over several blocks; the other partition is compared in full."""
    with compared(kafka.bootstrap) as topics:
        copied(topics, _MANY, _MANY)
        for side, offset in before.items():
            topics.delete_before(getattr(topics, side), 0, offset)
        verdict, found = proven(topics)
        assert verdict.outcome is Outcome.PROCEED, verdict.sentence
        assert found.skipped == (() if skipped is None else (SkippedRecords(0, *skipped),))
        lost = max(before.get("first", 0), before.get("second", 12) - 12)
        assert [one.records for one in found.first] == [10_000 - lost, 10_000]
        assert found.first == found.second
        for side, offset in before.items():
            name = getattr(topics, side)
            assert f"{offset:,} offsets of {name} ({name}-0) are deleted" in verdict.sentence


def test_a_difference_behind_a_lost_front_is_found(kafka: Kafka) -> None:
    """A wrong record, a missing one, and one that the deleted offsets of the other topic are too few for."""
    rows = [_MANY[0][:200]]
    wrong = changed(rows[0], 150, value=b"wrong")
    with compared(kafka.bootstrap, (1, 1)) as topics:
        copied(topics, rows, [wrong])
        topics.delete_before(topics.second, 0, 112)
        verdict, found = proven(topics)
        assert verdict.outcome is Outcome.REFUSE, verdict.sentence
        [partition], [example] = found.partitions, [one for one in found.examples if one.place is not None]
        assert (partition.missing, partition.extra, partition.changed, partition.first_place) == (0, 0, 1, 50)
        assert example.first is not None
        assert example.second is not None
        assert (example.first.offset, example.second.offset) == (150, 162)
    with compared(kafka.bootstrap, (1, 1)) as topics:
        copied(topics, rows, [rows[0][:150] + rows[0][151:]])
        topics.delete_before(topics.first, 0, 100)
        verdict, found = proven(topics)
        assert verdict.outcome is Outcome.REFUSE, verdict.sentence
        # The copy has 199 records, and 99 of them in front of those that are left of the input: one is missing.
        assert found.skipped == (SkippedRecords(0, 0, 99),)
        assert found.partitions[0].missing == found.partitions[0].extra == 1
    with compared(kafka.bootstrap, (1, 1)) as topics:
        copied(topics, rows, [rows[0][60:]])
        topics.delete_before(topics.second, 0, 10)
        verdict, found = proven(topics)
        assert verdict.outcome is Outcome.REFUSE, verdict.sentence
        assert found.skipped == (SkippedRecords(0, 10, 0),)


def test_a_partition_of_which_nothing_is_left(kafka: Kafka) -> None:
    """It is not compared; if that is true of all partitions, there is nothing to wait for."""
    rows = [one[:100] for one in _MANY]
    with compared(kafka.bootstrap) as topics:
        copied(topics, rows, rows)
        ends = ends_of(topics)
        topics.delete_before(topics.second, 0, ends[topics.second][0])
        verdict, found = proven(topics)
        assert (verdict.outcome, found.skipped) == (Outcome.PROCEED, (SkippedRecords(0, 100, 0),)), verdict.sentence
        assert "100 records in 2 partitions" in verdict.sentence
        topics.delete_before(topics.first, 1, ends[topics.first][1])
        verdict, found = proven(topics)
        assert found.skipped == (SkippedRecords(0, 100, 0), SkippedRecords(1, 0, 100))
        assert verdict.outcome is Outcome.PROCEED, verdict.sentence
        assert verdict.reasons[0].startswith("nothing is left to compare")


def compacting(topics: Compared, topic: str, rows: Sequence[Written]) -> None:
    """Each record in a segment of its own: a cleaner removes all but the newest of a key."""
    for one in rows:
        topics.write(topic, [one])


def hourly(rows: Sequence[tuple[bytes, bytes | None]]) -> list[Written]:
    """Records an hour apart, so that each begins a segment."""
    return [Written(key, value, 0, (1 + at) * _HOUR) for at, (key, value) in enumerate(rows)]


def compacted(topics: Compared, ends: Ends, done: Callable[[OutputComparison], bool]) -> Proof:
    """The verdict once the cleaner has run."""
    seen: list[Proof] = []

    def is_done() -> bool:
        seen.append(proven(topics, "latest", ends))
        return done(seen[-1][1])

    until(is_done, 90, "records are compacted", poll_s=2)
    return seen[-1]


BELOW = [(b"hot", b"1"), (b"still", b"2"), (b"gone", b"3"), (b"other", b"4")]
BEHIND = [(b"hot", b"5"), (b"gone", None), (b"last", b"the last segment is never compacted")]


@pytest.mark.parametrize("which", ["first", "second"])
def test_keys_that_compaction_has_removed_for_newer_ones_are_proven(kafka: Kafka, which: str) -> None:
    """In the input or in the copy: a newer value, and a tombstone. In both topics one key is in two partitions."""
    rows = hourly([*BELOW, *BEHIND])
    with compared(kafka.bootstrap, config=_COMPACTS) as topics:
        clean, other = (topics.first, topics.second)[:: 1 if which == "first" else -1]
        topics.write(other, [*rows, replace(rows[1], partition=1, value=b"elsewhere")])
        compacting(topics, clean, rows)
        topics.write(clean, [replace(rows[1], partition=1, value=b"elsewhere")])
        ends = {topic: [len(BELOW), 1] for topic in (topics.first, topics.second)}
        verdict, found = compacted(topics, ends, lambda found: found.explained.superseded == 2)
        assert verdict.outcome is Outcome.PROCEED, verdict.sentence
        assert found.keys is not None
        assert (found.keys.equal, found.keys.split) == (3, 0)
        assert (found.keys.missing, found.keys.extra) == ((0, 2) if which == "first" else (2, 0))
        assert "2 keys have a newer record behind these ends" in verdict.sentence


@pytest.mark.long
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({3: (b"other", b"wrong")}, ExplainedKeys(superseded=2)),
        ({3: (b"unknown", b"4")}, ExplainedKeys(superseded=2)),
        # The copy alone has the newer record: the key may be a deleted one, or a wrong one.
        ({3: (b"foreign", b"4"), 6: (b"foreign", b"5")}, ExplainedKeys(superseded=2, copied=1)),
    ],
)
def test_a_wrong_key_next_to_superseded_ones_is_refused(
    kafka: Kafka, wrong: dict[int, tuple[bytes, bytes]], why: ExplainedKeys
) -> None:
    """Another value, or a missing key: no newer record explains it."""
    pairs = [*BELOW, *BEHIND]
    rows, copies = hourly(pairs), hourly([wrong.get(at, pair) for at, pair in enumerate(pairs)])
    with compared(kafka.bootstrap, (1, 1), _COMPACTS) as topics:
        topics.write(topics.first, rows)
        compacting(topics, topics.second, copies)
        ends = {topic: [len(BELOW)] for topic in (topics.first, topics.second)}
        verdict, found = compacted(topics, ends, lambda found: found.explained.superseded == 2)
        assert (verdict.outcome, found.explained) == (Outcome.REFUSE, why), verdict.sentence
        assert "keys differ" in verdict.sentence


def test_another_value_of_a_key_that_is_newer_behind_the_ends_is_not_proven(kafka: Kafka) -> None:
    """Both topics still have the key below the ends: compaction explains that only while it runs."""
    with compared(kafka.bootstrap, (1, 1), {"cleanup.policy": "compact"}) as topics:
        for topic, value in ((topics.first, b"1"), (topics.second, b"wrong")):
            topics.write(topic, [Written(b"hot", value), Written(b"still", b"2"), Written(b"hot", b"3")])
        ends = {topic: [2] for topic in (topics.first, topics.second)}
        verdict, found = proven(topics, "latest", ends)
        assert (verdict.outcome, found.explained) == (Outcome.INCONCLUSIVE, ExplainedKeys(changed=1)), verdict.sentence


@pytest.mark.long
@pytest.mark.parametrize("which", ["first", "second"])
def test_keys_of_a_front_that_retention_has_deleted(kafka: Kafka, which: str) -> None:
    """A topic that is compacted and has a retention: keys before all that both have are left out, others count."""
    rows = [Written(key, b"v", 0, BEGAN_MS + at) for at, key in enumerate((b"a", b"b", b"c", b"d"))]
    with compared(kafka.bootstrap, (1, 1), _BOTH) as topics:
        topics.write(topics.first, rows)
        topics.write(topics.second, rows)
        ends = ends_of(topics)
        # A newer record in the copy alone explains nothing that the deleted front does not.
        topics.write(topics.second, rows[:1])
        topics.delete_before(getattr(topics, which), 0, 2)
        verdict, found = proven(topics, "latest", ends)
        assert (verdict.outcome, found.explained) == (Outcome.PROCEED, ExplainedKeys(deleted=2)), verdict.sentence
        assert "2 keys are in one topic alone, before all records that both have" in verdict.sentence
    with compared(kafka.bootstrap, (1, 1), _BOTH) as topics:
        lacks, has = (topics.first, topics.second)[:: 1 if which == "first" else -1]
        topics.write(has, [*rows[:3], Written(b"lost", b"v"), rows[3]])
        topics.write(lacks, rows)
        topics.delete_before(lacks, 0, 2)
        verdict, found = proven(topics, "latest")
        assert (verdict.outcome, found.explained) == (Outcome.REFUSE, ExplainedKeys(deleted=2)), verdict.sentence


@pytest.mark.long
def test_a_job_gives_the_same_answers(kafka: Kafka, jars: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a Connect server: the deleted front, the keys behind the ends, and a key in each partition."""
    assert jars
    monkeypatch.delenv("SPARK_REMOTE")
    rows = [one[:100] for one in _MANY]
    with compared(kafka.bootstrap) as topics:
        copied(topics, rows, rows)
        topics.delete_before(topics.second, 0, 60)
        verdict, found = proven(topics)
        assert (verdict.outcome, found.skipped) == (Outcome.PROCEED, (SkippedRecords(0, 50, 0),)), verdict.sentence
    with compared(kafka.bootstrap, config=_BOTH) as topics:
        topics.write(topics.first, [Written(b"k", b"1"), Written(b"k", b"2", 1), Written(b"n", b"3")])
        topics.write(topics.second, [Written(b"x", b"0"), Written(b"k", b"1"), Written(b"k", b"2", 1)])
        topics.write(topics.first, [Written(b"n", b"4")])
        ends = {topics.first: [2, 1], topics.second: [2, 1]}
        verdict, found = proven(topics, "latest", ends)
        assert (verdict.outcome, found.explained) == (Outcome.REFUSE, ExplainedKeys(superseded=1)), verdict.sentence
        assert found.keys is not None
        assert (found.keys.equal, found.keys.split) == (2, 0)
