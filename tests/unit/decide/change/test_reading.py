"""Exactly what follows from each case of tests/apps/topologies: an extra finding fails as a missing one does.

Covers decide/change/library, decide/change/rules, decide/comparison/boundary, decide/comparison/compared,
decide/comparison/facts, decide/comparison/state/feeding, decide/comparison/state/kinds, decide/comparison/operators,
decide/comparison/state/origins, decide/comparison/state/persistent, decide/comparison/settings,
decide/comparison/whole, decide/topology/graph, decide/topology/upstream
"""

from collections import Counter
from functools import cache

import pytest
from kstreams_runbooks.decide.change.reading import ChangeReading, read_change
from kstreams_runbooks.decide.comparison.contradictions import check_declaration
from kstreams_runbooks.present.change.document import exit_code
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from world.pairs import DECLARED, catalogue, compared, expected

IDS = sorted({rule.id for rule in topology_change_rules()})
FEWEST_COMBINED, FEWEST_SAFE = 10, 12
ROLLS = {"verdict": "proceed", "runbooks": ["rolling_bounce"], "exit_code": 0}


@cache
def reading(case: str) -> ChangeReading:
    """The case, read."""
    versions = compared(case)
    rules = topology_change_rules(), upgrade_path_rules()
    return read_change(versions.before, versions.after, *rules, catalogue=catalogue(case))


@pytest.mark.parametrize("case", expected())
def test_exactly_what_follows(case: str) -> None:
    """Rules, those that only a stronger one covers, what cannot be told, the verdict and the runbooks."""
    found, row = reading(case), expected()[case]
    told = {one.id for one in found.uncovered}
    assert sorted({one.id for one in found.findings}) == row["rules"]
    assert sorted({one.id for one in found.findings} - told) == row.get("covered", [])
    assert sorted({one.id for one in found.undecided}) == row.get("undecided", [])
    assert found.plan.verdict == row["verdict"]
    assert list(found.plan.runbooks) == row["runbooks"]
    assert exit_code(found) == row["exit_code"]


@pytest.mark.parametrize("rule", IDS)
def test_every_rule_fires_somewhere_and_nearly_does_elsewhere(rule: str) -> None:
    """A rule that no case shows is not known to work; one that never stays silent says nothing."""
    assert any(rule in row["rules"] for row in expected().values())
    assert any(rule in row.get("near_miss_of", []) for row in expected().values())


@pytest.mark.parametrize("case", [case for case, row in expected().items() if "near_miss_of" in row])
def test_what_is_nearly_a_case_of_a_rule_is_none(case: str) -> None:
    """Neither fired nor undecided."""
    row = expected()[case]
    assert not set(row["near_miss_of"]) & {*row["rules"], *row.get("undecided", [])}
    assert set(row["near_miss_of"]) <= set(IDS)


def test_enough_cases_combine_two_changes_and_enough_are_safe() -> None:
    """Safe ones have everything declared: nothing is left undecided."""
    rows = expected().values()
    assert sum("combines" in row for row in rows) >= FEWEST_COMBINED
    safe = [row for row in rows if all(row[key] == value for key, value in ROLLS.items()) and "undecided" not in row]
    assert len(safe) >= FEWEST_SAFE


def test_each_case_has_its_declarations_and_none_is_left_over() -> None:
    """A case without declarations would be judged by its text alone, unnoticed."""
    there = {str(file.parent.relative_to(DECLARED)) for file in DECLARED.rglob("*.yaml")}
    assert there == set(expected())
    for case in there:
        check_declaration(compared(case).before)
        check_declaration(compared(case).after)


def test_the_guides_clicks_with_a_filter() -> None:
    """The number of the unnamed count's store moves, and its changelog is left behind; the filter did it."""
    found = reading("filter-before-unnamed-count")
    assert {one.id for one in found.findings} == {
        "operator-added-or-removed",
        "generated-name-shifted",
        "generated-internal-name",
    }
    [shifted] = [one for one in found.findings if one.id == "generated-name-shifted"]
    assert "because KSTREAM-FILTER-0000000001 was added" in shifted.message
    assert shifted.runbooks == ("store_migration", "reset_and_cleanup", "blue_green_cutover")


def test_the_guides_daily_orders() -> None:
    """By the text alone it is told that the key changes; the declared window says until when."""
    ids = {"repartition-added", "key-changed-before-store", "store-moved-subtopology"}
    assert {one.id for one in reading("daily-orders-grouped-by-cleaned-key").uncovered} == ids
    undeclared = reading("daily-orders-grouped-by-cleaned-key/nothing-declared")
    assert {one.id for one in undeclared.uncovered} == {*ids, "repartition-cuts-off-store"}
    [key] = [
        one for one in reading("daily-orders-grouped-by-cleaned-key").findings if one.id == "key-changed-before-store"
    ]
    assert "until stream time is 1 d 2 h past the change" in key.message


def test_nothing_covers_what_covers_it() -> None:
    """Two rules that cover each other would both go silent."""
    covers: dict[str, set[str]] = {}
    for rule in topology_change_rules():
        covers.setdefault(rule.id, set()).update(rule.covers)
    assert {covered for each in covers.values() for covered in each} <= set(IDS)
    for rule_id, below in covers.items():
        reached = set(below)
        while more := {further for one in reached for further in covers[one]} - reached:
            reached |= more
        assert rule_id not in reached


def test_rules_have_one_row_for_each_of_their_cases() -> None:
    """Two rows of one rule on one kind of thing must not ask for the same."""
    rows = Counter((rule.id, rule.on, tuple(sorted(rule.fires_when.items()))) for rule in topology_change_rules())
    assert max(rows.values()) == 1
