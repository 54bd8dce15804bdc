"""One of three applications has an agent that drips, floods or answers what none does: the others are read beside it.

The commands run as a terminal runs them, on a real broker; the agents and the deployers are fakes.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]
from lab.fake_streams import FakeStreams
from lab.fakes import FakeAgent, Reply, answer, drips, falls_silent, floods
from lab.secured import Secured

Fleet = tuple[Path, dict[str, str]]
GOOD, BAD = ("beside-a", "beside-b"), "beside-c"
# One answer has 10 s in all; starting Python, Airflow's SDK and the clients takes the rest.
_HANGS_S = 300
HEAD = b"HTTP/1.1 200 OK\r\n"
AGENTS: dict[str, Reply] = {
    "drips": drips(HEAD + b"\r\n" + b" " * 10_000, 0.1),
    "floods": floods(HEAD + b"\r\n", b"[" * 65_536),
    "says nothing": falls_silent(),
    "is a page": answer(b"<html>"),
}


@pytest.fixture(scope="module")
def fleet(secured: Secured, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Three applications that run, each of which has read two of three records; the folder and the environment."""
    admin = secured.admin()
    for future in admin.create_topics([NewTopic(f"{name}-in", 1) for name in (*GOOD, BAD)]).values():
        future.result()
    settings = secured.settings(secured.admin_login)
    producer = Producer(settings)
    folder = tmp_path_factory.mktemp("fleet")
    with ExitStack() as stack:
        for name in (*GOOD, BAD):
            for number in range(3):
                producer.produce(f"{name}-in", str(number))
            producer.flush(10)
            consumer = Consumer({**settings, "group.id": name, "enable.auto.commit": False})
            consumer.commit(offsets=[TopicPartition(f"{name}-in", 0, 2)], asynchronous=False)
            consumer.close()
            topology = f"Topologies:\n  Sub-topology: 0\n    Source: s (topics: [{name}-in])\n      --> none\n"
            made = FakeStreams(tmp_path_factory.mktemp(name), name, topology, inputs=(f"{name}-in",))
            stack.enter_context(made.running())
            shutil.copytree(made.directory, folder, dirs_exist_ok=True)
        connection = {"conn_type": "kafka", "extra": settings}
        environment = {
            "KSTREAMS_RUNBOOKS_CONFIG": str(folder),
            "KSTREAMS_RUNBOOKS_LEDGER": f"sqlite:///{folder / 'ledger.db'}",
            "AIRFLOW_CONN_KAFKA_SECURED": json.dumps(connection),
        }
        yield folder, os.environ | environment


def ask(fleet: Fleet, case: str, *words: str) -> tuple[int, dict[str, Any]]:
    """Exit code and document of one command, with this agent in the place of one; never a traceback."""
    folder, environment = fleet
    file = folder / "applications" / f"{BAD}.yaml"
    entry = json.loads(file.read_text(encoding="utf-8"))
    with FakeAgent(AGENTS[case]) as agent:
        entry["deployer"]["instances"][0]["metrics"] = agent.url
        file.write_text(json.dumps(entry), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "kstreams_runbooks.cli", *words, "--format", "json"],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            timeout=_HANGS_S,
        )
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)


EVERY = [pytest.param(case, marks=() if case == "drips" else pytest.mark.long) for case in AGENTS]


@pytest.mark.parametrize("case", EVERY)
def test_lag_of_the_others_is_read(fleet: Fleet, case: str) -> None:
    """Of the one as well, by the topology that its deployer describes."""
    code, document = ask(fleet, case, "lag")
    rows = {
        one["application"]: [row["unread_offsets"] for row in one["partitions"]] for one in document["applications"]
    }
    assert (code, rows) == (1, {name: [1] for name in (*GOOD, BAD)})


@pytest.mark.long
@pytest.mark.parametrize("case", EVERY)
def test_readiness_of_the_others_is_read(fleet: Fleet, case: str) -> None:
    """Several threads connect at once, in a process that has connected to nothing before."""
    code, document = ask(fleet, case, "readiness")
    ready, not_known = set(), set()
    for one in document["applications"]:
        ready |= {one["application"] for row in one["runbooks"] if row["standing"] == "ready"}
        not_known |= {one["application"] for row in one["runbooks"] if row["not_known"]}
    assert (code, not_known, ready >= {*GOOD}) == (3, {BAD}, True)
    assert [one["application"] for one in document["applications"] if one["not_read"]] == []


@pytest.mark.long
@pytest.mark.parametrize("case", AGENTS)
@pytest.mark.parametrize(("name", "code"), [(GOOD[0], 1), (BAD, 3)])
def test_drain_says_what_is_left_or_that_it_is_not_known(fleet: Fleet, case: str, name: str, code: int) -> None:
    """The one without an agent is inconclusive, never drained."""
    paused = ("--inputs-paused", "the test writes nothing", "--readings", "2", "--interval", "0.2")
    assert ask(fleet, case, "drain", name, *paused)[0] == code
