"""Spark with a login of its own: it counts with exactly the rights that are printed, and not without any of them.

The broker denies by default; the Connect server and the application that has written what it counts are real.
"""

from collections.abc import Iterator

import pytest
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.frames.counting import ConnectCounter
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.ends import held_of
from kstreams_runbooks.watch.drain.java_client import java_settings
from lab import spark
from lab.application import TO_RELEASE
from lab.supervise import until
from world.ports import CONNECT, port
from world.secured_stack import SecuredStack, of

pytestmark = pytest.mark.long

_COUNT_S = 180


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a Connect server."""
    spark.build_jars()
    with spark.connect_server(port(CONNECT), tmp_path_factory.mktemp("connect") / "server.log", **spark.SHORT) as made:
        yield made


@pytest.fixture
def written(cluster: SecuredStack) -> list[OffsetRange]:
    """What is in each topic that the application reads, and that it purges no more: its instances are stopped."""
    cluster.begin_with(TO_RELEASE)
    cluster.stack.start_traffic()
    acls = of(cluster.printed("certify_drain"), cluster.spark.name)
    topics = {one["name"] for one in acls if one["resource"] == "Topic"}
    found: list[OffsetRange] = []

    def ranges() -> list[OffsetRange]:
        with ClusterReader({"bootstrap.servers": cluster.stack.lab.bootstrap}) as reader:
            held = held_of(reader, reader.topics(topics))
        assert isinstance(held, tuple)
        known = [(one, one.start, one.end) for one in held if isinstance(one.start, int) and isinstance(one.end, int)]
        return [OffsetRange(one.topic, one.partition, start, end) for one, start, end in known if start < end]

    def everywhere() -> bool:
        found[:] = ranges()
        return {one.topic for one in found} == topics

    until(everywhere, 120, "each topic has records")
    cluster.stack.stop_traffic()
    cluster.stack.supervisor.stop(*cluster.names)
    return ranges()


def test_spark_counts_with_its_rights_and_not_without_any(
    cluster: SecuredStack, remote: str, written: list[OffsetRange]
) -> None:
    """With all of them it counts, is asked for no other right, and uses each; without one it names what to allow."""
    acls = of(cluster.printed("certify_drain"), cluster.spark.name)
    settings = java_settings(cluster.logins.settings(cluster.spark))

    def counted() -> int:
        counter = ConnectCounter(remote)
        try:
            return sum(one.records for one in counter.count(settings, written, _COUNT_S).values())
        finally:
            counter.close()

    cluster.logins.allow(cluster.spark, acls)
    with cluster.audited() as asked:
        assert counted() > 0
    assert not {one for one in asked[cluster.spark.name] if not one.allowed}
    assert not cluster.unused(acls, asked[cluster.spark.name])
    for lost in acls:
        cluster.logins.allow(cluster.spark, [one for one in acls if one is not lost])
        with pytest.raises(Inconclusive, match="does not let these credentials read the topics"):
            counted()
