"""A copier of another team in front of the orders application: producers write to topics of its own."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from kstreams_runbooks.model.readings.readings import GroupReading
from kstreams_runbooks.observe import ClusterReader

from lab import kafka
from lab.airflow import OTHER_APPROVER
from lab.stack import Stack
from lab.supervise import Program, until

NAME, INSTANCES = "passing", ("passing-1", "passing-2")
# Producers write to the first topic of each pair; the orders application reads the second, its control topic.
COPIES = {"sent-orders": "orders", "sent-customers": "customers"}
TRAFFIC = "sent-traffic"
_PROGRAM = Path(__file__).with_name("copier_program.py")
_RUNNING_S = 60


def program(stack: Stack, instance: str, group: str, delivery: str, hold_s: float) -> Program:
    """One instance under supervisord, which has five seconds for a clean stop before it is killed."""
    lab = stack.lab
    options = {"--bootstrap": lab.bootstrap, "--group": group, "--client-id": instance, "--delivery": delivery}
    words = [word for option in options.items() for word in option]
    pairs = [f"{source}={target}" for source, target in COPIES.items()]
    return Program(instance, (str(lab.python), str(_PROGRAM), *words, "--hold-s", str(hold_s), *pairs), stop_wait_s=5)


def traffic(stack: Stack) -> Program:
    """The generator, which sends to the copier's inputs."""
    parts = stack.parts
    roles = zip(("orders", "customers"), COPIES, strict=True)
    words = [word for role, topic in roles for word in ("--topic", f"{role}={topic}")]
    options = ("--rate", str(parts.traffic_rate), "--customers", str(parts.customers), "--seed", str(parts.seed))
    return Program(
        TRAFFIC, (str(stack.lab.command), "generate-traffic", "--bootstrap", stack.lab.bootstrap, *words, *options)
    )


@contextmanager
def copier(
    stack: Stack,
    name: str = NAME,
    instances: Sequence[str] = INSTANCES,
    delivery: str = "exactly_once",
    hold_s: float = 0,
) -> Iterator[None]:
    """It runs, and is declared in the fleet, for as long as the body runs; its generator is there, not started."""
    lab, entry = stack.lab, stack.lab.config / "applications" / f"{name}.yaml"
    with ClusterReader({"bootstrap.servers": lab.bootstrap}) as reader:
        absent = COPIES.keys() - reader.topic_names()
    if absent:
        kafka.create_topics(lab.bootstrap, absent, sent_with_times=absent)
    entry.write_text(yaml.safe_dump(declared(stack, name, instances, delivery)), encoding="utf-8")
    for instance in instances:
        stack.supervisor.add(program(stack, instance, name, delivery, hold_s))
    stack.supervisor.add(traffic(stack))
    try:
        stack.supervisor.start(*instances)
        until(lambda: members(stack, name) == len(instances), _RUNNING_S, f"{name} is in its group", poll_s=0.3)
        yield
    finally:
        stack.supervisor.stop(TRAFFIC, *instances)
        entry.unlink()


def members(stack: Stack, name: str = NAME) -> int:
    """How many members its group has while it is stable, -1 while it is not."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        found = reader.group(name)
    return len(found.members) if isinstance(found, GroupReading) and found.state.upper() == "STABLE" else -1


def declared(stack: Stack, name: str, instances: Sequence[str], delivery: str) -> dict[str, Any]:
    """Its fleet entry."""
    return {
        "kind": "copier",
        "application_id": name,
        "cluster": "demo",
        "inputs": list(COPIES),
        "outputs": list(COPIES.values()),
        "delivery": delivery,
        "deployer": {
            "kind": "supervisord",
            "url": stack.lab.supervisor_url,
            "instances": [{"name": one, "program": one, "client_id": one} for one in instances],
            "stop_timeout_s": 30,
            "start_timeout_s": 30,
        },
        "owner": "team-passing",
        "operators": ["oncall", "admin"],
        "approvers": [OTHER_APPROVER],
        "production": False,
        "four_eyes": True,
        "limits": {"gate_interval_s": 0.5, "gate_good_readings": 2, "commit_interval_s": 1, "gate_ceiling_s": 120},
    }
