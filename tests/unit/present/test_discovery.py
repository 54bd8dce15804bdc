"""What `discover` and `readiness` print, and with which exit code they end."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks.decide.discovery.draft import draft
from kstreams_runbooks.errors import BadInput, Inconclusive, RunbookError, Unreachable
from kstreams_runbooks.model.discovery.discovery import DiscoverOptions, Found, Sighting, SightingKind, Signs
from kstreams_runbooks.model.discovery.readiness import FactsShown, NoteReadiness, Readiness
from kstreams_runbooks.model.readings.acls import Acl, RightsAnswer
from kstreams_runbooks.model.readings.readings import GroupReading, Missing, Taken
from kstreams_runbooks.present.discovery import DraftedEntry, Report, as_text, document, notices
from kstreams_runbooks.present.readiness import ApplicationReadiness
from kstreams_runbooks.present.readiness import as_text as readiness_text
from kstreams_runbooks.present.readiness import document as readiness_document
from kstreams_runbooks.present.readiness import exit_code as readiness_code

NOTE = NoteReadiness("missing", "not found; create it")

GROUP = GroupReading(Taken(1, "test"), "orders", "classic", "Empty", ())
SIGNS = Signs("orders", "classic", "Empty", "consumer", GROUP, {"clicks": 4}, 4, ())
FOUND = Found(SIGNS, (), (), Missing("not allowed"))
DRAFT = draft(FOUND, DiscoverOptions("demo", "4.3.1"))
FILE = Path("applications/orders.yaml")


def declared(**changes: Any) -> DraftedEntry:
    return DraftedEntry(**{"found": FOUND, "draft": DRAFT, "file": FILE, "written": "written", **changes})


def other(kind: SightingKind) -> Sighting:
    return Sighting(SIGNS, kind, "because")


@pytest.mark.parametrize(
    ("report", "code"),
    [
        (Report("demo", (), ()), 0),
        (Report("demo", (declared(), declared(written="declared already")), (other("other"),)), 0),
        (Report("demo", (declared(written="left alone"),), ()), 1),
        (Report("demo", (declared(problems=("inputs is empty",)),), ()), 1),
        (Report("demo", (), (other("perhaps"),)), 1),
        (Report("demo", (declared(written="left alone"),), (other("unknown"),)), 3),
        (Report("demo", (), (), ("groups are hidden",)), 3),
        (Report("demo", (declared(written="left alone"),), (), ("groups are hidden",)), 3),
    ],
)
def test_the_exit_code_says_who_is_needed(report: Report, code: int) -> None:
    """Nobody, a person, or somebody with more rights."""
    assert report.exit_code == code


def test_each_application_with_its_marks() -> None:
    """What was observed stands apart from what was guessed; what is not written has no marks to look through."""
    report = Report("demo", (declared(), declared(written="declared already")), (other("perhaps"),))
    assert list(as_text(report)) == [
        "orders @ demo: classic group, Empty, 0 instances",
        "  applications/orders.yaml: written",
        "  observed application_id",
        "  given    cluster",
        "  guessed  inputs, production, deployer.kind",
        "  unknown  outputs, control, rule_topics, owner, operators, approvers, static_membership, table_aggregations, "
        "foreign_key_joins, processing_guarantee, deployer.instances, deployer.releases",
        "orders @ demo: classic group, Empty, 0 instances",
        "  applications/orders.yaml: declared already",
    ]
    assert list(notices(report)) == ["group orders: perhaps an application, not declared: because"]
    assert document(report)["perhaps"] == [{"group": "orders", "why": "because"}]
    assert list(as_text(Report("demo", (), ()))) == ["no Kafka Streams application found on demo"]


@pytest.mark.parametrize(
    "report", [Report("demo", (), (), ("groups are hidden",)), Report("demo", (), (other("unknown"),))]
)
def test_nothing_is_found_only_where_all_is_seen(report: Report) -> None:
    """What was not to be seen is said, and is in the document."""
    assert list(as_text(report)) == [
        "no Kafka Streams application found on demo among the groups that this login may see; others are unknown"
    ]
    assert document(report)["not_seen"] == list(report.not_seen)
    assert list(notices(report))[: len(report.not_seen)] == list(report.not_seen)


AWAY = Unreachable("Kafka at b:1: no answer")
# What is said of each runbook where nothing could be read; the error says why.
UNREAD = Readiness("undo", "not known", (), ("y",))


SHOWN = FactsShown("ready")


def ready(*runbooks: Readiness, error: RunbookError | None = None, facts: FactsShown = SHOWN) -> ApplicationReadiness:
    return ApplicationReadiness("orders", "demo", runbooks, error, facts)


@pytest.mark.parametrize(
    ("found", "code"),
    [
        ([ready(Readiness("undo", "ready", better=("x",)), Readiness("plan_change", "not needed"))], 0),
        ([ready(Readiness("undo", "missing", ("x",)))], 1),
        ([ready(Readiness("undo", "missing", ("x",), ("y",)))], 3),
        ([ready(Readiness("undo", "not known", (), ("y",)))], 3),
        ([ready(Readiness("undo", "ready")), ready(UNREAD, error=AWAY)], 4),
        ([ready(UNREAD, error=AWAY), ready(UNREAD, error=BadInput("no connection"))], 4),
        ([ready(UNREAD, error=BadInput("no connection")), ready(Readiness("undo", "missing", ("x",)))], 2),
        ([ready(UNREAD, error=BadInput("no connection")), ready(UNREAD)], 3),
        ([ready(UNREAD, error=Inconclusive("not allowed")), ready(Readiness("undo", "ready"))], 3),
    ],
)
def test_readiness_ends_with_the_worst(found: list[ApplicationReadiness], code: int) -> None:
    """What would be better does not count; what is not known does, beside what is missing too."""
    assert readiness_code(found) == code


def test_readiness_has_a_line_for_each_runbook() -> None:
    """A reading that failed is said once below, a procedure is marked, and a cluster that is away hides no other."""
    found = [
        ready(
            Readiness("library_bump", "ready", better=("static membership absent",)),
            Readiness("undo", "missing", ("no clear_state command",), ("group unknown: hidden",)),
            Readiness("plan_change", "not known", (), ("group unknown: hidden",)),
            Readiness("suppress_removal", "not needed", better=("has no suppression",)),
            facts=FactsShown(
                "missing", ("orders-1", "orders-2"), not_read=("aggregate of 1 store", "key_serde of 2 topics")
            ),
        ),
        ready(error=AWAY),
        ready(UNREAD, error=BadInput("no connection")),
    ]
    assert list(readiness_text(found, NOTE)) == [
        "orders @ demo",
        "  library_bump          ready       works, but: static membership absent",
        "  undo                  missing     no clear_state command | not known: [1]",
        "  plan_change           not known   not known: [1]",
        "  suppress_removal*     not needed  has no suppression",
        "  topology facts        missing     none from orders-1, orders-2: start with -javaagent:topology-facts.jar "
        "(docs/facts.md); not read: aggregate of 1 store, key_serde of 2 topics: declare them (kstreams-runbooks "
        "declare)",
        "  [1] group unknown: hidden",
        "orders @ demo",
        "  Kafka at b:1: no answer",
        "orders @ demo",
        "  no connection",
        "* a procedure for a person: kstreams-runbooks plan prints its steps",
        "the run's note          missing     not found; create it; runbooks work without it",
    ]


READ = Acl("User:runbooks", "Read", "Topic", "in", "literal", ("observer",), ("records",))
IDS = Acl("User:runbooks", "Describe", "TransactionalId", "app-", "prefixed", ("observer",), ("transactions",))
COMMAND = (
    "kafka-acls.sh --bootstrap-server b:1 --command-config ADMIN.properties --add --allow-principal User:runbooks "
    "--operation Read --topic in"
)


def test_readiness_names_each_right_that_is_missing_with_its_command_once() -> None:
    """Also where several runbooks lack it; one that is not known is another thing."""
    hidden = "its ACLs are not visible"
    bump, drain = RightsAnswer("library_bump", (READ,)), RightsAnswer("certify_drain", (READ,), ((IDS, hidden),))
    rows = (
        Readiness("library_bump", "missing", ("no approver declared",), rights=bump),
        Readiness("certify_drain", "missing", rights=drain),
        Readiness("undo", "ready", rights=RightsAnswer("undo")),
    )
    found = [replace(ready(*rows), bootstrap="b:1")]
    assert list(readiness_text(found, NOTE))[1:-1] == [
        "  library_bump          missing     no approver declared | rights missing: [1]",
        "  certify_drain         missing     rights missing: [1] | not known: [2]",
        "  undo                  ready",
        "  topology facts        ready",
        f"  [1] Topic in: login User:runbooks lacks Read on Topic in; grant it: {COMMAND}",
        "  [2] TransactionalId app-: whether login User:runbooks has Describe on TransactionalId names that begin with "
        "app- is not known (its ACLs are not visible)",
    ]
    assert readiness_code(found) == 3
    assert readiness_code([ready(rows[0])]) == 1
    [one] = readiness_document(found, NOTE)["applications"]
    right = one["runbooks"][1]["rights"]
    assert [(acl["principal"], acl["command"]) for acl in right["missing"]] == [("User:runbooks", COMMAND)]
    assert [(acl["name"], acl["pattern"], acl["why"]) for acl in right["not_known"]] == [("app-", "prefixed", hidden)]
    assert (
        readiness_document([ready(Readiness("partition_increase", "ready"))], NOTE)["applications"][0]["runbooks"][0][
            "rights"
        ]
        is None
    )


def test_the_document_says_what_was_not_read_and_which_system_is_away() -> None:
    """A connection that is not there is no system that does not answer."""
    found = [ready(UNREAD, error=AWAY), ready(UNREAD, error=BadInput("no connection")), ready(UNREAD)]
    rows = readiness_document(found, NOTE)["applications"]
    assert [(one["unreachable"], one["not_read"]) for one in rows] == [
        ("Kafka at b:1: no answer", "Kafka at b:1: no answer"),
        (None, "no connection"),
        (None, None),
    ]


def test_the_document_has_the_facts_of_the_instances() -> None:
    """Each part apart; facts do not change the exit code."""
    found = [ready(facts=FactsShown("missing", ("orders-2",), ("orders-1: HTTP 403",), ("key_serde of 2 topics",)))]
    assert readiness_document(found, NOTE)["applications"][0]["topology_facts"] == {
        "standing": "missing",
        "instances_without": ["orders-2"],
        "not_known": ["orders-1: HTTP 403"],
        "not_read": ["key_serde of 2 topics"],
    }
    assert readiness_code(found) == 0
