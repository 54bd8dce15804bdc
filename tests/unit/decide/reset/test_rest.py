"""Topics are deleted only while nothing writes to them and nothing else uses them."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.reset.rest import at_rest, no_transaction, unmoved
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.readings import GroupReading, Missing, Taken
from kstreams_runbooks.model.readings.rest import RestReading, TopicEnds
from kstreams_runbooks.model.verdicts import Outcome
from world.samples import member

TOPIC = "orders-counts-changelog"
ENDS = {f"{TOPIC}-0": 12, f"{TOPIC}-1": 7}
LOOK = TopicEnds(1_000, ENDS)
EMPTY = GroupReading(Taken(1_000, "test"), "orders", "classic", "Empty", ())


def seen(**changes: Any) -> RestReading:
    made = RestReading(ENDS, (LOOK, replace(LOOK, at_ms=2_500)), EMPTY, {TOPIC: ()})
    return replace(made, **changes)


def test_topics_at_rest() -> None:
    """All of it in one sentence."""
    verdict = at_rest(seen(), "orders")
    assert verdict.outcome is Outcome.PROCEED
    assert "the ends of 2 partitions did not move in 2 readings over 1.5 s" in verdict.sentence
    assert decode(RestReading, encode(seen())) == seen()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"looks": (LOOK, TopicEnds(2_000, {**ENDS, f"{TOPIC}-1": 8}))},
            f"{TOPIC}-1: its end moved from 7 to 8 since group orders was EMPTY (expected no write); find its producer",
        ),
        ({"used_by": {TOPIC: ("billing reads it",)}}, f"topic {TOPIC}: billing reads it (expected: the application"),
        ({"group": replace(EMPTY, state="Stable", members=(member("orders-1"),))}, "group orders: Stable, 1 members"),
        # What is certain counts, whatever else was not read.
        ({"used_by": {TOPIC: ("billing reads it",)}, "group": Missing("hidden")}, "billing reads it"),
    ],
)
def test_a_write_or_a_user_refuses(changes: dict[str, Any], said: str) -> None:
    verdict = at_rest(seen(**changes), "orders")
    assert verdict.outcome is Outcome.REFUSE
    assert said in verdict.sentence


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"group": Missing("group orders is hidden")}, "group orders is hidden"),
        ({"unknown": ("share group s is Stable",)}, "share group s is Stable"),
        ({"looks": ()}, "were not read"),
        ({"looks": (replace(LOOK, unknown=("topic x does not exist",)),)}, "topic x does not exist"),
        ({"looks": (TopicEnds(2_000, {f"{TOPIC}-0": 12}),)}, f"{TOPIC}-1: its end was not read"),
        ({"noted": {f"{TOPIC}-0": 12}}, f"{TOPIC}-1: its end was not read, or not while the group was EMPTY"),
    ],
)
def test_what_is_not_known_is_inconclusive(changes: dict[str, Any], said: str) -> None:
    verdict = at_rest(seen(**changes), "orders")
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert said in verdict.sentence


def test_an_open_transaction_waits() -> None:
    """Its end moves the end of the partition; before the ends are noted, and after."""
    opened = replace(LOOK, open=(f"{TOPIC}-0",))
    for verdict in (no_transaction(opened), at_rest(seen(looks=(LOOK, opened)), "orders")):
        assert verdict.outcome is Outcome.WAIT
        assert f"{TOPIC}-0: a transaction has not ended" in verdict.sentence
    assert no_transaction(LOOK).outcome is Outcome.PROCEED
    assert no_transaction(replace(opened, unknown=("x",))).outcome is Outcome.INCONCLUSIVE


def test_a_transaction_of_the_application_elsewhere_waits() -> None:
    """It may still commit offsets, and it is on no topic that goes."""
    ongoing = replace(LOOK, ongoing=("orders-0b8f-1",))
    for verdict in (no_transaction(ongoing), at_rest(seen(looks=(LOOK, ongoing)), "orders")):
        assert verdict.outcome is Outcome.WAIT
        assert "orders-0b8f-1: a transaction of the application has not ended" in verdict.sentence


def test_a_topic_that_is_written_does_not_go_for_good() -> None:
    """Since the plan, or with a transaction that has not ended; the application itself may run."""
    busy = replace(LOOK, ongoing=("orders-0b8f-1",))
    assert unmoved(ENDS, (busy, busy)).outcome is Outcome.PROCEED
    moved = unmoved(ENDS, (LOOK, replace(LOOK, ends={**ENDS, f"{TOPIC}-1": 8})))
    assert moved.outcome is Outcome.REFUSE
    assert f"{TOPIC}-1: its end moved from 7 to 8 since the plan" in moved.sentence
    for noted, looks, said in (
        (ENDS, (replace(LOOK, open=(f"{TOPIC}-0",)),), "a transaction has not ended"),
        (ENDS, (replace(LOOK, unknown=("hidden",)),), "hidden"),
        ({}, (LOOK,), f"{TOPIC}-0: the plan has not read its end"),
        (ENDS, (), "were not read"),
    ):
        verdict = unmoved(noted, looks)
        assert verdict.outcome is Outcome.INCONCLUSIVE
        assert said in verdict.reasons[0]
