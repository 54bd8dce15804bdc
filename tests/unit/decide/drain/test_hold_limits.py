"""How long what waits lasts: retention by time and size, committed offsets, the form; never endless if unknown."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.drain.hold_limits import hold_limits
from kstreams_runbooks.model.readings.hold import HoldLimit, PlannedHold, WaitingTopic
from kstreams_runbooks.model.readings.readings import Missing

from .test_hold import FACTS, PLANNED, TOPIC

NO = Missing("no answer")
SWAP = replace(PLANNED, how="swap")


def limits(topic: WaitingTopic = TOPIC, planned: PlannedHold = PLANNED, **facts: Any) -> list[tuple[float, float]]:
    """Seconds of each limit and what of it is allowed."""
    found = hold_limits(replace(FACTS, waits=(topic,), **facts), planned)
    return [(one.seconds, one.allowed_s) for one in found if isinstance(one, HoldLimit)]


def unknown(topic: WaitingTopic = TOPIC, planned: PlannedHold = PLANNED, **facts: Any) -> list[str]:
    """What is not known."""
    found = hold_limits(replace(FACTS, **{"waits": (topic,), **facts}), planned)
    return [one.missing for one in found if isinstance(one, Missing)]


def test_half_of_the_retention_that_is_left() -> None:
    """Records that wait already, or arrive late, have less of it."""
    assert limits() == [(86_400, 43_200)]
    assert limits(replace(TOPIC, age_ms=3_600_000)) == [(82_800, 41_400)]
    assert limits(replace(TOPIC, age_ms=90_000_000)) == [(0, 0)]


def test_retention_by_size_ends_when_as_much_has_come() -> None:
    """By the pace of the busiest partition; without traffic it does not end."""
    sized = replace(TOPIC, retention_ms=-1, retention_bytes=1_000_000, bytes_per_s=1_000.0, waiting_bytes=500_000)
    assert limits(sized) == [(500, 250)]
    assert limits(replace(sized, bytes_per_s=0.0)) == []


def test_a_compacted_topic_keeps_deletions_for_a_while() -> None:
    """A key whose deletion is compacted away before it is read stays for good; retention does not matter."""
    compacted = replace(TOPIC, deletes=False, retention_ms=NO, retention_bytes=NO, tombstones_ms=86_400_000)
    assert limits(compacted) == [(86_400, 43_200)]
    assert unknown(replace(compacted, tombstones_ms=NO)) == [f"delete.retention.ms of {TOPIC.topic}: no answer"]


def test_unlimited_retention_is_no_limit() -> None:
    """Nothing that waits is deleted."""
    assert limits(replace(TOPIC, retention_ms=-1, age_ms=NO, bytes_per_s=NO)) == []


def test_offsets_expire_while_a_swap_or_a_copier_holds() -> None:
    """The group does not subscribe to its inputs, or has no member."""
    assert limits(planned=SWAP, offsets_retention_ms=120_000)[-1] == (120, 60)
    assert limits(planned=replace(PLANNED, how="copier"), offsets_retention_ms=120_000)[-1] == (120, 60)
    assert limits(offsets_retention_ms=120_000) == [(86_400, 43_200)]


def test_all_of_what_the_form_allows() -> None:
    """A person has named it for this run."""
    assert limits(planned=replace(PLANNED, longest_s=900))[-1] == (900, 900)


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        (replace(TOPIC, deletes=NO), "cleanup.policy of orders-in: no answer"),
        (replace(TOPIC, retention_ms=NO), "retention.ms of orders-in: no answer"),
        (replace(TOPIC, age_ms=NO), "age of the waiting records of orders-in: no answer"),
        (replace(TOPIC, retention_bytes=NO), "retention.bytes of orders-in: no answer"),
        (
            replace(TOPIC, retention_bytes=9, bytes_per_s=NO),
            "bytes per second of orders-in, which has retention.bytes 9: no answer",
        ),
        (
            replace(TOPIC, retention_bytes=9, waiting_bytes=NO),
            "bytes per second of orders-in, which has retention.bytes 9: no answer",
        ),
    ],
)
def test_a_limit_that_was_not_read_is_unknown(topic: WaitingTopic, said: str) -> None:
    """And never endless."""
    assert unknown(topic) == [said]


def test_a_swap_needs_its_topics_and_the_brokers_setting() -> None:
    """Both are named."""
    assert unknown(planned=SWAP, waits=(), offsets_retention_ms=NO) == [
        "topics in which records wait: none is known (expected the inputs held by swap)",
        "offsets.retention.minutes: no answer",
    ]
    assert unknown(waits=()) == []
