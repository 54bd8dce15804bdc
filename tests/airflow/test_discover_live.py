"""What a team finds on a cluster that it has declared nothing of, and a library bump rehearsed with it."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from kstreams_runbooks.act.groups import GroupWriter
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.readings.readings import GroupReading
from kstreams_runbooks.observe import ClusterReader
from lab.application import NEWEST
from lab.beside import beside
from lab.stack import Stack
from lab.supervise import until
from world.endings import DRY_RUN, INCONCLUSIVE, begun, ended
from world.runs import command, log_of

NEW, STOPPED, PLAIN = "orders-by-streams-protocol", "orders-stopped", "reports"
NOBODY_LISTENS = "127.0.0.1:9"


@dataclass(frozen=True)
class Discovered:
    """What one look at the cluster gave: exit code and document, and another look at a broker that is not there."""

    stack: Stack
    code: int
    document: dict[str, Any]
    away: subprocess.Popen[str]
    elsewhere: Path


@pytest.fixture(scope="module")
def discovered(fresh: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Discovered]:
    """Beside orders: an application by the streams protocol, a stopped one, a consumer that looks like one.

    Nothing of it is declared.
    """
    lab = fresh.lab
    command(fresh, "generate-traffic", "--bootstrap", lab.bootstrap, "--records", "400", "--rate", "400")
    declared = lab.config / "applications" / "orders.yaml"
    kept = tmp_path_factory.mktemp("kept") / "orders.yaml"
    folder = tmp_path_factory.mktemp("beside")
    elsewhere = folder / "fleet" / "applications"
    with (
        beside(lab.bootstrap, folder / NEW, NEW, group_protocol="streams") as new,
        beside(lab.bootstrap, folder / STOPPED, STOPPED, "3.4.1") as stopped,
        looking_elsewhere(fresh, elsewhere) as away,
    ):
        new.wait_running()
        stopped.wait_running()
        committed(fresh, STOPPED)
        stopped.stop()
        forget_members(fresh, STOPPED)
        declared.rename(kept)
        try:
            people = ("--owner", "team-orders", "--operator", "oncall", "--approver", "approver")
            with reading(fresh, PLAIN, "classic"), reading(fresh, f"{PLAIN}-2", "consumer"):
                code, document = discover(fresh, "--jolokia-port", str(new.port), *people)
            yield Discovered(fresh, code, document, away, elsewhere)
        finally:
            for file in declared.parent.glob("orders*.yaml"):
                file.unlink()
            kept.rename(declared)


@contextmanager
def looking_elsewhere(stack: Stack, out: Path) -> Iterator[subprocess.Popen[str]]:
    """A look at a broker that is not there takes its time: it is begun early."""
    words = ("discover", "--bootstrap", NOBODY_LISTENS, "--cluster", "new", "--out", str(out))
    with subprocess.Popen(
        [str(stack.lab.command), *words],
        env=stack.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def committed(stack: Stack, group: str) -> None:
    """Return when a group has committed something."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        until(lambda: bool(reader.committed([group])[group]), 60, f"{group} has committed", poll_s=0.3)


def forget_members(stack: Stack, group: str) -> None:
    """A stopped application stays in its group until its session times out."""
    config = {"bootstrap.servers": stack.lab.bootstrap}
    with ClusterReader(config) as reader:
        found = reader.group(group)
        assert isinstance(found, GroupReading)
        GroupWriter(config, dry_run=False).remove_members(group, found.members)

        def empty() -> bool:
            now = reader.group(group)
            return isinstance(now, GroupReading) and now.state == "Empty"

        until(empty, 60, f"{group} is Empty", poll_s=0.3)


@contextmanager
def reading(stack: Stack, group: str, protocol: str) -> Iterator[None]:
    """A plain consumer reads, under a client id that Kafka Streams would give."""
    consumer = Consumer(
        {
            "bootstrap.servers": stack.lab.bootstrap,
            "group.id": group,
            "group.protocol": protocol,
            "client.id": f"{group}-StreamThread-1-consumer",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(["orders"])
    try:
        until(lambda: consumer.poll(0.1) is not None or bool(consumer.assignment()), 60, f"{group} reads", poll_s=0)
        consumer.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)
        yield
    finally:
        consumer.close()


def discover(stack: Stack, *options: str) -> tuple[int, dict[str, Any]]:
    """Exit code and document of a look at the stack's own fleet."""
    out = str(stack.lab.config / "applications")
    ports = [word for number in (1, 2) for word in ("--jolokia-port", str(stack.lab.ports.metrics(number)))]
    code, text = command(
        stack, "discover", "--bootstrap", stack.lab.bootstrap, "--out", out, *ports, "--format", "json", *options
    )
    assert text, f"exit code {code}"
    return code, json.loads(text)


def test_every_application_is_found_whatever_its_group(discovered: Discovered) -> None:
    """With its instances; a consumer that only looks like one is left out, with the reason."""
    document = discovered.document
    found = {one["application_id"]: one for one in document["applications"]}
    assert (discovered.code, document["cluster"], document["perhaps"], document["not_readable"]) == (0, "demo", [], [])
    assert {
        name: (one["group_type"], one["outcome"], one["instances"], one["versions"]) for name, one in found.items()
    } == {
        "orders": ("classic", "written", 2, ["3.4.1"]),
        NEW: ("streams", "written", 1, ["4.3.1"]),
        STOPPED: ("classic", "written", 0, []),
    }
    never = "as Kafka Streams never does, although its client ids look so"
    assert {one["group"]: one["why"] for one in document["left_out"] if one["group"].startswith(PLAIN)} == {
        PLAIN: f"its members share its partitions by the assignor range, {never}",
        f"{PLAIN}-2": f"its members share its partitions by the consumer protocol (KIP-848), {never}",
    }


def test_the_fleet_loads_what_was_written(discovered: Discovered) -> None:
    """With what the application really is."""
    lab = discovered.stack.lab
    fleet = load_fleet(lab.config)
    assert fleet.problems == ()
    entry = fleet.application("orders")
    assert (entry.inputs, entry.static_membership) == (("customers", "orders"), True)
    assert entry.outputs == ("orders-enriched", "orders-per-customer", "orders-running", "orders-windowed")
    assert [(one.name, one.metrics) for one in entry.deployer.instances] == [
        (f"orders-{number}", lab.metrics_url(number)) for number in (1, 2)
    ]
    assert (entry.foreign_key_joins, entry.processing_guarantee) == ("yes", "exactly_once_v2")
    assert fleet.application(NEW).processing_guarantee == "exactly_once_v2"
    assert fleet.application(STOPPED).inputs == ("customers", "orders")


def test_a_library_bump_is_rehearsed_with_what_was_written(discovered: Discovered) -> None:
    """Without a topology command only if that is accepted; it says that nobody has looked at what is deployed."""
    stack = discovered.stack
    unread = begun(stack, target=NEWEST, dry_run=True)
    document = ended(unread, state="failed", outcome=INCONCLUSIVE)
    assert "declare deployer.commands.topology" in document["run"]["outcome_sentence"]
    trial = begun(stack, target=NEWEST, dry_run=True, without_topology="only the library changes")
    ended(trial, state="success", outcome=DRY_RUN)
    assert "were not observed: a real run needs deployer.commands.instances" in log_of(stack, trial.run_id, "check")
    assert f"would ask a person: set orders-1 to release {NEWEST}" in log_of(stack, trial.run_id, "bounce_1_first")


def test_readiness_says_what_is_missing_for_each_runbook(discovered: Discovered) -> None:
    """Of what the application itself and its declaration show."""
    code, text = command(discovered.stack, "readiness", "--format", "json")
    ready = {
        one["application"]: {each["runbook"]: each for each in one["runbooks"]}
        for one in json.loads(text)["applications"]
    }
    assert ready.keys() == {"orders", NEW, STOPPED}
    orders = ready["orders"]
    assert (orders["library_bump"]["standing"], orders["library_bump"]["missing"]) == (
        "missing",
        ["no instances command"],
    )
    assert orders["certify_drain"]["standing"] == "ready"
    assert orders["control_topic_flush"]["missing"] == [
        "no control topic, and inputs not settable",
        "no instances command",
    ]
    assert "a streams group (KIP-1071)" in ready[NEW]["rolling_bounce"]["missing"]
    assert "no member runs (group Empty)" in ready[STOPPED]["library_bump"]["missing"]
    assert ready[STOPPED]["certify_drain"]["not_known"] == [
        "offsets not known: no running instance reports its topology, and no instance has a release set",
        "topology not known: no running instance tells it",
    ]
    assert code == 3


def test_a_second_look_writes_nothing(discovered: Discovered) -> None:
    """What is declared stays as somebody has edited it; a file in the way is left alone and named."""
    folder = discovered.stack.lab.config / "applications"
    file = folder / "orders.yaml"
    file.write_text(f"{file.read_text(encoding='utf-8')}# edited\n", encoding="utf-8")
    (folder / f"{STOPPED}.yaml").write_text("application_id: another\n", encoding="utf-8")
    before = {one.name: one.read_bytes() for one in folder.glob("*.yaml")}
    code, document = discover(discovered.stack)
    assert {one["application_id"]: one["outcome"] for one in document["applications"]} == {
        "orders": "declared already",
        NEW: "declared already",
        STOPPED: "left alone",
    }
    assert code == 1
    assert {one.name: one.read_bytes() for one in folder.glob("*.yaml")} == before


def test_nothing_is_written_where_no_broker_answers(discovered: Discovered) -> None:
    """Not even the folder is made, and the sentence has the address."""
    stdout, stderr = discovered.away.communicate(timeout=60)
    assert (discovered.away.returncode, stdout) == (4, "")
    assert f"Kafka at {NOBODY_LISTENS}: nothing listens" in stderr
    assert not discovered.elsewhere.parent.exists()
