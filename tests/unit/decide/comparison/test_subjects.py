"""What a change does to each part, and which rows fire; every text is what the real library printed.

What follows from each pair is in test_expected_changes; here is what a declaration adds and what its absence means.
"""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.change.rules import Fired, fired
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.subjects import subjects
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.change import ChangeRule, Subject, Undeclared
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredTopic, Serde, Window
from kstreams_runbooks.rules import topology_change_rules
from world.pairs import described
from world.samples import declaration_of


def judged(pair: str, *declared: Declaration) -> Fired:
    """What the rows say of a pair, with what the old and the new version declare."""
    before, after = described(pair)
    old, new = declared or (Declaration(), Declaration())
    return fired(subjects(Compared(Side(before, old), Side(after, new))), topology_change_rules())


def test_exchanged_names_are_one_danger_and_the_rest_is_covered() -> None:
    """What a person reads is the strongest; the others stay, with what covers them."""
    of_stores = [one for one in judged("unnamed-counts-swapped").findings if "STATE-STORE" in one.object]
    uncovered = [(one.id, one.severity) for one in of_stores if one.covered_by is None]
    assert uncovered == [("aggregations-swapped", "danger")] * 2
    covered = {one.id: one for one in of_stores if one.covered_by}
    assert covered["generated-internal-name"].severity == "info"


def test_a_fact_that_is_not_known_leaves_a_rule_undecided() -> None:
    """Neither fired nor passed: it is named, with what has to be declared."""
    rule = ChangeRule("window-size-changed", "store", {"window_changed": True}, "warning", "{name}", "", "")
    missing = Undeclared("stores.s", "window", "old, new")
    stays = Subject("store", "s", {"window_changed": None}, {"name": "s"}, {"window_changed": (missing,)})
    answer = fired((stays,), (rule,))
    assert answer.findings == ()
    assert [(one.id, one.object, one.asked) for one in answer.undecided] == [("window-size-changed", "s", (missing,))]
    assert str(missing) == "stores.s.window (old, new)"
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
        ({"window": replace(HOURLY, size_ms=600_000)}, {"window-size-changed", "segments-changed"}),
        ({"window": replace(HOURLY, advance_ms=600_000)}, {"window-size-changed"}),
        ({"window": replace(HOURLY, advance_ms=3_600_000)}, set()),
        ({"window": replace(HOURLY, grace_ms=0)}, {"grace-changed", "segments-changed"}),
        ({"window": replace(HOURLY, emit="on_window_close")}, {"emit-strategy-changed"}),
        ({"kind": "session"}, {"store-type-changed"}),
        ({"retention_ms": 7_200_000}, {"retention-changed", "segments-changed"}),
        ({"retention_ms": 3_900_000}, set()),
        ({"key": "room"}, {"key-changed-before-store"}),
        ({"key_serde": Serde("long")}, {"serde-changed"}),
        ({"value_serde": Serde("json", 2)}, {"serde-changed", "schema-version-missing"}),
    ],
)
def test_what_the_text_does_not_show_is_declared(changes: dict[str, Any], ids: set[str]) -> None:
    """The same text on both sides; exactly what differs in the declarations."""
    old = store(value_serde=Serde("json")) if "value_serde" in changes else store()
    answer = judged("tumbling-window-made-smaller", old, store(**changes))
    assert {one.id for one in answer.findings} == ids
    assert answer.undecided == ()


def test_what_is_not_declared_is_not_safe() -> None:
    """Each rule that hangs on it is named, with the sides that say nothing."""
    for sides, *declared in (
        ("old", Declaration(config={}), store()),
        ("new", store(), Declaration(config={})),
        ("new", store(), store(key=None)),
    ):
        answer = judged("tumbling-window-made-smaller", *declared)
        assert answer.findings == ()
        asked = {missing for one in answer.undecided if one.id == "key-changed-before-store" for missing in one.asked}
        assert Undeclared("stores.readings-store", "key", sides) in asked


@pytest.mark.parametrize(
    ("before", "after", "ids"),
    [
        ({}, {"group.instance.id": "a"}, {"instance-id-of-each-instance", "setting-changed"}),
        ({"group.instance.id": "a"}, {}, {"setting-changed"}),
        ({}, {"processing.guarantee": "at_least_once"}, set()),
        ({}, {"group.protocol": "classic", "topology.optimization": "none"}, set()),
        ({}, {"group.protocol": "streams"}, {"group-protocol-changed", "setting-changed"}),
        ({"state.dir": "/tmp/kafka-streams"}, {}, set()),  # noqa: S108 - the default of the library
    ],
)
def test_a_setting_that_is_not_set_has_the_librarys_default(
    before: dict[str, str], after: dict[str, str], ids: set[str]
) -> None:
    """Writing a default out changes nothing."""
    declared = (replace(store(), config=config) for config in (before, after))
    assert {one.id for one in judged("tumbling-window-made-smaller", *declared).findings} == ids


def test_two_equally_good_matches_leave_it_open_with_both() -> None:
    """Which of two counts that do the same was removed: the one that is left may read the other's state."""
    answer = judged("one-of-two-identical-unnamed-counts-removed")
    [reused] = [one for one in answer.undecided if one.id == "generated-name-reused"]
    assert reused.object == "KSTREAM-AGGREGATE-STATE-STORE-0000000001"
    assert reused.candidates == "KSTREAM-AGGREGATE-STATE-STORE-0000000001 or KSTREAM-AGGREGATE-STATE-STORE-0000000003"
    assert not {"generated-name-reused", "generated-name-shifted"} & {one.id for one in answer.findings}


def test_whether_a_named_operator_is_a_table_is_not_in_the_text() -> None:
    """Its source topic may be its changelog from now on: undecided, not safe."""
    old, new = (Declaration(config={"topology.optimization": value}) for value in ("all", "none"))
    answer = judged("optimization-disabled-for-named-table", old, new)
    assert "optimization-reuse-ktable-source-disabled" in {one.id for one in answer.undecided}


def test_readers_of_a_changed_output_are_named() -> None:
    """As far as they are declared: nobody else knows them."""
    pair = "select-key-computes-other-key-behind-count"
    old = declaration_of(described(pair)[0])
    readers = DeclaredTopic(4, "user", Serde("string"), Serde("json", 1), readers=("billing",))
    new = replace(old, topics={**old.topics, "visit-counts": readers})
    [found] = [one for one in judged(pair, old, new).findings if one.id == "key-changed-in-output"]
    assert found.message.endswith("readers: billing")


TAKEN_OVER = """Topologies:
   Sub-topology: 0
    Source: in-source (topics: [in])
      --> {keeper}
    Processor: {keeper} (stores: [totals])
      --> none
      <-- in-source
"""


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("KSTREAM-AGGREGATE-0000000001", "KSTREAM-TOTABLE-0000000001", True),
        ("KSTREAM-TOTABLE-0000000001", "KSTREAM-REDUCE-0000000001", True),
        ("KSTREAM-TOTABLE-0000000001", "KSTREAM-TOTABLE-0000000001", False),
        ("KSTREAM-AGGREGATE-0000000001", "total", None),
        ("total", "KSTREAM-TOTABLE-0000000001", None),
    ],
)
def test_an_operator_that_aggregates_on_one_side_alone_is_not_the_same(
    before: str, after: str, changed: bool | None
) -> None:
    """A store that an aggregate had, or gets, is taken for the same only if both sides show that none keeps it."""
    sides = (Side(parse_topology(TAKEN_OVER.format(keeper=name))) for name in (before, after))
    [store] = [one for one in subjects(Compared(*sides)) if one.kind == "store" and one.facts["stays"]]
    assert store.facts["aggregate_changed"] is changed
