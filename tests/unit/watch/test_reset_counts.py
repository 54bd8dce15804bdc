"""What moved offsets read again or skip: each offset is counted once, and the sums are those of the whole."""

from collections.abc import Mapping
from typing import Any

import pytest
from kstreams_runbooks.decide.reset.offsets import moved_offsets
from kstreams_runbooks.decide.reset.targets import parse_target
from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.model.readings.input_offsets import InputPartition
from kstreams_runbooks.model.readings.lag import Counted, Readable
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import CountedMove
from kstreams_runbooks.watch import reset_counts
from kstreams_runbooks.watch.drain.counter import Counter

# Every other offset is a record.
READ = (
    InputPartition("orders", 0, "id", start=10, stable=100, committed=60),
    InputPartition("orders", 1, "id", start=0, stable=50, committed=None),
    InputPartition("orders", 2, "id", start=0, stable=40, committed=40),
)


def counted(
    monkeypatch: pytest.MonkeyPatch, target: str, *, fails: bool = False
) -> tuple[tuple[CountedMove, ...], list[Mapping[Any, tuple[int, int]]]]:
    """The counts of a target, and the ranges that were scanned for them."""
    scanned: list[Mapping[Any, tuple[int, int]]] = []

    def count(_: Any, ranges: Mapping[Any, tuple[int, int]]) -> Counted:
        scanned.append(ranges)
        if fails:
            raise Unreachable("no broker")
        return Counted({place: Readable((end - start) // 2) for place, (start, end) in ranges.items()}, "consumer")

    monkeypatch.setattr(Counter, "__call__", count)
    monkeypatch.setattr(reset_counts, "first_times", lambda *_: {})
    monkeypatch.setattr(reset_counts, "newest_times", lambda *_: {})
    rows = moved_offsets({"orders": parse_target("orders", target, 10_000)}, READ)
    return reset_counts.counted_moves({}, rows, "read_committed", lambda _: None), scanned


@pytest.mark.parametrize(
    ("target", "moved", "left"),
    [
        # 0 goes back from 60 to 10, 1 had no offset, 2 goes back from 40.
        ("earliest", [25, 0, 20], [45, 25, 20]),
        # 0 skips 60 to 100.
        ("latest", [20, 0, 0], [0, 0, 0]),
        ("20", [20, 0, 10], [40, 15, 10]),
        ("70", [5, 0, 0], [15, 0, 0]),
    ],
)
def test_the_records_of_each_partition(
    monkeypatch: pytest.MonkeyPatch, target: str, moved: list[int], left: list[int]
) -> None:
    found, scanned = counted(monkeypatch, target)
    assert [one.moved for one in found] == moved
    assert [one.left for one in found] == left
    seen = [(place, offset) for ranges in scanned for place, span in ranges.items() for offset in range(*span)]
    assert len(seen) == len(set(seen))


def test_a_count_that_fails_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = counted(monkeypatch, "earliest", fails=True)
    assert {type(one.left) for one in found} == {Missing}
    assert [type(one.moved) for one in found] == [Missing, int, Missing]
