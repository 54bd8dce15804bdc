"""How long processing may stop before windows drop the records of the backlog, and what is never asked about."""

import json
from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.basis import with_restore
from kstreams_runbooks.decide.plans.longest_stop import (
    dropping_stores,
    expected_drops,
    late_losses,
    late_stores,
    longest_stop,
    may_stop,
    moves_tasks,
    needs_orders,
    pace_of,
    with_moved_tasks,
)
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.ledger.codec import call_again, encode, encode_call
from kstreams_runbooks.model.readings.disorder import LateStore, PartitionOrder, Stop
from kstreams_runbooks.model.readings.hold import HoldForecast, HoldPart
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, Described, Window, WindowKind
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from world.samples import declared, reading
from world.sides import COUNTS, described, known
from world.two_holds import two_holds

# 500 records a second on two partitions, at most two seconds out of order.
IN_ORDER = tuple(PartitionOrder("orders", number, 100_000, 400_000, 2_000) for number in (0, 1))
DIRECT = """Topologies:
   Sub-topology: 0
    Source: in (topics: [orders])
      --> count
    Processor: count (stores: [counts])
      --> out
      <-- in
    Sink: out (topic: counted)
      <-- count
"""


def version(store: DeclaredStore, text: str = COUNTS) -> Described:
    return replace(described(declares=Declaration(stores={"counts": store})), text=text)


def windowed(grace_ms: int = 120_000, kind: WindowKind = "tumbling", **more: Any) -> DeclaredStore:
    return DeclaredStore(kind="window", window=Window(kind, 10_000, grace_ms, **more))


def late(store: DeclaredStore | None = None, text: str = COUNTS, partitions: int = 2) -> tuple[LateStore, ...]:
    return late_stores((version(store or windowed(), text),), known(orders=partitions))


def judged(
    found: tuple[LateStore, ...],
    seconds: float,
    orders: Any = IN_ORDER,
    *,
    accepted: str = "",
    asks: bool = False,
    rolls: bool = False,
) -> Verdict:
    return may_stop(found, Stop(seconds, "its inputs are held", rolls), orders, accepted, asks=asks)


def rolled(
    found: tuple[LateStore, ...], seconds: float, orders: Any = IN_ORDER, unread: tuple[str, ...] = (), **more: Any
) -> Verdict:
    """Of a roll of so many seconds an instance."""
    stop = Stop(seconds, "an instance is restarted", rolls=True, **more)
    return may_stop(found, stop, orders, "", asks=False, unread=unread)


def test_a_hold_longer_than_half_of_the_grace_is_refused_with_the_most_that_is_lost() -> None:
    """500 records a second for 140 s are 70,000, each in one window."""
    verdict = judged(late(), 140)
    assert verdict.outcome is Outcome.REFUSE
    [reason] = verdict.reasons
    assert reason == (
        "store counts drops records that come more than 120 s late, and its inputs are held for up to 140 s (limit "
        "58 s: half of that less the 2 s by which records of orders are out of order): afterwards it may drop up "
        "to 70,000 records in up to 70,000 windows at 500 records a second, that of the last 200,000 (400 s); make the "
        "stop shorter, or accept the loss: give accept_late_loss a reason"
    )


@pytest.mark.parametrize(("seconds", "outcome"), [(58, Outcome.PROCEED), (58.1, Outcome.REFUSE)])
def test_the_disorder_of_the_inputs_is_taken_off(seconds: float, outcome: Outcome) -> None:
    """Half of 120 s, less the 2 s by which a record comes behind a newer one."""
    assert judged(late(), seconds).outcome is outcome


def test_a_reason_lets_it_go_on_and_the_approval_has_the_bound() -> None:
    """As a danger on the store."""
    verdict = judged(late(), 140, accepted="replayed at night")
    assert verdict.outcome is Outcome.PROCEED
    [finding] = verdict.findings
    assert (finding.id, finding.severity, finding.object) == ("late-after-stop", "danger", "counts")
    assert "up to 70,000 records" in finding.message
    assert finding.message.endswith("accepted with the reason: replayed at night")


def test_an_undo_is_never_refused_and_shows_what_it_may_drop() -> None:
    """The application may be down already; the question of the undo has the store."""
    verdict = judged(late(), 140, asks=True)
    assert verdict.outcome is Outcome.PROCEED
    assert [finding.id for finding in verdict.findings] == ["late-after-stop"]


@pytest.mark.parametrize(
    ("store", "text", "partitions"),
    [
        (windowed(), COUNTS, 1),
        (windowed(), DIRECT, 2),
        (DeclaredStore(kind="key_value"), COUNTS, 2),
    ],
    ids=["one partition", "each task reads one partition", "no windows"],
)
def test_what_loses_nothing_however_long_it_is_held(store: DeclaredStore, text: str, partitions: int) -> None:
    """Near misses: nothing is asked, and no record is read for it."""
    found = late(store, text, partitions)
    assert found == ()
    assert judged(found, 1_000_000).outcome is Outcome.PROCEED


def test_a_grace_that_is_not_known_is_not_known_and_the_cure_is_its_declaration() -> None:
    """An acceptance in the form goes on."""
    found = late(DeclaredStore())
    verdict = judged(found, 14)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "whether it is a window is not declared; declare stores.counts.kind" in verdict.reasons[0]
    assert "; make the stop shorter, or accept the loss: give accept_late_loss a reason" in verdict.reasons[0]
    two = (found[0], replace(found[0], store="totals"))
    assert "declare stores.counts.kind; the same of totals; make the stop" in judged(two, 14).text
    assert judged(found, 14, accepted="no windows, we know").outcome is Outcome.PROCEED


def test_inputs_that_cannot_be_read_are_not_known_unless_the_stop_is_too_long_anyway() -> None:
    """A stop within half of the grace depends on the order of the inputs."""
    unread = Missing("orders-0: these credentials may not read it; allow Read")
    verdict = judged(late(), 20, unread)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "allow Read" in verdict.reasons[0]
    assert judged(late(), 61, unread).outcome is Outcome.REFUSE


def test_a_version_that_is_not_described_is_not_known_and_never_without_late_stores() -> None:
    """With an acceptance the approver reads it."""
    why = ("release 4.3.1 is not described: exit 1",)
    stop = Stop(14, "it is stopped")
    verdict = may_stop((), stop, (), "", asks=False, unread=why)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.reasons == (
        "which stores drop records as late is not known, and it is stopped for up to 14 s: release 4.3.1 is not "
        "described: exit 1; correct that, or accept the loss: give accept_late_loss a reason",
    )
    accepted = may_stop((), stop, (), "no windows, we know", asks=False, unread=why)
    assert (accepted.outcome, [one.severity for one in accepted.findings]) == (Outcome.PROCEED, ["danger"])


def test_inputs_that_were_not_read_at_all_are_not_known() -> None:
    """An empty reading is not an order."""
    assert judged(late(), 20, ()).outcome is Outcome.INCONCLUSIVE


def test_a_store_without_known_inputs_has_no_order_that_was_read() -> None:
    """Such as one behind a pattern that matches no topic that is known."""
    [one] = late()
    assert judged((replace(one, inputs=()),), 20).outcome is Outcome.INCONCLUSIVE


def test_a_grace_of_zero_is_one_standing_finding() -> None:
    """It drops late records also while nothing is stopped; no run is refused for it."""
    found = late(windowed(0))
    verdict = judged(found, 140)
    assert verdict.outcome is Outcome.PROCEED
    assert [finding.id for finding in verdict.findings] == ["grace-of-zero"]
    assert needs_orders(found) == ()


@pytest.mark.parametrize(
    ("store", "said"),
    [
        (windowed(kind="hopping", advance_ms=2_500), "70,000 records in up to 280,000 windows at 500"),
        (windowed(kind="session"), "70,000 records in up to 70,000 windows at 500"),
        (windowed(kind="sliding"), "70,000 records, in an unknown number of windows at 500"),
        (DeclaredStore(kind="versioned", history_retention_ms=120_000), "up to 70,000 records at 500"),
    ],
    ids=["hopping", "session", "sliding", "versioned"],
)
def test_the_windows_at_risk_by_kind(store: DeclaredStore, said: str) -> None:
    """Four windows overlap where the advance is a quarter of the size."""
    assert said in judged(late(store), 140).reasons[0]


def test_the_inputs_are_looked_at_before_each_roll() -> None:
    """Also before one of a few seconds."""
    assert needs_orders(late()) == ("orders",)
    assert rolled(late(), 29) == Verdict(Outcome.PROCEED, ("no store drops records because of the stop",))
    assert rolled(late(), 70).outcome is Outcome.REFUSE


@pytest.mark.parametrize(
    ("grace_ms", "seconds", "orders", "outcome", "asked"),
    [
        # A quarter of the grace; half of it is left for the disorder of the inputs.
        (120_000, 29, 50_000, Outcome.PROCEED, "(limit 10 s: half of that less the 50 s by which records of orders"),
        (120_000, 30, 30_000, Outcome.PROCEED, ""),
        (120_000, 30, 31_000, Outcome.PROCEED, "(limit 29 s"),
        (120_000, 31, 31_000, Outcome.REFUSE, ""),
        (86_400_000, 11, 1_000, Outcome.PROCEED, ""),
        (86_400_000, 11, None, Outcome.PROCEED, "whether that is too long is not known: no broker answers"),
        (120_000, 31, None, Outcome.INCONCLUSIVE, ""),
    ],
)
def test_a_short_roll_is_asked_about_and_a_longer_one_stops(
    grace_ms: int, seconds: float, orders: int | None, outcome: Outcome, asked: str
) -> None:
    """A danger with the bound in the approval; nothing if the grace is large enough for both."""
    read = Missing("no broker answers") if orders is None else (replace(IN_ORDER[0], step_back_ms=orders),)
    verdict = rolled(late(windowed(grace_ms)), seconds, read)
    assert verdict.outcome is outcome
    assert [(one.id, one.severity) for one in verdict.findings] == [("late-after-stop", "danger")] * bool(asked)
    assert all(asked in one.message for one in verdict.findings)


def test_a_short_roll_asks_about_a_grace_that_is_not_known() -> None:
    """One sentence of all such stores; 30 s is no longer than a rebalance."""
    [found] = late(DeclaredStore())
    verdict = rolled((found, replace(found, store="totals")), 11)
    assert verdict.outcome is Outcome.PROCEED
    [finding] = verdict.findings
    assert (finding.severity, finding.object) == ("danger", "counts")
    assert finding.message == (
        "may drop records as late after an instance is restarted for up to 11 s: whether it is a window is not "
        "declared; declare stores.counts.kind; the same of totals"
    )
    assert rolled((found,), 31).outcome is Outcome.INCONCLUSIVE
    assert judged((found,), 11).outcome is Outcome.INCONCLUSIVE


def test_a_short_roll_asks_about_a_version_that_is_not_described() -> None:
    """Which windows it has is not known."""
    why = ("release 4.3.1 is not described: exit 1",)
    verdict = rolled((), 14, unread=why)
    assert (verdict.outcome, [(one.severity, one.object) for one in verdict.findings]) == (
        Outcome.PROCEED,
        [("danger", "stores")],
    )
    assert "release 4.3.1 is not described: exit 1" in verdict.findings[0].message
    assert rolled((), 31, unread=why).outcome is Outcome.INCONCLUSIVE


def test_one_store_may_stop_a_roll_that_is_short_for_another() -> None:
    """The other one is a finding of the refusal."""
    found = (*late(), replace(late(windowed(40_000))[0], store="totals"))
    verdict = rolled(found, 29, (replace(IN_ORDER[0], step_back_ms=50_000),))
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons[0].startswith("store totals drops records that come more than 40 s late")
    assert [one.object for one in verdict.findings] == ["counts"]


def test_a_restore_of_unknown_length_is_not_taken_for_none() -> None:
    """Neither of a stop that is otherwise short enough nor of a roll; one that is too long anyway is refused."""
    why = "the size of the changelogs is not known: no right"
    for rolls in (False, True):
        verdict = may_stop(late(), Stop(14, "it is stopped", rolls, longer=why), IN_ORDER, "", asks=False)
        assert verdict.outcome is Outcome.INCONCLUSIVE
        assert f"for up to 14 s and the time of a restore; whether that is too long is not known: {why}" in verdict.text
    long = may_stop(late(), Stop(140, "it is stopped", longer=why), IN_ORDER, "", asks=False)
    assert long.outcome is Outcome.REFUSE
    assert "how many it may drop then is not known" in long.text
    assert may_stop((), Stop(14, "it is stopped", longer=why), (), "", asks=False).outcome is Outcome.PROCEED


def test_the_cost_of_a_restore_whose_size_is_not_known() -> None:
    """The forecast of the stop has why; a size of 0 is a size."""
    plan = restart_plan(reading(), declared(), None, {}, (), (), "code", at_once=True)
    for size, longer in ((Missing("no right"), "the size of a-changelog is not known: no right"), (0, "")):
        costs = tuple(with_restore(cost, size, topics=("a-changelog",)) for cost in plan.costs)
        stop = longest_stop(replace(plan, costs=costs), None)
        assert stop is not None
        assert stop.longer == longer


def test_tasks_that_move_in_a_roll_are_restored_first() -> None:
    """Dynamic members, and static ones that are away for longer than their session, or may be."""
    plan = restart_plan(reading(), declared(), None, {"audit": "true"}, (), (), "code", at_once=False)
    costs = tuple(replace(cost, session_ms=45_000) for cost in plan.costs)
    static = replace(plan, costs=costs, facts=replace(plan.facts, static_membership=True))
    dynamic = replace(static, facts=replace(plan.facts, static_membership=False))
    assert not moves_tasks(static)
    assert moves_tasks(dynamic)
    assert moves_tasks(replace(static, costs=tuple(replace(cost, session_ms=None) for cost in costs)))
    assert moves_tasks(replace(static, costs=tuple(replace(cost, session_ms=9_000) for cost in costs)))
    assert not moves_tasks(replace(dynamic, facts=replace(dynamic.facts, instances=("orders-1",))))
    assert not moves_tasks(replace(dynamic, stages=()))
    stop = Stop(10, "an instance is restarted", rolls=True)
    moved = with_moved_tasks(stop, (version(windowed()),), 500_000_000)
    assert (moved.seconds, moved.what) == (110, "an instance is restarted and its tasks are restored elsewhere")
    assert "no right" in with_moved_tasks(stop, (version(windowed()),), Missing("no right")).longer
    standby = described(declares=Declaration(config={"num.standby.replicas": "1"}))
    assert with_moved_tasks(stop, (standby,), Missing("no right")) == stop
    assert with_moved_tasks(stop, (standby, version(windowed())), 500_000_000).seconds == 110


def test_what_is_unread_when_a_stop_begins_is_part_of_the_bound() -> None:
    """It is caught up behind the same stop."""
    stop = Stop(140, "its inputs are held", unread=1_000)
    [loss] = late_losses(late(), stop, IN_ORDER)
    assert loss.records == 71_000
    assert loss.at == ("1,000 that may be unread before it, and 500 records a second, that of the last 200,000 (400 s)")
    [unknown] = late_losses(late(), replace(stop, unread=Missing("orders-1: no end")), IN_ORDER)
    assert unknown.records == Missing("orders-1: no end")


def test_every_store_that_drops_late_records_is_expected_to_drop_none_unless_it_is_forecast() -> None:
    """What `verify` compares: also a store in order, and one of a stop that is short enough."""
    versions, seen = (version(windowed()),), known(orders=2)
    every = dropping_stores(versions, seen)
    for seconds, bound in ((20, 0), (140, 70_000)):
        losses = late_losses(late_stores(versions, seen), Stop(seconds, "it is stopped"), IN_ORDER)
        assert [(one.late.store, one.records) for one in expected_drops(every, losses)] == [("counts", bound)]
    in_order = dropping_stores((version(windowed(), DIRECT),), seen)
    assert [one.records for one in expected_drops(in_order, ())] == [0]
    assert dropping_stores((version(DeclaredStore(kind="key_value")),), seen) == ()
    [always] = expected_drops(dropping_stores((version(windowed(0)),), seen), ())
    assert always.records == Missing("its grace is 0: it drops late records at any time")


def test_the_decision_is_made_again_from_what_the_ledger_keeps() -> None:
    """As `evidence --recheck` does."""
    inputs: dict[str, Any] = {
        "late": late(),
        "stop": Stop(140, "it is stopped"),
        "orders": IN_ORDER,
        "accepted": "",
        "asks": False,
    }
    verdict = may_stop(**inputs)
    kept = json.loads(json.dumps(encode_call(may_stop, inputs, verdict)))
    assert call_again(may_stop, kept) == encode(verdict)


def test_of_two_versions_the_least_grace_counts() -> None:
    """The side that serves afterwards may be either: an undo starts the old one."""
    both = (version(windowed(120_000)), version(windowed(20_000)))
    [found] = late_stores(both, known(orders=2))
    assert found.grace_ms == 20_000
    [unknown] = late_stores((*both, version(DeclaredStore())), known(orders=2))
    assert isinstance(unknown.grace_ms, Missing)


def test_the_longest_stop_of_a_plan() -> None:
    """The forecast of a hold; the slowest restart; nothing for a plan that starts no instance."""
    plan = restart_plan(reading(), declared(), None, {"audit": "true"}, (), (), "code", at_once=False)
    slowest = max(cost.gap_s[1] for cost in plan.costs)
    assert longest_stop(plan, None) == Stop(slowest, "an instance is restarted", rolls=True)
    assert longest_stop(replace(plan, at_once=True), None) == Stop(slowest, "it is stopped")
    held = HoldForecast((HoldPart("stop", 1.0, 260.0, ""),), ())
    assert longest_stop(plan, held) == Stop(260.0, "its inputs are held")
    assert longest_stop(replace(plan, stages=()), None) is None


def test_what_comes_back_merged_by_time_counts_by_its_pace() -> None:
    """Fifteen seconds at the pace in place of the hold; never longer than the hold, and only if each copier merges."""
    plan = two_holds()
    [side] = plan.sides
    merging = {"order": "by-time", "pace": "6"}

    def copied(*settings: dict[str, str]) -> Plan:
        first = side.facts.at_start[0]
        at_start = tuple(replace(first, settings=tuple(sorted(each.items()))) for each in settings)
        return replace(plan, sides=(replace(side, facts=replace(side.facts, at_start=at_start)),))

    assert pace_of(copied(merging), "") == pace_of(copied(merging), "copier") == 6
    for other in (
        {},
        {"order": "by-time"},
        {"pace": "6"},
        {**merging, "order": "as-read"},
        {**merging, "num.stream.threads": "2"},
        {**merging, "group.protocol": "streams"},
        *({**merging, "pace": pace} for pace in ("fast", "1", "0.5", "-2", "1e3", "inf", "nan", "")),
    ):
        assert pace_of(copied(other), "") is None, other
    assert pace_of(copied(), "") is None
    assert pace_of(copied(merging, merging), "") is None, "several instances do not merge"
    held = HoldForecast((HoldPart("stop", 1.0, 260.0, ""),), ())
    goes_on = replace(plan, stages=())
    stop = longest_stop(goes_on, held, 6)
    assert stop is not None
    assert stop.seconds == 90
    assert may_stop(late(windowed(190_000)), stop, IN_ORDER, "", asks=False).outcome is Outcome.PROCEED
    refused = may_stop(late(windowed(180_000)), replace(stop, cure="let copy merge"), IN_ORDER, "", asks=False)
    assert "merged by time, 6 times as fast, so that its tasks may be apart for up to 90 s" in refused.text
    assert "may drop up to 130,000 records" in refused.text, "all of the hold, at 500 a second"
    assert "; let copy merge, make the stop shorter, or accept the loss" in refused.text
    assert longest_stop(goes_on, held, 60) == Stop(260.0, "its inputs are held")
    assert plan.bounces
    assert longest_stop(plan, held, 6) == Stop(260.0, "its inputs are held"), "stopped, it reads what came unmerged"
