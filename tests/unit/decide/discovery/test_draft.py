"""A declaration from what was found: marked field by field, and one that the fleet loads.

Covers decide/discovery/draft_deployer
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from kstreams_runbooks.decide.discovery.draft import draft
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet import Fleet, load_fleet
from kstreams_runbooks.fleet.deployers.manual import ManualSettings
from kstreams_runbooks.model.discovery.discovery import DiscoverOptions, Found, FoundInstance, FoundTopology, Signs
from kstreams_runbooks.model.readings.readings import GroupReading, MemberReading, Missing, Taken
from kstreams_runbooks.present.discovery import cluster_text, declaration_text
from kstreams_runbooks.terminal.discovery.new_file import create

UUID = "8f4c1c0e-30e5-4d3a-9d0b-0e6a6e1f2a77"
MEMBER = MemberReading("m", f"orders-{UUID}-StreamThread-1-consumer", "h1", "orders-1-1")
GROUP = GroupReading(Taken(1, "test"), "orders", "classic", "Stable", (MEMBER,), "stream")
SIGNS = Signs("orders", "classic", "Stable", "consumer", GROUP, {"clicks": 4, "orders-x-repartition": 4}, 8, ())
ONE = FoundInstance("h1", f"orders-{UUID}", "orders-1", "http://h1:8778/jolokia", "3.4.1")
TOPOLOGY = FoundTopology(("clicks", "on"), ("counts",), (), "yes", "no")
RUNNING = Found(SIGNS, (ONE,), (TOPOLOGY,), frozenset({f"orders-{UUID}-1", f"orders-v2-{UUID}-1"}))
STOPPED = Found(
    replace(SIGNS, state="Empty", group=replace(GROUP, state="Empty", members=()), internal=("orders-x-repartition",)),
    (),
    (),
    frozenset(),
)
GIVEN = DiscoverOptions("demo", "4.3.1")


def marks(found: Found, given: DiscoverOptions = GIVEN) -> dict[str, str]:
    made = draft(found, given)
    return {name: field.mark for name, field in {**made.fields, **made.deployer}.items()}


def loaded(tmp_path: Path, found: Found, given: DiscoverOptions = GIVEN) -> Fleet:
    """The fleet that has nothing but this declaration."""
    made = draft(found, given)
    assert create(tmp_path / "clusters" / "demo.yaml", cluster_text("demo"))
    assert create(tmp_path / "applications" / f"{made.name}.yaml", declaration_text(made, "now"))
    return load_fleet(tmp_path)


def test_a_running_application_is_declared_as_it_was_seen(tmp_path: Path) -> None:
    """Topics, instances, releases and formats; a word that YAML reads as true stays a topic."""
    fleet = loaded(tmp_path, RUNNING, replace(GIVEN, owner="team", operators=("ada",), approvers=("linus",)))
    assert fleet.problems == ()
    entry = fleet.application("orders")
    assert (entry.inputs, entry.outputs, entry.static_membership) == (("clicks", "on"), ("counts",), True)
    assert (entry.table_aggregations, entry.foreign_key_joins) == ("yes", "no")
    assert entry.processing_guarantee == "exactly_once_v2"
    assert (entry.owner, entry.operators, entry.approvers) == ("team", ("ada",), ("linus",))
    assert isinstance(entry.deployer, ManualSettings)
    [one] = entry.deployer.instances
    assert (one.name, one.metrics, one.group_instance_id) == ("orders-1", "http://h1:8778/jolokia", None)
    assert list(entry.deployer.releases) == ["3.4.1", "4.3.1"]
    assert entry.deployer.stated is not None
    assert (entry.deployer.stated.release, entry.deployer.stated.settings) == ("3.4.1", {})


def test_every_field_has_its_mark_in_the_line_above(tmp_path: Path) -> None:
    """The text says what the draft says."""
    loaded(tmp_path, RUNNING)
    lines = (tmp_path / "applications" / "orders.yaml").read_text(encoding="utf-8").splitlines()
    told = {
        line.split(":")[0].strip(): next(above for above in reversed(lines[:at]) if ": " in above and "# " in above)
        for at, line in enumerate(lines)
        if line and not line.lstrip().startswith(("#", "-")) and line != "deployer:"
    }
    assert {name: line.strip().split(":")[0] for name, line in told.items()} == {
        name: f"# {mark}" for name, mark in marks(RUNNING).items()
    }


def test_what_nobody_can_see_has_a_careful_value(tmp_path: Path) -> None:
    """A stopped application still loads: production, nobody approves, formats unknown, no word on what is deployed."""
    fleet = loaded(tmp_path, STOPPED)
    assert fleet.problems == ()
    entry = fleet.application("orders")
    assert (entry.production, entry.four_eyes, entry.approvers) == (True, True, ("nobody",))
    assert (entry.inputs, entry.uses) == (("clicks",), ("table_aggregations", "foreign_key_joins"))
    assert entry.processing_guarantee == "unknown"
    assert isinstance(entry.deployer, ManualSettings)
    assert entry.deployer.stated is None
    found = marks(STOPPED)
    assert {name for name, mark in found.items() if mark == "observed"} == {"application_id"}
    assert {name for name, mark in found.items() if mark == "guessed"} == {"inputs", "production", "kind"}


def test_without_a_topic_it_is_no_declaration_and_says_what_to_fill_in(tmp_path: Path) -> None:
    """An empty list of inputs is what the fleet asks for."""
    fleet = loaded(tmp_path, replace(STOPPED, signs=replace(STOPPED.signs, committed={})))
    [problem] = fleet.problems
    assert (problem.field, problem.reason) == ("inputs", "is empty; at least one is needed")


def test_a_pattern_that_cannot_be_read_makes_inputs_a_guess() -> None:
    """By name, and what its group has offsets on; the rest is for a person."""
    topology = replace(TOPOLOGY, inputs=("on",), unreadable="source pattern x: cannot be read here")
    # An internal topic has offsets, too, and is no input.
    signs = replace(SIGNS, internal=("orders-x-repartition",))
    field = draft(replace(RUNNING, signs=signs, topologies=(topology,)), GIVEN).fields["inputs"]
    assert (field.value, field.mark) == (["clicks", "on"], "guessed")
    assert field.note.endswith("source pattern x: cannot be read here")


def test_a_cluster_that_nobody_named_is_a_guess() -> None:
    """The name stands in two files."""
    field = draft(RUNNING, replace(GIVEN, cluster_mark="guessed")).fields["cluster"]
    assert (field.value, field.mark) == ("demo", "guessed")
    assert draft(RUNNING, GIVEN).fields["cluster"].mark == "given"


@pytest.mark.parametrize(
    ("ids", "guarantee", "mark"),
    [
        ({f"orders-{UUID}-1"}, "exactly_once_v2", "guessed"),
        ({f"orders-{UUID.replace('8', '9')}-1"}, "unknown", "unknown"),
        ({"orders-0_3"}, "unknown", "unknown"),
        ({f"orders-v2-{UUID}-1"}, "unknown", "unknown"),
        (set(), "unknown", "unknown"),
        (Missing("not allowed"), "unknown", "unknown"),
    ],
)
def test_the_guarantee_is_that_of_what_runs(ids: Any, guarantee: str, mark: str) -> None:
    """By the transactional ids of its own processes; that none is seen proves nothing."""
    made = replace(RUNNING, transactional_ids=ids if isinstance(ids, Missing) else frozenset(ids))
    field = draft(made, GIVEN).fields["processing_guarantee"]
    assert (field.value, field.mark) == (guarantee, mark)


def test_two_releases_or_one_that_is_not_apaches_are_stated_by_nobody() -> None:
    """A person has to say which it is."""
    mixed = replace(RUNNING, instances=(ONE, replace(ONE, version="4.3.1", metrics="http://h2:8778/jolokia")))
    assert "stated" not in draft(mixed, GIVEN).deployer
    assert list(draft(mixed, GIVEN).deployer["releases"].value) == ["3.4.1", "4.3.1"]
    other = draft(replace(RUNNING, instances=(replace(ONE, version="7.5.0-ccs"),)), GIVEN).deployer
    assert "stated" not in other
    assert (other["releases"].mark, list(other["releases"].value)) == ("unknown", ["4.3.1"])
    assert "runs 7.5.0-ccs, no release of Apache Kafka" in other["releases"].note


def test_instances_that_tell_nothing_have_addresses_of_their_own(tmp_path: Path) -> None:
    """Guessed ones, one for each, and names by number where two have the same group.instance.id."""
    silent = tuple(FoundInstance("h1", f"orders-{number}", "same") for number in (1, 2))
    fleet = loaded(tmp_path, replace(RUNNING, instances=silent))
    assert fleet.problems == ()
    assert [
        (one.name, one.metrics, one.group_instance_id) for one in fleet.application("orders").deployer.instances
    ] == [
        ("orders-1", "http://h1:8778/jolokia", "same"),
        ("orders-2", "http://h1:8779/jolokia", "same"),
    ]


def test_what_a_broker_says_cannot_break_out_of_a_comment_or_a_value(tmp_path: Path) -> None:
    """Names of groups, hosts and members are anybody's text."""
    nasty = 'x"\nproduction: false\n# '
    group = Missing(f"hidden\nproduction: false\r{nasty}")
    found = Found(
        replace(SIGNS, group_id="..orders", state=nasty),
        (replace(ONE, group_instance_id=nasty),),
        (TOPOLOGY,),
        group,
    )
    problem = str(loaded(tmp_path, found).problems[0]).partition(": ")[2]
    assert problem.startswith("deployer.instances[0].group_instance_id: ")
    assert problem.endswith("has a line break or another character that does not print; remove it")
    written = yaml.safe_load((tmp_path / "applications" / "orders.yaml").read_text(encoding="utf-8"))
    assert (written["application_id"], written["production"]) == ("..orders", True)
    assert written["deployer"]["instances"][0]["group_instance_id"] == nasty


def test_a_file_is_never_overwritten_and_never_half_there(tmp_path: Path) -> None:
    """Whoever wrote it first keeps it, and nothing else is left in the folder."""
    file = tmp_path / "applications" / "orders.yaml"
    assert create(file, "one") is True
    assert create(file, "two") is False
    assert [(each.name, each.read_text(encoding="utf-8")) for each in file.parent.iterdir()] == [("orders.yaml", "one")]
    with pytest.raises(BadInput, match=r"orders\.yaml/x\.yaml: cannot be written"):
        create(file / "x.yaml", "three")


def test_the_shipped_copier_is_drafted_with_its_routes(tmp_path: Path) -> None:
    """The fleet loads it: what follows from its program is left out."""
    found = replace(RUNNING, routes=(("sent", "orders"), ("sent-too", "customers")))
    fleet = loaded(tmp_path, found, replace(GIVEN, owner="team", approvers=("linus",)))
    assert fleet.problems == ()
    entry = fleet.application("orders")
    assert (entry.copies, entry.as_deployed) == (True, False)
    assert (entry.inputs, entry.outputs) == (("sent", "sent-too"), ("orders", "customers"))
    assert marks(found)["routes"] == "observed"


def test_an_input_that_it_also_writes_is_named_to_the_person_who_corrects_the_entry() -> None:
    """An input of the entry is what others write: nothing that is observed shows whether they do."""
    looped = replace(RUNNING, topologies=(replace(TOPOLOGY, outputs=("counts", "on")),))
    assert (
        draft(looped, GIVEN).fields["inputs"].note.endswith("it writes on too: leave that out unless others write it")
    )
    assert draft(RUNNING, GIVEN).fields["inputs"].note == "the topology that runs"
