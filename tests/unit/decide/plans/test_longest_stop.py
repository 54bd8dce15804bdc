"""How long processing may stop before windows drop the records of the backlog, and what is never asked about."""

import json
from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.longest_stop import late_stores, longest_stop, may_stop, needs_orders
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.ledger.codec import call_again, encode, encode_call
from kstreams_runbooks.model.readings.disorder import LateStore, PartitionOrder, Stop
from kstreams_runbooks.model.readings.hold import HoldForecast, HoldPart
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, Described, Window, WindowKind
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from world.samples import declared, reading
from world.sides import COUNTS, described, known

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


def test_a_hold_longer_than_half_of_the_grace_is_refused_with_the_most_that_is_lost() -> None:
    """500 records a second for 140 s are 70,000, each in one window."""
    verdict = judged(late(), 140)
    assert verdict.outcome is Outcome.REFUSE
    [reason] = verdict.reasons
    assert reason == (
        "store counts drops records that come more than 120 s late, and its inputs are held for up to 140 s (limit "
        "58 s: half of that less the 2 s by which records of orders are out of order): it may drop up to 70,000 "
        "records in up to 70,000 windows afterwards; make the stop shorter, or accept the loss: give "
        "accept_late_loss a reason"
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
    assert judged(two, 14).reasons == (verdict.reasons[0], "the same of totals")
    assert judged(found, 14, accepted="no windows, we know").outcome is Outcome.PROCEED


def test_inputs_that_cannot_be_read_are_not_known_unless_the_stop_is_too_long_anyway() -> None:
    """A stop within half of the grace depends on the order of the inputs."""
    unread = Missing("orders-0: these credentials may not read it; allow Read")
    verdict = judged(late(), 20, unread)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "allow Read" in verdict.reasons[0]
    assert judged(late(), 61, unread).outcome is Outcome.REFUSE


def test_a_version_that_is_not_described_is_not_known_and_never_without_late_stores() -> None:
    """With an acceptance the approver reads it; a short roll is no longer than a rebalance."""
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
    short = Stop(14, "an instance is restarted", rolls=True)
    assert may_stop((), short, (), "", asks=False, unread=why).outcome is Outcome.PROCEED


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
    assert needs_orders(found, Stop(140, "it is stopped")) == ()


@pytest.mark.parametrize(
    ("store", "said"),
    [
        (windowed(kind="hopping", advance_ms=2_500), "70,000 records in up to 280,000 windows afterwards"),
        (windowed(kind="session"), "70,000 records in up to 70,000 windows afterwards"),
        (windowed(kind="sliding"), "70,000 records, in an unknown number of windows, afterwards"),
        (DeclaredStore(kind="versioned", history_retention_ms=120_000), "up to 70,000 records afterwards"),
    ],
    ids=["hopping", "session", "sliding", "versioned"],
)
def test_the_windows_at_risk_by_kind(store: DeclaredStore, said: str) -> None:
    """Four windows overlap where the advance is a quarter of the size."""
    assert said in judged(late(store), 140).reasons[0]


def test_a_short_roll_needs_no_look_and_a_long_one_does() -> None:
    """A quarter of the grace; without a known grace 30 s."""
    assert needs_orders(late(), Stop(30, "an instance is restarted", rolls=True)) == ()
    assert needs_orders(late(), Stop(31, "an instance is restarted", rolls=True)) == ("orders",)
    assert judged(late(), 30, (), rolls=True).outcome is Outcome.PROCEED
    assert judged(late(), 70, rolls=True).outcome is Outcome.REFUSE
    assert judged(late(DeclaredStore()), 11, (), rolls=True).outcome is Outcome.PROCEED
    assert judged(late(DeclaredStore()), 31, (), rolls=True).outcome is Outcome.INCONCLUSIVE


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
