"""Readings of a small healthy application, for tests of pure decisions: change one thing, see one answer."""

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    BrokerReading,
    Deployment,
    GroupReading,
    InstanceReading,
    MemberReading,
    Missing,
    Start,
    StreamsReading,
    Taken,
    TopicReading,
)
from kstreams_runbooks.model.runs.cards import InstanceMoved
from kstreams_runbooks.model.runs.gate import Expectation
from kstreams_runbooks.model.runs.ledger import INSTANCE, Card
from kstreams_runbooks.model.runs.plan import DeployedInstance
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, DeclaredTopic, Serde
from kstreams_runbooks.model.topology.topology import Sink, Source, Topology
from kstreams_runbooks.observe.kafka.offsets import Committed, Ends
from kstreams_runbooks.observe.lag.partition_rows import partition_row

NEW = "4.3.1"
OLD = "3.4.1"
BOUNCE_1 = Bounce(1, NEW, (("upgrade.from", "3.4"),))
BOUNCE_2 = Bounce(2, NEW, ())


def instance(
    name: str, *, release: str = OLD, settings: tuple[tuple[str, str], ...] = (), **streams: Any
) -> InstanceReading:
    """One instance that runs `release` well; keyword arguments change the report of its Streams client."""
    taken = Taken(1_000, "test")
    client = StreamsReading(
        taken=taken,
        start=Start(500, 41),
        client_id=f"{name}-client",
        application_id="orders",
        state="RUNNING",
        version=release,
        alive_threads=1,
        failed_threads=0,
        restoring=0,
        restore_remaining=0,
        topology="Topologies:",
    )
    deployment = Deployment(taken, name, "running", 500, 41, release, settings, applied=True)
    return InstanceReading(name, deployment, replace(client, **streams))


def applied(one: InstanceReading, value: bool | Missing) -> InstanceReading:
    """The same instance, whose settings are in effect or not."""
    assert isinstance(one.deployment, Deployment)
    return replace(one, deployment=replace(one.deployment, applied=value))


def down(name: str, *, release: str | Missing = OLD, settings: tuple[tuple[str, str], ...] = ()) -> InstanceReading:
    """One instance whose process is gone."""
    deployment = Deployment(
        Taken(1_000, "test"), name, "stopped", None, None, release, settings, applied=Missing("not running")
    )
    return InstanceReading(name, deployment, Missing("connection refused"))


def member(name: str, *, static: bool = True, thread: int = 1) -> MemberReading:
    """One stream thread of an instance in the group."""
    return MemberReading(
        f"{name}-{thread}",
        f"{name}-client-StreamThread-{thread}-consumer",
        "/127.0.0.1",
        f"{name}-{thread}" if static else None,
    )


def partition(
    committed: int | None = 100,
    stable: int | Missing = 100,
    number: int = 0,
    *,
    topic: str = "orders",
    log_start: int = 0,
) -> PartitionLag:
    """The row of one partition, as it is made of a committed offset (None: never) and the last stable offset."""
    offset = None if committed is None else Committed(committed, "")
    return partition_row((topic, number), "source", "id-1", offset, Ends(log_start, stable, stable))


def gone(topic: str, number: int = 0) -> PartitionLag:
    """The row of a topic that does not exist."""
    return PartitionLag(topic, number, "source", "missing", why="the topic does not exist on the cluster")


def reading(
    *instances: InstanceReading,
    at_ms: int = 1_000,
    partitions: tuple[PartitionLag, ...] | Missing | None = None,
    group: GroupReading | Missing | None = None,
    auto_create: bool | Missing = False,
) -> ApplicationReading:
    """The application with these instances (two healthy old ones by default)."""
    taken = Taken(at_ms, "test")
    instances = instances or (instance("orders-1"), instance("orders-2"))
    members = tuple(member(one.instance) for one in instances if isinstance(one.streams, StreamsReading))
    return ApplicationReading(
        taken=taken,
        application="orders",
        cluster="demo",
        broker=BrokerReading(taken, "4.3", (("metadata.version", 29),), auto_create, 1),
        group=group or GroupReading(taken, "orders", "classic", "Stable", members),
        topics=(TopicReading("orders", "id-1", 1),),
        partitions=(partition(),) if partitions is None else partitions,
        instances=instances,
    )


def declared(**changes: Any) -> DeclaredApplication:
    """The fleet entry of the application above."""
    entry = DeclaredApplication(
        name="orders",
        cluster="demo",
        application_id="orders",
        instances=("orders-1", "orders-2"),
        releases=(OLD, NEW),
        static_membership=True,
        uses=("foreign_key_joins", "table_aggregations"),
        production=False,
        four_eyes=True,
        automatic_approval=False,
        operators=("oncall",),
        approvers=("approver", "admin"),
        zone="Europe/Berlin",
        limits=(("max_lag", 1000.0), ("bake_s", 10.0), ("approval_expiry_h", 8.0)),
        processing_guarantee="exactly_once_v2",
    )
    return replace(entry, **changes)


def expectation(**changes: Any) -> Expectation:
    """Bounce 1 of `orders-1`, whose start before the restart was another one."""
    expected = Expectation(
        instance="orders-1",
        bounce=BOUNCE_1,
        previous=Start(100, 40),
        max_lag=1_000,
        good_readings=3,
        max_age_ms=30_000,
        commit_interval_ms=100,
    )
    return replace(expected, **changes)


# The due time and the conf of a run, which distinguish it from another run of the same id.
# What a step keeps when it begins.
STEP: dict[str, Any] = {"what": "reads", "run_ends_ms": None, "tasks": []}
DUE, CONF = datetime(2026, 11, 20, 10, tzinfo=UTC), {"application": "orders", "dry_run": False}
CONF_DIGEST = hashlib.sha256(json.dumps(CONF, separators=(",", ":")).encode()).hexdigest()


def card(name: str = "orders-1", **changes: Any) -> Card:
    """The undo card of one instance in bounce 1; `facts` change those of the move."""
    moved = InstanceMoved(1, DeployedInstance(name, OLD, (), OLD), DeployedInstance(name, NEW, (), NEW))
    if changes.get("kind", INSTANCE) == INSTANCE:
        changes["facts"] = encode(moved) | changes.get("facts", {})
    made = Card(
        run_key="library_bump/r",
        seq=1,
        task_id="bounce_1_first",
        step="bounce 1",
        object=name,
        what=f"{name}: {BOUNCE_1.sentence}",
        undo=f"{name} back to {OLD}",
        cost="one restart",
        data_affected=False,
        point_of_no_return=False,
        facts={},
        at_ms=1_000,
        application="orders",
        cluster="demo",
        stage=0,
    )
    return replace(made, **changes)


def declaration_of(topology: Topology, **store: Any) -> Declaration:
    """A complete declaration of a topology, alike for all stores and topics; keyword arguments change stores."""
    plain = DeclaredStore(
        "key_value",
        None,
        None,
        "page",
        Serde("string"),
        Serde("long", 1),
        aggregate="count",
        join="inner",
        logging=True,
    )
    nodes = [node for _, node in topology.nodes()]
    topics = {topic for node in nodes if isinstance(node, Source) for topic in node.topics or {node.pattern or ""}}
    topics |= {node.topic or node.extractor or "" for node in nodes if isinstance(node, Sink)}
    return Declaration(
        stores=dict.fromkeys(topology.stores, replace(plain, **store)),
        topics=dict.fromkeys(topics, DeclaredTopic(4, "page", Serde("string"), Serde("json", 1))),
        config={},
    )
