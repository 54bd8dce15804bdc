"""Decisions on rows of partitions as an older release kept them: the sentences are those that it gave (3260e16)."""

from typing import Any

import pytest
from kstreams_runbooks.decide.registry import DECISIONS
from kstreams_runbooks.ledger.codec import call_again, decode, encode
from kstreams_runbooks.ledger.older_rows import renewed
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import ApplicationReading
from world.samples import BOUNCE_1, NEW, expectation, instance, partition, reading

_PASSED = (
    "orders-1 runs 4.3.1, RUNNING, group stable, every partition advances, lag 0 (limit 1,000), "
    "4 good readings in a row"
)
_LEFT = "offsets are left unread in topics that the application no longer reads (expected 0): t-0"
_NO_LSO = "t-0: last stable offset no leader answers for t-0"
_NO_START = "t-0: never committed, log start no leader answers for t-0"
_GONE = "topic t does not exist on the cluster"
_AT_7 = "1 partitions not read to their mark: t-0 at 7 of 9"


def missing(why: str) -> dict[str, Any]:
    return {"missing": why, "start": None}


NEVER, AWAY, GONE = (missing(why) for why in ("never committed", "no leader answers for t-0", _GONE))


def row(committed: Any, log_start: Any, stable: Any, end: Any) -> dict[str, Any]:
    ends = {"log_start": log_start, "stable": stable, "end": end}
    return {"topic": "t", "partition": 0, "committed": committed, **ends}


# Kept row: what the gate, the look at topics no longer read, and the wait for the mark 9 came to.
KEPT: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "something is left": (
        row(7, 0, 9, 9),
        "no progress in 1.0 s on t-0 (2 to read, committed stays at 7)",
        f"2 {_LEFT} (2)",
        _AT_7,
    ),
    "never committed": (
        row(NEVER, 2, 9, 9),
        "no progress in 1.0 s on t-0 (7 to read, committed offset not readable)",
        f"7 {_LEFT} (7)",
        "t-0: never committed",
    ),
    "never committed, and empty": (
        row(NEVER, 9, 9, 9),
        _PASSED,
        "nothing is left in the topics that are no longer read",
        "1 partitions of orders read to their mark",
    ),
    "past the end": (
        row(12, 0, 9, 9),
        _PASSED,
        "nothing is left in the topics that are no longer read",
        "1 partitions of orders read to their mark",
    ),
    "before the log's start": (
        row(1, 5, 9, 9),
        "no progress in 1.0 s on t-0 (8 to read, committed stays at 1)",
        f"8 {_LEFT} (8)",
        "1 partitions not read to their mark: t-0 at 1 of 9",
    ),
    "no ends": (row(7, AWAY, AWAY, AWAY), _NO_LSO, _NO_LSO, _AT_7),
    "never committed, no ends": (row(NEVER, AWAY, AWAY, AWAY), _NO_LSO, _NO_LSO, "t-0: never committed"),
    "no last stable offset": (row(7, 0, AWAY, 9), _NO_LSO, _NO_LSO, _AT_7),
    "no log end": (
        row(7, 0, 9, AWAY),
        "no progress in 1.0 s on t-0 (2 to read, committed stays at 7)",
        f"2 {_LEFT} (2)",
        _AT_7,
    ),
    "no log start": (
        row(7, AWAY, 9, 9),
        "no progress in 1.0 s on t-0 (2 to read, committed stays at 7)",
        f"2 {_LEFT} (2)",
        _AT_7,
    ),
    "never committed, no log start": (row(NEVER, AWAY, 9, 9), _NO_START, _NO_START, "t-0: never committed"),
    "no such topic": (
        row(GONE, GONE, GONE, GONE),
        f"t-0: last stable offset {_GONE}",
        f"t-0: last stable offset {_GONE}",
        f"t-0: {_GONE}",
    ),
}


def again(decision: str, **inputs: Any) -> str:
    """The reasons that a decision gives on these inputs as they are in a ledger."""
    return "; ".join(call_again(DECISIONS[decision], {"inputs": inputs})["reasons"])


@pytest.mark.parametrize("name", KEPT)
def test_a_decision_comes_to_what_it_came_to(name: str) -> None:
    """Also where a row of today would come to something else: an offset past the end, or before the log's start."""
    kept, passed, left, read = KEPT[name]
    own = instance("orders-1", release=NEW, settings=BOUNCE_1.settings)
    samples = [
        {**encode(reading(own, instance("orders-2"), at_ms=1_000 * at)), "partitions": [kept]} for at in range(1, 6)
    ]
    assert again("gate", samples=samples, expected=encode(expectation())) == passed
    assert again("nothing_left", left=[kept]) == left
    assert again("read_up_to", partitions=[kept], marks=[["t-0", 9]], application="orders") == read


def test_rows_of_today_stay_as_they_are() -> None:
    """And so does any other document."""
    today = encode(reading())
    assert renewed(today) is today
    assert decode(ApplicationReading, today).partitions == (partition(),)
    # An offset past the end in a row of today has nothing that is known to be left.
    assert again("nothing_left", left=[encode(partition(12, 9))]).startswith("orders-0: committed 12 is past its end 9")


def test_what_is_no_row_is_refused_by_its_type() -> None:
    """A ledger that was changed gives an error, and no number."""
    for odd in ("7", None, True, {"why": "x"}):
        with pytest.raises(ValueError, match="validation error"):
            decode(tuple[PartitionLag, ...], [row(odd, 0, 9, 9)])
