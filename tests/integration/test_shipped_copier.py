"""The shipped copier as an application of the fleet: read, ended at `until` and started without it by its deployer."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer
from kstreams_runbooks.decide.instances.check import ready_for_change
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.deployers.protocol import Deployer
from kstreams_runbooks.fleet import Application, load_fleet
from kstreams_runbooks.model.copying import UNTIL
from kstreams_runbooks.model.readings.copying import CopierFigures
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    GroupReading,
    Missing,
    StreamsReading,
)
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe import ClusterReader, read_application
from kstreams_runbooks.observe.application.copier_figures import read_copier_figures
from lab import kafka
from lab.shipped_copier import INSTANCES, LIBRARY, NAME, RELEASE, shipped_copier
from lab.stack import Stack
from lab.supervise import until

pytestmark = pytest.mark.long

_ROUTES = {"shipped-sent": "shipped-orders", "shipped-sent-too": "shipped-orders-too"}
_LIMIT_S = 90


@pytest.fixture(scope="module")
def copier(stack: Stack) -> Iterator[Stack]:
    """Two instances that copy two topics."""
    with shipped_copier(stack, routes=_ROUTES):
        yield stack


def entry() -> Application:
    """Its fleet entry."""
    return load_fleet().application(NAME)


def deployer() -> Deployer:
    """One that acts."""
    return make_deployer(entry(), dry_run=False)


def read(stack: Stack) -> ApplicationReading:
    """It as a step of a run reads it."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        return read_application(entry(), reader, make_deployer(entry()))


def send(stack: Stack, count: int, topic: str = "shipped-sent", partition: int = 0) -> None:
    """Records to one partition of a source."""
    producer = Producer({"bootstrap.servers": stack.lab.bootstrap})
    for number in range(count):
        producer.produce(topic, str(number), partition=partition)
    assert producer.flush(10) == 0


def copied(stack: Stack, topic: str = "shipped-orders") -> int:
    """Committed records of a control topic."""
    return sum(1 for _ in kafka.records(stack.lab.bootstrap, topic))


def committed(stack: Stack, partition: int = 0) -> int | None:
    """The group's offset on a partition of the first source."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        offsets = reader.committed([NAME])[NAME]
    assert not isinstance(offsets, Missing)
    return offsets["shipped-sent", partition].offset


def processes() -> list[str]:
    """What the deployer reports."""
    return [one.process for one in deployer().instances()]


def test_everything_of_an_application_is_read_of_it(copier: Stack) -> None:
    """Group, members, releases, metrics, topology and offsets: a change may begin, and nothing is left out."""
    send(copier, 100)
    until(lambda: copied(copier) == 100, _LIMIT_S, "it copies")
    until(
        lambda: all(isinstance(one.streams, StreamsReading) for one in read(copier).instances), _LIMIT_S, "it answers"
    )
    reading = read(copier)
    verdict = ready_for_change(reading, entry().declared(), 0, 30_000)
    assert verdict.outcome is Outcome.PROCEED, verdict.reasons
    assert [one.id for one in verdict.findings] == []
    assert isinstance(reading.group, GroupReading)
    assert (reading.group.type, len(reading.group.members)) == ("classic", 2)
    for one in reading.instances:
        assert isinstance(one.streams, StreamsReading)
        assert isinstance(one.deployment, Deployment)
        assert (one.streams.version, one.streams.state) == (LIBRARY, "RUNNING")
        assert (one.deployment.release, one.deployment.applied) == (RELEASE, True)
    assert not isinstance(reading.partitions, Missing)
    assert {one.topic for one in reading.partitions} == {*_ROUTES}
    assert all(one.committed is not None for one in reading.partitions)


def test_its_figures_are_read(copier: Stack) -> None:
    """Of each instance; an agent of another application has none of it."""
    urls = [one.metrics for one in entry().deployer.instances]

    def lag_known() -> bool:
        found = [read_copier_figures(url, NAME) for url in urls]
        return all(isinstance(one, CopierFigures) and one.lag == 0 for one in found)

    until(lag_known, _LIMIT_S, "the lag is read")
    for url in urls:
        found = read_copier_figures(url, NAME)
        assert isinstance(found, CopierFigures)
        assert found.version == f"{RELEASE} (Kafka Streams {LIBRARY})"
        assert (found.group, found.mode, found.state) == (NAME, "same-partition", "RUNNING")
        assert found.routes == tuple(f"{source} -> {target}" for source, target in _ROUTES.items())
        assert (found.until_left, found.last_error, found.last_error_at_ms) == (None, "", None)
    other = read_copier_figures(urls[0], "orders")
    assert isinstance(other, Missing)
    assert f"0 copiers of group orders (expected 1; groups: {NAME})" in other.missing
    application = read_copier_figures(copier.lab.metrics_url(1), NAME)
    assert isinstance(application, Missing)
    assert "groups: none" in application.missing


def test_its_transactional_ids_begin_with_its_group(copier: Stack) -> None:
    """A run finds the open ones of a copier by them."""
    send(copier, 10)
    with ClusterReader({"bootstrap.servers": copier.lab.bootstrap}) as reader:
        ids = reader.transactional_ids()
    assert not isinstance(ids, Missing)
    assert [one for one in ids if one.startswith(f"{NAME}-")]


def test_it_ends_at_until_and_goes_on_without_it(copier: Stack) -> None:
    """Set like any setting of a runbook; every instance ends by itself, cleanly, and copies the rest afterwards."""
    acting, before = deployer(), copied(copier)
    send(copier, 50)
    until(lambda: copied(copier) == before + 50, _LIMIT_S, "it copies")
    for name in INSTANCES:
        acting.stop(name)
    send(copier, 20)
    ends = {(topic, number): 0 for topic in _ROUTES for number in range(kafka.PARTITIONS)}
    at = committed(copier)
    assert at is not None
    ends["shipped-sent", 0] = at + 5
    bounded = Target(RELEASE, ((UNTIL, ",".join(f"{topic}:{number}:{end}" for (topic, number), end in ends.items())),))
    for name in INSTANCES:
        acting.apply(name, bounded)
        acting.start(name)
    until(lambda: processes() == ["failed", "failed"], _LIMIT_S, "both have ended")
    assert [one.ended_cleanly for one in acting.instances()] == [True, True]
    assert [dict(one.settings).keys() for one in acting.instances()] == [{UNTIL}, {UNTIL}]
    assert (copied(copier), committed(copier)) == (before + 55, at + 5)
    reading = read(copier)
    assert isinstance(reading.group, GroupReading)
    assert (reading.group.state.upper(), reading.group.members) == ("EMPTY", ())
    for name in INSTANCES:
        acting.apply(name, Target(RELEASE))
        acting.start(name)
    until(lambda: copied(copier) == before + 70, _LIMIT_S, "it copies the rest")
    assert [one.settings for one in acting.instances()] == [(), ()]


@pytest.mark.usefixtures("copier")
def test_what_it_is_set_to_is_described() -> None:
    """The release describes itself without a cluster, with the mode that a run would set."""
    described = deployer().topology(Target(RELEASE, (("mode", "by-key"),)))
    for source, target in _ROUTES.items():
        assert f"Source: from-{source} (topics: [{source}])" in described
        assert f"Sink: to-{target} (topic: {target})" in described
