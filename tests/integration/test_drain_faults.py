"""What goes wrong while an application drains, on the real application and broker: never a certificate.

One story: each part begins with what the one before it left. Releases, transactions and broker restarts are in
tests/airflow/test_certify_drain.py, moments that nobody chose in test_drain_rounds.py.
"""

import os
import re
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.act.groups import GroupWriter
from kstreams_runbooks.decide.drain.certificate import drained
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.model.readings.drain import DrainAnswer, DrainQuestion, Pause
from kstreams_runbooks.model.readings.readings import GroupReading
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.application.drain import DrainReader
from kstreams_runbooks.watch.drain.drain import drain_reader
from kstreams_runbooks.watch.drain.readings import Waits, Watch
from lab.application import Deployed
from lab.supervise import until
from world.given import Orders

QUESTION = DrainQuestion(3, Pause("declared", "a test", "there is no generator"))
CHANGELOG = re.compile(r"orders-.*-changelog")
REPARTITION = "orders-orders-per-customer-repartition"


class Drain:
    """Watches of the application; `then` is done between the first reading and the second."""

    def __init__(self, orders: Orders, reader: DrainReader) -> None:
        self.stack = orders.stack
        self.reader = reader
        self.config: dict[str, Any] = {"bootstrap.servers": orders.stack.lab.bootstrap}
        self.admin = AdminClient(self.config)

    def watched(self, then: Callable[[], None] = lambda: None, ceiling_s: float | None = None) -> DrainAnswer:
        """The answer; without a ceiling after as many readings as would prove it."""
        watch = Watch(self.reader, self.config, QUESTION, Waits(0.3, ceiling_s))

        def show(answer: DrainAnswer) -> None:
            if len(answer.readings) == 1:
                then()

        return watch.until_answered(show)

    def recreate(self, topic: str) -> None:
        """Delete a topic and create it again, as empty as it was."""
        partitions = len(self.admin.list_topics(timeout=10).topics[topic].partitions)
        self.admin.delete_topics([topic])[topic].result()
        until(lambda: topic not in self.admin.list_topics(timeout=10).topics, 20, f"{topic} is gone")
        self.admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result()

    def stop_application(self) -> None:
        """Stop every instance; what it leaves in its group for its session timeout is removed."""
        self.stack.supervisor.stop(*Deployed().names)

        def emptied() -> bool:
            with ClusterReader(self.config) as reader:
                group = reader.group("orders")
            assert isinstance(group, GroupReading)
            if group.members:
                GroupWriter(self.config, dry_run=False).remove_members("orders", group.members)
            return group.state == "Empty"

        until(emptied, 30, "the group is empty")

    def signal(self, name: str, number: signal.Signals) -> None:
        """A signal to an instance's JVM."""
        pid = self.stack.supervisor.pid(name)
        assert pid is not None
        os.kill(pid, number)


@pytest.fixture(scope="module")
def drain(orders: Orders) -> Drain:
    """The application, with some traffic read."""
    reader = drain_reader(
        orders.application,
        make_deployer(orders.application, dry_run=True),
        {"bootstrap.servers": orders.stack.lab.bootstrap},
    )
    made = Drain(orders, reader)
    orders.stack.start_traffic()
    time.sleep(2)
    orders.stack.stop_traffic()
    assert made.watched(ceiling_s=60).verdict.outcome is Outcome.PROCEED
    return made


def test_an_instance_that_hangs_is_not_idle(drain: Drain) -> None:
    """Nothing is left to read, its process runs, its group is stable: it does not answer, so nobody knows."""
    drain.signal("orders-2", signal.SIGSTOP)
    try:
        answer = drain.watched()
    finally:
        drain.signal("orders-2", signal.SIGCONT)
    assert (answer.verdict.outcome, answer.readings[-1].unread) == (Outcome.INCONCLUSIVE, 0)
    assert "orders-2: jolokia" in answer.verdict.reasons[0]
    assert drain.watched(ceiling_s=90).verdict.outcome is Outcome.PROCEED


def test_an_instance_that_joins_makes_a_rebalance_and_no_certificate(drain: Drain) -> None:
    """Whatever is assigned in between, the certificate comes once every task is, on instances that are RUNNING."""
    drain.stack.supervisor.stop("orders-2")
    answer = drain.watched()
    assert answer.verdict.outcome is Outcome.WAIT
    assert "tasks are assigned, of" in answer.verdict.reasons[0]
    answer = drain.watched(lambda: drain.stack.supervisor.start("orders-2"), ceiling_s=120)
    assert answer.verdict.outcome is Outcome.PROCEED, answer.verdict
    last = answer.readings[-1]
    assert {instance.state for instance in last.instances} == {"RUNNING"}
    assert len(last.instances) == 2


def test_a_clock_that_jumps_back_proves_nothing_and_hides_nothing(drain: Drain) -> None:
    """Readings count, not the time between them; no estimate is made of them."""
    readings = drain.watched().readings
    at = [one.taken.at_ms for one in readings]
    assert at == sorted(at)
    assert drained(readings[::-1], QUESTION).outcome is Outcome.PROCEED
    assert not [reason for reason in drained(readings[:2][::-1], QUESTION).reasons if "pace" in reason]


def test_an_internal_topic_that_is_created_again_is_an_incident(drain: Drain) -> None:
    """The application goes on and its outputs may look right; what lay in the topic is lost."""
    answer = drain.watched(lambda: drain.recreate(REPARTITION))
    assert answer.verdict.outcome is Outcome.INCONCLUSIVE
    assert ("topic-recreated", REPARTITION) in [(one.id, one.object) for one in answer.verdict.findings]


@pytest.fixture(scope="module")
def stopped(drain: Drain) -> Drain:
    """The application stopped; it is drained, and stays down for what comes after."""
    drain.stop_application()
    answer = drain.watched(ceiling_s=60)
    assert answer.verdict.outcome is Outcome.PROCEED, answer.verdict
    assert answer.readings[-1].instances == ()
    return drain


@pytest.mark.long
def test_partitions_that_are_added_begin_the_count_anew(stopped: Drain) -> None:
    """On a stopped application they are only read; a running one would fail of them."""
    drain = stopped

    def grow() -> None:
        drain.admin.create_partitions([NewPartitions("customers", 6)])["customers"].result()
        until(
            lambda: len(drain.admin.list_topics(timeout=10).topics["customers"].partitions) == 6, 20, "they are there"
        )

    answer = drain.watched(grow)
    assert answer.verdict.outcome is Outcome.WAIT
    assert answer.verdict.reasons[0] == "reading 2 of 3 in a row with nothing left"


def test_a_changelog_that_is_deleted_takes_state_with_it(stopped: Drain) -> None:
    """Nothing reads it and nothing is left to read: what the application knew is gone all the same."""
    drain = stopped
    [changelog, *_] = sorted(one for one in drain.admin.list_topics(timeout=10).topics if CHANGELOG.fullmatch(one))

    def delete() -> None:
        drain.admin.delete_topics([changelog])[changelog].result()
        until(lambda: changelog not in drain.admin.list_topics(timeout=10).topics, 20, f"{changelog} is gone")

    answer = drain.watched(delete)
    assert answer.verdict.outcome is Outcome.INCONCLUSIVE
    assert answer.verdict.reasons[0].startswith(f"{changelog}: this changelog existed and is gone")
    drain.admin.create_topics([NewTopic(changelog, 4, 1)])[changelog].result()
    answer = drain.watched(lambda: drain.recreate(changelog))
    assert answer.verdict.outcome is Outcome.INCONCLUSIVE
    assert [("topic-recreated", changelog)] == [(one.id, one.object) for one in answer.verdict.findings]


def test_a_group_that_is_deleted_is_unknown_and_never_at_zero(stopped: Drain) -> None:
    """Its offsets are gone: nothing says any more what was read."""
    drain = stopped

    def delete() -> None:
        drain.admin.delete_consumer_groups(["orders"])["orders"].result()

    answer = drain.watched(delete)
    assert answer.verdict.outcome is Outcome.INCONCLUSIVE
    assert "known to no broker" in answer.verdict.reasons[0]


def test_a_broker_that_is_away_is_not_drained(drain: Drain) -> None:
    """Nor is it an error of the watch: it looks again later."""
    drain.stack.supervisor.stop("broker")
    answer = drain.watched(lambda: drain.stack.supervisor.start("broker"), ceiling_s=1)
    assert (answer.verdict.outcome, answer.unreachable) == (Outcome.INCONCLUSIVE, True)
    until(lambda: not drain.watched(ceiling_s=1).unreachable, 60, "the broker answers again")
