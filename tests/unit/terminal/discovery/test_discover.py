"""`discover` and `readiness` before any broker is asked: what is wrong is said, and nothing is written."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.topology_declaration import read_topology_declaration
from kstreams_runbooks.fleet.topology_facts import read_facts
from kstreams_runbooks.model.discovery.discovery import DiscoverOptions, Found, FoundInstance, Signs
from kstreams_runbooks.model.readings.readings import GroupReading, Taken
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.terminal.discovery.discover import declared_in
from kstreams_runbooks.terminal.discovery.where import cluster_of, declare_cluster, fleet_of, named_after, unread_by
from world.facts import COUNTED

GROUP = GroupReading(Taken(1, "test"), "orders", "classic", "Empty", ())
FOUND = Found(Signs("orders", "classic", "Empty", "consumer", GROUP, {"clicks": 4}, 4, ()), (), (), frozenset())


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["discover", *(str(argument) for argument in arguments)])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "no bootstrap.servers; give --bootstrap"),
        (("--bootstrap", "b:9", "--out", __file__), f"{Path(__file__).name}: is a file (expected a folder"),
        (("--bootstrap", "b:9", "--out", f"{'x' * 300}/applications"), "cannot be read (File name too long)"),
        (("--bootstrap", "foo:bar"), "--bootstrap: 'foo:bar' is not a bootstrap server"),
        (("--bootstrap", "[::1"), "--bootstrap: '[::1' is not a bootstrap server"),
        (("--bootstrap", " "), "--bootstrap: names no bootstrap server"),
        (("--command-config", "nowhere.properties"), "--command-config nowhere.properties: does not exist"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: tuple[str, ...], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No folder is made for it."""
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert isinstance(result.exception, BadInput)
    assert sentence in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_the_cluster_is_the_one_that_has_one_of_the_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its connection; two that have it are for a person to tell apart."""
    monkeypatch.setenv("AIRFLOW_CONN_ONE", '{"conn_type": "kafka", "extra": {"bootstrap.servers": "a:1,b:2"}}')
    monkeypatch.setenv("AIRFLOW_CONN_TWO", '{"conn_type": "kafka", "extra": {"bootstrap.servers": "b:2"}}')
    clusters = tmp_path / "clusters"
    clusters.mkdir()
    for name in ("one", "two"):
        (clusters / f"{name}.yaml").write_text(f"connection: {name}\n", encoding="utf-8")
    fleet = fleet_of(tmp_path / "applications")
    assert cluster_of(fleet, "a:1", None) == ("one", "given")
    assert cluster_of(fleet, "z:9", "chosen") == ("chosen", "given")
    with pytest.raises(BadInput, match=f"no cluster of {clusters} has it; name one with --cluster"):
        cluster_of(fleet, "z:9", None)
    with pytest.raises(BadInput, match="one and two have it; name one with --cluster"):
        cluster_of(fleet, "c:3, b:2", None)


def test_the_first_cluster_of_a_fleet_is_named_after_its_first_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No connection is asked for; it is found by that name again, unless one that has the server is there by now."""
    fleet = fleet_of(tmp_path / "applications")
    named = ("kafka-1.example.org", "guessed")
    assert cluster_of(fleet, "kafka-1.example.org:9092,kafka-2:9092", None) == named
    declare_cluster(fleet, named[0])
    fleet = fleet_of(tmp_path / "applications")
    assert fleet.cluster(named[0]).connection == "kafka_kafka_1_example_org"
    assert cluster_of(fleet, "kafka-1.example.org:9092", None) == named
    with pytest.raises(BadInput, match="Airflow connection kafka_kafka_1_example_org: not found"):
        cluster_of(fleet, "other:9092", None)
    (tmp_path / "clusters" / "z.yaml").write_text("connection: z\n", encoding="utf-8")
    servers = '{"conn_type": "kafka", "extra": {"bootstrap.servers": "kafka-1.example.org:9092"}}'
    monkeypatch.setenv("AIRFLOW_CONN_Z", servers)
    assert cluster_of(fleet_of(tmp_path / "applications"), "kafka-1.example.org:9092", None) == ("z", "given")


def test_a_cluster_whose_file_is_bad_is_no_new_one(tmp_path: Path) -> None:
    """It may be the one that was asked."""
    file = tmp_path / "clusters" / "east.yaml"
    file.parent.mkdir()
    file.write_text("connections: x\n", encoding="utf-8")
    with pytest.raises(BadInput, match="name one with --cluster"):
        cluster_of(fleet_of(tmp_path / "applications"), "b:1", None)


@pytest.mark.parametrize(
    ("bootstrap", "name"),
    [("b:9092", "b"), (" b , c:1", "b"), ("10.0.0.1:9092", "10.0.0.1"), ("[::1]:9092", "1"), ("_:1", "cluster")],
)
def test_a_name_after_a_server_is_a_name_of_a_file(bootstrap: str, name: str) -> None:
    """Its host, as far as a file may be called so."""
    assert named_after(bootstrap) == name


def test_the_facts_of_the_instances_are_declared_next_to_the_entry(tmp_path: Path) -> None:
    """One file for the release that runs, which is not written over; the fleet loads it."""
    folder = tmp_path / "applications"
    declare_cluster(fleet_of(folder), "east")
    read = read_facts(COUNTED, "test").read
    instances = (FoundInstance("h1", "a", "", "http://h1:8778/jolokia", "4.3.1"),)
    found = replace(FOUND, instances=instances, facts={"a": FactsReading(Taken(1, "jolokia"), "a", read)})
    given = DiscoverOptions("east", "4.3.1", approvers=("ada",))
    one = declared_in(found, fleet_of(folder), given)
    assert one.declarations == (folder / "orders" / "4.3.1.yaml",)
    assert fleet_of(folder).problems == ()
    declared = read_topology_declaration(one.declarations[0])
    assert declared.stores["readings-store"].window == read.stores["readings-store"].window
    (folder / "orders.yaml").unlink()
    one.declarations[0].write_text("# a person's\n")
    assert declared_in(found, fleet_of(folder), given).declarations == ()
    assert one.declarations[0].read_text() == "# a person's\n"


def test_an_application_id_on_a_second_cluster_has_a_file_of_its_own(tmp_path: Path) -> None:
    """Found again by what it declares, whatever the file is called; what cannot be loaded is left to a person."""
    folder = tmp_path / "applications"
    for name in ("east", "west"):
        declare_cluster(fleet_of(folder), name)

    def written(cluster: str) -> tuple[str, str]:
        one = declared_in(FOUND, fleet_of(folder), DiscoverOptions(cluster, "4.3.1", approvers=("ada",)))
        return one.file.name, one.written

    assert written("east") == ("orders.yaml", "written")
    assert written("west") == ("orders-west.yaml", "written")
    assert (written("east"), written("west")) == (
        ("orders.yaml", "declared already"),
        ("orders-west.yaml", "declared already"),
    )
    assert [one.cluster for one in fleet_of(folder).applications.values()] == ["west", "east"]
    (folder / "orders-west.yaml").write_text("inputs: []\n", encoding="utf-8")
    assert written("west") == ("orders-west.yaml", "left alone")


def test_a_folder_of_another_name_is_a_fleet_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written there loads as it stands, and is said to be read by nobody until it is moved."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path / "config"))
    found = tmp_path / "found"
    declare_cluster(fleet_of(found), "east")
    one = declared_in(FOUND, fleet_of(found), DiscoverOptions("east", "4.3.1", approvers=("ada",)))
    assert (one.file, one.written) == (found / "applications" / "orders.yaml", "written")
    fleet = fleet_of(found)
    assert (list(fleet.applications), list(fleet.clusters), fleet.problems) == (["orders"], ["east"], ())
    assert f"move them to {tmp_path}/config/applications" in unread_by(fleet, found)
    assert f"the files of {found}/clusters to {tmp_path}/config/clusters" in unread_by(fleet, found)
    for read in (tmp_path / "config", tmp_path / "config" / "applications", tmp_path / "new" / "applications"):
        assert not unread_by(fleet_of(read), read)


def test_a_new_cluster_is_declared_once(tmp_path: Path) -> None:
    """With the id of a connection to create; a bad file of that name is named and stays."""
    file = declare_cluster(fleet_of(tmp_path / "applications"), "east")
    assert file == tmp_path / "clusters" / "east.yaml"
    fleet = fleet_of(tmp_path / "applications")
    assert fleet.cluster("east").connection == "kafka_east"
    assert declare_cluster(fleet, "east") is None
    file.write_text("connections: x\n", encoding="utf-8")
    with pytest.raises(BadInput, match="cluster east is disabled"):
        declare_cluster(fleet_of(tmp_path / "applications"), "east")
    assert file.read_text(encoding="utf-8") == "connections: x\n"


@pytest.mark.parametrize("name", ["../east", "a/b", ".east", ""])
def test_a_name_that_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    """It becomes a path."""
    with pytest.raises(BadInput, match="is not a cluster name"):
        cluster_of(fleet_of(tmp_path / "applications"), "b:1", name)
