"""What a cutover refuses before anything has changed, each with a near miss that is none."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.cutoverable import may_cut_over, readers_as_planned
from kstreams_runbooks.model.readings.cutover import (
    CopyingSide,
    CutoverReading,
    DownstreamReading,
    GroupOnOutput,
    KeptFor,
    PairedOutput,
    SideReading,
)
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome

OLD = SideReading(
    "orders", "orders", ("orders-control",), ("totals",), ("orders-totals-changelog", "orders-v2-changelog"), 0
)
NEW = SideReading("orders-v2", "orders-v2", ("orders-control",), ("totals-v2",), ("orders-v2-totals-changelog",), 12)
COPIER = CopyingSide("orders-copier", "exactly_once", ("orders-in",), ("orders-control",))
CHAIN = CopyingSide("orders-chain", "exactly_once", ("orders-control",), ("orders-filled",))
OUTPUT = PairedOutput("totals", "totals-v2", 4, 4, "exact")
BILLING = DownstreamReading(
    "billing", "consumer", "billing", "classic", ("totals",), (("in", "totals"),), "exactly_once", ("billing-1",)
)


def reading(**changes: Any) -> CutoverReading:
    """Two sides behind one copier, and one group that reads the output of the old one."""
    of = CutoverReading(
        old=OLD,
        new=NEW,
        copier=COPIER,
        chain=(),
        outputs=(OUTPUT,),
        readers=(GroupOnOutput("totals", "billing", "billing"),),
        downstream=(BILLING,),
        most_unread=1_000,
    )
    return replace(of, **changes)


def refused(**changes: Any) -> str:
    """The only reason of a refusal."""
    verdict = may_cut_over(reading(**changes))
    assert verdict.outcome is Outcome.REFUSE
    [reason] = verdict.reasons
    return reason


def proceeds(**changes: Any) -> tuple[str, ...]:
    """The findings of one that may go on."""
    verdict = may_cut_over(reading(**changes))
    assert verdict.outcome is Outcome.PROCEED, verdict.text
    return tuple(one.id for one in verdict.findings)


def test_two_sides_behind_a_copier_may_change() -> None:
    """Names that begin alike are other names: an internal topic of one side is not the other's."""
    assert proceeds() == ()
    assert may_cut_over(reading()).reasons == ("orders-v2 may take over from orders; billing moves",)


def test_without_a_copier_there_is_no_exact_seam() -> None:
    """The refusal names the runbook that puts one in front."""
    assert "no copier is in front of it" in refused(copier=None)
    assert refused(copier=None).endswith("use adopt_control_topic first")


@pytest.mark.parametrize("field", ["copier", "chain"])
def test_a_copier_that_may_repeat_is_refused(field: str) -> None:
    """In front, and in a chain."""
    repeats = replace(COPIER if field == "copier" else CHAIN, delivery="at_least_once")
    reason = refused(**{field: repeats if field == "copier" else (repeats,)})
    assert reason.startswith(f"copier {repeats.name}: it copies at_least_once (expected exactly_once)")


def test_no_person_is_asked_while_inputs_are_held() -> None:
    """Copier, chain and old side act themselves; the new side is not touched, and a group may be moved by a person."""
    for changes in (
        {"copier": replace(COPIER, acts=False)},
        {"chain": (replace(CHAIN, acts=False),)},
        {"old": replace(OLD, acts=False)},
    ):
        assert "no person is asked while inputs are held" in refused(**changes)
    assert proceeds(new=replace(NEW, acts=False)) == ()


def test_a_person_has_until_half_of_what_is_kept_to_move_a_group() -> None:
    """The approval has the time; one that is not known is found before the old side is down."""
    by_hand = replace(BILLING, acts=False, kept=(KeptFor("retention.ms of totals", 7_200_000),))
    [finding] = may_cut_over(reading(downstream=(by_hand,))).findings
    assert finding.id == "downstream-by-a-person"
    assert finding.message.endswith(
        "it may move for 3,600 s after the seam (half of retention.ms of totals, 2.0 h); meanwhile orders is down"
    )
    hidden = replace(by_hand, kept=(KeptFor("retention.ms of totals", Missing("not reported")),))
    verdict = may_cut_over(reading(downstream=(hidden,)))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.text == (
        "until when billing may move, which a person does, is not known: retention.ms of totals: not reported"
    )


def test_a_topic_that_both_sides_have_is_refused() -> None:
    """By its exact name; the same group too."""
    both = replace(OLD, outputs=("totals", "totals-v2"))
    shared = refused(old=both, outputs=(OUTPUT, replace(OUTPUT, old="totals-v2")))
    assert shared.startswith("output totals-v2: orders and orders-v2 share it")
    assert "internal topic orders-v2-totals-changelog:" in refused(
        old=replace(OLD, internal=("orders-v2-totals-changelog",))
    )
    assert "its application.id orders is that of orders" in refused(new=replace(NEW, group_id="orders"))
    assert (
        "orders writes it (expected: the copier)"
        in may_cut_over(reading(new=replace(NEW, inputs=("orders-control", "totals")))).reasons[0]
    )


def test_an_input_that_the_copier_does_not_write_would_go_on() -> None:
    """Of either side; what a chain writes is held with it, unless the chain reads something else too."""
    for side in ("old", "new"):
        own = OLD if side == "old" else NEW
        reason = refused(**{side: replace(own, inputs=("orders-control", "orders-control-2"))})
        assert reason.startswith(f"input orders-control-2 of {own.application}: copier orders-copier does not write it")
    filled = replace(NEW, inputs=("orders-filled",))
    assert proceeds(new=filled, chain=(CHAIN,)) == ()
    assert "input orders-filled of orders-v2" in refused(new=filled)
    assert "copier orders-chain: it also reads orders-in" in refused(
        new=filled, chain=(replace(CHAIN, inputs=("orders-control", "orders-in")),)
    )
    assert "no input was found" in refused(new=replace(NEW, inputs=()))


def test_windows_that_are_open_at_the_seam_are_named_if_a_side_may_have_other_partitions() -> None:
    """Of outputs that depend on stream time, behind a chain that a side reads."""
    late, filled = replace(OUTPUT, kind="late_sensitive"), replace(NEW, inputs=("orders-filled",))
    assert proceeds(outputs=(late,)) == ()
    assert proceeds(new=filled, chain=(CHAIN,), outputs=(late,)) == ("windows-at-the-seam",)
    [finding] = may_cut_over(reading(new=filled, chain=(CHAIN,), outputs=(late,))).findings
    assert (finding.severity, finding.object) == ("danger", "totals")
    assert "one side reads orders-filled" in finding.message


def test_every_output_has_one_that_stands_for_it_with_its_partitions_and_class() -> None:
    """Otherwise its readers lose records, their order, or what was compared."""
    assert "no output of orders-v2 stands for it" in refused(outputs=(), downstream=(), readers=())
    assert "no output of orders-v2 stands for it" in refused(outputs=(replace(OUTPUT, new=""),))
    assert "output totals-v3: orders-v2 does not write it" in refused(outputs=(replace(OUTPUT, new="totals-v3"),))
    assert "has 6 partitions (totals has 4)" in refused(outputs=(replace(OUTPUT, new_partitions=6),))
    unknown = replace(OUTPUT, kind=None, asked=("output_semantics.totals.kind",))
    assert refused(outputs=(unknown,)).endswith("declare it in the fleet entry: give output_semantics.totals.kind")


@pytest.mark.parametrize("kind", ["exact", "exact_without_fields", "late_sensitive"])
def test_an_output_that_gates_is_no_finding(kind: str) -> None:
    """It is compared, and an unequal one ends the run."""
    assert proceeds(outputs=(replace(OUTPUT, kind=kind),)) == ()


@pytest.mark.parametrize("kind", ["wall_clock", "not_comparable"])
def test_an_output_that_is_never_promised_is_a_danger(kind: str) -> None:
    """The approver reads of it."""
    assert proceeds(outputs=(replace(OUTPUT, kind=kind),)) == ("output-not-promised",)


def test_a_group_that_no_entry_declares_would_stay_behind() -> None:
    """With the lines that declare it; one that is declared and not named stays behind too."""
    stranger = GroupOnOutput("totals", "audit")
    reason = refused(readers=(stranger, *reading().readers))  # type: ignore[misc]
    assert "declare it with `kind: consumer` and `inputs: [totals]`" in reason
    assert "kafka-consumer-groups --delete-offsets --group audit --topic totals" in reason
    assert "billing: it reads totals and would stay" in refused(downstream=())
    assert proceeds(readers=(*reading().readers, GroupOnOutput("totals", "orders-v2", "orders-v2"))) == ()  # type: ignore[misc]


def test_a_group_that_reads_an_output_that_its_entry_lacks_is_refused() -> None:
    """It would be moved from one output and stay on the other."""
    other = GroupOnOutput("counts", "billing", "billing")
    assert "billing: it reads counts and would stay on the output" in refused(readers=(*reading().readers, other))  # type: ignore[misc]


def test_a_group_that_cannot_be_moved_exactly_is_refused() -> None:
    """Without a setting that names the output, as a streams group, or with transactions that nobody could see."""
    assert "no setting names totals" in refused(downstream=(replace(BILLING, settings=(("in", "totals-v2"),)),))
    assert "a streams group (expected classic or consumer)" in refused(
        downstream=(replace(BILLING, group_type="Streams"),)
    )
    assert "its transactional ids are not declared" in refused(downstream=(replace(BILLING, transactional_ids=()),))
    streams = replace(BILLING, kind="streams", transactional_ids=())
    assert proceeds(downstream=(streams,)) == (), "those of Kafka Streams follow from its application.id"
    repeats = replace(BILLING, delivery="at_least_once", transactional_ids=())
    assert proceeds(downstream=(repeats,)) == ("downstream-may-repeat",)
    other = replace(BILLING, topics=("totals", "windows"), settings=(("a", "totals"), ("b", "windows")))
    assert "billing: windows is not an output of orders" in refused(downstream=(other,))


def test_a_new_side_that_is_behind_has_not_caught_up() -> None:
    """At the limit it has."""
    assert "1,001 records are left to read (limit 1,000)" in refused(new=replace(NEW, unread=1_001))
    assert proceeds(new=replace(NEW, unread=1_000)) == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"old": replace(OLD, unread=Missing("hidden"))},
        {"new": replace(NEW, unread=Missing("hidden"))},
        {"outputs": (replace(OUTPUT, old_partitions=Missing("hidden")),)},
        {"outputs": (replace(OUTPUT, new_partitions=Missing("hidden")),)},
        {"readers": Missing("hidden")},
    ],
)
def test_what_is_not_known_is_never_taken_for_fine(changes: dict[str, Any]) -> None:
    """Without a certain refusal it is inconclusive; with one it is refused."""
    verdict = may_cut_over(reading(**changes))
    assert (verdict.outcome, "hidden" in verdict.text) == (Outcome.INCONCLUSIVE, True)
    assert may_cut_over(reading(**changes, copier=None)).outcome is Outcome.REFUSE


def test_a_group_that_came_since_the_plan_is_refused() -> None:
    """It would stay on the old output; those that the plan moves keep their offsets there."""
    moves = GroupOnOutput("totals", "billing", "billing")
    same = readers_as_planned(reading(), (moves,))
    assert (same.outcome, same.text) == (
        Outcome.PROCEED,
        "1 groups use the outputs of orders, as when this was planned",
    )
    assert readers_as_planned(reading(), ()).outcome is Outcome.PROCEED
    new = readers_as_planned(reading(), (moves, GroupOnOutput("totals", "reports")))
    assert new.outcome is Outcome.REFUSE
    assert "group reports: it reads totals, and no fleet entry declares it" in new.text
    declared = readers_as_planned(reading(), (moves, GroupOnOutput("totals", "reports", "reports")))
    assert declared.text.startswith("reports: it reads totals and would stay on the output of orders")
    unknown = readers_as_planned(reading(), Missing("hidden"))
    assert (unknown.outcome, unknown.text) == (
        Outcome.INCONCLUSIVE,
        "the groups that read the outputs of orders: hidden",
    )
