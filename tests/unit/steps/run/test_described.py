"""The lines of a reading in a task's log: one cause, one line."""

from dataclasses import replace

from kstreams_runbooks.model.readings.readings import BrokerReading, Deployment, Missing
from kstreams_runbooks.steps.run.run import described
from world.samples import OLD, down, instance, reading


def test_what_failed_of_one_cause_is_one_line() -> None:
    """Group, broker and both instances."""
    away = Missing("Kafka at broker:9092: nothing listens on this port")
    unread = [replace(instance(name), deployment=away, streams=away) for name in ("orders-1", "orders-2")]
    now = replace(reading(*unread), group=away, broker=away)
    assert described(now) == (f"orders-1, orders-2, group, broker: {away.missing}",)


def test_instances_alike_share_a_line_and_a_process_that_ended_says_so() -> None:
    """Dead if its deployer calls it failed."""
    stopped = down("orders-3")
    assert isinstance(stopped.deployment, Deployment)
    failed = replace(stopped, instance="orders-4", deployment=replace(stopped.deployment, process="failed"))
    lines = described(reading(instance("orders-1"), instance("orders-2"), stopped, failed))
    assert lines[:3] == (
        f"orders-1, orders-2: RUNNING on {OLD}, declared {OLD}",
        f"orders-3 is DOWN (its process is stopped), declared {OLD}",
        f"orders-4 is DEAD (its process has failed), declared {OLD}",
    )


def test_a_broker_that_is_down_is_named_in_words() -> None:
    """The others answered: the reading is there, and its release is not."""
    now = reading()
    assert isinstance(now.broker, BrokerReading)
    down_too = replace(now, broker=replace(now.broker, version=Missing("broker versions: broker 2 is down")))
    assert described(down_too)[-1] == "broker: broker versions: broker 2 is down"
