"""How an application stands, by its last readings."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.lag_status import LagSample, StatusLimits, status
from kstreams_runbooks.model.lag import ApplicationLag, PartitionLag

ROW = PartitionLag("orders", 0, "source", "ok", topic_id="a", committed=10, last_stable_offset=20, records=10)
LAG = ApplicationLag("orders", "orders", "classic", "Stable", (ROW,))
LIMITS = StatusLimits(samples=3, records=100, expiring_ms=60_000)
HOUR = 3_600_000


def samples(*rows: PartitionLag, **lag: Any) -> tuple[LagSample, ...]:
    """Readings a minute apart."""
    return tuple(LagSample(at * 60_000, replace(LAG, partitions=(row,), **lag)) for at, row in enumerate(rows))


def moving(records: int = 10, **changes: Any) -> tuple[PartitionLag, ...]:
    """Offsets that advance."""
    return tuple(replace(ROW, committed=10 + at, records=records, **changes) for at in range(3))


@pytest.mark.parametrize(
    ("given", "word", "sentence"),
    [
        (samples(*moving()), "healthy", "10 records to read (limit 100)"),
        (samples(replace(ROW, log_start_offset=15)), "expiring", "orders-0 (5 offsets are deleted already)"),
        (samples(*moving(101)), "behind", "101 records to read (limit 100)"),
        (
            samples(ROW, ROW, ROW),
            "stalled",
            "over 3 readings while the group is stable: orders-0 (10 to read)",
        ),
        (samples(*(replace(ROW, records=0),) * 3), "healthy", "0 records"),
        (samples(ROW, ROW), "healthy", "10 records"),
        (samples(ROW, ROW, ROW, group_state="PreparingRebalance"), "healthy", "10 records"),
        (samples(*moving(), group_type="streams", group_state="NotReady"), "stalled", "gives its members no tasks"),
        (samples(ROW, ROW, ROW, group_state="Empty"), "stopped", "has offsets and no member; 10 records wait"),
        (samples(ROW, replace(ROW, committed=4)), "rewound", "orders-0 (from 10 to 4)"),
        (samples(ROW, replace(ROW, topic_id="b")), "recreated", "orders was deleted and created again"),
        (
            samples(*moving(oldest_unread_ms=0, retention_ms=150_000)),
            "expiring",
            "orders-0 (in 0 min, limit 1)",
        ),
        (samples(*moving(oldest_unread_ms=0, retention_ms=HOUR)), "healthy", "10 records"),
        (samples(*moving(oldest_unread_ms=0, retention_ms=-1)), "healthy", "10 records"),
        (samples(replace(ROW, state="unknown", records=None, why="no answer")), "unknown", "orders-0: no answer"),
        (samples(replace(ROW, state="missing", records=None, why="no such topic")), "unknown", "no such topic"),
        (samples(*moving(), problems=("group orders is known to no broker",)), "unknown", "known to no broker"),
        ((LagSample(0, replace(LAG, partitions=())),), "unknown", "nothing is known of what orders reads"),
        ((), "unknown", "never read"),
    ],
)
def test_the_word_and_what_it_rests_on(given: tuple[LagSample, ...], word: str, sentence: str) -> None:
    """Observed and limit."""
    found = status(given, LIMITS)
    assert (found.word, sentence in found.sentence) == (word, True), found


@pytest.mark.parametrize(
    ("before", "now", "word"),
    [
        ((("store-changelog", "a"),), (("store-changelog", "b"),), "recreated"),
        ((("store-changelog", "a"),), (("store-changelog", None),), "recreated"),
        ((("store-changelog", "a"),), (("store-changelog", "a"),), "healthy"),
        # A store without logging has none, a topology that changed keeps others, and nobody may have asked.
        ((("store-changelog", None),), (("store-changelog", None),), "healthy"),
        ((("store-changelog", "a"),), (("other-changelog", None),), "healthy"),
        ((("store-changelog", "a"),), (), "healthy"),
    ],
)
def test_a_changelog_that_was_lost_is_an_incident_while_everything_looks_right(
    before: tuple[tuple[str, str | None], ...], now: tuple[tuple[str, str | None], ...], word: str
) -> None:
    """Recreated or only deleted: what tells it is the topic's id, not lag and not the outputs."""
    *first, last = samples(*moving())
    earlier = [replace(one, lag=replace(one.lag, kept=before)) for one in first]
    found = status((*earlier, replace(last, lag=replace(last.lag, kept=now))), LIMITS)
    assert found.word == word
    if word == "recreated":
        assert found.sentence.startswith("store-changelog was deleted: an incident")


def test_an_instance_in_error_looks_idle_to_the_group() -> None:
    """Whoever was asked told it; nobody asked is another thing than nobody failed."""
    *before, last = samples(*moving())
    assert status((*before, replace(last, failed=("orders-1",))), LIMITS).word == "failed"
    assert status((*before, replace(last, failed=())), LIMITS).word == "healthy"


def test_what_is_certainly_wrong_comes_before_what_is_not_known() -> None:
    """And an orphaned topic is in no total."""
    fallen = samples(ROW, replace(ROW, committed=4, state="unknown", why="no answer"))
    assert status(fallen, LIMITS).word == "rewound"
    orphan = PartitionLag("old-repartition", 0, "orphaned", "orphaned", committed=1, records=5_000)
    lag = replace(LAG, partitions=(replace(ROW, records=0), orphan))
    assert status(tuple(LagSample(at, lag) for at in range(3)), LIMITS).word == "healthy"
