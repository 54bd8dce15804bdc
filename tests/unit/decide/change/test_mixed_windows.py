"""How long results mix the windows of two versions: by declarations, and by the stream time of each partition."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.change.mixed_windows import WindowChange, every, mixed_store, window_changes
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, Window
from kstreams_runbooks.present.mixed_windows import as_text, document, exit_code
from kstreams_runbooks.watch.mixed_windows import MixedWindows

SECOND = 1_000
OLD, NEW = Window("tumbling", 10 * SECOND, 120 * SECOND), Window("tumbling", 60 * SECOND, 120 * SECOND)
CHANGE = WindowChange("counts", OLD, NEW, 180 * SECOND)
TOPIC = "app-by-customer-repartition"
TOPICS = frozenset({TOPIC})
SINCE = 1_000 * SECOND
END = SINCE + 180 * SECOND


def declared(window: Window | None, **store: Any) -> Declaration:
    return Declaration(stores={"counts": DeclaredStore("window", window, **store)})


def row(now: int | None, partition: int = 0, topic: str = TOPIC, **changes: Any) -> PartitionLag:
    return replace(
        PartitionLag(topic, partition, "repartition", "ok", committed=5, log_end_offset=5, stream_time_ms=now),
        **changes,
    )


@pytest.mark.parametrize(
    ("was", "now", "mixed_ms"),
    [
        (declared(OLD), declared(NEW), 180 * SECOND),
        # The longer of both, in either direction.
        (declared(NEW), declared(OLD), 180 * SECOND),
        (declared(OLD, retention_ms=900 * SECOND), declared(NEW), 900 * SECOND),
        (declared(OLD), declared(replace(OLD, kind="hopping", advance_ms=SECOND)), 130 * SECOND),
        (declared(OLD), declared(replace(OLD, kind="sliding")), 130 * SECOND),
    ],
)
def test_the_longest_window_with_its_grace_or_retention_counts(
    was: Declaration, now: Declaration, mixed_ms: int
) -> None:
    """A result that the old version began is there for so long."""
    [found] = window_changes(was, now)
    assert (found.store, found.mixed_ms) == ("counts", mixed_ms)


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (declared(OLD), declared(OLD)),
        (declared(OLD), declared(replace(OLD, grace_ms=1))),
        (declared(None), declared(NEW)),
        (declared(OLD), Declaration()),
        (declared(replace(OLD, kind="join")), declared(replace(NEW, kind="join"))),
        # Another store begins empty.
        (declared(OLD), Declaration(stores={"totals": DeclaredStore("window", NEW)})),
    ],
)
def test_what_mixes_nothing(was: Declaration, now: Declaration) -> None:
    """The same window, another grace, a join, a store of another name."""
    assert window_changes(was, now) == ()


@pytest.mark.parametrize(
    ("rows", "over"),
    [
        ((row(END + 1), row(END + 1, 1)), True),
        # Stream time has to pass the end.
        ((row(END),), False),
        ((row(END + 1), row(END, 1)), False),
        ((row(None),), None),
        ((row(END + 1), row(None, 1)), None),
        # What is certain needs no other partition.
        ((row(END), row(None, 1)), False),
        # Never a record: nothing to mix.
        ((row(END + 1), row(None, 1, log_end_offset=0, committed=None)), True),
        # Another topic is not in front of the store.
        ((row(END + 1), row(0, topic="customers")), True),
        ((), None),
        ((row(END + 1, topic="customers"),), None),
    ],
)
def test_it_is_over_when_every_partition_has_passed_the_end(rows: tuple[PartitionLag, ...], over: bool | None) -> None:
    """A partition without stream time is not known, and never over."""
    assert mixed_store(CHANGE, TOPICS, SINCE, rows).over is over


def test_each_partition_has_its_own_moment_of_the_change() -> None:
    """Stream time differs by partition; one that the reading lacked is not known."""
    found = mixed_store(CHANGE, TOPICS, {(TOPIC, 0): SINCE, (TOPIC, 1): SINCE + 5}, (row(END + 1), row(END + 1, 1)))
    assert [(one.until_ms, one.over) for one in found.partitions] == [(END, True), (END + 5, False)]
    [unknown] = mixed_store(CHANGE, TOPICS, {}, (row(END + 1),)).partitions
    assert (unknown.over, unknown.why) == (None, "its stream time at the change is not known; give --since")


def test_why_it_is_not_known() -> None:
    """Each reason names what is missing."""
    [kept] = mixed_store(replace(CHANGE, mixed_ms=None), TOPICS, SINCE, (row(END),)).partitions
    assert kept.why == "how long the store keeps its results is not declared"
    [silent] = mixed_store(CHANGE, TOPICS, SINCE, (row(None),)).partitions
    assert silent.why.startswith("its committed offset has no stream time")
    [gone] = mixed_store(CHANGE, TOPICS, SINCE, (row(None, why="no answer"),)).partitions
    assert gone.why == "no answer"
    pattern = mixed_store(CHANGE, "counts reads topics by a pattern", SINCE, (row(END + 1),))
    assert (pattern.over, pattern.why) == (None, "counts reads topics by a pattern")
    assert every([True, None, False]) is False
    assert every([True, None]) is None
    assert every([]) is True


def answer(*rows: PartitionLag, change: WindowChange = CHANGE) -> MixedWindows:
    return MixedWindows("app", "demo", 7, "as given", (mixed_store(change, TOPICS, SINCE, rows),))


@pytest.mark.parametrize(
    ("found", "code", "status"),
    [
        (answer(row(END + 1)), 0, "over"),
        (answer(row(END)), 1, "mixed"),
        (answer(row(None)), 3, "not known"),
        (MixedWindows("app", "demo", 7, "as given", ()), 0, "over"),
    ],
)
def test_the_exit_code_is_the_answer(found: MixedWindows, code: int, status: str) -> None:
    """As of the other commands: 0 only if nothing is left to wait for."""
    assert (exit_code(found), document(found)["status"]) == (code, status)


def test_the_text_has_the_end_and_what_is_left() -> None:
    """For partitions for which it is not over."""
    text = as_text(answer(row(END - 65 * SECOND), row(END + 1, 1), row(None, 2)))
    assert text.splitlines() == [
        "app @ demo: MIXED; change as given",
        "  counts: tumbling 10 s, grace 2 min → tumbling 1 min, grace 2 min: mixed",
        "    results mix both until stream time is 3 min past the change",
        f"    {TOPIC}-0: until stream time passes 1970-01-01 00:19:40 UTC; it is 1970-01-01 00:18:35 UTC "
        "(1 min 5 s to go)",
        f"    ! {TOPIC}-2: its committed offset has no stream time (Kafka Streams commits it with a record it has "
        "processed)",
    ]
    assert "no window of an aggregation changes" in as_text(MixedWindows("app", "demo", 7, "as given", ()))


def test_a_session_is_never_over_by_stream_time_alone() -> None:
    """A key without a pause keeps its session open past any end; without a record there is none."""
    session = replace(CHANGE, after=Window("session", 5, 5))
    passed = answer(row(END + 1), change=session)
    assert (exit_code(passed), document(passed)["status"]) == (3, "not known")
    assert "stays mixed until it ends: no stream time shows its end" in as_text(passed)
    assert exit_code(answer(row(END), change=session)) == 1
    assert exit_code(answer(row(None, log_end_offset=0, committed=None), change=session)) == 0


def test_the_document_has_every_partition() -> None:
    """Also those for which it is over."""
    [store] = document(answer(row(END + 1), row(END, 1)))["stores"]
    assert (store["store"], store["mixed_for_ms"], store["before"]["size_ms"]) == ("counts", 180_000, 10_000)
    assert [one["over"] for one in store["partitions"]] == [True, False]
    assert store["partitions"][0] == {
        "topic": TOPIC,
        "partition": 0,
        "since_ms": SINCE,
        "until_ms": END,
        "stream_time_ms": END + 1,
        "over": True,
        "why": None,
        "never_read": False,
    }
