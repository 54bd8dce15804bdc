"""A second, small application of another team: one JVM of the orders program with topics of its own."""

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from confluent_kafka import Producer
from kstreams_runbooks.model.writes import CommittedOffset
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved

from lab import application, kafka
from lab.afresh import TELL_APART_S, forget_group
from lab.airflow import OTHER_APPROVER
from lab.application import TO_RELEASE, Deployed
from lab.stack import Stack
from lab.supervise import until

NAME, INSTANCE = "billing", "billing-1"
INPUTS = ("billing-orders", "billing-customers")
RECORDS = 40
# The third port of metrics; the first two are those of the orders application.
_NUMBER = 3
_PARTITIONS = 2
_RUNNING_S = 90
_CALL_S = 30
_TOPICS = {
    "topic.orders": INPUTS[0],
    "topic.customers": INPUTS[1],
    "topic.running": "billing-running",
    "topic.windowed": "billing-windowed",
    "topic.enriched": "billing-enriched",
    "topic.per-customer": "billing-per-customer",
}
_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2}


@contextmanager
def second_application(stack: Stack) -> Iterator[None]:
    """It runs, from nothing, and is declared in the fleet, for as long as the body runs; nothing new is sent to it."""
    lab = stack.lab
    directory, entry = lab.instances / INSTANCE, _entry(stack)
    forget_group(lab.bootstrap, NAME)
    shutil.rmtree(directory, ignore_errors=True)
    (directory / "state").mkdir(parents=True)
    kafka.create_topics(lab.bootstrap, _TOPICS.values(), partitions=_PARTITIONS, sent_with_times=INPUTS)
    _send(lab.bootstrap)
    deployed = Deployed(1, TO_RELEASE, application_id=NAME, settings=_TOPICS)
    application.write_instance(lab, deployed, _NUMBER, INSTANCE)
    entry.write_text(yaml.safe_dump(_declared(stack)), encoding="utf-8")
    release = entry.with_suffix("") / f"{TO_RELEASE}.yaml"
    release.parent.mkdir(exist_ok=True)
    release.write_text(yaml.safe_dump(_of_stores(stack)), encoding="utf-8")
    stack.supervisor.add(application.program(lab, INSTANCE))
    time.sleep(TELL_APART_S)
    try:
        stack.supervisor.start(INSTANCE)
        until(lambda: _is_running(stack), _RUNNING_S, f"{INSTANCE} is RUNNING", poll_s=0.3)
        until(lambda: _read(stack) == RECORDS, _RUNNING_S, f"{INSTANCE} has read all records", poll_s=0.3)
        yield
    finally:
        stack.supervisor.stop(INSTANCE)
        entry.unlink()
        shutil.rmtree(release.parent)


def committed(stack: Stack) -> dict[tuple[str, int], CommittedOffset]:
    """What its group has committed of the input that has records."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        saved = read_saved(reader, NAME).by_place()
    return {place: one for place, one in saved.items() if place[0] == INPUTS[0]}


def _read(stack: Stack) -> int:
    return sum(one.offset for one in committed(stack).values())


def is_declared(stack: Stack) -> bool:
    """Whether the fleet has it."""
    return _entry(stack).exists()


def _entry(stack: Stack) -> Path:
    return stack.lab.config / "applications" / f"{NAME}.yaml"


def _send(bootstrap: str) -> None:
    """Orders of one customer."""
    producer = Producer({"bootstrap.servers": bootstrap})
    now_ms = time.time_ns() // 1_000_000
    for number in range(RECORDS):
        order = {"v": 1, "event": f"e-{number}", "order": f"o-{number}", "customer": "c", "amount": 1, "ts": now_ms}
        producer.produce(INPUTS[0], json.dumps(order), key=f"o-{number}")
    assert producer.flush(_CALL_S) == 0


def _is_running(stack: Stack) -> bool:
    reading = application.streams(stack.lab, _NUMBER)
    return getattr(reading, "state", "") == "RUNNING"


def _of_stores(stack: Stack) -> dict[str, Any]:
    """What the orders application declares of its stores: it is the same program."""
    file = stack.lab.config / "applications" / "orders" / f"{TO_RELEASE}.yaml"
    of_orders: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {section: of_orders[section] for section in ("stores", "suppressions")}


def _declared(stack: Stack) -> dict[str, Any]:
    """The fleet entry of the orders application with another team's names, people and instance."""
    lab = stack.lab
    entry: dict[str, Any] = yaml.safe_load((lab.config / "applications" / "orders.yaml").read_text(encoding="utf-8"))
    directory = str(lab.instances / INSTANCE)
    instance = {
        "name": INSTANCE,
        "program": INSTANCE,
        "directory": directory,
        "metrics": lab.metrics_url(_NUMBER),
        "state_dir": f"{directory}/state",
    }
    entry["deployer"] |= {"instances": [instance]}
    entry["deployer"]["topology"][-2] = f"{directory}/base.properties"
    return entry | {
        "application_id": NAME,
        "inputs": list(INPUTS),
        "input_settings": {},
        "outputs": [name for name in _TOPICS.values() if name not in INPUTS],
        "output_semantics": {},
        "owner": "team-billing",
        "approvers": [OTHER_APPROVER],
        "limits": entry["limits"] | _SHORT,
    }
