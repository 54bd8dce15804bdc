"""Whether a build is started whose classes do not link with its Kafka."""

import json
from dataclasses import replace

import pytest
from kstreams_runbooks.decide.releases.links import PlannedBuild, builds_link, link_findings
from kstreams_runbooks.ledger.codec import call_again, encode, encode_call
from kstreams_runbooks.model.topology.declaration import UnlinkedClass
from kstreams_runbooks.model.verdicts import Outcome

SENTENCE = (
    "AvroSerializer (avro-serializer-7.3.jar) calls org.apache.kafka.common.utils.AppInfoParser, which Kafka 4.4.0 "
    "does not have (it has org.apache.kafka.common.utils.internals.AppInfoParser): dies when first used"
)
NEEDED = UnlinkedClass("acme.AvroSerializer", "avro-serializer-7.3.jar", SENTENCE, 3, False, "acme.AvroSerde")
OTHER = replace(NEEDED, name="acme.Hints", sentence="Hints (hints.jar) uses a.B: dies when first used", jar="hints.jar",
                references=1, needed_by="")  # fmt: skip
BUILD = PlannedBuild("4.4.0.1", ())


def test_a_build_of_which_all_classes_link() -> None:
    """Nothing is left to say."""
    verdict = builds_link("orders", (BUILD,), "")
    assert (verdict.outcome, verdict.findings) == (Outcome.PROCEED, ())


def test_a_class_that_the_topology_needs_refuses_the_build() -> None:
    """With the sentence of the scan, who needs it, and the field that accepts it, if the form has one."""
    build = replace(BUILD, unlinked=(OTHER, NEEDED))
    verdict = builds_link("orders", (BUILD, build), "")
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons == (
        f"release 4.4.0.1 does not link: {SENTENCE} (and 2 more references) (acme.AvroSerde of the topology needs it); "
        "build it with libraries for its Kafka, or accept that: give accept_unlinked a reason",
    )
    [without] = builds_link("orders", (build,), None).reasons
    assert without.endswith("build it with libraries for its Kafka")
    assert [(one.id, one.severity, one.object) for one in verdict.findings] == [
        ("class-not-linked", "danger", "acme.AvroSerializer"),
        ("class-not-linked", "warning", "hints.jar"),
    ]


def test_a_person_accepts_it_with_a_reason() -> None:
    """The approval shows the class and the reason; the class itself may be what an object is of."""
    build = replace(BUILD, unlinked=(replace(NEEDED, needed_by=NEEDED.name),))
    verdict = builds_link("orders", (build,), "OPS-7: the path is never taken")
    assert verdict.outcome is Outcome.PROCEED
    [danger] = verdict.findings
    assert danger.severity == "danger"
    assert danger.message.endswith("(the topology needs it); accepted with the reason: OPS-7: the path is never taken")


@pytest.mark.parametrize(
    ("unlinked", "severity"),
    [
        (OTHER, "warning"),
        (replace(NEEDED, is_handled=True), "info"),
        (replace(OTHER, is_handled=True), "info"),
    ],
    ids=["not needed", "needed and handled", "neither"],
)
def test_every_other_class_is_no_refusal(unlinked: UnlinkedClass, severity: str) -> None:
    """One that no object of the topology needs, and one whose methods go on after the error."""
    verdict = builds_link("orders", (replace(BUILD, unlinked=(unlinked,)),), "")
    assert verdict.outcome is Outcome.PROCEED
    assert [one.severity for one in verdict.findings] == [severity]
    assert verdict.findings[0].message == f"release 4.4.0.1: {unlinked.sentence}" + (
        " (and 2 more references)" if unlinked.references > 1 else ""
    )


def test_many_classes_of_one_jar_do_not_hide_another_jar() -> None:
    """One finding a jar, with its first classes and the number of the others; classes without a handler come first."""
    many = tuple(replace(OTHER, name=f"acme.C{at}", sentence=f"C{at} (hints.jar) fails") for at in range(100))
    handled = replace(OTHER, name="acme.H", sentence="H (hints.jar) handles it", is_handled=True)
    found = list(link_findings((handled, *many, replace(OTHER, jar="other.jar")), "release 1"))
    assert [one.object for one in found] == ["hints.jar", "other.jar"]
    assert found[0].message.endswith("C0 (hints.jar) fails; C1 (hints.jar) fails; C2 (hints.jar) fails; and 98 more")
    assert found[0].severity == "warning"


def test_a_class_path_that_was_not_scanned_is_named_with_the_command_that_looks() -> None:
    """It is never taken for one that links; a class that was not scanned neither."""
    unscanned = PlannedBuild("4.4.0.1", None, "its topology command prints no topology facts (docs/facts.md)")
    unread = PlannedBuild("4.4.0.2", (), unread=("new.jar: class acme.New has class files of Java 55",))
    verdict = builds_link("orders", (unscanned, unread), "")
    assert verdict.outcome is Outcome.PROCEED
    assert [(one.id, one.severity) for one in verdict.findings] == [("links-not-scanned", "warning")] * 2
    first, second = (one.message for one in verdict.findings)
    command = "look with: java -cp topology-facts.jar kstreams.runbooks.links.LinkCommand --class-path PATH"
    assert first.startswith(
        "whether the classes of release 4.4.0.1 link with its Kafka was not looked at: its topology"
    )
    assert first.endswith(command)
    assert second == f"release 4.4.0.2: new.jar: class acme.New has class files of Java 55; {command}"


def test_the_decision_can_be_made_again_from_its_evidence() -> None:
    """Its inputs are values."""
    inputs = {"application": "orders", "builds": (replace(BUILD, unlinked=(NEEDED,)),), "accepted": None}
    verdict = builds_link(**inputs)  # type: ignore[arg-type] # as evidence has them
    kept = json.loads(json.dumps(encode_call(builds_link, inputs, verdict)))
    assert call_again(builds_link, kept) == encode(verdict)
