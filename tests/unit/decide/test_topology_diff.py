"""What a change does to each part, and which rows fire; every text is what the real library printed."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.change_rules import Fired, fired
from kstreams_runbooks.decide.topology_diff import subjects
from kstreams_runbooks.model.declaration import (
    Declaration,
    DeclaredSuppression,
    DeclaredTopic,
    Format,
    Window,
)
from kstreams_runbooks.model.topology_change import ChangeFinding, ChangeRule, Subject
from kstreams_runbooks.rules import topology_change_rules
from pairs import described
from samples import declaration_of


def judged(pair: str, *declared: Declaration) -> Fired:
    """What the rows say of a pair, with what the old and the new version declare."""
    before, after = described(pair)
    old, new = declared or (Declaration(), Declaration())
    return fired(subjects(before, after, (old, new)), topology_change_rules())


def found(pair: str) -> tuple[ChangeFinding, ...]:
    """Findings by the texts alone."""
    return judged(pair).findings


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
    assert reused.runbooks[0] == "reset_and_cleanup"


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


HOURLY = Window("tumbling", 3_600_000, 300_000)
WINDOWED, _ = described("tumbling-window-made-smaller")


def store(**changes: Any) -> Declaration:
    """The pair about windows with everything declared, and something else of its one store."""
    return declaration_of(WINDOWED, **{"kind": "window", "window": HOURLY, **changes})


@pytest.mark.parametrize(
    ("changes", "ids"),
    [
        ({}, {"processing-logic-only"}),
        ({"window": replace(HOURLY, size_ms=600_000)}, {"window-size-changed"}),
        ({"kind": "join", "window": Window("join", 600_000, 300_000)}, {"join-window-changed"}),
        ({"window": replace(HOURLY, grace_ms=0)}, {"grace-changed"}),
        ({"retention_ms": 1}, {"retention-changed"}),
        ({"key": "room"}, {"key-changed-before-store"}),
        ({"value_format": Format("json", 2)}, {"serde-changed"}),
        ({"value_format": Format("plain")}, {"serde-changed", "schema-version-missing"}),
    ],
)
def test_what_the_text_does_not_show_is_declared(changes: dict[str, Any], ids: set[str]) -> None:
    """The same text on both sides; exactly what differs in the declarations."""
    answer = judged("tumbling-window-made-smaller", store(), store(**changes))
    assert {one.id for one in answer.findings} == ids
    assert answer.undecided == ()


def test_what_is_not_declared_is_not_safe() -> None:
    """Each rule that hangs on it is named, on either side that says nothing."""
    for declared in ((Declaration(), store()), (store(), Declaration()), (store(), store(key=None))):
        answer = judged("tumbling-window-made-smaller", *declared)
        assert answer.findings == ()
        assert ("key-changed-before-store", ("key_changed",)) in [(one.id, one.unknown) for one in answer.undecided]


def test_a_suppression_that_stays_is_compared_and_one_that_goes_is_a_danger() -> None:
    """By its own name, whatever its store is called."""
    final, limited = DeclaredSuppression("until_window_closes"), DeclaredSuppression("until_time_limit", 0)
    pairs = {"suppress-disabled": {"suppress-mode-changed"}, "suppress-buffer-bounded": {"suppress-buffer-changed"}}
    bounded = replace(final, max_records=10_000, when_full="shut_down")
    for pair, new in (("suppress-disabled", limited), ("suppress-buffer-bounded", bounded)):
        answer = judged(pair, Declaration({}, {"final-only": final}), Declaration({}, {"final-only": new}))
        assert {one.id for one in answer.findings} == pairs[pair]
    gone = judged("named-suppress-removed", Declaration({}, {"final-only": final}), Declaration()).findings
    assert [(one.id, one.runbooks) for one in gone if one.severity == "danger"] == [
        ("suppress-removed", ("suppress_removal",))
    ]


@pytest.mark.parametrize(
    ("before", "after", "ids"),
    [
        ({"application.id": "orders"}, {"application.id": "orders-2"}, {"application-id-changed"}),
        ({"group.instance.id": "a"}, {"group.instance.id": "b"}, {"group-instance-id-changed"}),
        ({}, {"group.instance.id": "a"}, set()),
        ({"group.instance.id": "a"}, {}, set()),
        (
            {"processing.guarantee": "at_least_once"},
            {"processing.guarantee": "exactly_once_v2"},
            {"processing-guarantee-changed"},
        ),
        ({"group.protocol": "classic"}, {"group.protocol": "streams"}, {"group-protocol-changed"}),
        ({"state.dir": "/a"}, {"state.dir": "/b"}, {"state-dir-changed"}),
        ({"commit.interval.ms": "100"}, {"commit.interval.ms": "200"}, set()),
    ],
)
def test_settings_that_matter(before: dict[str, str], after: dict[str, str], ids: set[str]) -> None:
    """The same topology; setting and unsetting static membership is what it is for."""
    declared = (replace(store(), config=config) for config in (before, after))
    assert {one.id for one in judged("tumbling-window-made-smaller", *declared).findings} == ids


def test_two_equally_good_matches_leave_it_open_with_both() -> None:
    """Which of two counts that do the same was removed: the one that is left may read the other's state."""
    answer = judged("one-of-two-identical-unnamed-counts-removed")
    [reused] = [one for one in answer.undecided if one.id == "generated-name-reused"]
    assert reused.object == "KSTREAM-AGGREGATE-STATE-STORE-0000000001"
    assert reused.candidates == "KSTREAM-AGGREGATE-STATE-STORE-0000000001 or KSTREAM-AGGREGATE-STATE-STORE-0000000003"
    assert not {"generated-name-reused", "generated-name-shifted"} & {one.id for one in answer.findings}


@pytest.mark.parametrize(
    ("pair", "before", "after", "ids"),
    [
        ("optimization-enabled-for-unnamed-table", "none", "all", {"optimization-reuse-ktable-source-enabled"}),
        ("optimization-enabled-for-unnamed-table", "all", "none", {"optimization-reuse-ktable-source-disabled"}),
        ("repartition-topics-merged-by-optimization", "none", "all", {"optimization-merge-repartition-changed"}),
        ("named-self-join-optimized", "none", "single.store.self.join", {"optimization-self-join-enabled"}),
        ("unnamed-self-join-optimized", "none", "single.store.self.join", {"optimization-self-join-enabled"}),
        (
            "named-self-join-optimization-disabled",
            "single.store.self.join",
            "none",
            {"optimization-self-join-disabled"},
        ),
        ("optimization-enabled-without-effect", "none", "all", set()),
        ("optimization-enabled-for-unnamed-table", "all", "all", set()),
    ],
)
def test_an_optimization_matters_where_it_has_an_effect(pair: str, before: str, after: str, ids: set[str]) -> None:
    """By the setting and the topology together; both of a value and of the list of all."""
    old, new = ({"topology.optimization": value} for value in (before, after))
    answer = judged(pair, Declaration(config=old), Declaration(config=new))
    found = [one for one in answer.findings if one.id.startswith("optimization-")]
    assert {one.id for one in found} == ids
    if pair == "unnamed-self-join-optimized":
        assert [one.severity for one in found] == ["danger"]


def test_whether_a_named_operator_is_a_table_is_not_in_the_text() -> None:
    """Its source topic may be its changelog from now on: undecided, not safe."""
    old, new = (Declaration(config={"topology.optimization": value}) for value in ("all", "none"))
    answer = judged("optimization-disabled-for-named-table", old, new)
    assert "optimization-reuse-ktable-source-disabled" in {one.id for one in answer.undecided}


def test_partitions_and_keys_of_topics_are_declared() -> None:
    """Without state both are bearable; with state the first one is not."""
    for pair, ids in (
        ("select-key-computes-other-key-without-state", {"partition-count-changed", "key-changed-stateless"}),
        ("select-key-computes-other-key-behind-count", {"partition-count-changed", "key-changed-in-output"}),
    ):
        old = declaration_of(described(pair)[0])
        new = replace(old, topics=dict.fromkeys(old.topics, DeclaredTopic(8, "user")))
        answer = judged(pair, old, new)
        assert {one.id for one in answer.findings if one.id != "generated-internal-name"} == ids
        assert answer.undecided == ()


def test_static_members_and_other_topics_come_all_down_together() -> None:
    """The same change without static membership has other rules alone."""
    pair = "repartition-added"
    before, after = map(declaration_of, described(pair))
    static = replace(after, config={"group.instance.id": "one of each"})
    assert "static-assignment-stale" in {one.id for one in judged(pair, before, static).findings}
    assert "static-assignment-stale" not in {one.id for one in judged(pair, before, after).findings}
