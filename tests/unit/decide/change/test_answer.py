"""What to run for a change: one runbook for everything where there is one, and nothing where that cannot be told."""

from typing import get_args

import pytest
from kstreams_runbooks.decide.change.answer import MILDEST_FIRST, change_plan, open_questions
from kstreams_runbooks.decide.change.rules import Fired
from kstreams_runbooks.model.topology.change import ChangeFinding, ChangeRunbook, Undecided, Undeclared
from kstreams_runbooks.model.verdicts import Outcome, Severity

RESET: tuple[ChangeRunbook, ...] = ("reset_and_cleanup",)


def finding(*runbooks: ChangeRunbook, severity: Severity = "danger", covered_by: str | None = None) -> ChangeFinding:
    return ChangeFinding("found", severity, "orders", "because", "source", runbooks, covered_by)


def open_(*runbooks: ChangeRunbook, severity: Severity = "danger", refuse: bool = False) -> Undecided:
    asked = (Undeclared("stores.orders", "key", "old, new"),)
    return Undecided("perhaps", severity, "orders", asked, runbooks, refuse=refuse)


def test_nothing_found_is_rolled() -> None:
    """With nothing open either."""
    assert change_plan(Fired((), ())).runbooks == ("rolling_bounce",)


@pytest.mark.parametrize(
    ("asked", "plan"),
    [
        ([("rolling_bounce",), ("stop_and_restart",)], ("stop_and_restart",)),
        ([("library_bump",), ("rolling_bounce",)], ("library_bump",)),
        ([("stop_and_restart",), ("store_migration", "reset_and_cleanup")], ("store_migration",)),
        (
            [("control_topic_flush", "reset_and_cleanup"), ("store_migration", "reset_and_cleanup")],
            ("reset_and_cleanup",),
        ),
        (
            [("control_topic_flush",), ("rolling_bounce",), ("suppress_removal",)],
            ("suppress_removal", "control_topic_flush"),
        ),
    ],
)
def test_the_mildest_that_covers_everything(
    asked: list[tuple[ChangeRunbook, ...]], plan: tuple[ChangeRunbook, ...]
) -> None:
    """A migration or a reset restarts everything as well; where nothing covers all, several in order."""
    assert change_plan(Fired(tuple(finding(*each) for each in asked), ())).runbooks == plan


def test_a_covered_finding_asks_for_nothing() -> None:
    """The stronger one asks already."""
    found = (finding("stop_and_restart"), finding("blue_green_cutover", covered_by="found"))
    assert change_plan(Fired(found, ())).runbooks == ("stop_and_restart",)


def test_one_refusal_is_a_refusal() -> None:
    """And the runbooks that the rest would need are not named."""
    refused = ChangeFinding("broken", "danger", "a", "counts differ", "source", (), refuse=True)
    plan = change_plan(Fired((finding("stop_and_restart"), refused), ()))
    assert (plan.verdict, plan.runbooks, plan.reasons) == (Outcome.REFUSE, (), ("a: counts differ",))


def test_what_nobody_declares_is_inconclusive_and_named() -> None:
    """Where state is kept, what may be wrong with it matters."""
    for found in ((), (finding("stop_and_restart"),)):
        plan = change_plan(Fired(found, (open_("reset_and_cleanup"),)))
        assert (plan.verdict, plan.runbooks) == (Outcome.INCONCLUSIVE, ())
        assert plan.reasons == (
            "declare key of orders, or `unchanged: [key]` if the change touches none of them; perhaps depends on it",
        )


def test_what_nobody_declares_does_not_matter_where_the_plan_answers_it() -> None:
    """A reset forgets what a key may have spoilt; stopping everything is right with static members and without."""
    reset = finding("reset_and_cleanup")
    assert change_plan(Fired((reset,), (open_("reset_and_cleanup"),))).runbooks == ("reset_and_cleanup",)
    stop = finding("stop_and_restart")
    assert change_plan(Fired((stop,), (open_("stop_and_restart"),))).runbooks == ("stop_and_restart",)
    assert change_plan(Fired((), (open_("rolling_bounce", severity="info"),))).runbooks == ("rolling_bounce",)


def test_a_warning_that_may_hold_is_for_somebody_to_weigh() -> None:
    """Even where it asks for no more than what is run: results may be mixed, and nobody would be told."""
    warning = open_("rolling_bounce", severity="warning")
    assert change_plan(Fired((), (warning,))).verdict is Outcome.INCONCLUSIVE
    assert change_plan(Fired((finding("stop_and_restart"),), (warning,))).verdict is Outcome.INCONCLUSIVE


def test_where_state_is_given_up_anyway_the_plan_answers_what_may_be_as_well() -> None:
    """An unnamed store before which something changed: the migration would do, the reset does in any case."""
    plan = change_plan(Fired((finding("store_migration", "reset_and_cleanup"),), (open_("reset_and_cleanup"),)))
    assert (plan.verdict, plan.runbooks) == (Outcome.PROCEED, ("reset_and_cleanup",))
    assert plan.reasons == ("store_migration is enough if it is declared that none of this holds: perhaps",)


def test_a_second_application_is_not_built_for_an_open_question() -> None:
    """An answer may spare it; if the plan needs it anyway, nothing is asked."""
    open_question = (open_("blue_green_cutover"),)
    asked = change_plan(Fired((finding("reset_and_cleanup", "blue_green_cutover"),), open_question))
    assert (asked.verdict, asked.runbooks) == (Outcome.INCONCLUSIVE, ())
    needed = change_plan(Fired((finding("blue_green_cutover"),), open_question))
    assert (needed.verdict, needed.runbooks) == (Outcome.PROCEED, ("blue_green_cutover",))


def test_what_may_have_to_be_refused_is_never_gone_on_with() -> None:
    """Not even by the strongest runbook."""
    plan = change_plan(Fired((finding("blue_green_cutover"),), (open_(refuse=True),)))
    assert plan.verdict is Outcome.INCONCLUSIVE


def test_new_fields_of_declarations_are_one_reason_for_all_stores() -> None:
    """Three for each store would hide the rest. A key is one of them unless more is asked of its store anyway."""
    asked = [
        Undecided(f"{field}-changed", "danger", store, (Undeclared(f"stores.{store}", field, "old, new"),), RESET)
        for store in ("orders", "totals")
        for field in ("logging", "aggregate")
    ]
    kind = Undecided("kind-changed", "danger", "orders", (Undeclared("stores.orders", "kind", "old, new"),), RESET)
    plan = change_plan(Fired((), (*asked, kind, open_(*RESET))))
    assert plan.reasons == (
        "declare kind, key of stores.orders (old, new); kind-changed, perhaps depend on it",
        "declare aggregate, logging of orders, totals, or `unchanged: [aggregate, logging]` if the change touches none "
        "of them; logging-changed, aggregate-changed depend on it",
    )


def test_the_open_questions_are_those_that_change_the_plan() -> None:
    """An info and a rule that the plan answers anyway are not asked."""
    matters, light = open_(*RESET), open_("rolling_bounce", severity="info")
    assert open_questions(Fired((), (matters, light))) == (matters,)
    assert open_questions(Fired((finding(*RESET),), (matters, light))) == ()


def test_each_other_runbook_has_its_reason() -> None:
    """What a larger one costs, and what a milder one leaves open."""
    plan = change_plan(Fired((finding("store_migration", *RESET),), ()))
    assert [(one.runbook, one.why_not) for one in plan.alternatives] == [
        (
            "reset_and_cleanup",
            "works too, but it deletes all state and processes the inputs again from their beginning; store_migration "
            "is enough",
        )
    ]
    wider = change_plan(Fired((finding("partition_increase", "blue_green_cutover"),), ()))
    assert [one.why_not for one in wider.alternatives] == [
        "no key loses its state, but it needs a second application, with its own topics and state, next to the first"
    ]
    both = change_plan(Fired((finding("store_migration", *RESET), finding("control_topic_flush", *RESET)), ()))
    assert {one.why_not for one in both.alternatives} == {"not enough: it does not repair found (orders)"}


def test_every_runbook_has_its_rank() -> None:
    """One without would never be chosen."""
    assert sorted(MILDEST_FIRST) == sorted(get_args(ChangeRunbook))
