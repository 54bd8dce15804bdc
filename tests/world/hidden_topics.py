"""An application that reads by the pattern `zones-.*`, a topic of which a login may not see.

The group and the broker are real; the agent and the deployer are fakes.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.cli import cli
from lab.fake_streams import FakeStreams
from lab.secured import Secured
from lab.supervise import until

GROUP_ID, SEEN, HIDDEN, OUT, ASIDE = "zones-app", "zones-a", "zones-b", "zones_out", "aside"
UNREAD = 6
PATTERN = r"zones-.*"
TOPOLOGY = (
    "Topologies:\n  Sub-topology: 0\n"
    f"    Source: s (topics: {PATTERN})\n      --> k\n    Sink: k (topic: {OUT})\n      <-- s\n"
)
NAMED = f"topic {HIDDEN} is not visible to this login; grant it Describe on Topic {HIDDEN}"
RIGHT = "grant this login Describe on Cluster"
DRAIN = ("drain", GROUP_ID, "--inputs-paused", "the test writes nothing", "--readings", "2", "--interval", "0.2")
COMMANDS = {"lag": ("lag", GROUP_ID), "exact": ("lag", GROUP_ID, "--exact"), "drain": DRAIN}


def declared_application(secured: Secured, directory: Path) -> FakeStreams:
    """Topics with records, a group that has read the visible one, and a fleet that declares it."""
    admin = secured.admin()
    for future in admin.create_topics([NewTopic(name, 1) for name in (SEEN, HIDDEN, OUT, ASIDE)]).values():
        future.result()
    producer = Producer(secured.settings(secured.admin_login))
    for topic, count in ((SEEN, 3), (HIDDEN, UNREAD)):
        for number in range(count):
            producer.produce(topic, str(number))
    producer.flush(10)
    commit(secured, {SEEN: 3})
    made = FakeStreams(directory, GROUP_ID, TOPOLOGY, inputs=(SEEN,), outputs=(OUT,))
    made.declare()
    return made


def commit(secured: Secured, offsets: dict[str, int], group: str = GROUP_ID) -> None:
    """As the application would have."""
    settings = secured.settings(secured.admin_login)
    consumer = Consumer({**settings, "group.id": group, "enable.auto.commit": False})
    consumer.commit(offsets=[TopicPartition(name, 0, offset) for name, offset in offsets.items()], asynchronous=False)
    consumer.close()


def run(*words: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, document, and all that is printed."""
    result = CliRunner().invoke(cli, [*words, "--format", "json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, json.loads(result.stdout), result.output


@contextmanager
def member(secured: Secured, application: FakeStreams, *topics: str) -> Iterator[None]:
    """A real member of the group, with the application's own login, that is assigned these topics."""
    consumer = Consumer(
        {
            **secured.settings(secured.admin_login),
            "group.id": GROUP_ID,
            "client.id": application.client_id,
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(list(topics))

    def assigned() -> bool:
        consumer.poll(0.1)
        return {one.topic for one in consumer.assignment()} == set(topics)

    try:
        until(assigned, 30, f"{GROUP_ID} has its partitions", poll_s=0)
        yield
    finally:
        consumer.close()


@contextmanager
def in_state(state: str, secured: Secured, application: FakeStreams, *topics: str) -> Iterator[None]:
    """Stopped, or running with a member that has these topics."""
    if state == "stopped":
        yield
    else:
        with application.running(), member(secured, application, *topics):
            yield
