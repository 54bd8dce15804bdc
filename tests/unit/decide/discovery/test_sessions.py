"""Session timeouts next to the restarts that runs measured."""

from dataclasses import replace

from kstreams_runbooks.decide.discovery.sessions import session_advice
from kstreams_runbooks.model.runs.restarts import EarlierRestart, Restart

MEASURED = Restart(
    application="orders",
    instance="orders-1",
    bounce=1,
    at_once=False,
    cleared=False,
    static=True,
    stop_requested_ms=0,
    stopped_ms=2_000,
    started_ms=2_100,
    back_ms=6_000,
    running_ms=8_000,
    session_ms=45_000,
    session_source="read from its program",
)


def earlier(*restarts: Restart) -> list[EarlierRestart]:
    return [EarlierRestart(f"rolling_bounce/{number}", one) for number, one in enumerate(restarts)]


def test_a_timeout_with_room_is_ready() -> None:
    """The slowest restart of each instance counts, and the roll is the sum of these."""
    slower, second = replace(MEASURED, running_ms=12_000), replace(MEASURED, instance="orders-2")
    answer = session_advice(earlier(MEASURED, slower, MEASURED, second))
    assert answer.status == "ready"
    assert answer.why == (
        "orders-1: slowest of 3 12.0 s, session.timeout.ms 45,000 (read from its program)",
        "orders-2: slowest of 1 8.0 s, session.timeout.ms 45,000 (read from its program)",
        "all of them one after another: 20 s without the gates",
    )


def test_a_timeout_without_room_has_the_value_to_set() -> None:
    """Half more than the slowest: a timeout that is exactly that is enough, one below it is not."""
    answer = session_advice(earlier(replace(MEASURED, session_ms=11_999), replace(MEASURED, instance="orders-2")))
    assert answer.status == "missing"
    assert answer.why[-1] == (
        "set session.timeout.ms of orders-1 to 12,000 or more: half more than the slowest restart"
    )
    assert session_advice(earlier(replace(MEASURED, session_ms=12_000))).status == "ready"


def test_the_newest_timeout_of_an_instance_counts() -> None:
    """It may have been raised since the slow restart."""
    raised = replace(MEASURED, session_ms=60_000)
    assert session_advice(earlier(replace(MEASURED, session_ms=9_000), raised)).status == "ready"
    assert session_advice(earlier(raised, replace(MEASURED, session_ms=9_000))).status == "missing"


def test_what_is_not_known_is_not_ready() -> None:
    """No restart at all, or a timeout that nothing shows."""
    assert session_advice([]).status == "not known"
    unknown = replace(MEASURED, session_ms=None, session_source="no facts")
    answer = session_advice(earlier(unknown))
    assert answer.status == "not known"
    assert "session.timeout.ms not known (no facts)" in answer.why[0]
    assert (
        session_advice(earlier(unknown, replace(MEASURED, instance="orders-2", session_ms=1_000))).status == "missing"
    )


def test_dynamic_members_have_no_timeout_that_covers_a_restart() -> None:
    assert session_advice(earlier(replace(MEASURED, static=False))).status == "not needed"
