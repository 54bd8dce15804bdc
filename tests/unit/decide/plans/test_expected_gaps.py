"""Forecasts that earlier restarts correct, and gaps that a timeout of the group does not cover."""

from dataclasses import replace

from kstreams_runbooks.decide.plans.expected_gaps import with_expected_gaps, with_full_restores
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.restarts import EarlierRestart, GroupTimes, Restart
from world.samples import declared, reading

RESTART = Restart(
    "orders", "orders-2", 1, False, False, True, 10_000, 11_000, 14_000, 16_000, 24_200, 45_000, "the default"
)
SLOW = EarlierRestart("library_bump/slow", RESTART)
FAST = EarlierRestart("library_bump/fast", replace(RESTART, instance="orders-1", running_ms=15_000))


def plan_of(*, at_once: bool = False, static: bool = True) -> Plan:
    entry = declared(static_membership=static)
    return restart_plan(reading(), entry, None, {"a": "1"}, (), (), "code", at_once=at_once)


def times(session_ms: int | None = 45_000, poll_ms: int | None = 300_000) -> tuple[GroupTimes, ...]:
    source = "the default of Kafka Streams 3.4.1"
    return tuple(GroupTimes("orders", name, session_ms, source, poll_ms, source) for name in ("orders-1", "orders-2"))


def test_the_slower_of_forecast_and_measured_counts_with_its_source() -> None:
    """Also for the instance that was quick: both run the same program on the same machines."""
    made = plan_of()
    corrected = with_expected_gaps(made, times(), (FAST, SLOW))
    assert [cost.gap_s for cost in made.costs] == [(4, 11), (4, 11)]
    assert [cost.gap_s for cost in corrected.costs] == [(4, 15), (4, 15)]
    why = corrected.costs[0].why
    assert "; here the slowest of 2 restarts took 14.2 s until RUNNING (orders-2 in library_bump/slow)" in why
    assert why.endswith("session.timeout.ms 45,000, max.poll.interval.ms 300,000 (the default of Kafka Streams 3.4.1)")
    assert (corrected.digest, corrected.findings) == (made.digest, made.findings)
    assert corrected.costs[0].session_ms == 45_000


def test_a_quick_restart_does_not_shorten_the_forecast() -> None:
    """One measurement is no upper limit."""
    [first, _] = with_expected_gaps(plan_of(), times(), (FAST,)).costs
    assert first.gap_s == (4, 11)
    assert "; here the restart before took 5.0 s until RUNNING (orders-1 in library_bump/fast)" in first.why


def test_only_restarts_of_the_same_kind_count() -> None:
    """Not those of all at once, with cleared state, with another membership, of another application."""
    others = tuple(
        replace(SLOW, restart=replace(RESTART, **field))
        for field in ({"at_once": True}, {"cleared": True}, {"static": False}, {"application": "copier"})
    )
    assert with_expected_gaps(plan_of(), times(), others).costs[0].gap_s == (4, 11)
    together = with_expected_gaps(plan_of(at_once=True), times(), (others[0], SLOW)).costs[0]
    assert together.gap_s == (9, 15)
    assert "; here the restart before took 14.2 s" in together.why


def test_a_gap_over_the_session_timeout_of_a_static_member_is_a_finding() -> None:
    """The figure may come from an earlier run."""
    [finding] = with_expected_gaps(plan_of(), times(session_ms=12_000), (SLOW,)).findings
    assert (finding.id, finding.severity, finding.object) == ("restart-outlasts-session", "warning", "orders")
    assert finding.message.startswith("orders-1, orders-2: expected gap up to 15 s, session.timeout.ms 12,000 (")
    assert "set session.timeout.ms above 15 s" in finding.message
    assert with_expected_gaps(plan_of(), times(session_ms=12_000), ()).findings == ()


def test_an_unknown_session_timeout_is_a_finding_too() -> None:
    """Its source is the reason."""
    [finding] = with_expected_gaps(plan_of(), times(session_ms=None), ()).findings
    assert (finding.id, finding.severity) == ("session-timeout-unknown", "warning")
    why = with_expected_gaps(plan_of(), times(session_ms=None), ()).costs[0].why
    assert "session.timeout.ms is not known (the default" in why


def test_members_that_are_removed_and_groups_that_are_emptied_wait_for_no_session() -> None:
    """Their rebalance is part of the plan."""
    assert with_expected_gaps(plan_of(static=False), times(session_ms=1_000), ()).findings == ()
    assert with_expected_gaps(plan_of(at_once=True), times(session_ms=1_000, poll_ms=1_000), ()).findings == ()


def test_a_gap_over_max_poll_interval_is_a_finding_with_any_membership() -> None:
    """It is also how long a rebalance waits for a member."""
    for static in (True, False):
        [finding] = with_expected_gaps(plan_of(static=static), times(poll_ms=5_000), ()).findings
        assert finding.id == "restart-outlasts-poll-interval"
        assert "max.poll.interval.ms 5,000" in finding.message


TOPICS = ("orders-counts-changelog",)


def test_a_defect_that_costs_a_full_restore_is_in_the_gap() -> None:
    """With the defect and what is read; a size that is not known makes the gap open."""
    made = with_full_restores(plan_of(), {"": ("KAFKA-20663",)}, {"": (100_000_000, TOPICS)})
    assert [cost.gap_s for cost in made.costs] == [(4, 31), (4, 31)]
    assert "; then a full restore that KAFKA-20663 may cost, from orders-counts-changelog: " in made.costs[0].why
    unknown = with_full_restores(plan_of(), {"": ("KAFKA-20663",)}, {"": (Missing("no brokers"), TOPICS)})
    assert unknown.costs[0].longer == "the size of orders-counts-changelog is not known: no brokers"
    assert (made.digest, unknown.digest) == (plan_of().digest, plan_of().digest)


def test_a_restore_is_not_counted_twice() -> None:
    """What the plan clears in whole restores once; a side without the defect keeps its gaps."""
    made = plan_of(at_once=True)
    clears = replace(made, stages=tuple(replace(one, clear_state=True) for one in made.bounces))
    assert with_full_restores(clears, {"": ("KAFKA-20663",)}, {"": (100_000_000, TOPICS)}) == clears
    assert with_full_restores(made, {}, {}) == made
