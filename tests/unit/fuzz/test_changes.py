"""A change from a line of the Java program, and what the planner has of it."""

from typing import Any

import pytest
from fuzz.__main__ import graded, run, shown
from fuzz.changes import Change, Known, change
from fuzz.grading import Grade
from kstreams_runbooks.errors import BadInput

TEXT = """Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [in])
      --> sum
    Processor: sum (stores: [{store}])
      --> none
      <-- KSTREAM-SOURCE-0000000000

"""

FACTS = {"store totals": "is empty"}


def declared(store: str) -> dict[str, Any]:
    one: dict[str, Any] = {"kind": "key_value", "window": None, "size_ms": None, "key": "user", "value_serde": "long"}
    topic: dict[str, Any] = {"partitions": None, "key": "user", "joined_with": []}
    one |= {"source_table": False, "aggregate": "count", "join": None}
    return {"stores": {store: one}, "suppressions": {}, "topics": {"in": topic}}


def renamed(answer: str = "state") -> Change:
    return change(
        {
            "number": 3,
            "kinds": ["store renamed"],
            "edits": ["store renamed: aggregate #2"],
            "before": TEXT.format(store="sums"),
            "after": TEXT.format(store="totals"),
            "declared_before": declared("sums"),
            "declared_after": declared("totals"),
            "cluster": {"in": 4},
            "truth": {"answer": answer, "needs": ["migrate"], "warnings": {}, "facts": FACTS, "kept": ["x"]},
        }
    )


def test_what_the_planner_has_differs() -> None:
    """Declarations have no partitions unless a team writes them down; a cluster has nothing else."""
    one = renamed()
    old, new = one.known(Known.DECLARED)
    assert (set(old.stores), set(new.stores), old.topics["in"].partitions) == ({"sums"}, {"totals"}, None)
    old, _ = one.known(Known.CLUSTER)
    assert (old.stores, old.config, old.topics["in"].partitions, old.topics["in"].key) == ({}, None, 4, None)
    old, _ = one.known(Known.BOTH)
    assert (set(old.stores), old.topics["in"].partitions, old.topics["in"].key) == ({"sums"}, 4, "user")


def test_a_change_is_graded_once_for_each_of_what_is_known() -> None:
    """A renamed store is migrated."""
    rows = {row.known: row for row in graded(renamed())}
    assert rows.keys() == set(Known)
    assert rows[Known.BOTH].grade is Grade.EXACT
    assert rows[Known.BOTH].answer.runbooks == ("store_migration",)
    assert all(row.visible for row in rows.values())


def test_a_declaration_that_the_planner_rejects_is_not_known() -> None:
    """The sentence is kept, the run goes on."""
    one = renamed()
    wrong = change(
        {
            "number": 3,
            "kinds": [],
            "edits": [],
            "before": one.before,
            "after": one.after,
            "declared_before": declared("another"),
            "declared_after": declared("totals"),
            "cluster": {},
            "truth": {"answer": "roll", "needs": [], "warnings": {}, "facts": {}, "kept": []},
        }
    )
    [row] = [row for row in graded(wrong) if row.known is Known.DECLARED]
    assert row.grade is Grade.UNKNOWN
    assert row.answer.rejected.startswith("stores.another: the topology has no store of that name")


def test_one_change_is_shown_with_both_descriptions_truth_and_findings() -> None:
    """All that a person needs to judge who is right."""
    text = "\n".join(shown(renamed()))
    assert "stores: [sums]" in text
    assert "stores: [totals]" in text
    assert "truth: state, needs migrate" in text
    assert "  store totals: is empty" in text
    assert "  kept: x" in text
    assert "with declarations and cluster: exact; proceed store_migration" in text
    assert "danger, store-renamed, totals" in text


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"COUNT": "0"}, "COUNT=0"),
        ({"COUNT": "many"}, "COUNT=many"),
        ({"FORMAT": "xml"}, "FORMAT=xml"),
        ({"ONLY": "3"}, "ONLY=3: of no seed"),
    ],
)
def test_a_bad_option_is_named_before_anything_is_built(environ: dict[str, str], message: str) -> None:
    """Without Java and Maven."""
    with pytest.raises(BadInput, match=message):
        run(environ)
