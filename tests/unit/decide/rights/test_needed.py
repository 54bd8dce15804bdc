"""The ACLs of each runbook: every row that it needs is in them, and nothing that no row needs."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.rights.needed import CLUSTER, EVERY_RUNBOOK, IMPLIED, needed_acls, rows_of
from kstreams_runbooks.decide.runbooks import RUNBOOKS
from kstreams_runbooks.model.readings.acls import Acl, OwnResources
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.rights import LoginRole, Right
from kstreams_runbooks.rules import rights

DAGS = [row.name for row in RUNBOOKS if row.is_dag]
ONE = "User:runbooks"
PRINCIPALS: dict[LoginRole, str] = {"observer": ONE, "operator": ONE, "spark": ONE, "application": "User:orders"}
OWN = OwnResources(
    application_id="app",
    inputs=("in", "rules"),
    outputs=("out",),
    repartition=("app-by-key-repartition",),
    changelogs=("app-s-changelog",),
    sinks=("out", "more"),
    globals=("lookup",),
    writers=("copier",),
    exactly_once=True,
)
# Rows of runbooks that are planned, commands and tests: no runbook needs them.
ELSEWHERE = {"grow-topics", "test-traffic", "test-traffic-read"}


def acls(runbook: str, own: OwnResources = OWN, **principals: str) -> tuple[Acl, ...]:
    return needed_acls(rights(), runbook, "orders", own, PRINCIPALS | principals).acls  # type: ignore[arg-type]


def granted(runbook: str, own: OwnResources = OWN) -> set[tuple[str, str, str, str]]:
    return {(one.principal, one.operation, one.resource, one.name) for one in acls(runbook, own)}


@pytest.mark.parametrize("row", rights(), ids=lambda row: row.id)
@pytest.mark.parametrize("runbook", DAGS)
def test_a_row_is_in_the_acls_of_a_runbook_if_and_only_if_it_uses_it(runbook: str, row: Right) -> None:
    """Each of its resources has an ACL that allows the operation, for the login that makes the call."""
    changes = runbook not in {"plan_change", "certify_drain"}
    uses = runbook in row.used_by or (changes and EVERY_RUNBOOK in row.used_by)
    found = [one for one in acls(runbook) if row.id in one.rows]
    assert bool(found) is (uses and row.operation != "none"), row.id
    for one in found:
        assert (one.resource, one.principal) == (row.resource, PRINCIPALS[row.by])
        assert row.by in one.roles
        assert one.operation in {row.operation, *IMPLIED.get(row.operation, ())}


def test_no_row_is_there_that_nothing_needs() -> None:
    """Every right is needed by a runbook, apart from those of planned ones and of test traffic."""
    needed = {row.id for runbook in DAGS for row in rows_of(rights(), runbook)}
    assert {row.id for row in rights() if row.operation != "none"} - needed == ELSEWHERE


@pytest.mark.parametrize("runbook", DAGS)
def test_no_acl_is_covered_by_another_one(runbook: str) -> None:
    """Read, Write, Alter and Delete allow Describe: a login gets no second ACL for it."""
    found = acls(runbook)
    for one in found:
        others = [other for other in found if other is not one and other.principal == one.principal]
        for other in (other for other in others if (other.resource, other.name) == (one.resource, one.name)):
            assert other.operation not in IMPLIED.get(one.operation, ()), (one, other)
    assert all(one.rows and one.roles for one in found)


def test_the_bump_in_full() -> None:
    """What it reads with, what it removes members with, and what the application itself needs."""
    observed = {
        *((ONE, "Read", "Topic", name) for name in ("in", "rules", "app-by-key-repartition")),
        *((ONE, "DescribeConfigs", "Topic", name) for name in ("in", "rules", "out", "app-by-key-repartition")),
        *((ONE, "Describe", "Topic", name) for name in ("out", "app-s-changelog")),
        (ONE, "Read", "Group", "app"),
        *((ONE, right, "Cluster", CLUSTER) for right in ("Describe", "DescribeConfigs")),
    }
    internal = ("app-by-key-repartition", "app-s-changelog")
    own = {
        *(("User:orders", "Read", "Topic", name) for name in ("in", "rules", "lookup", *internal)),
        *(("User:orders", "Write", "Topic", name) for name in ("out", "more", *internal)),
        *(("User:orders", "Create", "Topic", name) for name in internal),
        ("User:orders", "Delete", "Topic", "app-by-key-repartition"),
        ("User:orders", "Read", "Group", "app"),
        ("User:orders", "Write", "TransactionalId", "app-"),
    }
    assert granted("library_bump") == observed | own
    none = replace(OWN, exactly_once=False)
    assert granted("library_bump", none) == granted("library_bump") - {
        ("User:orders", "Write", "TransactionalId", "app-")
    }


def test_an_observer_of_its_own_gets_no_right_to_write() -> None:
    """Two logins: the group is described by one, and its members are removed by the other."""
    found = {
        (one.principal, one.operation) for one in acls("library_bump", observer="User:o") if one.resource == "Group"
    }
    assert found == {("User:o", "Describe"), (ONE, "Read"), ("User:orders", "Read")}


def test_a_flush_changes_empty_topics_and_a_reset_internal_ones() -> None:
    empty = {"empty-of-in-for-app", "empty-of-rules-for-app"}
    deleted = {
        runbook: {name for who, right, _, name in granted(runbook) if (who, right) == (ONE, "Delete")}
        for runbook in ("control_topic_flush", "reset_and_cleanup")
    }
    assert deleted["control_topic_flush"] == {*empty, "app-by-key-repartition", "app"}
    assert deleted["reset_and_cleanup"] == {"out", "app-by-key-repartition", "app-s-changelog", "app"}
    created = {name for who, right, _, name in granted("control_topic_flush") if (who, right) == (ONE, "Create")}
    assert created == empty


def test_producers_whose_transactions_count_are_those_of_the_fleet() -> None:
    """The drain has to name who keeps a transaction open: the application, and the writers of its inputs."""
    needed = needed_acls(rights(), "certify_drain", "orders", OWN, PRINCIPALS)
    named = {one.name for one in needed.acls if one.resource == "TransactionalId"}
    assert named == {"app-", "copier-"}
    assert any("other producers" in note for note in needed.notes)


def test_internal_topics_that_are_not_known_are_one_prefix_and_it_says_so() -> None:
    """One ACL for each operation, and a note with the reason."""
    why = Missing("no instance reports its topology")
    needed = needed_acls(
        rights(), "library_bump", "orders", replace(OWN, repartition=why, changelogs=why), {"observer": ONE}
    )
    assert [(one.operation, one.words) for one in needed.acls if one.pattern == "prefixed"] == [
        ("DescribeConfigs", "DescribeConfigs on Topic names that begin with app-"),
        ("Read", "Read on Topic names that begin with app-"),
    ]
    assert len([note for note in needed.notes if "by the prefix app-" in note and why.missing in note]) == 1


def test_undo_says_that_it_needs_what_the_undone_runbook_needs() -> None:
    needed = needed_acls(rights(), "undo", "orders", OWN, PRINCIPALS)
    assert any(note.startswith("undo of a run of control_topic_flush") for note in needed.notes)


def test_a_guarantee_that_is_not_declared_is_a_note() -> None:
    needed = needed_acls(rights(), "undo", "orders", replace(OWN, exactly_once=None), PRINCIPALS)
    assert any("processing_guarantee is not declared" in note for note in needed.notes)
    assert ("User:orders", "Write", "TransactionalId", "app-") in granted("undo", replace(OWN, exactly_once=None))


def test_a_runbook_that_is_no_dag_has_no_rows() -> None:
    assert [row.name for row in RUNBOOKS if not row.is_dag and rows_of(rights(), row.name)] == []
    assert rows_of(rights(), "a-dag-of-a-team") == ()
