"""A cluster of three: every node is broker and controller, every topic has three replicas, two have to be in sync.

One node may run an older release: its jars come with `older_jars`. What a test does to a node it does to its process:
SIGKILL, and a start on the same data.
"""

import os
import signal
import socket
import subprocess
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError, NoError
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.properties import dump

from lab.settings import Lab
from lab.supervise import Program, Supervisor, until

NODES = 3
# Setting of `Parts.broker`: node 3 runs this release, and the cluster has the features of its line.
OLDER = "older.release"
OLDER_RELEASE = "4.3.1"

# One Java process for each node on a machine of two cores: little to compile, one thread that collects.
_JVM = "-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
_CALL_S = 5
_WHOLE_S = 300
_IN_SYNC_S = 20
_LEAST = 2
_GONE_S = 30
_FETCH_S = 600
_PREFERRED = 0
_QUIET: dict[str, Any] = {"log_level": 0, "error_cb": lambda _: None}
_REPLICATED = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "share.coordinator.state.topic.replication.factor": "3",
    "share.coordinator.state.topic.min.isr": "2",
    # On a busy machine the defaults (2 s and 1 s) would elect another controller without need.
    "controller.quorum.fetch.timeout.ms": "5000",
    "controller.quorum.election.timeout.ms": "3000",
    "num.network.threads": "1",
    "num.io.threads": "3",
    # A test elects preferred leaders itself, and sees what that does.
    "auto.leader.rebalance.enable": "false",
}


def program_name(node: int) -> str:
    """The program of the n-th broker, from 1."""
    return "broker" if node == 1 else f"broker-{node}"


def programs(lab: Lab, settings: Mapping[str, str]) -> list[Program]:
    """Every node under supervisord; `settings` are of all of them."""
    # A leading dash would be taken for an option.
    cluster = "A" + urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")[1:]
    older = settings.get(OLDER)
    voters = ",".join(f"{node}@127.0.0.1:{lab.ports.controller_of(node)}" for node in lab.nodes)
    made = []
    for node in lab.nodes:
        here = lab.ports.broker_of(node), lab.ports.controller_of(node)
        own = {
            "node.id": str(node),
            "controller.quorum.voters": voters,
            **_REPLICATED,
            **{name: value for name, value in settings.items() if name != OLDER},
        }
        file = lab.run_dir / f"{program_name(node)}.properties"
        file.write_text(dump(own), encoding="latin-1")
        environment = {"CLUSTER_ID": cluster, "JVM_OPTIONS": _JVM}
        if older:
            environment["METADATA_RELEASE"] = older
        if older and node == NODES:
            environment["LIBS"] = str(older_jars(lab, older))
        words = ("env", *(f"{name}={value}" for name, value in environment.items()))
        launcher = str(lab.apps / "broker" / "bin" / "run-broker")
        arguments = (str(lab.run_dir / program_name(node)), *(str(port) for port in here), str(file))
        # The last nodes of a quorum wait for each other until they are killed.
        made.append(Program(program_name(node), (*words, launcher, *arguments), stop_wait_s=5))
    return made


def older_jars(lab: Lab, release: str) -> Path:
    """The folder with the jars of another release of the broker; Maven fetches them the first time."""
    libs = lab.apps / "broker" / "target" / f"libs-{release}"
    if not libs.is_dir():
        given = (f"-Dbroker.version={release}", f"-Dbroker.libs={libs.name}")
        command = ["mvn", "-q", "-B", "-f", str(lab.apps / "broker" / "pom.xml"), *given, "package"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_FETCH_S, check=False)
        if done.returncode:
            raise BadInput(f"Maven has no broker {release} (exit {done.returncode}):", *done.stdout.splitlines()[-5:])
    return libs


def _listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


@cache
def _admin(bootstrap: str) -> AdminClient:
    """One client for every strike on a cluster."""
    return AdminClient({"bootstrap.servers": bootstrap, "socket.timeout.ms": 4000, **_QUIET})


class Brokers:
    """The nodes of a cluster that is up: who leads, who is away; a kill, a start, an election."""

    def __init__(self, lab: Lab, supervisor: Supervisor) -> None:
        self._lab, self._supervisor = lab, supervisor
        self._admin = _admin(lab.bootstrap)

    @property
    def nodes(self) -> range:
        """The ids of all nodes."""
        return self._lab.nodes

    def kill(self, node: int) -> None:
        """SIGKILL, and return when its process is gone."""
        name = program_name(node)
        pid = self._supervisor.pid(name)
        assert pid is not None, f"{name} does not run"
        os.kill(pid, signal.SIGKILL)
        until(lambda: self._supervisor.pid(name) is None, _GONE_S, f"{name} is gone")

    def start(self, node: int) -> None:
        """Start it on its own data, without waiting for it."""
        self._supervisor.start(program_name(node))

    def start_missing(self) -> None:
        """Start every node that does not run, and return when the cluster is whole."""
        for node in self._lab.nodes:
            if self._supervisor.pid(program_name(node)) is None:
                self.start(node)
        self.wait_whole()

    def wait_whole(self) -> int:
        """Return once every node is there and every replica in sync; returns how many partitions lack a replica.

        A replica that comes back to a log whose first records were deleted may stay away until its leader changes (the
        broker's log: "marked as failed", UnexpectedAppendOffsetException). It is waited for some time.
        """
        looks: list[int | None] = []
        patience = time.monotonic() + _IN_SYNC_S

        def stays() -> bool:
            looks.append(self._lacking())
            late = time.monotonic() > patience and looks[-1] is not None
            return looks[-2:] == [0, 0] or late

        until(stays, _WHOLE_S, "every broker is back, and two replicas of each partition are in sync", poll_s=0.25)
        return looks[-1] or 0

    def _lacking(self) -> int | None:
        """How many partitions lack a replica; None while a node is away, or one has less than two."""
        # For some seconds the others still count a node that was killed. It listens once it has been let in again.
        if not all(_listens(self._lab.ports.broker_of(node)) for node in self.nodes):
            return None
        try:
            found = self._admin.list_topics(timeout=_CALL_S)
        except KafkaException:
            return None
        partitions = [one for topic in found.topics.values() for one in topic.partitions.values()]
        if len(found.brokers) < self._lab.brokers or any(
            one.leader < 0 or len(one.isrs) < _LEAST for one in partitions
        ):
            return None
        return sum(len(one.isrs) < len(one.replicas) for one in partitions)

    def controller(self) -> int:
        """The node that is the active controller now."""
        found: list[int] = []

        def asked() -> bool:
            try:
                admin = KafkaAdminClient(bootstrap_servers=self._lab.bootstrap.split(","), bootstrap_timeout_ms=4000)
            except KafkaError:
                return False
            try:
                [topic] = admin.describe_metadata_quorum()["topics"]
                found.append(int(topic["partitions"][0]["leader_id"]))
            except KafkaError:
                return False
            finally:
                admin.close()
            return found[-1] > 0

        until(asked, _WHOLE_S, "the quorum names its leader")
        return found[-1]

    def coordinator(self, group: str) -> int:
        """The node that has a group's offsets now."""
        found: list[int] = []

        def asked() -> bool:
            # A new client each time: one that has asked before goes on asking the coordinator of then.
            admin = AdminClient({"bootstrap.servers": self._lab.bootstrap, **_QUIET})
            try:
                answer = admin.describe_consumer_groups([group], request_timeout=_CALL_S)[group].result()
            except KafkaException:
                return False
            found.append(int(answer.coordinator.id))
            return True

        until(asked, _WHOLE_S, f"group {group} has a coordinator")
        return found[-1]

    def leader(self, topic: str, partition: int) -> int:
        """The node that leads a partition now."""
        return int(self._admin.list_topics(topic, timeout=_CALL_S).topics[topic].partitions[partition].leader)

    def demand_in_sync(self, replicas: int) -> None:
        """Set min.insync.replicas of every topic but Kafka's own; at three, one dead broker stops every write."""
        names = [name for name in self._admin.list_topics(timeout=_CALL_S).topics if not name.startswith("__")]
        entry = ConfigEntry("min.insync.replicas", str(replicas), incremental_operation=AlterConfigOpType.SET)
        changes = [ConfigResource(ResourceType.TOPIC, name, incremental_configs=[entry]) for name in names]
        for future in self._admin.incremental_alter_configs(changes, request_timeout=30).values():
            future.result()

    def elect_preferred(self) -> int:
        """Make the first replica of every partition its leader; returns how many leaders changed."""
        # confluent-kafka 2.16.1 ends `elect_leaders` with a SystemError before it asks a broker.
        admin = KafkaAdminClient(bootstrap_servers=self._lab.bootstrap.split(","), bootstrap_timeout_ms=4000)
        try:
            answer = admin.elect_leaders(_PREFERRED, timeout_ms=30_000)
        finally:
            admin.close()
        return sum(
            one.error_code == NoError.errno
            for topic in answer.replica_election_results
            for one in topic.partition_result
        )
