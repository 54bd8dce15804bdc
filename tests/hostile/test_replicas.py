"""Two brokers, one of which stops: replicas out of sync or on the move, and topics that are not deleted, refuse."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka import TopicPartition
from kstreams_runbooks.act.topics import TopicWriter
from kstreams_runbooks.decide.plans.writable import may_write
from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.model.readings.readings import BrokerReading, Missing
from kstreams_runbooks.model.readings.touched import TopicState, TouchedReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.model.writes import PlannedWrite, TopicShape
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.clients import connect_python
from kstreams_runbooks.observe.kafka.touched import read_touched
from lab.settings import CHECKOUT
from lab.supervise import inherited, until
from world.ports import PAIR, port

_READY_S = 120
COPIED, MOVED = "replicas-copied", "replicas-moved"


class Pair:
    """Node 1 is broker and controller. Node 2 is a broker of the same cluster, with delete.topic.enable=false."""

    def __init__(self, directory: Path, base: int) -> None:
        self._directory = directory
        self._ports, self._controller = (base, base + 1), base + 2
        self._nodes: list[subprocess.Popen[bytes]] = []
        self.config = {"bootstrap.servers": f"127.0.0.1:{base}"}

    def start(self) -> None:
        """Both, one after the other: the second is formatted with the id of the first one's cluster."""
        self._launch(1, "")
        until(lambda: self.brokers() == {1}, _READY_S, "the first broker answers")
        meta = (self._data(1) / "log" / "meta.properties").read_text(encoding="utf-8").splitlines()
        [cluster] = [line for line in meta if line.startswith("cluster.id=")]
        log = self._data(2) / "log"
        log.mkdir(parents=True)
        (log / "meta.properties").write_text(f"version=1\nnode.id=2\n{cluster}\n", encoding="utf-8")
        here = f"PLAINTEXT://127.0.0.1:{self._ports[1]}"
        self._launch(
            2,
            f"process.roles=broker\nnode.id=2\nlisteners={here}\nadvertised.listeners={here}\n"
            f"controller.quorum.voters=1@127.0.0.1:{self._controller}\ndelete.topic.enable=false\n",
        )
        until(lambda: self.brokers() == {1, 2}, _READY_S, "the second broker has joined")

    def stop(self, node: int) -> None:
        """End one of them."""
        process = self._nodes[node - 1]
        process.terminate()
        process.wait(60)

    def stop_all(self) -> None:
        """The broker first: without its controller it would wait."""
        for node in range(len(self._nodes), 0, -1):
            self.stop(node)

    def brokers(self) -> set[int]:
        """The brokers that are up."""
        try:
            with ClusterReader(self.config) as reader:
                nodes = reader.admin.describe_cluster()["brokers"]
        except Unreachable:
            return set()
        return {int(one["broker_id"]) for one in nodes if not one["is_fenced"]}

    def _data(self, node: int) -> Path:
        return self._directory / f"node-{node}"

    def _launch(self, node: int, properties: str) -> None:
        extra = self._directory / f"{node}.properties"
        extra.write_text(properties, encoding="utf-8")
        launcher = CHECKOUT / "tests" / "apps" / "broker" / "bin" / "run-broker"
        words = (launcher, self._data(node), self._ports[node - 1], self._controller, extra)
        with (self._directory / f"{node}.log").open("ab") as out:
            self._nodes.append(
                subprocess.Popen([str(word) for word in words], env=inherited(os.environ), stdout=out, stderr=out)
            )


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    made = Pair(tmp_path, port(PAIR))
    try:
        made.start()
        yield made
    finally:
        made.stop_all()


def judged(pair: Pair, *writes: PlannedWrite) -> tuple[TouchedReading, Verdict]:
    with ClusterReader(pair.config) as reader:
        reading = read_touched(reader, [COPIED, MOVED], [])
    return reading, may_write(reading, writes)


def replicas(pair: Pair) -> list[int]:
    return [one.replication for one in judged(pair)[0].topics if isinstance(one, TopicState)]


@pytest.mark.long
def test_topics_whose_replicas_are_not_settled_are_not_touched(pair: Pair) -> None:
    """All is well first; then one broker is gone, and a replica is moved to it."""
    TopicWriter(pair.config, dry_run=False).create([TopicShape(COPIED, 2, 2)])
    admin = connect_python(pair.config, writable=True)
    try:
        admin.create_topics({MOVED: {"assignments": {0: [1]}}}, wait_for_metadata=True)
        grow, delete = PlannedWrite("grow_topics", (COPIED, MOVED)), PlannedWrite("delete_topics", (COPIED,))
        # Each broker has its own view of the metadata, and one is behind the other for a moment.
        until(lambda: replicas(pair) == [2, 1], 20, "both topics are listed")
        assert judged(pair, grow)[1].outcome is Outcome.PROCEED
        reading, verdict = judged(pair, delete)
        assert reading.deletes_topics is False
        assert verdict.outcome is Outcome.REFUSE
        assert "delete.topic.enable=false" in verdict.sentence

        pair.stop(2)
        until(lambda: pair.brokers() == {1}, 60, "the second broker is gone")
        admin.alter_partition_reassignments({TopicPartition(MOVED, 0): [1, 2]})
        reading, verdict = judged(pair, grow)
        assert reading.reassigned == (f"{MOVED}-0",)
        assert verdict.outcome is Outcome.REFUSE
        assert f"topic {COPIED}: partitions 0, 1 with fewer replicas in sync than assigned" in verdict.sentence
        assert f"topic {MOVED}: replicas of {MOVED}-0 are being moved" in verdict.sentence
        # What the stopped broker would do is not known, nor its release.
        assert "delete.topic.enable: broker 2 is down" in judged(pair, delete)[1].sentence
        with ClusterReader(pair.config) as reader:
            broker = reader.broker()
        assert isinstance(broker, BrokerReading)
        down = "broker 2 is down; start it or unregister it"
        assert broker.version == Missing(f"broker versions: {down}")
        assert broker.auto_create_topics == Missing(f"auto.create.topics.enable: {down}")
    finally:
        admin.close()
