"""The sums of the rows that Spark gives, and the arguments of the job."""

import json
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks.frames.forecast import MOST_KEYS, ForecastQuestion, topic_forecast
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.model.readings.growth import HotKey, KeyShare, PartitionLoad
from kstreams_runbooks.model.readings.partitioning import PlacedKey
from lab.settings import CHECKOUT
from pyspark.sql import Row

QUESTION = ForecastQuestion("input", 12, tuple(OffsetRange("orders", number, 0, 10) for number in range(4)))


def cell(**changes: Any) -> Row:
    """One row: three keys of partition 1 that stay there."""
    example = Row(key=b"c-1", first=1, last=1)
    given = {
        "no_key": False,
        "is_short": False,
        "moved": False,
        "several": False,
        "misplaced": False,
        "is_after": False,
        "number": 1,
        "keys": 3,
        "records": 30,
        "bytes": 300,
        "example": example,
        "most_records": None,
        "most_bytes": None,
    }
    return Row(**{**given, **changes})


def hot(key: bytes, records: int, size: int = 1) -> Row:
    return Row(key=key, records=records, bytes=size, first=1, next=5)


def test_keys_are_kept_or_moved_and_each_has_a_load_before_and_after() -> None:
    found = topic_forecast(
        QUESTION,
        [
            cell(),
            cell(is_after=True),
            cell(moved=True, keys=2, records=20, bytes=200),
            cell(moved=True, keys=2, records=20, bytes=200, is_after=True, number=5),
        ],
    )
    assert (found.kept, found.moved, found.keyed) == (KeyShare(3, 30, 300), KeyShare(2, 20, 200), KeyShare(5, 50, 500))
    assert found.loads_before == (PartitionLoad(1, KeyShare(5, 50, 500)),)
    assert found.loads_after == (PartitionLoad(1, KeyShare(3, 30, 300)), PartitionLoad(5, KeyShare(2, 20, 200)))
    assert found.examples == {"moved": (PlacedKey("c-1", (1,), ()),)}
    assert (found.before, found.after) == (4, 12)


def test_records_without_a_key_are_no_key_and_keep_their_partition() -> None:
    """They are in the load of their partition, and neither misplaced nor hot."""
    rows = [cell(no_key=True, keys=1, is_after=after, most_records=[hot(b"x", 9)]) for after in (False, True)]
    found = topic_forecast(QUESTION, rows)
    assert (found.null_keys, found.keyed) == (KeyShare(0, 30, 300), KeyShare())
    assert found.loads_before == found.loads_after == (PartitionLoad(1, KeyShare(0, 30, 300)),)
    assert found.most_records == ()


def test_misplaced_and_several_keys_are_counted_once_with_an_example() -> None:
    found = topic_forecast(
        QUESTION,
        [
            cell(misplaced=True, several=True, example=Row(key=b"\xff\0", first=0, last=3)),
            cell(misplaced=True, several=True, is_after=True),
            cell(misplaced=True, keys=2),
        ],
    )
    assert (found.several, found.misplaced) == (3, 5)
    assert found.examples["several"] == (PlacedKey("0xff00", (0, 3), ()),)


def test_rows_with_a_short_key_are_only_counted() -> None:
    found = topic_forecast(QUESTION, [cell(is_short=True), cell(is_short=True, is_after=True)])
    assert (found.short, found.keyed, found.loads_before) == (30, KeyShare(), ())


def test_the_hottest_keys_of_all_partitions_come_first() -> None:
    """Each partition has its own; those with equal numbers come by their key."""
    first = [hot(b"k-%02d" % number, 100 - number) for number in range(MOST_KEYS)]
    second = [hot(b"big", 1_000), hot(b"also", 100)]
    found = topic_forecast(
        QUESTION,
        [cell(is_after=True, most_records=first), cell(is_after=True, number=5, most_records=second)],
    )
    assert len(found.most_records) == MOST_KEYS
    assert found.most_records[0] == HotKey("big", 1_000, 1, 1, 5)
    assert [one.key for one in found.most_records[1:4]] == ["also", "k-00", "k-01"]


@pytest.mark.parametrize(
    ("topics", "reason"),
    [
        ("[]", "is not an array with a topic"),
        ('[{"topic": "orders"}]', "is not an object of topic, kind"),
        ('[{"topic": "orders", "kind": "join", "after": 12}]', "is not an object of topic, kind"),
        ('[{"topic": "orders", "kind": "input", "after": 1}]', "after is 1 (expected a number of at least 2"),
        ('[{"topic": "orders", "kind": "input", "after": "12"}]', "after is '12'"),
        ('[{"topic": "other", "kind": "input", "after": 12}]', "other has partitions []"),
    ],
)
def test_bad_topics_are_one_sentence(
    topics: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before Spark starts."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("forecast_partitions", CHECKOUT / "spark_jobs" / "forecast_partitions.py")
    assert spec is not None
    assert spec.loader is not None
    job = module_from_spec(spec)
    spec.loader.exec_module(job)
    ranges = json.dumps([{"topic": "orders", "partition": number, "start": 0, "end": 5} for number in range(2)])
    result = tmp_path / "result.json"
    words = ["--bootstrap", "b:1", "--ranges", ranges, "--topics", topics, "--result", str(result)]
    assert job.main(words) == 2
    assert reason in capsys.readouterr().err
    assert json.loads(result.read_text())["exit_code"] == 2
