"""A group downstream of the orders application, which writes down each record that it reads, and the proof of a move.

It is declared with `kind: consumer`; its program is lab/downstream_program.py.
"""

import base64
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import yaml
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.properties import dump, parse, write_atomically
from lab import downstream_program, kafka
from lab.afresh import empty_group, forget_group
from lab.airflow import OTHER_APPROVER
from lab.copier import members
from lab.shipped_copier import seed
from lab.stack import Stack
from lab.supervise import Program, until

NAME = "billing"
LOG = "billing-log"
SETTING = "billing.topic"
RELEASE = "1.0.0"
_READY_S = 60


@dataclass(frozen=True)
class Seen:
    """A record that the group has written down."""

    topic: str
    partition: int
    offset: int
    key: str | None
    value: str | None


def directory_of(stack: Stack) -> Any:
    """The folder of its instance."""
    return stack.lab.instances / NAME


def declare(stack: Stack, topic: str, approver: str = OTHER_APPROVER) -> None:
    """Its fleet entry, as its team has it while it reads this topic."""
    entry = {
        "kind": "consumer",
        "application_id": NAME,
        "cluster": "demo",
        "inputs": [topic],
        "outputs": [LOG],
        "input_settings": {SETTING: topic},
        "delivery": "exactly_once",
        "transactional_ids": [NAME],
        "deployer": {
            "kind": "supervisord",
            "url": stack.lab.supervisor_url,
            "instances": [{"name": NAME, "program": NAME, "directory": str(directory_of(stack)), "client_id": NAME}],
            "releases": {RELEASE: str(directory_of(stack))},
            "settable": [SETTING],
            "stop_timeout_s": 30,
            "start_timeout_s": 30,
        },
        "owner": "team-billing",
        "operators": ["oncall", "admin"],
        "approvers": [approver],
        "production": False,
        "four_eyes": True,
        "limits": {"gate_interval_s": 0.5, "gate_good_readings": 2, "commit_interval_s": 1, "gate_ceiling_s": 120},
    }
    file = stack.lab.config / "applications" / f"{NAME}.yaml"
    file.write_text(yaml.safe_dump(entry), encoding="utf-8")


def begin_to_read(stack: Stack, topic: str, approver: str = OTHER_APPROVER) -> None:
    """It is declared, and reads this topic from its beginning."""
    lab = stack.lab
    folder = directory_of(stack)
    folder.mkdir(parents=True, exist_ok=True)
    base = {"bootstrap.servers": lab.bootstrap, "group.id": NAME, "client.id": NAME, "log.topic": LOG}
    (folder / "base.properties").write_text(dump(base), encoding="latin-1")
    write_atomically(folder / "deployment.properties", dump({"release": RELEASE, SETTING: topic}))
    if not kafka.exists(lab.bootstrap, LOG):
        kafka.create_topics(lab.bootstrap, [LOG])
    seed(lab.bootstrap, NAME, [topic])
    declare(stack, topic, approver)
    stack.supervisor.add(Program(NAME, (str(lab.python), downstream_program.__file__, str(folder)), stop_wait_s=20))
    stack.supervisor.start(NAME)
    until(lambda: members(stack, NAME) == 1, _READY_S, f"{NAME} is in its group", poll_s=0.3)


@contextmanager
def downstream(stack: Stack, topic: str) -> Iterator[None]:
    """It reads this topic from its beginning, and is declared, while the body runs."""
    lab = stack.lab
    begin_to_read(stack, topic)
    try:
        yield
    finally:
        stack.supervisor.stop(NAME)
        (lab.config / "applications" / f"{NAME}.yaml").unlink(missing_ok=True)
        empty_group(lab.bootstrap, NAME)
        forget_group(lab.bootstrap, NAME)
        admin = AdminClient({"bootstrap.servers": lab.bootstrap})
        admin.delete_topics([LOG])[LOG].result(30)


def reads(stack: Stack) -> str:
    """The topic that it is set to."""
    return parse((directory_of(stack) / "deployment.properties").read_text(encoding="latin-1"))[SETTING]


def written_down(stack: Stack) -> list[Seen]:
    """Every record that it has written down, in committed transactions."""
    return [Seen(**json.loads(one.value() or b"{}")) for one in kafka.records(stack.lab.bootstrap, LOG)]


def counts_of(seen: list[Seen]) -> dict[str, Counter[int]]:
    """By customer: how often each running count was read; exactly once each from 1 on proves the seams."""
    found: dict[str, Counter[int]] = {}
    for one in seen:
        value = json.loads(base64.b64decode(one.value or ""))
        found.setdefault(one.key or "", Counter())[int(value["count"])] += 1
    return found


def missing_and_doubled(counts: Mapping[str, Counter[int]]) -> tuple[int, int]:
    """Running counts that were never read, and those that were read again: over all customers."""
    missing = sum(max(one) - len(one) for one in counts.values())
    doubled = sum(number - 1 for one in counts.values() for number in one.values())
    return missing, doubled
