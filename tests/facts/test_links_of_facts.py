"""The classes that do not link in the facts of a program, and which of them its topology needs."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks.decide.releases.links import PlannedBuild, builds_link
from kstreams_runbooks.fleet.topology_facts import read_facts
from kstreams_runbooks.model.verdicts import Outcome
from lab.links import found, kafka, scan, truth, whole_kafka
from lab.topology_facts import COMMAND, SOURCES, document, jar, java, reasons

SETTINGS = "application.id=a\nbootstrap.servers=127.0.0.1:9092\ndefault.timestamp.extractor=Unlinked$Extracts\n"


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, compiled with 4.3.1."""
    folder = tmp_path_factory.mktemp("unlinked")
    (folder / "app.properties").write_text(SETTINGS, "latin-1")
    path = ":".join(map(str, whole_kafka("4.3.1")))
    command = ["javac", "-nowarn", "-d", str(folder), "-cp", path, str(SOURCES / "Unlinked.java")]
    subprocess.run(command, check=True, timeout=120, capture_output=True)
    return folder


def printed(classes: Path, *paths: Path | str) -> str:
    """What the topology command prints."""
    path = ":".join(map(str, [jar(), classes, *paths]))
    options = ["--factory", "Unlinked::topology", "--properties", str(classes / "app.properties")]
    ran = java(path, COMMAND, *options)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_facts_have_the_classes_that_do_not_link_and_who_needs_them(classes: Path) -> None:
    """An object's own class, one above it, what a supplier makes, what a setting names; not one of no object."""
    facts = document(printed(classes, *whole_kafka("4.4.0")))
    links: dict[str, Any] = {one["class"]: one for one in facts["links"]}
    assert {name: (one["needed_by"], one["handled"]) for name, one in links.items()} == {
        "Unlinked$Base": ("Unlinked$Writes", False),
        "Unlinked$Reads": ("Unlinked$Reads", True),
        "Unlinked$Processes": ("Unlinked", False),
        "Unlinked$Extracts": ("Unlinked$Extracts", False),
        "Unlinked$Never": (None, False),
    }
    assert links["Unlinked$Base"]["sentence"] == (
        f"Unlinked$Base ({classes}) calls org.apache.kafka.common.utils.AppInfoParser, which Kafka 4.4.0 does not have "
        "(it has org.apache.kafka.common.utils.internals.AppInfoParser): dies when first used"
    )
    assert not any(path[0] == "links" for path in reasons(facts))


def test_the_runbook_refuses_the_build_for_the_classes_that_the_topology_needs(classes: Path) -> None:
    """The document is read as the topology command's, and the scan finds what the JVM finds."""
    text = printed(classes, *whole_kafka("4.4.0"))
    unlinked = read_facts(text, "topology command").read.unlinked
    verdict = builds_link("orders", (PlannedBuild("4.4.0.1", unlinked),), "")
    assert verdict.outcome is Outcome.REFUSE
    needed = {one.object for one in verdict.findings if one.severity == "danger"}
    assert needed == {"Unlinked$Base", "Unlinked$Processes", "Unlinked$Extracts"}
    assert found(scan([classes, *kafka("4.4.0")])) == truth([classes], kafka("4.4.0"))


def test_a_build_that_links_has_an_empty_list(classes: Path) -> None:
    """The release that it was compiled with."""
    assert document(printed(classes, *whole_kafka("4.3.1")))["links"] == []


def test_a_class_path_that_cannot_be_scanned_is_not_read(classes: Path) -> None:
    """The facts are printed all the same; two releases of Kafka are one sentence."""
    facts = document(printed(classes, *whole_kafka("4.3.1"), *kafka("3.9.1")))
    assert "links" not in facts
    assert reasons(facts)["links",].startswith("class path: it has Kafka 3.9.1 and Kafka 4.3.1 (")
