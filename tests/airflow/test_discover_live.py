"""What a team finds on a cluster that it has declared nothing of, and a library bump rehearsed with it."""

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from endings import DRY_RUN, begun, ended
from kstreams_runbooks.act.groups import GroupWriter
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.readings import GroupReading
from kstreams_runbooks.observe import ClusterReader
from lab.beside import beside
from lab.stack import Stack
from lab.supervise import until
from runs import command, log_of

NEW, STOPPED, PLAIN = "orders-by-streams-protocol", "orders-stopped", "reports"
NOBODY_LISTENS = "127.0.0.1:9"


@pytest.fixture(scope="module")
def undeclared(fresh: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, int]]:
    """Beside orders: an application by the streams protocol, a stopped one, a consumer that looks like one.

    Nothing of it is declared. With the port of the first one's Jolokia.
    """
    lab = fresh.lab
    command(fresh, "generate-traffic", "--bootstrap", lab.bootstrap, "--records", "400", "--rate", "400")
    declared = lab.config / "applications" / "orders.yaml"
    kept = tmp_path_factory.mktemp("kept") / "orders.yaml"
    folder = tmp_path_factory.mktemp("beside")
    with (
        beside(lab.bootstrap, folder / NEW, NEW, group_protocol="streams") as new,
        beside(lab.bootstrap, folder / STOPPED, STOPPED, "3.4.1") as stopped,
    ):
        new.wait_running()
        stopped.wait_running()
        committed(fresh, STOPPED)
        stopped.stop()
        forget_members(fresh, STOPPED)
        reads(fresh)
        declared.rename(kept)
        try:
            yield fresh, new.port
        finally:
            for file in declared.parent.glob("orders*.yaml"):
                file.unlink()
            kept.rename(declared)


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


def reads(stack: Stack) -> None:
    """A plain consumer has been here, under a client id that Kafka Streams would give."""
    consumer = Consumer(
        {
            "bootstrap.servers": stack.lab.bootstrap,
            "group.id": PLAIN,
            "client.id": f"{PLAIN}-StreamThread-1-consumer",
            "enable.auto.commit": False,
        }
    )
    consumer.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)
    consumer.close()


def discover(stack: Stack, *options: str) -> tuple[int, dict[str, Any]]:
    """Exit code and document of a look at the stack's own fleet."""
    out = str(stack.lab.config / "applications")
    ports = [word for number in (1, 2) for word in ("--jolokia-port", str(stack.lab.ports.metrics(number)))]
    code, text = command(
        stack, "discover", "--bootstrap", stack.lab.bootstrap, "--out", out, *ports, "--format", "json", *options
    )
    return code, json.loads(text)


def test_declarations_of_what_runs_and_a_library_bump_rehearsed_with_one(undeclared: tuple[Stack, int]) -> None:
    """Every application is found, whatever its group; the fleet loads what was written, and a dry run goes through."""
    stack, port = undeclared
    people = ("--owner", "team-orders", "--operator", "oncall", "--approver", "approver")
    code, document = discover(stack, "--jolokia-port", str(port), *people)
    found = {one["application_id"]: one for one in document["applications"]}
    assert (code, document["cluster"], document["perhaps"], document["not_readable"]) == (0, "demo", [], [])
    assert {name: (one["group_type"], one["outcome"]) for name, one in found.items()} == {
        "orders": ("classic", "written"),
        NEW: ("streams", "written"),
        STOPPED: ("classic", "written"),
    }
    assert {name: (one["instances"], one["versions"]) for name, one in found.items()} == {
        "orders": (2, ["3.4.1"]),
        NEW: (1, ["4.3.1"]),
        STOPPED: (0, []),
    }
    assert {one["group"]: one["why"] for one in document["left_out"]} == {
        PLAIN: "no member runs, and nothing that Kafka Streams leaves behind"
    }
    fleet = load_fleet(stack.lab.config)
    assert fleet.problems == ()
    entry = fleet.application("orders")
    assert (entry.inputs, entry.static_membership) == (("customers", "orders"), True)
    assert entry.outputs == ("orders-enriched", "orders-per-customer", "orders-running", "orders-windowed")
    assert [(one.name, one.metrics) for one in entry.deployer.instances] == [
        (f"orders-{number}", stack.lab.metrics_url(number)) for number in (1, 2)
    ]
    assert (entry.foreign_key_joins, entry.processing_guarantee) == ("yes", "exactly_once_v2")
    assert fleet.application(STOPPED).inputs == ("customers", "orders")

    trial = begun(stack, dry_run=True)
    ended(trial, state="success", outcome=DRY_RUN)
    assert "nobody has looked" in log_of(stack, trial.run_id, "check")
    assert "would ask a person: set orders-1 to release 4.3.1" in log_of(stack, trial.run_id, "bounce_1_first")


def test_a_second_look_writes_nothing(undeclared: tuple[Stack, int]) -> None:
    """What is declared stays as somebody has edited it; a file in the way is left alone and named."""
    stack, _ = undeclared
    folder = stack.lab.config / "applications"
    file = folder / "orders.yaml"
    file.write_text(f"{file.read_text(encoding='utf-8')}# edited\n", encoding="utf-8")
    (folder / f"{STOPPED}.yaml").write_text("application_id: another\n", encoding="utf-8")
    before = {one.name: one.read_bytes() for one in folder.iterdir()}
    code, document = discover(stack)
    assert {one["application_id"]: one["outcome"] for one in document["applications"]} == {
        "orders": "declared already",
        NEW: "declared already",
        STOPPED: "left alone",
    }
    assert code == 1
    assert {one.name: one.read_bytes() for one in folder.iterdir()} == before


def test_nothing_is_written_where_no_broker_answers(undeclared: tuple[Stack, int]) -> None:
    """Not even the folder is made, and the sentence has the address."""
    stack, _ = undeclared
    out = stack.lab.run_dir / "elsewhere" / "applications"
    done = subprocess.run(
        [str(stack.lab.command), "discover", "--bootstrap", NOBODY_LISTENS, "--cluster", "new", "--out", str(out)],
        env=stack.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (4, "")
    assert f"Kafka at {NOBODY_LISTENS}: no answer" in done.stderr
    assert not out.parent.exists()
