"""What a change does to each part, and which rows fire; every text is what the real library printed."""

from pathlib import Path

import pytest
from kstreams_runbooks.decide.change_rules import fired
from kstreams_runbooks.decide.topology_diff import subjects
from kstreams_runbooks.decide.topology_text import parse_topology
from kstreams_runbooks.model.topology_change import ChangeFinding, ChangeRule, Subject
from kstreams_runbooks.rules import topology_change_rules

PAIRS = Path(__file__).parents[2] / "apps" / "topologies" / "pairs"


def found(pair: str) -> tuple[ChangeFinding, ...]:
    """Findings of a pair by the rows that there are."""
    before, after = (
        parse_topology((PAIRS / pair / f"{side}.txt").read_text(encoding="utf-8")) for side in ("before", "after")
    )
    answer = fired(subjects(before, after), topology_change_rules())
    assert answer.undecided == ()
    return answer.findings


@pytest.mark.parametrize(
    ("pair", "ids"),
    [
        (
            "filter-before-unnamed-count",
            {"operator-added-or-removed", "generated-name-shifted", "generated-internal-name"},
        ),
        ("filter-before-named-count", {"operator-added-or-removed"}),
        ("count-store-renamed", {"store-renamed"}),
        (
            "daily-orders-grouped-by-cleaned-key",
            {"repartition-added", "store-moved-subtopology", "mixed-topology-roll"},
        ),
        (
            "group-by-to-group-by-key",
            {"repartition-removed", "store-moved-subtopology", "stale-task-directories", "mixed-topology-roll"},
        ),
        ("grouping-renamed", {"repartition-renamed", "mixed-topology-roll"}),
        ("source-and-sink-renamed", {"names-added-later-safe"}),
        ("sink-topic-changed", {"sink-topic-changed"}),
        ("source-topic-added", {"source-topic-added", "mixed-topology-roll"}),
        ("named-subtopologies-swapped", {"subtopology-renumbered", "store-moved-subtopology", "mixed-topology-roll"}),
        (
            "global-table-added-before-stream",
            {
                "global-store-changed",
                "subtopology-renumbered",
                "store-moved-subtopology",
                "stale-task-directories",
                "operator-added-or-removed",
                "mixed-topology-roll",
            },
        ),
        ("source-topics-listed-in-other-order", set()),
        ("joiner-changed", set()),
    ],
)
def test_the_rows_that_fire(pair: str, ids: set[str]) -> None:
    """Exactly these, by the texts alone."""
    assert {finding.id for finding in found(pair)} == ids


def test_exchanged_names_are_one_danger_and_the_rest_is_covered() -> None:
    """What a person reads is the strongest; the others stay, with what covers them."""
    of_stores = [one for one in found("unnamed-counts-swapped") if "STATE-STORE" in one.object]
    uncovered = [(one.id, one.severity) for one in of_stores if one.covered_by is None]
    assert uncovered == [("aggregations-swapped", "danger")] * 2
    covered = {one.id: one for one in of_stores if one.covered_by}
    assert covered["generated-internal-name"].severity == "info"


def test_a_store_that_takes_anothers_number_reads_its_state() -> None:
    """The first of two counts is removed: the second moves up to its name."""
    [reused] = [one for one in found("first-of-two-unnamed-counts-removed") if one.id == "generated-name-reused"]
    assert "was another operator's" in reused.message
    assert reused.runbook == "reset_and_cleanup"


def test_a_fact_that_is_not_known_leaves_a_rule_undecided() -> None:
    """Neither fired nor passed: it is named, with what has to be declared."""
    rule = ChangeRule("window-size-changed", "store", {"window_changed": True}, "warning", "{name}", "", "")
    stays = Subject("store", "s", {"window_changed": None}, {"name": "s"})
    answer = fired((stays,), (rule,))
    assert answer.findings == ()
    assert [(one.id, one.object, one.unknown) for one in answer.undecided] == [
        ("window-size-changed", "s", ("window_changed",))
    ]
    other = ChangeRule("x", "store", {"window_changed": True, "added": True}, "warning", "{name}", "", "")
    assert fired((Subject("store", "s", {"window_changed": None, "added": False}, {}),), (other,)).undecided == ()
