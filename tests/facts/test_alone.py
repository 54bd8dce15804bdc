"""Plans from topology facts alone, next to the plans that each case of tests/apps/topologies expects.

`python -m lab.facts_judged` prints the table of docs/measured.md.
"""

from kstreams_runbooks.decide.change.rules import fired
from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.decide.comparison.subjects import subjects
from kstreams_runbooks.rules import topology_change_rules
from lab.facts_alone import SIDES, pair_sides
from lab.facts_judged import judged, table
from world.pairs import expected

# A share of the cases whose program has what they declare. If fewer are right, a reader or a rule has lost facts.
_RIGHT = 0.66
# Of all cases: what a case declares and its program does not have, no reader finds.
_MOST_DECLARED_ALONE = 0.12
# Answers that code cannot give: a person has to declare what a lambda computes, and the cluster has the partitions.
_MOST_NOT_KNOWN = 0.31


def test_no_plan_is_milder_than_the_change_of_its_program_needs() -> None:
    """An answer that differs is for a person, or the case declares what its program does not have."""
    found = table()
    assert (found["unsafe"], found["wrong"]) == ({}, {})


def test_most_plans_need_no_declaration() -> None:
    """And each case is counted once."""
    counts = {kind: sum(about.values()) for kind, about in table().items()}
    cases = sum(counts.values())
    assert cases == len(expected()) - 1  # one topology that no release builds
    assert counts["right"] >= _RIGHT * (cases - counts["not in the program"])
    assert counts["not in the program"] <= _MOST_DECLARED_ALONE * cases
    assert counts["not known"] <= _MOST_NOT_KNOWN * cases


def test_a_change_of_a_key_that_only_code_computes_is_never_taken_as_none() -> None:
    """The descriptions are equal, and so are all facts."""
    for case in ("group-by-computes-other-key", "select-key-computes-other-key-before-count"):
        assert judged(case).kind == "not known"


def test_an_upgrade_of_the_library_changes_nothing_of_a_program() -> None:
    """Facts that have other shapes in the two releases are compared by what they mean."""
    old, new = pair_sides("3.4.1"), pair_sides("4.3.1")
    both = [one for one in old.keys() & new.keys() if old[one].topology == new[one].topology]
    assert len(both) >= 580
    found = set()
    for one in both:
        rows = fired(subjects(Compared(old[one], new[one])), topology_change_rules())
        found |= {(finding.id, *one) for finding in rows.findings if finding.severity != "info"}
    # A store on local disks alone is lost in any roll without static members, and no other case has one.
    unlogged = {("logging-of-count-enabled", "before"), ("logging-of-count-disabled", "after")}
    # From 3.8 on a restore of a global store calls its processor, and no other case has one.
    processed = {("plain-global-store-becomes-table", "before"), ("global-table-becomes-plain-store", "after")}
    assert found == {
        *(("only-copy-moves-in-a-roll", *one) for one in unlogged),
        *(("global-store-restored-by-processor", *one) for one in processed),
    }
    assert {side for _, side in both} == set(SIDES)
