"""Whether a topic equals another one: topics of a real broker, compared by Spark over Connect."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.demo.traffic.partitioner import partition_of
from kstreams_runbooks.errors import BadInput, Inconclusive, RunbookError
from lab.settings import Lab, Ports
from lab.supervise import until
from world.compared import BEGAN_MS, Compared, Written, changed, compared, sample
from world.given import Kafka

RECORDS = sample()
HEADERS = next(number for number, one in enumerate(RECORDS) if one.headers)
NO_KEY = next(number for number, one in enumerate(RECORDS) if one.key is None)
EMPTY = next(number for number, one in enumerate(RECORDS) if one.value == b"")
DELETED = next(number for number, one in enumerate(RECORDS) if one.value is None)


@pytest.fixture
def pair(kafka: Kafka, remote: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Compared]:
    """Two empty topics, a fleet that has their broker, and a Connect server."""
    fleet(kafka, tmp_path, monkeypatch)
    monkeypatch.setenv("SPARK_REMOTE", remote)
    with compared(kafka.bootstrap) as topics:
        yield topics


def fleet(kafka: Kafka, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster `demo` is this broker."""
    port = int(kafka.bootstrap.rpartition(":")[2])
    for name, value in Lab(directory, Ports(port)).fleet_environment().items():
        monkeypatch.setenv(name, value)


def compare(topics: Compared, *words: str) -> tuple[int, dict[str, Any]]:
    """Exit code and document of the command."""
    result = CliRunner().invoke(cli, ["compare-topics", topics.first, topics.second, "--format", "json", *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, json.loads(result.stdout)


def by_partition(document: dict[str, Any]) -> dict[int, tuple[int, int, int, int | None]]:
    """Missing, extra, changed and the first place of each partition that differs."""
    return {
        one["partition"]: (one["missing"], one["extra"], one["changed"], one["first_place"])
        for one in document["comparison"]["partitions"]
    }


def test_a_copy_is_equal_in_each_mode_with_other_offsets(pair: Compared) -> None:
    """Aborted and committed transactions of one side alone give its records other offsets."""
    pair.write(pair.first, RECORDS)
    pair.transaction(pair.second, [Written(b"key-0", b"aborted")], commits=False)
    pair.transaction(pair.second, RECORDS[:9], commits=True)
    pair.transaction(pair.second, [Written(b"key-1", b"aborted", 1), Written(None, b"x")], commits=False)
    pair.transaction(pair.second, RECORDS[9:], commits=True)
    code, document = compare(pair)
    assert (code, document["verdict"]) == (0, "proceed"), document["reasons"]
    assert document["reasons"] == [
        f"{len(RECORDS)} records in 2 partitions of {pair.first} and {pair.second} are equal in key, value, headers "
        "and timestamp, and in the same order"
    ]
    for side in ("first", "second"):
        assert [one["records"] for one in document["comparison"][side]] == [
            sum(1 for one in RECORDS if one.partition == number) for number in (0, 1)
        ]
    assert sum(one["end"] for one in document["second"]["ranges"]) > len(RECORDS) + 3
    code, document = compare(pair, "--mode", "by-key")
    assert (code, document["comparison"]["keys"]["equal"]) == (0, 10), document["reasons"]
    code, document = compare(pair, "--mode", "latest")
    assert (code, document["comparison"]["keys"]["equal"]) == (3, 9), document["reasons"]
    assert "2 records have no key" in document["reasons"][0]


def alone(partition: int) -> list[Written]:
    """The records in one partition, under keys that no other partition has; those without a key stay without."""
    return [
        replace(one, partition=partition, key=None if one.key is None else b"%d-%b" % (partition, one.key))
        for one in RECORDS
    ]


def part(number: int, **parts: Any) -> Callable[[list[Written]], list[Written]]:
    """Changes parts of one record."""
    return lambda rows: changed(rows, number, **parts)


# The edit of the records of one partition; missing, extra, changed and the first place; the parts that differ there.
Edit = tuple[Callable[[list[Written]], list[Written]], tuple[int, int, int, int], list[str]]
EDITS: dict[str, Edit] = {
    "a value": (part(3, value=b"value 4"), (0, 0, 1, 3), ["value"]),
    "empty for a tombstone": (part(DELETED, value=b""), (0, 0, 1, DELETED), ["value"]),
    "a tombstone for empty": (part(EMPTY, value=None), (0, 0, 1, EMPTY), ["value"]),
    "a timestamp by a millisecond": (part(4, at_ms=BEGAN_MS + 5), (0, 0, 1, 4), ["timestamp"]),
    "a header that is added": (part(5, headers=[("a", b"1")]), (0, 0, 1, 5), ["headers"]),
    "the order of headers": (
        part(HEADERS, headers=[("b", None), ("a", b"1"), ("a", b""), ("a", b"1")]),
        (0, 0, 1, HEADERS),
        ["headers"],
    ),
    "an empty header for null": (
        part(HEADERS, headers=[("a", b"1"), ("b", b""), ("a", b""), ("a", b"1")]),
        (0, 0, 1, HEADERS),
        ["headers"],
    ),
    "a null header elsewhere": (
        part(HEADERS, headers=[("a", None), ("b", b"1"), ("a", b""), ("a", b"1")]),
        (0, 0, 1, HEADERS),
        ["headers"],
    ),
    "an empty header in place of a null one, and the other way": (
        part(HEADERS, headers=[("a", b"1"), ("b", b""), ("a", None), ("a", b"1")]),
        (0, 0, 1, HEADERS),
        ["headers"],
    ),
    "a repeated header less": (
        part(HEADERS, headers=[("a", b"1"), ("b", None), ("a", b"")]),
        (0, 0, 1, HEADERS),
        ["headers"],
    ),
    "a value without a key": (part(NO_KEY, value=b"other"), (0, 0, 1, NO_KEY), ["value"]),
    "no key": (part(7, key=None), (1, 1, 0, 7), ["key"]),
    "missing at the end": (lambda rows: rows[:-1], (1, 0, 0, len(RECORDS) - 1), []),
    "missing in the middle": (
        lambda rows: [*rows[:NO_KEY], *rows[NO_KEY + 1 :]],
        (1, 0, 0, NO_KEY),
        ["key", "value"],
    ),
    "extra at the end": (lambda rows: [*rows, rows[-1]], (0, 1, 0, len(RECORDS)), []),
    "a record twice": (lambda rows: [*rows[:8], rows[7], *rows[8:]], (0, 1, 0, 8), ["key", "value", "timestamp"]),
    "two records of a key in another order": (
        lambda rows: [*rows[:2], rows[7], *rows[3:7], rows[2], *rows[8:]],
        (0, 0, 0, 2),
        ["value", "timestamp"],
    ),
    "equal": (lambda rows: rows, (0, 0, 0, 0), []),
}


def test_each_difference_of_one_record_is_named(kafka: Kafka, pair: Compared) -> None:
    """A partition has one each: by its place, with both records, also what comes behind a gap or is there twice."""
    assert pair
    with compared(kafka.bootstrap, (len(EDITS), len(EDITS))) as topics:
        for partition, (edit, _, _) in enumerate(EDITS.values()):
            topics.write(topics.first, alone(partition))
            topics.write(topics.second, edit(alone(partition)))
        code, document = compare(topics, "--examples", "100")
        assert (code, document["verdict"]) == (1, "refuse")
        examples = {one["partition"]: one for one in document["comparison"]["examples"] if one["place"] is not None}
        for partition, (name, (_, counts, parts)) in enumerate(EDITS.items()):
            if name == "equal":
                assert partition not in by_partition(document)
                continue
            assert by_partition(document)[partition] == counts, name
            example = examples[partition]
            assert (example["place"], example["parts"]) == (counts[3], parts), name
            if parts:
                assert example["first"]["offset"] == example["second"]["offset"] == counts[3], name
            else:
                assert (example["first"] is None) is (counts[1] == 1), name
        assert examples[list(EDITS).index("two records of a key in another order")]["kind"] == "reordered"
        assert document["reasons"][0].startswith(
            f"partition 0 differs: {len(RECORDS)} records in {topics.first}, {len(RECORDS)} in {topics.second}: 0 "
            f"missing, 0 extra, 1 changed (limit 0); first difference at record 3: {topics.first}-0@3 (key 0-key-3) "
        )
        assert document["reasons"][-1].startswith("14 more partitions differ: 11 records missing")
        code, document = compare(topics, "--mode", "by-key", "--examples", "100")
        keys = document["comparison"]["keys"]
        of_a_key = len(EDITS) * 10
        assert (code, keys["changed"], keys["reordered"], keys["missing"], keys["extra"]) == (1, 14, 1, 0, 0)
        assert keys["equal"] == of_a_key - 15
        # A value without a key, a key less, a record without a key less.
        names = list(EDITS)
        assert by_partition(document) == {
            names.index("a value without a key"): (0, 0, 1, None),
            names.index("no key"): (0, 1, 0, None),
            names.index("missing in the middle"): (1, 0, 0, None),
        }
        reordered = next(one for one in document["comparison"]["examples"] if one["kind"] == "reordered")
        assert (reordered["place"], reordered["parts"]) == (0, ["value", "timestamp"])


def test_differences_in_topics_of_several_blocks(kafka: Kafka, pair: Compared) -> None:
    """Places and offsets are counted over blocks of 4,096 records; blocks between two differences are equal."""
    assert pair
    many = [
        [Written(b"%d" % number, b"v", partition, BEGAN_MS + number) for number in range(10_000)]
        for partition in range(4)
    ]
    with compared(kafka.bootstrap, (4, 4)) as topics:
        for rows in many:
            topics.write(topics.first, rows)
        changes = changed(changed(many[1], 100, value=b"w"), 9_000, value=b"w")
        for rows in (many[0][:5_000] + many[0][5_001:], changes, many[2] + many[2][:5_000], many[3]):
            topics.transaction(topics.second, rows[:50], commits=True)
            topics.transaction(topics.second, rows[50:60], commits=False)
            topics.transaction(topics.second, rows[50:], commits=True)
        code, document = compare(topics)
        assert (code, by_partition(document)) == (
            1,
            {0: (1, 0, 0, 5_000), 1: (0, 0, 2, 100), 2: (0, 5_000, 0, 10_000)},
        )
        examples = [one for one in document["comparison"]["examples"] if one["partition"] == 1]
        # Behind two markers and ten aborted records.
        assert [(one["first"]["offset"], one["second"]["offset"]) for one in examples] == [(100, 112), (100, 112)]
        assert [one["records"] for one in document["comparison"]["second"]] == [9_999, 10_000, 15_000, 10_000]


def test_by_key_has_other_partition_counts_and_the_order_of_each_key(kafka: Kafka, pair: Compared) -> None:
    """The same records in other partitions are equal by key; one key in another order is not."""
    assert pair
    wide = [replace(one, partition=0 if one.key is None else partition_of(one.key, 5)) for one in RECORDS]
    with compared(kafka.bootstrap, (2, 5)) as topics:
        topics.write(topics.first, RECORDS)
        topics.write(topics.second, wide)
        code, document = compare(topics)
        assert (code, document["comparison"]) == (1, None)
        assert "has 2 partitions and" in document["reasons"][0]
        code, document = compare(topics, "--mode", "by-key")
        assert (code, document["comparison"]["keys"]["equal"]) == (0, 10), document["reasons"]
        # Of key-3: its second record once more, then its first.
        more = [RECORDS[8], RECORDS[3]]
        topics.write(topics.first, more)
        topics.write(topics.second, [replace(one, partition=partition_of(b"key-3", 5)) for one in reversed(more)])
        code, document = compare(topics, "--mode", "by-key")
        keys = document["comparison"]["keys"]
        assert (code, keys["reordered"], keys["equal"]) == (1, 1, 9)
        [example] = document["comparison"]["examples"]
        assert (example["kind"], example["first"]["key"], example["place"]) == ("reordered", "key-3", 4)
        assert "1 of 10 keys differ (limit 0): 1 in another order" in document["reasons"][0]


@pytest.mark.long
def test_records_without_a_key_are_compared_by_the_number_of_their_partition(pair: Compared) -> None:
    """In any order inside it, and one that is there twice counts twice."""
    no_key = [Written(None, b"%d" % number, number % 2) for number in range(6)]
    pair.write(pair.first, [*no_key, no_key[0]])
    pair.write(pair.second, [no_key[0], *reversed(no_key)])
    assert compare(pair, "--mode", "by-key")[0] == 0
    pair.write(pair.first, [no_key[1]])
    pair.write(pair.second, [replace(no_key[1], partition=0)])
    code, document = compare(pair, "--mode", "by-key")
    assert (code, by_partition(document)) == (1, {0: (0, 1, 0, None), 1: (1, 0, 0, None)})


@pytest.mark.long
def test_a_key_in_several_partitions_has_no_order(pair: Compared) -> None:
    """The same records are not proven to be in order; other records are proven to differ."""
    rows = [Written(b"k", b"%d" % number, number % 2) for number in range(4)]
    pair.write(pair.first, [*rows, Written(b"other", b"v")])
    pair.write(pair.second, [*(replace(one, partition=0) for one in rows), Written(b"other", b"v", 1)])
    code, document = compare(pair, "--mode", "by-key")
    keys = document["comparison"]["keys"]
    assert (code, keys["split"], keys["equal"]) == (3, 1, 1)
    assert "1 keys are in several partitions" in document["reasons"][0]
    assert compare(pair, "--mode", "latest")[0] == 3
    pair.write(pair.second, [Written(b"k", b"more")])
    code, document = compare(pair, "--mode", "by-key")
    assert (code, document["comparison"]["keys"]["changed"]) == (1, 1)


@pytest.mark.long
def test_the_same_records_in_another_partition(pair: Compared) -> None:
    """Record by record each is missing in one partition and extra in the other."""
    pair.write(pair.first, RECORDS)
    moved = [replace(one, partition=1 if one.key == b"key-2" else one.partition) for one in RECORDS]
    pair.write(pair.second, moved)
    code, document = compare(pair)
    assert code == 1
    assert {number: counts[:3] for number, counts in by_partition(document).items()} == {0: (4, 0, 0), 1: (0, 4, 0)}
    assert compare(pair, "--mode", "by-key")[0] == 0


def test_deleted_records_and_open_transactions_are_never_equal(pair: Compared) -> None:
    """Both explain any difference; what is left can be compared, and ranges that exist."""
    pair.write(pair.first, RECORDS)
    pair.write(pair.second, RECORDS)
    pair.delete_before(pair.first, 0, 3)
    code, document = compare(pair)
    assert (code, document["verdict"]) == (3, "inconclusive")
    assert f"{pair.first}-0 begins at offset 3 (compared from 0)" in document["reasons"][0]
    assert by_partition(document) == {0: (3, 0, 0, 0)} or by_partition(document) == {0: (0, 3, 0, 0)}
    code, document = compare(pair, "--from-log-start")
    assert (code, document["comparison"]["skipped"]) == (0, [{"partition": 0, "first": 0, "second": 3}])
    assert f"3 records at the front of {pair.second} are not compared" in document["reasons"][1]
    ends = {number: sum(1 for one in RECORDS if one.partition == number) for number in (0, 1)}
    ranges = [
        {"topic": topic, "partition": number, "start": start, "end": ends[number] - 1}
        for topic in (pair.first, pair.second)
        for number, start in ((0, 3), (1, 0))
    ]
    code, document = compare(pair, "--ranges", json.dumps(ranges))
    assert (code, document["comparison"]["first"][0]["records"]) == (0, ends[0] - 4), document["reasons"]
    producer = pair.open_transaction(pair.second, [Written(b"open", b"v", 1)])
    code, document = compare(pair, "--from-log-start")
    assert code == 3
    assert f"{pair.second}-1 can be read up to offset {ends[1]}" in document["reasons"][0]
    producer.abort_transaction()


def test_limits_and_empty_topics_are_never_equal(pair: Compared) -> None:
    """Spark is not asked above a limit; an empty comparison has to be accepted."""
    code, document = compare(pair)
    assert (code, document["comparison"]) == (3, None)
    assert "nothing was compared" in document["reasons"][0]
    code, document = compare(pair, "--may-be-empty")
    assert code == 0
    assert document["reasons"] == [
        f"{pair.first} and {pair.second} have no record in the ranges: both are empty, nothing was compared"
    ]
    pair.write(pair.first, RECORDS)
    assert compare(pair, "--may-be-empty")[0] == 1
    pair.write(pair.second, RECORDS)
    for limit in ("--max-records", "--max-bytes"):
        code, document = compare(pair, limit, "10")
        assert (code, document["comparison"]) == (3, None)
        assert "to compare (limit 10): nothing was compared" in document["reasons"][0]


@pytest.mark.long
def test_a_limit_of_seconds_interrupts_spark(pair: Compared) -> None:
    """A comparison of two million records takes longer than a second."""
    many = [Written(b"%d" % number, b"v" * 50, number % 2) for number in range(400_000)]
    for topic in (pair.first, pair.second):
        pair.write(topic, many)
    with pytest.raises(Inconclusive, match="has not compared the topics within 1 s"):
        compare(pair, "--mode", "by-key", "--max-seconds", "1")
    assert compare(pair)[0] == 0


def test_examples_leave_out_what_is_masked(pair: Compared) -> None:
    """A path into JSON values; a value that is not JSON is hidden; all values are if no example has the path."""
    value = b'{"id": 7, "customer": {"email": "ada@example.com", "city": "%s"}}'
    pair.write(pair.first, [Written(b"a", value % b"Bern"), Written(b"b", b"ada@example.com", 1)])
    pair.write(pair.second, [Written(b"a", value % b"Rome"), Written(b"b", b"linus@example.com", 1)])
    _, document = compare(pair, "--mask", "$.customer.email")
    [example, *_] = document["comparison"]["examples"]
    assert example["first"]["value"] == '{"id":7,"customer":{"email":"***","city":"Bern"}}'
    assert "example.com" not in json.dumps(document)
    assert {one["first"]["value"] for one in document["comparison"]["examples"] if one["partition"] == 1} == {"***"}
    _, document = compare(pair, "--mask", "$.customer.mail", "--mask", "key")
    assert {
        one[side][part]
        for one in document["comparison"]["examples"]
        for side in ("first", "second")
        for part in ("key", "value")
    } == {"***"}
    _, document = compare(pair, "--examples", "0")
    assert document["comparison"]["examples"] == []
    with pytest.raises(BadInput, match=r"mask customer\.email: is not key, value, headers or a path"):
        compare(pair, "--mask", "customer.email")


def test_the_last_values_of_compacted_topics(kafka: Kafka, pair: Compared) -> None:
    """In other partitions, with other histories; a tombstone is an absent key."""
    assert pair
    settings = {"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.01"}
    with compared(kafka.bootstrap, (2, 3), settings) as topics:
        topics.write(
            topics.first, [Written(b"a", b"1"), Written(b"b", b"2", 1), Written(b"c", b"3"), Written(b"c", None)]
        )
        topics.write(topics.second, [Written(b"a", b"0", 2), Written(b"b", b"2"), Written(b"a", b"1", 2)])
        code, document = compare(topics, "--mode", "latest")
        assert (code, document["comparison"]["keys"]["equal"]) == (0, 2), document["reasons"]
        topics.write(topics.second, [Written(b"d", b"4"), Written(b"b", b"9")])
        code, document = compare(topics, "--mode", "latest")
        keys = document["comparison"]["keys"]
        assert (code, keys["equal"], keys["extra"], keys["changed"]) == (1, 1, 1, 1)
        assert {one["kind"]: one["second"]["value"] for one in document["comparison"]["examples"]} == {
            "extra": "4",
            "changed": "9",
        }


@pytest.mark.long
def test_compaction_may_have_removed_what_differs(kafka: Kafka, pair: Compared) -> None:
    """What compaction has left proves nothing record by record. The last values of its keys do."""
    assert pair
    settings = {"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.01"}
    hour = 3_600_000
    rows = [Written(b"key-%d" % (at % 2), b"%d" % at, 0, (1 + at) * hour) for at in range(10)]
    last = Written(b"other", b"the last segment is never compacted", 0, 20 * hour)
    with compared(kafka.bootstrap, (1, 1), settings) as topics:
        topics.write(topics.second, [*rows, last])
        for one in [*rows, last]:
            topics.write(topics.first, [one])

        def compacts() -> bool:
            return bool(compare(topics)[1]["comparison"]["first"][0]["records"] < len(rows))

        until(compacts, 60, "records of the topic are compacted", poll_s=2)
        code, document = compare(topics)
        assert code == 3
        assert "compaction may have removed the others" in document["reasons"][0]
        assert compare(topics, "--mode", "latest")[0] == 0


@pytest.mark.parametrize(
    ("words", "error", "sentence"),
    [
        (("--ranges", "[]"), BadInput, "--ranges: has no range"),
        (
            ("--ranges", '[{"topic":"a","partition":0,"start":0,"end":1}]'),
            BadInput,
            "ranges: a is neither of the topics",
        ),
        (("--cluster", "none-such"), BadInput, "none-such"),
        (("--ranges", "[]", "--from-log-start"), BadInput, "--from-log-start"),
    ],
)
def test_bad_input_is_one_sentence(
    pair: Compared, words: tuple[str, ...], error: type[RunbookError], sentence: str
) -> None:
    """Before Spark is asked."""
    with pytest.raises(error, match=sentence):
        compare(pair, *words)


def test_topics_that_do_not_exist(pair: Compared) -> None:
    """Or are one topic."""
    with pytest.raises(BadInput, match="topic none-such: does not exist on the cluster"):
        compare(replace(pair, second="none-such"))
    with pytest.raises(BadInput, match="is given twice"):
        compare(replace(pair, second=pair.first))


@pytest.mark.long
def test_without_a_connect_server_a_job_compares(
    kafka: Kafka, jars: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same answer from a process of its own, also with masks and ignored parts."""
    assert jars
    fleet(kafka, tmp_path, monkeypatch)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    with compared(kafka.bootstrap) as topics:
        topics.write(topics.first, RECORDS)
        topics.write(topics.second, changed(RECORDS, 3, at_ms=1, headers=[("a", None)]))
        assert compare(topics, "--ignore", "headers", "--ignore", "timestamp")[0] == 0
        code, document = compare(topics, "--mask", "headers", "--mask", "$.a")
        assert (code, document["comparison"]["examples"][0]["parts"]) == (1, ["timestamp", "headers"])
        with pytest.raises(Inconclusive, match="has not compared the topics within 1 s"):
            compare(topics, "--mode", "by-key", "--max-seconds", "1")
