"""Faults that lag alone does not show, on the real application and broker: what the scheduled check says of each.

The check's own functions, with a ledger of the test's own; no Airflow. One story: each part begins with what the one
before it left.
"""

import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.act.groups import GroupWriter
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.readings import GroupReading
from kstreams_runbooks.model.readings.status import KeptReading, KeptStatus
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import read_ends
from kstreams_runbooks.watch.judge import judge_fleet
from kstreams_runbooks.watch.settings import CheckSettings
from kstreams_runbooks.watch.status import ClusterRead, read_cluster
from lab.application import Deployed
from lab.kafka import PARTITIONS
from lab.supervise import until
from world.given import Orders

LAUNCHER = Path(__file__).resolve().parents[1] / "apps" / "orders" / "bin" / "run-instance"
_CUSTOMERS = [("customers", number) for number in range(PARTITIONS)]
_NEVER_CHECKED = "orders-not-ready"


class Watch:
    """The scheduled check of one application, as often as a test wants."""

    def __init__(self, orders: Orders, ledger: Ledger, settings: CheckSettings) -> None:
        self.entry = orders.application
        self.supervisor = orders.stack.supervisor
        self.config: dict[str, Any] = {"bootstrap.servers": orders.stack.lab.bootstrap}
        self.admin = AdminClient(self.config)
        self.ledger = ledger
        self.settings = settings
        self.stack = orders.stack
        self.written = 0
        self.read: ClusterRead | None = None

    def check(self, *acknowledged: str) -> KeptStatus:
        """Read, judge, and how the application stands."""
        reasons = dict.fromkeys(acknowledged, "looked after")
        self.read = read_cluster(self.ledger, "demo", [self.entry], self.config, self.settings, reasons)
        read_at_ms = {"demo": self.read.at_ms}
        judged = judge_fleet(
            self.ledger, [self.entry], self.settings, read_at_ms=read_at_ms, problems={}, now_ms=self.read.at_ms
        )
        return judged.statuses[0]

    def last(self) -> KeptReading:
        """What the last check has kept."""
        return self.ledger.lag_readings("demo", (self.entry.name,), 1)[self.entry.name][0]

    def asked(self) -> list[str]:
        """Why its instances were asked in the last check, empty where they were not."""
        assert self.read is not None
        return list(self.read.asked)


@pytest.fixture(scope="module")
def watch(orders: Orders, tmp_path_factory: pytest.TempPathFactory) -> Watch:
    """The application from nothing, and a ledger that has never seen it."""
    ledger = Ledger.open(f"sqlite:///{tmp_path_factory.mktemp('ledger') / 'ledger.db'}")
    # Checks follow one another as fast as they can.
    made = Watch(orders, ledger, CheckSettings(apart_seconds=0))
    _write(made)
    until(lambda: _well(made), 60, "the application has read what is there", poll_s=1)
    return made


def _write(watch: Watch) -> None:
    """A second of the demo's traffic."""
    _end(watch)  # what came after the last time is not of this one
    watch.stack.start_traffic()
    until(lambda: _end(watch) > 0, 30, "traffic is written")
    watch.stack.stop_traffic()


def _well(watch: Watch) -> bool:
    return watch.check().word == "healthy" and watch.last().lag.unread == 0


def _end(watch: Watch) -> int:
    """Records that were written since the last call, on one topic."""
    with ClusterReader(watch.config) as reader:
        now = sum(one.end for one in read_ends(reader.librdkafka, _CUSTOMERS).values() if isinstance(one.end, int))
    watch.written, before = now, watch.written
    return now - before


def test_instances_of_a_well_application_are_asked_once(watch: Watch) -> None:
    """What they told is remembered with the reading: the next check needs the brokers alone."""
    watch.check()
    assert watch.asked() == []
    kept = watch.last()
    assert kept.failed is None
    assert kept.topology is not None
    assert kept.topology.reads["orders"] == "source"
    assert {topic for topic, topic_id in kept.lag.kept if topic_id} <= set(kept.topology.keeps)
    assert kept.lag.unread == 0
    assert watch.read is not None
    assert 5 < watch.read.requests < 60


def test_running_without_progress_is_stalled(watch: Watch) -> None:
    """Its members are in the group and tell nothing of it: only committed offsets do, which stand still."""
    pids = [pid for name in Deployed().names if (pid := watch.supervisor.pid(name))]
    assert len(pids) == 2
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        _write(watch)
        words = [watch.check().word for _ in range(watch.settings.samples + 1)]
        stands = watch.ledger.lag_statuses()[0]
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    assert words[-1] == "stalled"
    # Since when is said only if it is known of every partition: one may have committed right before the stop.
    assert re.search(
        r"unchanged( since .* UTC or longer,)? over 3 readings while the group is Stable: ", stands.sentence
    ), stands.sentence
    until(lambda: _well(watch), 60, "it goes on", poll_s=1)


def test_a_changelog_recreated_under_a_running_application_is_an_incident(watch: Watch) -> None:
    """The group is stable, nothing is left to read and outputs look right; the state is lost all the same.

    It stays so until somebody says that the present topics are the right ones.
    """
    name, topic_id = next((topic, topic_id) for topic, topic_id in watch.last().lag.kept if topic_id)
    watch.admin.delete_topics([name])[name].result()
    until(lambda: name not in watch.admin.list_topics(timeout=10).topics, 30, "the changelog is gone")
    # One answer without it may be a broker that restarts.
    assert watch.check().word == "healthy"
    gone = watch.check()
    watch.admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result()
    again = [watch.check() for _ in range(watch.settings.samples + 1)]
    for stands in (gone, *again):
        assert stands.word == "recreated"
        assert f"expected {topic_id}) was deleted: an incident" in stands.sentence
    assert gone.sentence.startswith(f"{name} (id none, ")
    lag = watch.last().lag
    assert (lag.group_state, lag.unread) == ("Stable", 0)
    assert watch.asked() == ["is recreated"]
    assert watch.check(watch.entry.name).word == "healthy"


def test_a_group_that_was_deleted_is_unknown(watch: Watch) -> None:
    """Its offsets are gone with it: nobody can say what is left, and nothing reads as zero."""
    watch.supervisor.stop(*Deployed().names)

    def deleted() -> bool:
        with ClusterReader(watch.config) as reader:
            group = reader.group("orders")
        if isinstance(group, GroupReading) and group.members:
            GroupWriter(watch.config, dry_run=False).remove_members("orders", group.members)
            return False
        watch.admin.delete_consumer_groups(["orders"])["orders"].result()
        return True

    until(deleted, 30, "the group is deleted")
    stands = watch.check()
    assert (stands.word, watch.last().lag.unread) == ("unknown", None)
    assert "group orders is known to no broker: it never had a member, or its offsets expired" in stands.sentence


@pytest.fixture
def without_customers(watch: Watch, tmp_path: Path) -> Iterator[Path]:
    """A directory of an instance of its own that joins by the streams protocol, while one of its inputs is missing."""
    watch.admin.delete_topics(["customers"])["customers"].result()
    until(lambda: "customers" not in watch.admin.list_topics(timeout=10).topics, 30, "the input is gone")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (tmp_path / "deployment.properties").write_text("release=4.3.1\n")
    (tmp_path / "base.properties").write_text(
        f"application.id={_NEVER_CHECKED}\nbootstrap.servers={watch.config['bootstrap.servers']}\nmetrics.port={port}\n"
        f"group.protocol=streams\nprocessing.guarantee=exactly_once_v2\nstate.dir={tmp_path}/state\n"
    )
    yield tmp_path
    watch.admin.create_topics([NewTopic("customers", PARTITIONS, 1)])["customers"].result()


def test_a_streams_group_that_is_not_ready_is_stalled(watch: Watch, without_customers: Path) -> None:
    """The broker has its members and gives them no tasks (KIP-1071): an input is missing."""
    entry = watch.entry.model_copy(update={"name": "not-ready", "application_id": _NEVER_CHECKED})
    other = Watch.__new__(Watch)
    other.__dict__.update({**watch.__dict__, "entry": entry})
    with (without_customers / "log").open("w") as log:
        process = subprocess.Popen([str(LAUNCHER), str(without_customers)], stdout=log, stderr=log, env=os.environ)
    try:
        found: list[KeptStatus] = []

        def stalled() -> bool:
            found.append(other.check())
            return found[-1].word == "stalled"

        until(stalled, 60, "the group is not ready", poll_s=0.5)
    finally:
        # It leaves its group, which nobody else's test is to find.
        process.terminate()
        process.wait(30)
        watch.admin.delete_consumer_groups([_NEVER_CHECKED])[_NEVER_CHECKED].result()
    assert "NotReady: the broker gives its members no tasks" in found[-1].sentence
