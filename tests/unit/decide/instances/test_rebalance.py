"""A restart next to its session timeout: certain in time, certain late, or neither."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.instances.rebalance import restart_effect
from kstreams_runbooks.model.runs.restarts import Restart

# Stopped in 1 s, started 3 s later, back 6 s and RUNNING 8 s after the request.
RESTART = Restart(
    "orders", "orders-1", 1, False, False, True, 10_000, 11_000, 14_000, 16_000, 18_000, 45_000, "the default"
)


def test_a_static_member_that_is_back_in_time_causes_none() -> None:
    """The sentence has the gap, its forecast and the timeout."""
    effect = restart_effect(RESTART, (4, 11))
    assert (effect.rebalanced, effect.expected) == (False, True)
    assert effect.sentence == (
        "orders-1, bounce 1: 8.0 s from its stop until RUNNING (expected 4–11 s); back within session.timeout.ms "
        "45,000 (the default): no rebalance"
    )


def test_a_process_that_was_gone_for_longer_caused_one() -> None:
    """Whatever the looks after the start saw."""
    effect = restart_effect(replace(RESTART, session_ms=2_500), None)
    assert (effect.rebalanced, effect.expected) == (True, False)
    assert "gone for 3.0 s, longer than session.timeout.ms 2,500" in effect.sentence
    assert "a rebalance that moved its tasks" in effect.sentence


@pytest.mark.parametrize("session_ms", [3_000, 6_000, 8_999])
def test_between_the_two_it_is_not_known(session_ms: int) -> None:
    """A last heartbeat may have been sent up to 3 s before the stop."""
    effect = restart_effect(replace(RESTART, session_ms=session_ms), None)
    assert (effect.rebalanced, effect.expected) == (None, False)
    assert "back 6.0 s after its stop at the latest" in effect.sentence
    assert restart_effect(replace(RESTART, session_ms=9_000), None).rebalanced is False


def test_an_unknown_timeout_is_not_in_time() -> None:
    """It has its reason."""
    effect = restart_effect(replace(RESTART, session_ms=None, session_source="no answer"), None)
    assert (effect.rebalanced, effect.expected) == (None, False)
    assert effect.sentence.endswith("session.timeout.ms is not known (no answer)")


def test_without_static_membership_and_all_at_once_it_is_expected() -> None:
    """No warning: the plan said so."""
    dynamic = restart_effect(replace(RESTART, static=False), None)
    together = restart_effect(replace(RESTART, at_once=True), None)
    assert (dynamic.rebalanced, dynamic.expected, together.rebalanced, together.expected) == (True, True, True, True)
    assert "without static membership each restart is a rebalance" in dynamic.sentence
    assert "all instances were down together" in together.sentence
