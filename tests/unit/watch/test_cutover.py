"""The applications that a cutover concerns, by the fleet entries: counterparts, copiers in a chain, neighbours."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet import Fleet, load_fleet
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.watch.cutover import CutoverSide, _side, chain_of, counterparts, neighbours_of
from world.samples import reading

_LOOP = """Topologies:
   Sub-topology: 0
    Source: a (topics: [orders, back])
      --> b
    Sink: b (topic: back)
      <-- a
"""

_PEOPLE = {"cluster": "demo", "owner": "team", "approvers": ["approver"]}


def copier(name: str, reads: str, writes: str) -> dict[str, Any]:
    """A copier as deployed."""
    return _PEOPLE | {
        "kind": "copier",
        "application_id": name,
        "inputs": [reads],
        "outputs": [writes],
        "delivery": "exactly_once",
        "deployer": {
            "kind": "supervisord",
            "url": "http://127.0.0.1:1",
            "instances": [{"name": f"{name}-1", "program": f"{name}-1"}],
        },
    }


def application(name: str, control: str, **fields: Any) -> dict[str, Any]:
    """An application that a person deploys."""
    return _PEOPLE | {
        "application_id": name,
        "inputs": [control],
        "control": [control],
        "deployer": {
            "kind": "manual",
            "instances": [{"name": f"{name}-1", "metrics": f"http://127.0.0.1:{len(name)}"}],
            "releases": {"4.3.1": "o:4.3.1"},
        },
        **fields,
    }


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    """Blue and green, the second behind one more copier, and another team's application behind the first."""
    entries = {
        "clusters/demo": {"connection": "kafka"},
        "applications/front": copier("front", "sent", "orders"),
        "applications/chain": copier("chain", "orders", "orders-wide"),
        "applications/blue": application("blue", "orders", outputs=["totals"]),
        "applications/green": application(
            "green",
            "orders-wide",
            outputs=["totals-green"],
            green_of="blue",
            green_outputs={"totals-green": "totals"},
        ),
        "applications/neighbour": application("neighbour", "orders"),
    }
    for name, entry in entries.items():
        file = tmp_path / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump(entry), encoding="utf-8")
    found = load_fleet(tmp_path)
    assert found.problems == ()
    return found


def test_each_output_has_its_counterpart_in_both_directions(fleet: Fleet) -> None:
    """The entry of the side that started second has them."""
    blue, green = fleet.application("blue"), fleet.application("green")
    assert counterparts(blue, green) == {"totals": "totals-green"}
    assert counterparts(green, blue) == {"totals-green": "totals"}


def test_two_applications_that_are_not_sides_of_one_are_refused(fleet: Fleet) -> None:
    """With the command that writes the entry of a second side."""
    with pytest.raises(BadInput, match=r"neighbour is no second side of blue .* declare-green blue"):
        counterparts(fleet.application("blue"), fleet.application("neighbour"))


def test_a_copier_behind_the_first_is_in_the_chain(fleet: Fleet) -> None:
    """Whichever side reads what it writes, so that a way back drains it too; the copier in front is not."""
    front, blue, green = fleet.copiers["front"], fleet.application("blue"), fleet.application("green")
    assert [one.name for one in chain_of(fleet, blue, green, front)] == ["chain"]
    assert chain_of(fleet, green, blue, front) == chain_of(fleet, blue, green, front)
    assert chain_of(fleet, blue, fleet.application("neighbour"), front) == ()


def test_another_application_behind_the_copier_waits_too(fleet: Fleet) -> None:
    """Neither side is its own neighbour, nor is a copier."""
    blue, green = fleet.application("blue"), fleet.application("green")
    assert neighbours_of(fleet, blue, green, fleet.copiers["front"]) == ("neighbour",)
    assert neighbours_of(fleet, blue, green, None) == ()


@pytest.mark.parametrize(("declared", "inputs"), [(["orders"], ("orders",)), (["orders", "back"], ("back", "orders"))])
def test_a_topic_that_a_side_writes_and_reads_is_its_input_if_the_entry_names_it(
    tmp_path: Path, declared: list[str], inputs: tuple[str, ...]
) -> None:
    """Others write it too then, and the copier has to hold it; a loop of the side alone is held with the side."""
    for name, entry in {
        "clusters/demo": {"connection": "kafka"},
        "applications/blue": application("blue", "orders", outputs=["back"]) | {"inputs": declared},
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(entry), encoding="utf-8")
    cluster: Any = SimpleNamespace(names=lambda: TopicNames.of(("orders", "back")))
    blue = load_fleet(tmp_path).application("blue")
    found = _side(CutoverSide(blue, Side(parse_topology(_LOOP)), reading()), cluster)
    assert (found.inputs, found.outputs) == (inputs, ("back",))
