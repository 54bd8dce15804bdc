"""How an application stands, by its last readings.

Covers decide/status/expected_topics, decide/status/no_progress
"""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.status.expected_topics import expected_ids
from kstreams_runbooks.decide.status.status import LagSample, Status, StatusLimits, status, without_besides
from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag

ROW = PartitionLag("orders", 0, "source", "ok", topic_id="a", committed=10, last_stable_offset=20, records=10)
# Somebody looked: there is a record at its offset.
SEEN = replace(ROW, none_until=10, oldest_unread_ms=5)
LAG = ApplicationLag("orders", "orders", "classic", "Stable", (ROW,))
LIMITS = StatusLimits(samples=3, records=100, expiring_ms=60_000)
HOUR = 3_600_000
# All is read, and a transaction is open behind it.
OPEN = replace(ROW, committed=20, records=0, log_end_offset=5_000)


def samples(*rows: PartitionLag, **lag: Any) -> tuple[LagSample, ...]:
    """Readings a minute apart; the topics of the first are the expected ones."""
    found = [LagSample(at * 60_000, replace(LAG, partitions=(row,), **lag)) for at, row in enumerate(rows)]
    return tuple(replace(one, expected=expected_ids({}, found[0].lag)) for one in found)


def moving(records: int = 10, **changes: Any) -> tuple[PartitionLag, ...]:
    """Offsets that advance."""
    return tuple(replace(ROW, committed=10 + at, records=records, **changes) for at in range(3))


@pytest.mark.parametrize(
    ("given", "word", "sentence"),
    [
        (samples(*moving()), "healthy", "10 records to read (limit 100)"),
        (samples(replace(ROW, log_start_offset=15, lost=True)), "expiring", "orders-0 (5 offsets are deleted already)"),
        (
            samples(replace(ROW, log_start_offset=15, perhaps_lost=True)),
            "unknown",
            "5 offsets were deleted before they were read, and",
        ),
        (samples(replace(ROW, log_start_offset=15)), "healthy", "10 records"),
        (samples(replace(ROW, age_why="nobody tells")), "unknown", "orders-0: nobody tells"),
        (
            samples(*(replace(SEEN, committed=None, state="never_committed"),) * 3),
            "stalled",
            "to read, never committed",
        ),
        (samples(*moving(101)), "behind", "101 records to read (limit 100)"),
        (
            samples(SEEN, SEEN, SEEN),
            "stalled",
            "over 3 readings while the group is Stable: orders-0 (10 to read)",
        ),
        (samples(*(replace(ROW, records=0),) * 3), "healthy", "0 records"),
        (samples(ROW, ROW, SEEN), "stalled", "over 3 readings"),
        (samples(ROW, ROW, ROW), "unknown", "whether a record is among the 10 offsets behind it was not found out yet"),
        (
            samples(*(replace(SEEN, committed_since_ms=60_000),) * 3),
            "stalled",
            "since 1970-01-01 00:01 UTC or longer, ",
        ),
        (samples(SEEN, SEEN), "healthy", "10 records"),
        (samples(SEEN, SEEN, SEEN, group_state="PreparingRebalance"), "stalled", "the group is PreparingRebalance: "),
        (samples(SEEN, SEEN, SEEN, group_state=None), "stalled", "while the group is in a state that is not told"),
        (samples(OPEN, OPEN, OPEN), "stalled", "transaction is open since 1970-01-01 00:00 UTC or longer, and nothing"),
        (samples(OPEN, OPEN, OPEN), "stalled", "orders-0 (4,980 offsets); find whose it is: kafka-transactions.sh"),
        (samples(OPEN, OPEN, replace(OPEN, last_stable_offset=21, committed=21)), "healthy", "0 records"),
        # One that reads uncommitted records passes it.
        (samples(*(replace(OPEN, committed=30),) * 3), "healthy", "0 records"),
        (samples(OPEN, OPEN, OPEN, group_state="Empty"), "stopped", "0 records wait"),
        (samples(*moving(), group_type="streams", group_state="NotReady"), "stalled", "gives its members no tasks"),
        (samples(ROW, ROW, ROW, group_state="Empty"), "stopped", "has offsets and no member; 10 records wait"),
        (samples(ROW, replace(ROW, committed=4)), "rewound", "orders-0 (from 10 to 4)"),
        (
            samples(ROW, replace(ROW, committed=None, state="never_committed")),
            "rewound",
            "orders-0 (from 10: its offset is gone)",
        ),
        (
            samples(ROW, replace(ROW, committed=None, state="unknown"), replace(ROW, committed=9)),
            "rewound",
            "from 10 to 9",
        ),
        (
            samples(ROW, replace(ROW, topic_id="b")),
            "recreated",
            "orders (id b, expected a) was deleted and created again: its records and its offsets are others; once it "
            "is looked after, run `kstreams-runbooks trigger fleet_check --param acknowledge=orders --reason REASON`",
        ),
        (
            samples(*moving(oldest_unread_ms=0, retention_ms=150_000)),
            "expiring",
            "orders-0 (in 0 min, limit 1)",
        ),
        # Half of a short retention: what was written just now is no news.
        (samples(*moving(oldest_unread_ms=120_000, retention_ms=60_000)), "healthy", "10 records"),
        (samples(*moving(oldest_unread_ms=80_000, retention_ms=60_000)), "expiring", "(in 0 min, limit 0)"),
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


Kept = tuple[tuple[str, str | None], ...]


@pytest.mark.parametrize(
    ("before", "now", "word"),
    [
        ((("store-changelog", "a"),), ((("store-changelog", "b"),),), "recreated"),
        ((("store-changelog", "a"),), ((("store-changelog", "a"),),), "healthy"),
        # A broker that restarts may leave a topic out of one answer; twice is no restart.
        ((("store-changelog", "a"),), ((("store-changelog", None),),), "healthy"),
        ((("store-changelog", "a"),), ((("store-changelog", None),),) * 2, "recreated"),
        ((("store-changelog", "a"),), ((("store-changelog", None),), (("store-changelog", "a"),)), "healthy"),
        # However long ago: nothing repairs itself.
        ((("store-changelog", "a"),), ((("store-changelog", "b"),),) * 9, "recreated"),
        # A store without logging has none, a topology that changed keeps others, and nobody may have asked.
        ((("store-changelog", None),), ((("store-changelog", None),),) * 3, "healthy"),
        ((("store-changelog", "a"),), ((("other-changelog", None),),) * 3, "healthy"),
        ((("store-changelog", "a"),), ((),) * 3, "healthy"),
    ],
)
def test_a_changelog_that_was_lost_is_an_incident_while_everything_looks_right(
    before: Kept, now: tuple[Kept, ...], word: str
) -> None:
    """Recreated or only deleted: what tells it is the topic's id, not lag and not the outputs."""
    found = judged(before, *now)
    assert found.word == word
    if word == "recreated":
        assert found.sentence.startswith("store-changelog (id ")
        assert "expected a) was deleted: an incident, the state" in found.sentence


def judged(*kept: Kept) -> Status:
    """The status after readings with these changelogs, while offsets advance, by a window of three."""
    found: list[LagSample] = []
    expected: dict[str, str] = {}
    for at, one in enumerate(kept):
        lag = replace(LAG, kept=one, partitions=(replace(ROW, committed=10 + at),))
        expected = expected_ids(expected, lag)
        found.append(LagSample(at * 60_000, lag, expected=expected))
    return status(tuple(found[-3:]), LIMITS)


def test_a_topic_that_is_recreated_hides_nothing_else_and_a_second_one_is_told() -> None:
    """It stays the word until somebody says so: what comes besides stands in its sentence."""
    first = judged((("a-changelog", "a"), ("b-changelog", "a")), (("a-changelog", "b"), ("b-changelog", "a")))
    second = judged((("a-changelog", "a"), ("b-changelog", "a")), (("a-changelog", "b"), ("b-changelog", "b")))
    assert (first.word, second.word) == ("recreated", "recreated")
    assert first.sentence != second.sentence
    stuck = status(samples(SEEN, SEEN, replace(SEEN, topic_id="b")), LIMITS)
    assert stuck.sentence.endswith("acknowledge=orders --reason REASON`; it is also stalled")
    alone = status(samples(ROW, replace(ROW, topic_id="b")), LIMITS)
    assert without_besides(stuck.sentence) == alone.sentence == without_besides(alone.sentence)


def test_what_a_reading_does_not_show_because_it_is_not_whole_stays_expected() -> None:
    """Only an application that names its topics again, without one of them, has given it up."""
    nothing = replace(LAG, partitions=())
    assert expected_ids({"orders": "a"}, replace(nothing, problems=("no answer",))) == {"orders": "a"}
    assert expected_ids({"orders": "a"}, nothing) == {}
    assert expected_ids({"orders": "a"}, replace(nothing, unseen=("hidden",))) == {"orders": "a"}
    assert expected_ids({"orders": "a"}, replace(LAG, partitions=(replace(ROW, topic_id="b"),))) == {"orders": "a"}
    # Acknowledged: nothing is expected but what is there.
    assert expected_ids({}, replace(LAG, partitions=(replace(ROW, topic_id="b"),))) == {"orders": "b"}


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


def test_offsets_that_a_run_moved_have_not_fallen() -> None:
    """Readings from before its end are no measure for those after it; a fall behind them is one."""
    rows = [replace(ROW, committed=committed) for committed in (10, 4, 5, 3)]
    before, moved, later, fallen = samples(*rows)
    own = replace(before, moved=("orders",))
    assert status((before, moved, later), LIMITS).word == "rewound"
    assert status((own, moved, later), LIMITS).word == "healthy"
    assert status((own, replace(moved, moved=("other",)), later), LIMITS).word == "healthy"
    assert status((own, moved, later, fallen), LIMITS).sentence.startswith(
        "committed offsets fell: orders-0 (from 5 to"
    )
