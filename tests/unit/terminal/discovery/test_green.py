"""`declare-green` with decide/discovery/green_entry, the entry of an application next to another one.

It loads, and shares nothing with the other one.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.terminal.discovery.green import declare_green_command

_BLUE: dict[str, Any] = {
    "application_id": "orders",
    "cluster": "demo",
    "inputs": ["orders-control"],
    "outputs": ["totals"],
    "control": ["orders-control"],
    "deployer": {
        "kind": "supervisord",
        "url": "http://127.0.0.1:9001",
        "instances": [
            {
                "name": f"orders-{number}",
                "program": f"orders-{number}",
                "directory": f"/srv/kafka/orders-{number}",
                "metrics": "${METRICS_" + str(number) + "}",
            }
            for number in (1, 2)
        ],
        "releases": {"4.3.1": "/opt/orders/4.3.1"},
        "topology": ["java", "orders.Main", "/srv/kafka/orders-1/base.properties", "/srv/kafka/orders-10/other"],
    },
    "owner": "team-orders",
    "approvers": ["ada"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fleet with one application behind control topics."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    for number in (1, 2):
        monkeypatch.setenv(f"METRICS_{number}", f"http://127.0.0.1:877{number}/jolokia")
    (tmp_path / "clusters").mkdir()
    (tmp_path / "clusters" / "demo.yaml").write_text("connection: kafka_demo\n", encoding="utf-8")
    (tmp_path / "applications").mkdir()
    declare(tmp_path / "applications", "orders")
    return tmp_path / "applications"


def declare(folder: Path, name: str, **changes: Any) -> None:
    """One entry."""
    (folder / f"{name}.yaml").write_text(yaml.safe_dump({**_BLUE, **changes}), encoding="utf-8")


def run(*words: str) -> tuple[str, str]:
    """Standard output and error."""
    done = CliRunner().invoke(declare_green_command, words, standalone_mode=False)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout, done.stderr


def test_the_entry_loads_and_has_all_of_its_own(folder: Path) -> None:
    """Id, outputs and each part of its instances; the file of the other one stays as it is."""
    before = (folder / "orders.yaml").read_text(encoding="utf-8")
    out, err = run("orders", "--application-id", "orders-v2", "--write")
    assert out.strip() == str(folder / "orders-green.yaml")
    assert "kstreams-runbooks trigger blue_green_start --application orders-green" in err
    fleet = load_fleet()
    assert fleet.problems == ()
    green, blue = fleet.applications["orders-green"], fleet.applications["orders"]
    assert (green.green_of, green.application_id) == ("orders", "orders-v2")
    assert (green.inputs, green.control, green.outputs) == (blue.inputs, blue.control, ("totals-green",))
    assert green.green_outputs == {"totals-green": "totals"}
    instance = yaml.safe_load((folder / "orders-green.yaml").read_text(encoding="utf-8"))["deployer"]["instances"][0]
    assert instance == {
        "name": "orders-green-1",
        "program": "orders-green-1",
        "directory": "/srv/kafka/orders-green-1",
        "metrics": "http://unknown:8778/jolokia",
    }
    assert (folder / "orders.yaml").read_text(encoding="utf-8") == before


def test_declarations_of_releases_are_its_own(folder: Path) -> None:
    """Its id in its settings, and its outputs; what is not about either stays."""
    (folder / "orders").mkdir()
    release: dict[str, Any] = {
        "config": {"application.id": "orders", "auto.offset.reset": "earliest"},
        "topics": {"orders-control": {"key": "order"}, "totals": {"key": "customer"}},
        "stores": {"counts": {"kind": "key_value"}},
    }
    (folder / "orders" / "4.3.1.yaml").write_text(yaml.safe_dump(release), encoding="utf-8")
    run("orders", "--application-id", "orders-v2", "--write")
    made = yaml.safe_load((folder / "orders-green" / "4.3.1.yaml").read_text(encoding="utf-8"))
    assert made == {
        **release,
        "config": {"application.id": "orders-v2", "auto.offset.reset": "earliest"},
        "topics": {"orders-control": {"key": "order"}, "totals-green": {"key": "customer"}},
    }


def test_texts_with_the_name_of_an_instance(folder: Path) -> None:
    """The topology command reads the files of its own instance; a name that only begins so stays."""
    out, _ = run("orders")
    command = yaml.safe_load(out)["deployer"]["topology"]
    assert command[-2:] == ["/srv/kafka/orders-green-1/base.properties", "/srv/kafka/orders-10/other"]
    assert not (folder / "orders-green.yaml").exists()


def test_parts_without_the_name_of_the_instance_become_its_own(folder: Path) -> None:
    """A folder that both had would be cleared for both."""
    instance = {**_BLUE["deployer"]["instances"][0], "directory": "/srv/kafka/a", "program": "shop:a", "name": "a"}
    declare(folder, "orders", deployer={**_BLUE["deployer"], "instances": [instance]})
    [own] = yaml.safe_load(run("orders")[0])["deployer"]["instances"]
    assert (own["name"], own["program"], own["directory"]) == ("a-green", "shop:a-green", "/srv/kafka/a-green")


def test_names_that_are_taken(folder: Path) -> None:
    """The next free one; a chosen one is refused."""
    declare(folder, "orders-green", application_id="orders-green", outputs=["totals-green"])
    made = yaml.safe_load(run("orders")[0])
    assert made["application_id"] == "orders-green-2"
    assert made["outputs"] == ["totals-green-2"]
    with pytest.raises(BadInput, match="--application-id orders: an entry of the fleet has it"):
        run("orders", "--application-id", "orders")


def test_without_a_copier_in_front(folder: Path) -> None:
    """The command that puts one there."""
    declare(folder, "orders", control=[])
    with pytest.raises(Refused, match="trigger adopt_control_topic --application orders --param copier=COPIER"):
        run("orders")


def test_a_second_one_next_to_the_same() -> None:
    """One of them takes over."""
    run("orders", "--write")
    with pytest.raises(Refused, match="orders-green is declared next to it already"):
        run("orders", "--name", "other")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"green_of": "orders", "green_outputs": {"other": "totals"}}, "names other, which is not one of its outputs"),
        ({"green_outputs": {"totals": "totals-2"}}, "without green_of"),
        ({"green_of": "orders", "effects_twice": "yes"}, "effects_twice"),
        ({"green_of": "orders", "effects_twice": "accepted, because  "}, "effects_twice"),
        ({"green_of": "orders", "green_outputs": {"totals": "totals"}}, "names totals twice"),
    ],
)
def test_fields_that_contradict_each_other(folder: Path, fields: dict[str, Any], said: str) -> None:
    """One sentence names the field."""
    declare(folder, "orders-v2", application_id="orders-v2", **fields)
    [problem] = load_fleet().problems
    assert said in str(problem)


def test_what_is_declared_of_an_output_is_declared_of_its_counterpart(folder: Path) -> None:
    """By the name that the second application writes; otherwise its entry would not load."""
    declare(folder, "orders", output_semantics={"totals": {"class": "exact", "because": "a count of a table"}})
    run("orders", "--write")
    entry = load_fleet(folder.parent).application("orders-green")
    assert [one.topic for one in entry.declared().output_semantics] == ["totals-green"]
