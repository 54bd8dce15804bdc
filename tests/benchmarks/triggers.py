"""`make bench-triggers`: readings of waits in a real triggerer, without and with others whose cluster or agent hangs.

Each application has a real topic and group, and a fake agent that answers at once and keeps the times at which it was
asked: one for each reading. The waits are the product's triggers, started by tasks of a DAG that does nothing else; the
connections are in Airflow's database. PORT_BASE and RUN_DIR as everywhere.
"""

import itertools
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.drain import DrainQuestion
from kstreams_runbooks.model.runs.gate import Awaited
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.steps.drain.trigger import drain_trigger
from kstreams_runbooks.steps.instances.deploy_trigger import deploy_trigger
from kstreams_runbooks.steps.instances.gate import expected, patience
from kstreams_runbooks.steps.instances.gate_trigger import gate_trigger
from kstreams_runbooks.steps.instances.watch_trigger import WatchTrigger
from kstreams_runbooks.steps.run.run import Run, now_ms
from lab.fake_streams import FakeStreams
from lab.fakes import FakeAgent, FakeSilentBroker, falls_silent
from lab.settings import Lab
from lab.stack import Parts, Stack, stack

SCHEMA_VERSION = 1
WAITS, HANGING = 12, 4
SECONDS = 60
_KINDS = ("gate", "deploy", "drain")
_DAG = "waits"
_FILE = Path(__file__).parent / "dags" / "waits.py"
_SETTLE_S = 15
_CLUSTER, _HANGING = "well", "hanging"


@dataclass
class Wait:
    """One application, what it is waited for with, and the times of its readings."""

    name: str
    kind: str
    cluster: str
    asked: list[float] = field(default_factory=list)


def declared(config: Path, servers: str, made: ExitStack, wait: Wait) -> Wait:
    """An application with a topic, a group that has read one of two records, and an agent that answers."""
    topic = f"{wait.name}-in"
    settings: dict[str, Any] = {"bootstrap.servers": servers}
    admin = AdminClient(settings)
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
    producer = Producer(settings)
    for value in ("read", "unread"):
        producer.produce(topic, value)
    producer.flush(10)
    consumer = Consumer({**settings, "group.id": wait.name, "enable.auto.commit": False})
    consumer.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
    consumer.close()
    topology = f"Topologies:\n  Sub-topology: 0\n    Source: s (topics: [{topic}])\n      --> none\n"
    folder = Path(made.enter_context(tempfile.TemporaryDirectory()))
    streams = FakeStreams(folder, wait.name, topology, (topic,), cluster=wait.cluster)
    wait.asked = made.enter_context(streams.running())
    shutil.copytree(streams.directory, config, dirs_exist_ok=True)
    return wait


def trigger_of(wait: Wait, ledger: Ledger) -> WatchTrigger:
    """The trigger of a run of the application that waits for what never comes; its plan is of the present reading."""
    record = RunRecord("", "rolling_bounce", wait.name, wait.name, wait.cluster, "bench", False, "", {}, now_ms())
    run = Run(ledger.start_run(record), "wait", 1, ledger)
    reading = run.read()
    settings: dict[str, str | None] = {"num.stream.threads": "2"}
    plan = restart_plan(reading, run.declared, None, settings, (), run.declared.limits, "code", at_once=False)
    ledger.store_plan(run.key, plan.digest, encode(plan))
    [bounce], [one] = plan.bounces, reading.instances
    if wait.kind == "gate":
        wanted = expected(plan, bounce, one.instance, one.streams.start)
        return gate_trigger(run, wanted, patience(plan), last=True)
    if wait.kind == "deploy":
        return deploy_trigger(run, Awaited(one.instance, bounce, one.streams.start))
    return drain_trigger(run, DrainQuestion(2, None))


def begin(made: Stack, waits: Sequence[Wait], triggers: Mapping[str, WatchTrigger]) -> None:
    """A run of the DAG for each, parked in the triggerer."""
    for wait in waits:
        path, arguments = triggers[wait.name].serialize()
        made.api().trigger(_DAG, {"trigger": path, "arguments": json.loads(json.dumps(arguments))}, wait.name)
        # One after another: Airflow's SQLite database takes one writer.
        until_parked(made, [wait])


def until_parked(made: Stack, waits: Sequence[Wait]) -> None:
    """Return when each wait is parked; SystemExit if one has ended."""
    left = {wait.name for wait in waits}
    deadline = time.monotonic() + 300
    while left and time.monotonic() < deadline:
        for name in sorted(left):
            state = made.api().tasks(_DAG, name)["wait"]["state"]
            if state == "deferred":
                left.discard(name)
            if state in {"failed", "success"}:
                raise SystemExit(f"{name} is {state}; read its log below {made.lab.airflow_home}/logs")
        time.sleep(1)
    if left:
        raise SystemExit(f"not parked after 300 s: {sorted(left)}")


def measured(made: Stack, waits: Sequence[Wait]) -> dict[str, Any]:
    """Seconds between two readings of the same wait, by kind."""
    time.sleep(_SETTLE_S)
    began = time.monotonic()
    time.sleep(SECONDS)
    until_parked(made, waits)
    found: dict[str, Any] = {}
    for kind in _KINDS:
        between: list[float] = []
        for wait in waits:
            times = [at for at in wait.asked if at >= began]
            between += [later - at for at, later in itertools.pairwise(times)] * (wait.kind == kind)
        found[kind] = {
            "readings": len(between),
            "median_s": round(statistics.median(between), 1),
            "p95_s": round(statistics.quantiles(between, n=20)[-1], 1),
            "largest_s": round(max(between), 1),
        }
    return found


def fall_silent(config: Path, waits: Sequence[Wait], agent: str) -> None:
    """The agents of these applications never answer from now on."""
    for wait in waits:
        file = config / "applications" / f"{wait.name}.yaml"
        entry = json.loads(file.read_text(encoding="utf-8"))
        entry["deployer"]["instances"][0]["metrics"] = agent
        file.write_text(json.dumps(entry), encoding="utf-8")


def connect(made: Stack, cluster: str, servers: str, method: str) -> None:
    """The connection of a cluster, in Airflow's database; this process has it from the environment, as it was first."""
    connection = {"conn_type": "kafka", "extra": json.dumps({"bootstrap.servers": servers})}
    os.environ.setdefault(f"AIRFLOW_CONN_KAFKA_{cluster.upper()}", json.dumps(connection))
    name = f"kafka_{cluster}"
    path = "/connections" if method == "POST" else f"/connections/{name}"
    made.api().call(method, path, {"connection_id": name, **connection})


def main() -> None:
    """Print the document."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as made:
        config = Path(folder)
        (config / "fleet_check.yaml").write_text("every_minutes: 0\n", encoding="utf-8")
        lab = replace(Lab.of(), config=config)
        os.environ.update(lab.fleet_environment())
        up = made.enter_context(stack(lab, Parts(deployed=None, built=True)))
        (lab.dags / _FILE.name).symlink_to(_FILE)
        up.api().wait_for_dag(_DAG)
        for cluster in (_CLUSTER, _HANGING):
            connect(up, cluster, lab.bootstrap, "POST")
        names = [f"waits-{number:02}" for number in range(WAITS + HANGING)]
        of = [_HANGING if number >= WAITS and number % 2 else _CLUSTER for number in range(len(names))]
        waits = [
            declared(config, lab.bootstrap, made, Wait(name, _KINDS[number % len(_KINDS)], cluster))
            for number, (name, cluster) in enumerate(zip(names, of, strict=True))
        ]
        ledger = Ledger.open()
        triggers = {wait.name: trigger_of(wait, ledger) for wait in waits}
        well, hanging = waits[:WAITS], waits[WAITS:]
        begin(up, well, triggers)
        rows = {"alone": measured(up, well)}
        print("alone measured", file=sys.stderr)
        broker, agent = made.enter_context(FakeSilentBroker()), made.enter_context(FakeAgent(falls_silent()))
        connect(up, _HANGING, broker.address, "PATCH")
        fall_silent(config, [wait for wait in hanging if wait.cluster == _CLUSTER], agent.url)
        begin(up, hanging, triggers)
        rows["next to those that hang"] = measured(up, well)
        until_parked(up, hanging)
        if not broker.accepted or not agent.requests:
            raise SystemExit(f"{len(broker.accepted)} calls of the broker and {len(agent.requests)} of the agent hang")
    document = {"schema_version": SCHEMA_VERSION, "waits": WAITS, "hanging": HANGING, "seconds_between_readings": rows}
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
