"""What to run for a change; every text is what the real library printed."""

from typing import get_args

import pytest
from kstreams_runbooks.decide.change_plan import MILDEST_FIRST, ChangePlan, change_plan
from kstreams_runbooks.decide.change_rules import Fired, fired
from kstreams_runbooks.decide.topology_diff import subjects
from kstreams_runbooks.model.topology_change import ChangeFinding, ChangeRunbook
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.rules import topology_change_rules
from pairs import described
from samples import declaration_of


def planned(pair: str, key: str = "page") -> ChangePlan:
    """The plan where every store is declared, alike on both sides but for the key."""
    before, after = described(pair)
    declared = declaration_of(before), declaration_of(after, key=key)
    return change_plan(fired(subjects(before, after, declared), topology_change_rules()))


def test_a_change_between_named_operators_is_rolled() -> None:
    """Nothing has to be done for it."""
    assert planned("filter-before-named-count") == ChangePlan(Outcome.PROCEED, (), ("rolling_bounce",))


@pytest.mark.parametrize(
    ("pair", "runbook"),
    [
        ("filter-before-unnamed-count", "store_migration"),
        ("count-store-renamed", "store_migration"),
        ("unnamed-counts-swapped", "reset_and_cleanup"),
        ("source-topic-added", "stop_and_restart"),
        ("group-by-to-group-by-key", "control_topic_flush"),
        ("sink-topic-changed", "rolling_bounce"),
    ],
)
def test_the_mildest_that_covers_everything(pair: str, runbook: str) -> None:
    """A migration or a reset restarts everything as well, so what only asks for that is covered."""
    found = planned(pair)
    assert (found.verdict, found.runbooks) == (Outcome.PROCEED, (runbook,))


def test_the_guides_regrouped_orders_are_reset_or_go_blue_green() -> None:
    """A new repartition topic and another key: the second is what decides."""
    found = planned("daily-orders-grouped-by-cleaned-key", key="page without what a system cannot take")
    assert found.runbooks == ("reset_and_cleanup",)
    assert found.alternatives == ("blue_green_cutover",)


def test_two_that_nothing_covers_together_are_run_in_order() -> None:
    """A suppression is let run empty before a repartition topic is; the roll in between is part of either."""
    flush = ChangeFinding("a", "danger", "t", "", "", ("control_topic_flush",))
    remove = ChangeFinding("b", "danger", "s", "", "", ("suppress_removal",))
    roll = ChangeFinding("c", "warning", "r", "", "", ("rolling_bounce",))
    assert change_plan(Fired((flush, roll, remove), ())).runbooks == ("suppress_removal", "control_topic_flush")


def test_what_nobody_declares_is_inconclusive_and_named() -> None:
    """Never safe because nobody said otherwise."""
    before, _ = described("filter-before-named-count")
    found = change_plan(fired(subjects(before, before), topology_change_rules()))
    assert (found.verdict, found.runbooks) == (Outcome.INCONCLUSIVE, ())
    assert "clicks-per-page: key-changed-before-store hangs on key_changed, which nobody declares" in found.reasons


def test_every_runbook_has_its_rank() -> None:
    """One without would never be chosen."""
    assert sorted(MILDEST_FIRST) == sorted(get_args(ChangeRunbook))
