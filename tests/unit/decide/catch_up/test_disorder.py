"""Which stores may drop other late records in a catch-up than live, and which cannot."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.catch_up.disorder import late_forecast, late_text, why_late
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.disorder import HistorySpan, LateForecast, LateStore
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.declaration import (
    DEFAULT,
    Declaration,
    DeclaredOperator,
    DeclaredStore,
    DeclaredSuppression,
    DeclaredTopic,
    Window,
)

# Windows behind a repartition topic, others straight behind an input, a join of both inputs, and a table.
TOPOLOGY = parse_topology("""Topologies:
   Sub-topology: 0
    Source: clicks-source (topics: [clicks])
      --> direct, joined, to-repartition
    Source: views-source (topics: [views])
      --> joined
    Processor: direct (stores: [direct-store])
      --> none
      <-- clicks-source
    Processor: joined (stores: [joined-store])
      --> none
      <-- clicks-source, views-source
    Sink: to-repartition (topic: by-user-repartition)
      <-- clicks-source

  Sub-topology: 1
    Source: by-user-source (topics: [by-user-repartition])
      --> counted
    Processor: counted (stores: [counted-store])
      --> closed
      <-- by-user-source
    Processor: closed (stores: [closed-store])
      --> results-sink
      <-- counted
    Sink: results-sink (topic: results)
      <-- closed

  Sub-topology: 2
    Source: KTABLE-SOURCE-0000000008 (topics: [users])
      --> KTABLE-SOURCE-0000000009
    Processor: KTABLE-SOURCE-0000000009 (stores: [users-store])
      --> none
      <-- KTABLE-SOURCE-0000000008

  Sub-topology: 3
    Source: any-source (topics: any-.*)
      --> kept
    Processor: kept (stores: [kept-store])
      --> none
      <-- any-source
""")
WINDOW = DeclaredStore(kind="window", window=Window("tumbling", 10_000, 5_000))
STORES = {
    "direct-store": WINDOW,
    "counted-store": WINDOW,
    "joined-store": DeclaredStore(kind="join", window=Window("join", 1_000, 2_000)),
    "kept-store": DeclaredStore(kind="key_value"),
}
TOPICS = {name: DeclaredTopic(timestamp_extractor=DEFAULT) for name in ("clicks", "views", "any-one")}


def side(stores: dict[str, DeclaredStore] | None = None, **changes: Any) -> Side:
    """The topology with everything declared."""
    facts = {
        "stores": {**STORES, **(stores or {})},
        "suppressions": {"closed": DeclaredSuppression("until_window_closes")},
        "topics": TOPICS,
        "config": {},
    }
    return Side(TOPOLOGY, Declaration(**{**facts, **changes}))


def spans(*times: tuple[str, Any, Any]) -> tuple[HistorySpan, ...]:
    """Partitions in this order, each with its first and newest time."""
    return tuple(HistorySpan(topic, number, *span) for number, (topic, *span) in enumerate(times))


HISTORY = spans(("clicks", 0, 40_000), ("clicks", 30_000, 60_000), ("views", 50_000, 90_000))


def found(of: Side, history: tuple[HistorySpan, ...] = HISTORY) -> dict[str, LateForecast]:
    return {one.store: one for one in late_forecast(of, history)}


def test_the_span_of_all_that_meets_bounds_the_disorder() -> None:
    """From the first to the newest record over the inputs behind a repartition topic or a join."""
    all_of_it = found(side())
    assert {name: (one.disorder_ms, one.grace_ms, one.comparable) for name, one in all_of_it.items()} == {
        "counted-store": (60_000, 5_000, False),
        "direct-store": (0, 5_000, True),
        "joined-store": (90_000, 2_000, False),
    }
    counted = all_of_it["counted-store"]
    assert (counted.inputs, counted.outputs) == (("clicks",), ("results",))
    assert late_text(counted) == (
        "drops records that come more than 5.0 s late; the catch-up may mix records that are up to 60.0 s apart"
    )
    assert "one partition, in the order that it had live" in late_text(all_of_it["direct-store"])
    assert decode(LateForecast, encode(counted)) == counted


@pytest.mark.parametrize(("newest", "comparable"), [(5_000, True), (5_001, False)])
def test_a_history_within_the_grace_drops_nothing(newest: int, *, comparable: bool) -> None:
    """The limit itself is within."""
    history = spans(("clicks", 0, newest), ("clicks", 0, 0))
    assert found(side(), history)["counted-store"].comparable is comparable


def test_one_partition_is_read_in_its_order() -> None:
    """However long its history is, and also behind a repartition topic; an empty one adds nothing."""
    history = spans(("clicks", 0, 10_000_000), ("clicks", None, None), ("views", None, None))
    assert all(one.comparable and one.disorder_ms == 0 for one in found(side(), history).values())


def test_what_is_not_read_again_is_left_out() -> None:
    assert found(side(), spans(("clicks", None, None), ("views", None, None))) == {}
    assert found(side(), spans(("users", 0, 9))) == {}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"topics": {}}, "clicks: its timestamp_extractor is not declared"),
        ({"topics": {"clicks": DeclaredTopic(timestamp_extractor="shop.At")}}, "clicks: shop.At dates its records"),
        ({"config": None}, "clicks: its timestamp_extractor is not declared"),
        ({"config": {"default.timestamp.extractor": "shop.At"}}, "clicks: shop.At dates its records"),
    ],
)
def test_other_times_than_those_of_the_records_make_it_an_estimate(changes: dict[str, Any], said: str) -> None:
    """A short history by timestamps may be a long one; in the order of one partition it does not matter."""
    short = spans(("clicks", 0, 1_000), ("clicks", 0, 1_000))
    forecast = found(side(**changes), short)
    assert forecast["counted-store"].disorder_ms == 1_000
    assert not forecast["counted-store"].comparable
    assert said in late_text(forecast["counted-store"])
    assert forecast["direct-store"].comparable


def test_extractors_of_the_library_take_the_timestamp() -> None:
    of = "org.apache.kafka.streams.processor.LogAndSkipOnInvalidTimestamp"
    short = spans(("clicks", 0, 1_000), ("clicks", 0, 1_000))
    assert found(side(config={"default.timestamp.extractor": of}), short)["counted-store"].comparable


@pytest.mark.parametrize(
    ("store", "grace"),
    [
        (DeclaredStore(kind="versioned", history_retention_ms=7_000), 7_000),
        (DeclaredStore(kind="versioned"), Missing("history_retention_ms of store counted-store is not declared")),
        (DeclaredStore(kind="buffer"), 3_000),
        (DeclaredStore(kind="session"), Missing("its grace is not declared; declare stores.counted-store.window")),
        (DeclaredStore(), Missing("whether it is a window is not declared; declare stores.counted-store.kind")),
    ],
)
def test_how_late_a_record_may_come(store: DeclaredStore, grace: int | Missing) -> None:
    """By the kind of store; what is not declared is not known."""
    forecast = found(side({"counted-store": store}, operators={"counted": DeclaredOperator(grace_ms=3_000)}))
    assert forecast["counted-store"].grace_ms == grace
    assert not forecast["counted-store"].comparable


def test_a_store_that_takes_every_record_is_left_out() -> None:
    """Tables, key-value stores, and the buffer of a suppression, whose windows have dropped what is late."""
    history = (*HISTORY, *spans(("users", 0, 9), ("any-one", 0, 9)))
    assert found(side(), history).keys() == {"counted-store", "direct-store", "joined-store"}


def test_an_unknown_time_is_not_within_any_grace() -> None:
    """A time that was not read, and an input without any."""
    broken = spans(("clicks", 0, Missing("the broker is too old")), ("clicks", 0, 1))
    forecast = found(side(), broken)
    assert forecast["counted-store"].disorder_ms == Missing("clicks-0: the broker is too old")
    assert forecast["joined-store"].disorder_ms == Missing("the times of views were not read")
    assert not forecast["joined-store"].comparable
    assert "is not known: the times of views were not read" in late_text(forecast["joined-store"])


def test_a_pattern_is_every_topic_that_matches() -> None:
    """Its tasks read several topics."""
    window = side({"kept-store": WINDOW})
    history = spans(("any-one", 0, 9_000), ("any-two", 3_000, 4_000), ("clicks", None, None))
    kept = found(window, history)["kept-store"]
    assert (kept.inputs, kept.disorder_ms) == (("any-one", "any-two"), 9_000)
    assert kept.times == ("any-two: its timestamp_extractor is not declared",)


COUNTED = LateStore("counted-store", "1", ("clicks",), 5_000, 1)


@pytest.mark.parametrize(
    ("history", "why"),
    [
        (spans(("clicks", 0, 5_000), ("clicks", 4_000, 4_500)), ""),
        (spans(("clicks", 0, 4_000), ("clicks", 4_000, 5_001)), "may mix records that are up to 5.0 s apart"),
        (spans(("clicks", None, None), ("clicks", None, None)), ""),
        (spans(("clicks", 0, 1), ("clicks", Missing("no answer"), Missing("no answer"))), "clicks-1: no answer"),
        (spans(("views", 0, 1)), "the times of clicks were not read"),
        (Missing("the log was deleted"), "the log was deleted"),
    ],
)
def test_records_no_further_apart_than_the_grace_are_not_late(history: Any, why: str) -> None:
    """Whichever instances have processed them; what is not known may be late."""
    found = why_late([side()], [COUNTED], history)
    assert bool(found) is bool(why)
    assert why in found


def test_a_store_without_a_known_input_may_have_been_late() -> None:
    """Nothing shows what was read for it; of a store that drops nothing, nothing is asked."""
    unfed = replace(COUNTED, store="fed-by-code", inputs=())
    assert why_late([side()], [unfed], HISTORY) == "store fed-by-code: no topic is known that leads to it"
    assert why_late([side()], [], HISTORY) == ""


def test_of_several_versions_each_has_to_be_in_time() -> None:
    """A rolled side runs two for a while."""
    history = spans(("clicks", 0, 5_000), ("clicks", 0, 0))
    shorter = DeclaredStore(kind="window", window=Window("tumbling", 10_000, 1_000))
    assert why_late([side(), side({"counted-store": shorter})], [COUNTED], history)


@pytest.mark.parametrize(("newest", "limit"), [(2_500, ""), (2_501, "the limit is half of that, as for a hold")])
def test_records_that_the_application_dates_itself_have_the_limit_of_a_hold(newest: int, limit: str) -> None:
    """Their timestamps are an estimate of the time by which windows go."""
    history = spans(("clicks", 0, newest), ("clicks", 0, 0))
    for topics in ({}, {"clicks": DeclaredTopic(timestamp_extractor="com.acme.EventTime")}):
        found = why_late([side(topics=topics)], [COUNTED], history)
        assert bool(found) is bool(limit)
        assert limit in found
    undeclared = side({"counted-store": DeclaredStore(kind="window")}, topics={})
    assert "its grace is not declared" in why_late([undeclared], [COUNTED], history)
