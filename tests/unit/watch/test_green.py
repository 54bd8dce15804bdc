"""What a second application shares with the first one by its entry, and which topic a copier copies."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.watch.green import _by_person, _shared, _source, chain_to


def entry(name: str, /, url: str = "http://one:9001", **instance: Any) -> Any:
    """An entry with one instance."""
    own = {
        "name": f"{name}-1",
        "program": f"{name}-1",
        "directory": Path(f"/srv/kafka/{name}-1"),
        "state_dir": Path(f"/srv/kafka/{name}-1/state"),
        "metrics": f"http://one/{name}",
    }
    deployer = SimpleNamespace(kind="supervisord", url=url, instances=[SimpleNamespace(**{**own, **instance})])
    return SimpleNamespace(name=name, deployer=deployer)


def shared(green: Any, blue: Any) -> list[str]:
    """The parts of both, by their field."""
    return [one.partition(": ")[2].split(" ")[0] for one in _shared(green, blue)]


def test_instances_of_its_own() -> None:
    """Names that begin alike are not the same: orders-1 and orders-10."""
    assert shared(entry("orders-v2"), entry("orders")) == []
    near = entry("green", directory=Path("/srv/kafka/orders-10"), state_dir=Path("/srv/kafka/orders-10/state"))
    assert shared(near, entry("orders")) == []


@pytest.mark.parametrize(
    ("part", "value", "found"),
    [
        ("program", "orders-1", ["program"]),
        ("name", "orders-1", ["name"]),
        ("directory", Path("/srv/kafka/orders-1"), ["directory"]),
        ("state_dir", Path("/srv/kafka/orders-1/state/green"), ["state_dir"]),
        ("state_dir", Path("/srv/kafka/orders-1"), ["state_dir"]),
        ("state_dir", Path("/srv/kafka"), ["state_dir"]),
        ("metrics", "http://one/orders", ["its"]),
    ],
)
def test_parts_that_both_have(part: str, value: Any, found: list[str]) -> None:
    """One would be stopped, read or cleared for the other; a folder inside of another one too."""
    own: dict[str, Any] = {part: value}
    assert shared(entry("green", **own), entry("orders")) == found


def test_the_same_names_on_another_machine() -> None:
    """A supervisor of its own has programs and folders of its own; its metrics are read all the same."""
    other = entry("green", url="http://two:9001", program="orders-1", directory=Path("/srv/kafka/orders-1"))
    assert shared(other, entry("orders")) == []


def copier(**fields: Any) -> Any:
    """An entry of a copier."""
    return SimpleNamespace(
        **{"name": "copier", "route_pairs": (), "inputs": ("sent",), "outputs": ("orders",), **fields}
    )


def test_the_source_of_a_control_topic() -> None:
    """By its routes; a copier as deployed has none, and is clear with one topic alone."""
    routes = (("sent", "orders"), ("sent-customers", "customers"))
    assert _source(copier(route_pairs=routes), "customers") == "sent-customers"
    assert _source(copier(), "orders") == "sent"
    with pytest.raises(Inconclusive, match="from which of sent, other it copies orders is not declared"):
        _source(copier(inputs=("sent", "other"), outputs=("orders", "customers")), "orders")


def test_a_person_on_the_way() -> None:
    """The first one; its copiers come from the fleet."""
    blue = SimpleNamespace(name="orders", cluster="demo", control=("orders",), deployer=SimpleNamespace(kind="manual"))
    one = copier(cluster="demo", deployer=SimpleNamespace(kind="manual"))
    sides: Any = SimpleNamespace(blue=blue, fleet=SimpleNamespace(copiers={"copier": one}), chain=(one,))
    assert list(_by_person(sides)) == ["copier copier", "copier copier", "orders"]


def test_the_copier_between_the_control_topics_and_green() -> None:
    """The one that writes no control topic of blue; of another cluster, none."""
    blue: Any = SimpleNamespace(name="orders", cluster="demo", control=("control",))
    green: Any = SimpleNamespace(name="green", cluster="demo", control=("control", "wide"))
    front = SimpleNamespace(name="front", cluster="demo", outputs=("control",))
    wide: Any = SimpleNamespace(name="widening", cluster="demo", outputs=("wide",))
    elsewhere = SimpleNamespace(name="elsewhere", cluster="other", outputs=("wide",))
    fleet: Any = SimpleNamespace(copiers={one.name: one for one in (front, wide, elsewhere)})
    assert chain_to(fleet, green, blue) == (wide,)
    assert chain_to(fleet, blue, blue) == ()
