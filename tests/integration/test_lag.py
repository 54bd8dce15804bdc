"""The lag of a group where something is absent: a commit, a topic, the group, whoever reads it.

Transactions, markers and gaps: tests/spark/test_lag_scenarios.py.
"""

import time
from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.model.readings.lag import ApplicationLag
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.lag.count import count_readable
from kstreams_runbooks.observe.lag.lag import LagAsked, read_lag
from world.eos import Log, logs
from world.given import Kafka


def nothing(log: Log) -> None:
    """A new topic and a group that has committed nothing."""


@pytest.fixture
def log(kafka: Kafka) -> Iterator[Log]:
    """A new topic and a group that has committed nothing."""
    with logs(kafka.bootstrap, [nothing]) as [made]:
        yield made


def lag(log: Log) -> ApplicationLag:
    """What the project reads of the group."""
    with ClusterReader(log.config) as reader:
        snapshot = read_lag(reader, "here", [LagAsked("app", log.group, {log.topic: "source"})])
    [application] = snapshot.applications
    return application


def test_a_partition_that_was_never_committed_has_all_of_its_log_to_read(log: Log) -> None:
    """Distinct from an offset of 0; an empty log has nothing, and is told apart as well."""
    log.write(5)
    log.commit(5)
    with ClusterReader(log.config) as reader:
        admin = AdminClient(log.config)
        other = f"{log.topic}-2"
        admin.create_topics([NewTopic(other, 1, 1)])[other].result()
        reads = {log.topic: "source", other: "repartition", "nowhere": "repartition"}
        [application] = read_lag(reader, "here", [LagAsked("app", log.group, reads)]).applications  # type: ignore[arg-type]
        admin.delete_topics([other])[other].result()
    rows = {row.topic: row for row in application.partitions}
    assert (rows[log.topic].state, rows[log.topic].records) == ("ok", 0)
    assert (rows[other].state, rows[other].records, rows[other].committed) == ("never_committed", 0, None)
    assert (rows["nowhere"].state, rows["nowhere"].records) == ("missing", None)
    assert application.unread is None


def test_a_group_that_nobody_knows_is_unknown_and_never_at_zero(log: Log) -> None:
    """It may never have run, or its offsets may have expired."""
    log.write(3)
    application = lag(log)
    [row] = application.partitions
    assert (application.group_type, row.state, row.records) == (None, "unknown", None)
    assert "known to no broker" in application.problems[0]


def test_an_offset_on_a_topic_that_nothing_reads_is_listed_and_in_no_total(log: Log) -> None:
    """What an older topology left behind."""
    log.write(3)
    log.commit(1)
    with ClusterReader(log.config) as reader:
        [application] = read_lag(reader, "here", [LagAsked("app", log.group, {})]).applications
    [row] = application.partitions
    assert (row.role, row.state, row.records) == ("orphaned", "orphaned", 2)
    assert application.unread is None
    assert application.problems == (
        "no topic is known that app reads (expected at least one); start one of its instances, or grant this login "
        "Describe on its topics",
    )


def test_the_oldest_unread_record_tells_how_far_behind_in_time(log: Log) -> None:
    """By its own timestamp, with its bytes."""
    log.write(1)
    time.sleep(0.05)
    log.write(2)
    log.commit(1)
    [row] = lag(log).partitions
    assert (row.committed, row.last_stable_offset) == (1, 3)
    found = count_readable(log.config, {log.place: (1, 3)})[log.place]
    # A value of 160 bytes without a key, and a key of 5 without a value.
    assert (found.records, found.bytes) == (2, 165)
    assert found.oldest_ms is not None
    assert abs(time.time() * 1000 - found.oldest_ms) < 60_000
