"""The gate on a real application that is RUNNING in a stable group and should not pass."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from kstreams_runbooks.decide.instances.gate import gate
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading, StreamsReading
from kstreams_runbooks.model.runs.gate import Expectation
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe import ClusterReader, read_application
from lab.afresh import afresh
from lab.application import FROM_RELEASE, Deployed
from lab.stack import Stack

_EXPECTED = Expectation(
    instance="orders-1",
    bounce=Bounce(1, FROM_RELEASE, ()),
    previous=None,
    max_lag=1_000_000,
    good_readings=3,
    max_age_ms=30_000,
    commit_interval_ms=100,
)
_READINGS = 6


def readings(stack: Stack) -> tuple[ApplicationReading, ...]:
    """Two a second."""
    application = load_fleet().application("orders")
    deployer, config = make_deployer(application, dry_run=True), {"bootstrap.servers": stack.lab.bootstrap}
    found = []
    with ClusterReader(config) as reader:
        for _ in range(_READINGS):
            found.append(read_application(application, reader, deployer))
            time.sleep(0.5)
    return tuple(found)


@pytest.fixture(scope="module")
def stuck(stack: Stack) -> Iterator[tuple[ApplicationReading, ...]]:
    """Readings of an application whose every record takes a minute: nothing is committed."""
    afresh(stack, Deployed(settings={"processing.delay.ms": "60000"}))
    stack.start_traffic()
    time.sleep(4)
    yield readings(stack)
    stack.stop_traffic()
    for name in Deployed().names:
        # A clean stop would wait for the record that is being processed.
        if (pid := stack.supervisor.pid(name)) is not None:
            os.kill(pid, signal.SIGKILL)


def test_it_looks_well(stuck: tuple[ApplicationReading, ...]) -> None:
    """What a gate that only looks at states would see: RUNNING, stable, no failed thread."""
    for reading in stuck:
        own = reading.instances[0].streams
        assert isinstance(own, StreamsReading)
        assert (own.state, own.failed_threads) == ("RUNNING", 0)
        assert isinstance(reading.group, GroupReading)
        assert reading.group.state == "Stable"


def test_running_and_stable_without_progress_stays_shut(stuck: tuple[ApplicationReading, ...]) -> None:
    """No committed offset advances, and the verdict names the partitions."""
    verdict = gate(stuck, _EXPECTED)
    assert verdict.outcome is Outcome.WAIT
    assert any(reason.startswith("no progress in") for reason in verdict.reasons), verdict.reasons


def test_running_with_lag_over_the_limit_stays_shut(stuck: tuple[ApplicationReading, ...]) -> None:
    """The observed lag and its limit stand in the verdict."""
    verdict = gate(stuck, replace(_EXPECTED, max_lag=100))
    assert verdict.outcome is Outcome.WAIT
    assert any("records (limit 100)" in reason for reason in verdict.reasons), verdict.reasons
