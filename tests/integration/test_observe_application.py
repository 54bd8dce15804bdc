"""Reading a real Kafka Streams application through everything at once."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    GroupReading,
    Missing,
    StreamsReading,
)
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.observe import ClusterReader, read_application
from world.given import Kafka, Orders


@pytest.fixture
def reader(kafka: Kafka) -> Iterator[ClusterReader]:
    """A reader of the broker."""
    with ClusterReader({"bootstrap.servers": kafka.bootstrap}) as reader:
        yield reader


def read(orders: Orders, reader: ClusterReader) -> ApplicationReading:
    """One reading; the deployer is in a dry run, as every look is."""
    application = orders.application
    return read_application(application, reader, make_deployer(application, dry_run=True))


def test_application_that_runs(orders: Orders, reader: ClusterReader) -> None:
    """Every part is there, says when and from where, and belongs to one start of one process."""
    before = time.time_ns() // 1_000_000
    reading = read(orders, reader)
    assert reading.taken.at_ms >= before
    assert isinstance(reading.group, GroupReading)
    assert reading.group.type == "classic"
    assert reading.group.state == "Stable"
    for instance in reading.instances:
        deployment, streams = instance.deployment, instance.streams
        assert isinstance(deployment, Deployment)
        assert isinstance(streams, StreamsReading)
        assert deployment.process == "running"
        assert deployment.applied is True
        assert streams.version == deployment.release
        assert streams.state == "RUNNING"
        assert streams.start.pid == deployment.pid, "the launcher becomes the JVM"
        assert deployment.started_at_ms is not None
        assert streams.start.started_at_ms >= deployment.started_at_ms
        assert any(member.client_id.startswith(f"{streams.client_id}-") for member in reading.group.members)


def test_partitions_come_from_topology_and_cluster(orders: Orders, reader: ClusterReader) -> None:
    """Sources and internal topics with all their partitions; outputs and changelogs are topics, and nothing to read."""
    reading = read(orders, reader)
    assert isinstance(reading.partitions, tuple)
    assert isinstance(reading.topics, tuple)
    counts = {topic.name: topic.partitions for topic in reading.topics}
    read_topics = {partition.topic for partition in reading.partitions}
    assert {"orders", "customers", "orders-orders-by-customer-repartition"} <= read_topics
    assert sum(topic.endswith("-repartition") for topic in read_topics) == 2
    assert sum("subscription" in topic for topic in read_topics) == 2
    assert not {topic for topic in read_topics if topic.endswith("-changelog")}
    assert sum(topic.endswith("-changelog") for topic in counts) >= 4
    assert len(reading.partitions) == sum(counts[topic] for topic in read_topics)


def test_a_second_reading_connects_to_no_broker(
    orders: Orders, kafka: Kafka, reader: ClusterReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gate reads every few seconds: it keeps its connections, and asks the agents alone by new ones."""
    read(orders, reader)
    connect, connected = socket.socket.connect_ex, list[str]()

    def counted(own: socket.socket, address: tuple[str, int]) -> int:
        connected.append(f"{address[0]}:{address[1]}")
        return connect(own, address)

    monkeypatch.setattr(socket.socket, "connect_ex", counted)
    read(orders, reader)
    assert kafka.bootstrap not in connected
    with ClusterReader({"bootstrap.servers": kafka.bootstrap}) as other:
        read(orders, other)
    assert kafka.bootstrap in connected, "a new reader is seen to connect"


def test_deployer_that_is_not_there_is_missing(orders: Orders, reader: ClusterReader) -> None:
    """The rest of the reading stands."""

    class Silent:
        """A deployer without an answer."""

        would_write: list[str]

        def instances(self) -> tuple[Deployment, ...]:
            """Nothing."""
            from kstreams_runbooks.errors import Unreachable

            raise Unreachable("supervisord at http://127.0.0.1:9: nobody listens there; is it up?")

        def topology(self, target: Target) -> str:
            """Never asked: the instances tell it."""
            raise AssertionError(target)

    reading = read_application(orders.application, reader, Silent())  # type: ignore[arg-type]
    assert isinstance(reading.group, GroupReading)
    for instance in reading.instances:
        assert isinstance(instance.deployment, Missing)
        assert "nobody listens" in instance.deployment.missing
        assert isinstance(instance.streams, StreamsReading)


def test_described_topology_is_the_running_one(orders: Orders, reader: ClusterReader) -> None:
    """What `--describe` prints without a start names the same topics as the running client."""
    from kstreams_runbooks.observe.lag.topology_topics import topology_topics

    reading = read(orders, reader)
    deployer = make_deployer(orders.application, dry_run=True)
    streams = reading.instances[0].streams
    assert isinstance(streams, StreamsReading)
    assert isinstance(streams.topology, str)
    described = deployer.topology(Target(streams.version))
    assert topology_topics(parse_topology(described), "orders") == topology_topics(
        parse_topology(streams.topology), "orders"
    )


def test_discover_into_a_folder_of_any_name_takes_the_declarations(orders: Orders, tmp_path: Path) -> None:
    """`discover --out` without a word about the cluster: a new fleet that loads; stderr has what is left to do."""
    out, lab = tmp_path / "found", orders.stack.lab
    asked = ["discover", "--bootstrap", lab.bootstrap, "--out", str(out), "--format", "json"]
    ports = [word for number in (1, 2) for word in ("--jolokia-port", str(lab.ports.metrics(number)))]
    result = CliRunner().invoke(cli, [*asked, *ports])
    written = {one["application_id"]: one for one in json.loads(result.stdout)["applications"]}["orders"]
    assert (written["outcome"], written["problems"]) == ("written", [])
    assert written["file"] == str(out / "applications" / "orders.yaml")
    fleet = load_fleet(out)
    assert (fleet.application("orders").application_id, fleet.problems) == ("orders", ())
    assert f"move them to {lab.config.absolute() / 'applications'}" in result.stderr


def test_timeouts_stay_at_their_defaults(orders: Orders) -> None:
    """What every gap is measured against: nothing in the demo shortens it."""
    lab = orders.stack.lab
    for name in ("orders-1", "orders-2"):
        log = (lab.logs / f"{name}.log").read_text(encoding="utf-8")
        assert "session.timeout.ms = 45000" in log
        assert "transaction.timeout.ms = 10000" in log
        assert "max.block.ms = 60000" in log
        for file in ("base.properties", "deployment.properties"):
            settings = (lab.instances / name / file).read_text(encoding="latin-1")
            assert not [key for key in ("session.timeout", "transaction.timeout", "max.block") if key in settings]
