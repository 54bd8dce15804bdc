"""`lag --group`: a group that no fleet declares is read by what it committed, and by what its members are assigned."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer
from kstreams_runbooks.cli import cli
from lab.supervise import until
from world.eos import Log, empty, logs, never_committed
from world.given import Kafka


def lag(group: str) -> tuple[int, dict[str, Any]]:
    """Exit code and what is said of the group."""
    result = CliRunner().invoke(cli, ["lag", "--group", group, "--cluster", "demo", "--format", "json"])
    [application] = json.loads(result.stdout)["applications"]
    return result.exit_code, application


@contextmanager
def member(log: Log, protocol: str, *topics: str) -> Iterator[None]:
    """A consumer of the group that is assigned topics and commits nothing."""
    consumer = Consumer(
        {
            **log.config,
            "group.id": log.group,
            "group.protocol": protocol,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe(list(topics))

    def assigned() -> bool:
        consumer.poll(0.1)
        return {one.topic for one in consumer.assignment()} == set(topics)

    try:
        until(assigned, 60, f"{log.group} has its partitions", poll_s=0)
        yield
    finally:
        consumer.close()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_what_a_member_is_assigned_and_never_committed_is_left_to_read(kafka: Kafka, protocol: str) -> None:
    """Beside a topic on which all is read: by itself that one would be exit code 0."""
    with logs(kafka.bootstrap, [empty, never_committed]) as [done, new]:
        with member(done, protocol, done.topic, new.topic):
            # The broker describes an assignment once the member has taken it over.
            until(lambda: len(lag(done.group)[1]["partitions"]) == 2, 30, "both are seen", poll_s=0.5)
            code, application = lag(done.group)
        rows = {row["topic"]: row for row in application["partitions"]}
        assert (code, application["problems"]) == (1, [])
        assert (application["group_type"], application["group_state"]) == (protocol, "Stable")
        assert (rows[done.topic]["state"], rows[done.topic]["readable_records"]) == ("ok", 0)
        assert (rows[new.topic]["state"], rows[new.topic]["role"]) == ("never_committed", "source")
        assert (rows[new.topic]["committed"], rows[new.topic]["unread_offsets"]) == (None, 5)


def three(log: Log) -> None:
    """Three records, and a group that has committed nothing."""
    log.write(3)


def test_a_group_that_never_committed_anything_is_read_by_its_members(kafka: Kafka) -> None:
    """It has no offset that would name a topic."""
    with logs(kafka.bootstrap, [three]) as [log]:
        with member(log, "classic", log.topic):
            until(lambda: bool(lag(log.group)[1]["partitions"]), 30, "it is seen", poll_s=0.5)
            code, application = lag(log.group)
        [row] = application["partitions"]
        assert (code, row["state"], row["unread_offsets"]) == (1, "never_committed", 3)
