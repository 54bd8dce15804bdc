"""The ACLs of each runbook: every row that it needs is in them, and nothing that no row needs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.rights.needed import (
    CHOICES,
    CLUSTER,
    EVERY_RUNBOOK,
    IMPLIED,
    needed_acls,
    rows_of,
    together,
)
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
    running=("app-by-key-repartition", "app-s-changelog"),
    left=("app-old-changelog",),
    undone=("changed",),
    copied=("sent", "out"),
    sinks=("out", "more"),
    globals=("lookup",),
    writers=("copier",),
    exactly_once=True,
    copies=("in-control",),
)
# Rows of runbooks that are planned, commands and tests: no runbook needs them.
ELSEWHERE = {"test-traffic", "test-traffic-read"}


RETIRES = {"mode": "retire", "retire": "application"}
# Forms that together need every row of a runbook; of an undo those of the undone runs.
FORMS: dict[str, tuple[dict[str, Any], ...]] = {
    "reset_and_cleanup": ({"clean_outputs": ["out"]}, RETIRES),
    "undo": tuple({"undoes": one} for one in ("control_topic_flush", "reset_and_cleanup", "adopt_control_topic")),
}


def acls(
    runbook: str, own: OwnResources = OWN, form: Mapping[str, Any] | None = None, **principals: str
) -> tuple[Acl, ...]:
    who: Any = PRINCIPALS | principals
    return needed_acls(rights(), runbook, "orders", own, who, form or {}).acls


def granted(
    runbook: str, own: OwnResources = OWN, form: Mapping[str, Any] | None = None
) -> set[tuple[str, str, str, str]]:
    return {(one.principal, one.operation, one.resource, one.name) for one in acls(runbook, own, form)}


def writes(runbook: str, form: Mapping[str, Any], operation: str) -> set[str]:
    """What the runbooks' login may do this with."""
    return {name for who, right, _, name in granted(runbook, OWN, form) if (who, right) == (ONE, operation)}


@pytest.mark.parametrize("row", rights(), ids=lambda row: row.id)
@pytest.mark.parametrize("runbook", DAGS)
def test_a_row_is_in_the_acls_of_a_runbook_if_and_only_if_it_uses_it(runbook: str, row: Right) -> None:
    """Each of its resources has an ACL that allows the operation, for the login that makes the call."""
    changes = runbook not in {"plan_change", "certify_drain"}
    uses = runbook in row.used_by or (changes and EVERY_RUNBOOK in row.used_by)
    own = replace(OWN, brought=("app-s-changelog",), is_timed=True)
    every = [one for form in FORMS.get(runbook, ({},)) for one in acls(runbook, own, form)]
    found = [one for one in every if row.id in one.rows]
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
    internal = ("app-by-key-repartition", "app-s-changelog")
    observed = {
        *((ONE, "Read", "Topic", name) for name in ("in", "rules", "app-by-key-repartition")),
        *((ONE, "DescribeConfigs", "Topic", name) for name in ("in", "rules", "out", *internal)),
        *((ONE, "Describe", "Topic", name) for name in ("out", "more", "app-s-changelog")),
        (ONE, "Read", "Group", "app"),
        *((ONE, right, "Cluster", CLUSTER) for right in ("Describe", "DescribeConfigs")),
    }
    own = {
        *(("User:orders", "Read", "Topic", name) for name in ("in", "rules", "lookup", "sent", "out", *internal)),
        *(("User:orders", "Write", "Topic", name) for name in ("out", "more", *internal)),
        *(("User:orders", "Create", "Topic", name) for name in internal),
        ("User:orders", "Delete", "Topic", "app-by-key-repartition"),
        *(("User:orders", "DescribeConfigs", "Topic", name) for name in ("sent", "out")),
        ("User:orders", "Read", "Group", "app"),
        ("User:orders", "Write", "TransactionalId", "app-"),
    }
    assert granted("library_bump") == observed | own
    none = replace(OWN, exactly_once=False)
    assert granted("library_bump", none) == granted("library_bump") - {
        ("User:orders", "Write", "TransactionalId", "app-")
    }


@pytest.mark.parametrize("runbook", ["rolling_bounce", "stop_and_restart", "undo", "reset_and_cleanup"])
def test_the_settings_of_a_group_are_asked_for_where_brokers_keep_its_session(runbook: str) -> None:
    """A classic group has none: nothing is granted for it."""
    right = (ONE, "DescribeConfigs", "Group", "app")
    assert right in granted(runbook, replace(OWN, is_timed=True))
    assert right not in granted(runbook)


@pytest.mark.parametrize("runbook", ["rolling_bounce", "library_bump", "stop_and_restart", "undo"])
def test_settings_of_changelogs_are_asked_for_where_a_plan_judges_them(runbook: str) -> None:
    """Of those that exist; an application without a changelog needs none."""
    right = (ONE, "DescribeConfigs", "Topic", "app-s-changelog")
    assert right in granted(runbook)
    assert right not in granted(runbook, replace(OWN, changelogs=()))


def test_an_observer_of_its_own_gets_no_right_to_write() -> None:
    """Two logins: the group is described by one, and its members are removed by the other."""
    found = {
        (one.principal, one.operation) for one in acls("library_bump", observer="User:o") if one.resource == "Group"
    }
    assert found == {("User:o", "Describe"), (ONE, "Read"), ("User:orders", "Read")}


@pytest.mark.parametrize(
    ("form", "created", "deleted"),
    [
        ({}, {"empty-of-in-for-app", "empty-of-rules-for-app"}, {"app"}),
        ({"empty_topics": {"in": "nothing"}}, {"empty-of-rules-for-app"}, {"app"}),
        ({"switch": "copier", "copier": "c"}, set(), set()),
        ({"switch": "manual"}, set(), set()),
    ],
)
def test_a_flush_changes_what_its_switch_needs(form: dict[str, Any], created: set[str], deleted: set[str]) -> None:
    """Empty topics are for `swap`, those that the form gives are not created, and records go whatever the switch."""
    assert writes("control_topic_flush", form, "Create") == created
    assert writes("control_topic_flush", form, "Delete") == deleted | created
    without = replace(OWN, brought=("app-s-changelog",))
    later = {
        name
        for _, right, _, name in granted("control_topic_flush", without, form)
        - granted("control_topic_flush", OWN, form)
        if right == "Delete"
    }
    assert later == {"app-by-key-repartition"}
    assert any(
        "--release" in one for one in needed_acls(rights(), "control_topic_flush", "a", OWN, PRINCIPALS, form).notes
    )


@pytest.mark.parametrize(
    ("form", "created", "deleted"),
    [
        ({}, {"app-by-key-repartition", "app-s-changelog"}, {"app-by-key-repartition", "app-s-changelog"}),
        ({"create_internal_topics": False}, set(), {"app-by-key-repartition", "app-s-changelog"}),
        ({"mode": "offsets", "clean_outputs": ["out"]}, set(), {"out"}),
        ({"mode": "state"}, set(), set()),
        ({"mode": "retire"}, set(), {"app-old-changelog"}),
        (RETIRES, set(), {"app-old-changelog", "app"}),
    ],
)
def test_a_reset_changes_what_its_mode_needs(form: dict[str, Any], created: set[str], deleted: set[str]) -> None:
    assert writes("reset_and_cleanup", form, "Create") == created
    assert writes("reset_and_cleanup", form, "Delete") == deleted


def test_what_an_application_alone_writes_or_reads_globally_is_not_swapped() -> None:
    """An input that others write too is, although it is one of its sinks."""
    own = replace(OWN, inputs=("in", "more", "lookup"), sinks=("in", "more"), loops=("more",))
    created = {name for who, right, _, name in granted("control_topic_flush", own) if (who, right) == (ONE, "Create")}
    assert created == {"empty-of-in-for-app"}


@pytest.mark.parametrize(("switch", "reads"), [("swap", True), ("copier", False), ("manual", False)])
def test_the_application_itself_reads_the_empty_topics_of_a_swap(switch: str, reads: bool) -> None:
    """Without that its Streams client ends while the inputs are held."""
    found = granted("control_topic_flush", OWN, {"switch": switch})
    assert (("User:orders", "Read", "Topic", "empty-of-in-for-app") in found) is reads
    assert ("User:orders", "Read", "Topic", "in") in found


def test_a_version_that_a_run_brings_decides_what_goes_and_what_comes() -> None:
    """A flush deletes records of what it no longer reads; a reset deletes what runs, and creates what comes."""
    own = replace(
        OWN,
        repartition=("app-by-key-repartition", "app-new-repartition"),
        brought=("app-new-repartition", "app-s-changelog"),
    )
    flush = {name for who, right, _, name in granted("control_topic_flush", own) if (who, right) == (ONE, "Delete")}
    assert {"app-by-key-repartition", "app-new-repartition"} & flush == {"app-by-key-repartition"}
    found = needed_acls(rights(), "control_topic_flush", "a", own, PRINCIPALS, {}).acls
    committed = {one.name for one in found if one.resource == "Topic" and "offsets-on-topics" in one.rows}
    assert committed == {"in", "rules", "empty-of-in-for-app", "empty-of-rules-for-app", "app-new-repartition"}
    reset = granted("reset_and_cleanup", own)
    created = {name for who, right, _, name in reset if (who, right) == (ONE, "Create")}
    assert created == {"app-new-repartition", "app-s-changelog"}
    deleted = {name for who, right, _, name in reset if (who, right) == (ONE, "Delete")}
    assert deleted == {"app-by-key-repartition", "app-s-changelog"}


def test_every_condition_is_a_choice_of_a_form() -> None:
    """A misspelled one would never hold."""
    for row in rights():
        for key in row.names_of:
            for field, _, values in (one.partition("=") for one in key.split()[1:]):
                known = DAGS if field == "undoes" else CHOICES[field]
                assert set(values.split("|")) <= {*known}, (row.id, key)


def test_a_run_about_two_applications_needs_the_acls_of_both_once() -> None:
    copier = replace(OWN, application_id="copier", inputs=("raw",), outputs=("in",), repartition=(), changelogs=())
    parts = [needed_acls(rights(), "control_topic_flush", "a", own, PRINCIPALS, {}) for own in (OWN, copier)]
    both = together(parts)
    assert {(one.operation, one.name) for one in both.acls if "copier-checks" in one.rows} == {
        ("DescribeConfigs", "sent"),
        ("DescribeConfigs", "out"),
    }
    names = [(one.principal, one.operation, one.resource, one.name) for one in both.acls]
    assert len(names) == len(set(names))
    assert {(ONE, "Read", "Group", "app"), (ONE, "Read", "Group", "copier")} <= set(names)
    # The copier's output is Described, and the application's input Read.
    assert [right for who, right, _, name in names if (who, name) == (ONE, "in")] == ["DescribeConfigs", "Read"]
    assert both.application == "a"


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


@pytest.mark.parametrize(
    ("undone", "more"),
    [
        ({"undoes": "library_bump"}, set()),
        ({"undoes": "control_topic_flush"}, {("Delete", "changed")}),
        ({"undoes": "control_topic_flush", "switch": "manual"}, {("Delete", "changed")}),
        ({"undoes": "reset_and_cleanup"}, {("Create", "changed")}),
        ({"undoes": "reset_and_cleanup", "mode": "offsets"}, set()),
    ],
)
def test_an_undo_needs_what_it_takes_back(undone: dict[str, str], more: set[tuple[str, str]]) -> None:
    """Next to what every runbook needs; a run that is not named is a note."""
    found = {(right, name) for _, right, _, name in granted("undo", OWN, undone) - granted("undo")}
    assert found == more
    notes = needed_acls(rights(), "undo", "orders", OWN, PRINCIPALS, undone).notes
    assert not [note for note in notes if note.startswith("undo of a run")]
    notes = needed_acls(rights(), "undo", "orders", OWN, PRINCIPALS).notes
    assert [note for note in notes if note.startswith("undo of a run of control_topic_flush")]


def test_a_guarantee_that_is_not_declared_is_a_note() -> None:
    needed = needed_acls(rights(), "undo", "orders", replace(OWN, exactly_once=None), PRINCIPALS)
    assert any("processing_guarantee is not declared" in note for note in needed.notes)
    assert ("User:orders", "Write", "TransactionalId", "app-") in granted("undo", replace(OWN, exactly_once=None))


def test_a_runbook_that_is_no_dag_has_no_rows() -> None:
    assert [row.name for row in RUNBOOKS if not row.is_dag and rows_of(rights(), row.name)] == []
    assert rows_of(rights(), "a-dag-of-a-team") == ()


@pytest.mark.parametrize(
    ("targets", "sought"),
    [(None, {"in", "rules"}), ({"in": "earliest"}, {"in"}), ({"*": "latest"}, {"in", "rules"})],
)
def test_other_offsets_are_set_on_the_inputs_that_have_a_target(
    targets: dict[str, str] | None, sought: set[str]
) -> None:
    found = acls("reset_and_cleanup", OWN, {"mode": "offsets", "targets": targets})
    assert {one.name for one in found if one.resource == "Topic" and "offsets-on-topics" in one.rows} == sought
