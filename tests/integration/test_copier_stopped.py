"""A real copier that is stopped, killed and started again by somebody else: what the broker shows of it."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Producer
from kstreams_runbooks.decide.instances.copier_stopped import still_stopped, stopped_cleanly
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.fleet import Copier, load_fleet
from kstreams_runbooks.model.readings.copying import CopierReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.application.copier import read_copying
from lab import copier as passing
from lab import kafka
from lab.stack import Stack
from lab.supervise import until

pytestmark = pytest.mark.long

_LIMIT_S = 90
_SENT = 10


class Watched:
    """A copier of one instance, in whose hold a kill meets what is not committed."""

    def __init__(self, stack: Stack, name: str) -> None:
        self.stack, self.name, self.instance = stack, name, f"{name}-1"

    def read(self) -> CopierReading:
        """It now."""
        entry = load_fleet().side(self.name)
        assert isinstance(entry, Copier)
        with ClusterReader({"bootstrap.servers": self.stack.lab.bootstrap}) as reader:
            return read_copying(entry, reader, make_deployer(entry))

    def verdict(self) -> Verdict:
        """Of two readings in a row."""
        return stopped_cleanly(self.read(), self.read())

    def send(self) -> None:
        """Ten records to one of its inputs."""
        producer = Producer({"bootstrap.servers": self.stack.lab.bootstrap})
        for number in range(_SENT):
            producer.produce("sent-customers", str(number), partition=0)
        assert producer.flush(10) == 0

    def copied(self) -> int:
        """How many records its control topic has."""
        return sum(1 for _ in kafka.records(self.stack.lab.bootstrap, "customers", isolation="read_uncommitted"))

    def stopped(self) -> Verdict:
        """The verdict once it proceeds."""
        found: list[Verdict] = []

        def proceeds() -> bool:
            found.append(self.verdict())
            return found[-1].outcome is Outcome.PROCEED

        until(proceeds, _LIMIT_S, f"{self.name} has stopped", poll_s=1)
        return found[-1]


@contextmanager
def watched(stack: Stack, name: str, delivery: str, hold_s: float) -> Iterator[Watched]:
    """It runs while the body does."""
    with passing.copier(stack, name, (f"{name}-1",), delivery, hold_s):
        yield Watched(stack, name)


@pytest.mark.usefixtures("orders")
def test_a_clean_stop_is_proven_and_a_start_by_somebody_else_is_named(stack: Stack) -> None:
    """By its member's client id and host."""
    with watched(stack, "clean", "exactly_once", 0) as one:
        one.send()
        assert one.verdict().outcome is Outcome.WAIT
        stack.supervisor.stop(one.instance)
        assert one.stopped().findings == ()
        before = one.read()
        assert still_stopped(before, one.read()).outcome is Outcome.PROCEED
        stack.supervisor.start(one.instance)
        until(lambda: passing.members(stack, one.name) == 1, _LIMIT_S, "it is back", poll_s=0.3)
        verdict = still_stopped(before, one.read())
        assert verdict.outcome is Outcome.REFUSE
        said = "group clean: member clean-1 on 127.0.0.1: copier clean was started again"
        assert any(reason.startswith(said) for reason in verdict.reasons)


@pytest.mark.usefixtures("orders")
def test_a_kill_in_a_transaction_has_stopped_once_that_has_ended(stack: Stack) -> None:
    """Exactly once repeats nothing: no finding."""
    with watched(stack, "killed", "exactly_once", 30) as one:
        one.send()
        until(lambda: bool(one.read().open), _LIMIT_S, "its transaction is open", poll_s=0.3)
        pid = stack.supervisor.pid(one.instance)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        until(lambda: stack.supervisor.pid(one.instance) is None, 10, "it is gone")
        verdict = one.verdict()
        assert verdict.outcome is Outcome.WAIT
        assert any("a transaction of killed-1 is open" in reason for reason in verdict.reasons)
        assert one.stopped().findings == ()


@pytest.mark.usefixtures("orders")
def test_one_that_is_at_least_once_repeats_after_a_kill(stack: Stack) -> None:
    """It outlives its stop timeout: the finding comes true."""
    with watched(stack, "repeating", "at_least_once", 30) as one:
        had = one.copied()
        one.send()
        until(lambda: one.copied() >= had + _SENT, _LIMIT_S, "it has copied", poll_s=0.5)
        stack.supervisor.stop(one.instance)
        once = one.copied()
        assert [finding.id for finding in one.stopped().findings] == ["copier-may-repeat"]
        stack.supervisor.start(one.instance)
        until(lambda: one.copied() >= once + _SENT, _LIMIT_S, "it has copied again", poll_s=0.5)
