"""The known defects of what runs: those that `readiness` shows, and the line of the scheduled check."""

from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.model.discovery.readiness import NoteReadiness, ReadinessReading
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, Taken
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.present.readiness import ApplicationReadiness, as_text, document, exit_code
from kstreams_runbooks.watch.running_defects import named_defects, running_defects
from world.samples import declared, down, instance, reading
from world.sides import COUNTS

NOTE = NoteReadiness("ready", "")


def facts(*, in_memory: bool) -> FactsReading:
    read = Declaration(
        stores={"counts": DeclaredStore(in_memory=in_memory)}, config={"processing.guarantee": "exactly_once_v2"}
    )
    return FactsReading(Taken(1, "test"), "client", read)


def found(now: ApplicationReading, shown: dict[str, Any]) -> ReadinessReading:
    return ReadinessReading(now, declared(), (), (), None, {}, shown)  # type: ignore[arg-type]


def running(*names: str) -> ApplicationReading:
    return reading(*(instance(name, release="3.6.1", topology=COUNTS) for name in names))


@pytest.mark.parametrize(
    ("shown", "severity"),
    [
        ({"orders-1": facts(in_memory=False), "orders-2": facts(in_memory=False)}, "danger"),
        ({"orders-1": facts(in_memory=True), "orders-2": facts(in_memory=True)}, None),
        ({"orders-1": facts(in_memory=True), "orders-2": facts(in_memory=False)}, "danger"),
        ({"orders-1": facts(in_memory=True), "orders-2": Missing("no answer")}, "warning"),
        ({"orders-1": facts(in_memory=True)}, "warning"),
        ({}, "warning"),
    ],
)
def test_an_instance_without_facts_takes_no_defect_away(shown: dict[str, Any], severity: str | None) -> None:
    """Its program may be another one: the row may apply."""
    defects = {one.id: one.severity for one in running_defects(found(running("orders-1", "orders-2"), shown))}
    assert defects.get("KAFKA-16017") == severity


def test_without_a_running_instance_there_is_no_release_to_look_up() -> None:
    """Readiness reports the instances by themselves."""
    now = reading(down("orders-1"), down("orders-2"))
    assert not [one for one in running_defects(found(now, {})) if "broker" not in one.object]


def test_readiness_shows_them_and_keeps_its_exit_code() -> None:
    """They are no fact that a runbook lacks."""
    defects = running_defects(found(running("orders-1"), {"orders-1": facts(in_memory=False)}))
    one = ApplicationReadiness("orders", "demo", (), defects=defects)
    assert exit_code([one]) == 0
    assert any(line.startswith("  danger  KAFKA-16017: A task that is closed") for line in as_text([one], NOTE))
    shown = {each["id"] for each in document([one], NOTE)["applications"][0]["defects"]}
    assert "KAFKA-16017" in shown


@pytest.mark.parametrize(
    ("libraries", "guarantee", "words"),
    [
        (("3.6.1", "3.6.1"), "exactly_once_v2", "known defects of 3.6.1: KAFKA-16699, KAFKA-18943, KAFKA-19012; "),
        (("3.6.1",), "unknown", "known defects of 3.6.1: KAFKA-19012; "),
        (("4.4.0",), "exactly_once_v2", "known defects of 4.4.0: none is certain; "),
        ((), "exactly_once_v2", ""),
        (("as-deployed",), "exactly_once_v2", ""),
    ],
)
def test_the_check_names_those_of_the_releases_that_it_saw(
    libraries: tuple[str, ...], guarantee: str, words: str
) -> None:
    """By the fleet entry alone; the number of the others is next to the command that reads the program."""
    entry = SimpleNamespace(name="orders", declared=lambda: declared(processing_guarantee=guarantee))
    said = named_defects(entry, libraries)  # type: ignore[arg-type]
    assert said.startswith(words)
    assert said == "" or said.endswith(" may apply: kstreams-runbooks readiness orders")
