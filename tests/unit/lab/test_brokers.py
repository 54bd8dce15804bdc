"""Three nodes of one cluster: their commands and their settings, without starting them."""

from pathlib import Path

from kstreams_runbooks.properties import parse
from lab.brokers import NODES, OLDER, OLDER_RELEASE, programs
from lab.kafka import broker_names
from lab.settings import CHECKOUT, Lab, Ports


def three(directory: Path) -> Lab:
    """A lab of three brokers."""
    return Lab(directory, Ports(23_000), brokers=NODES)


def test_three_nodes_are_one_quorum_with_two_replicas_in_sync(tmp_path: Path) -> None:
    """The same voters in each; every node has ports, data and an id of its own."""
    lab = three(tmp_path)
    made = programs(lab, {"log.retention.ms": "-1"})
    assert [one.name for one in made] == [*broker_names(lab)] == ["broker", "broker-2", "broker-3"]
    assert lab.bootstrap == "127.0.0.1:23000,127.0.0.1:23016,127.0.0.1:23018"
    read = [parse((tmp_path / f"{one.name}.properties").read_text(encoding="latin-1")) for one in made]
    assert [one["node.id"] for one in read] == ["1", "2", "3"]
    assert {one["controller.quorum.voters"] for one in read} == {
        "1@127.0.0.1:23001,2@127.0.0.1:23017,3@127.0.0.1:23019"
    }
    assert {(one["min.insync.replicas"], one["default.replication.factor"]) for one in read} == {("2", "3")}
    assert {one["log.retention.ms"] for one in read} == {"-1"}
    assert len({next(word for word in one.command if word.startswith("CLUSTER_ID=")) for one in made}) == 1
    assert len({one.command[-4] for one in made}) == NODES


def test_one_node_runs_an_older_release_and_all_have_its_features(tmp_path: Path) -> None:
    """Its jars are not those of the others."""
    (tmp_path / "tests" / "apps" / "broker" / "target" / f"libs-{OLDER_RELEASE}").mkdir(parents=True)
    lab = Lab(tmp_path, Ports(23_000), checkout=tmp_path, brokers=NODES)
    made = programs(lab, {OLDER: OLDER_RELEASE})
    assert all(f"METADATA_RELEASE={OLDER_RELEASE}" in one.command for one in made)
    assert [any(word.startswith("LIBS=") for word in one.command) for one in made] == [False, False, True]
    assert OLDER not in (tmp_path / "broker-3.properties").read_text(encoding="latin-1")


def test_a_single_broker_is_what_it_was() -> None:
    """Every other stack has one."""
    lab = Lab(CHECKOUT / ".run", Ports(23_000))
    assert (lab.bootstrap, broker_names(lab)) == ("127.0.0.1:23000", ("broker",))
