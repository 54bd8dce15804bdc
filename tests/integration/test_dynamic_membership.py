"""A restart without static membership, at the default session timeout: nobody waits for it."""

import time

import pytest
from kstreams_runbooks.act.groups import GroupWriter
from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.decide.instances.members import members_of
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.readings.readings import GroupReading, InstanceReading, Missing, StreamsReading
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.observe import ClusterReader
from lab import kafka, report
from lab.afresh import afresh
from lab.application import Deployed, streams, wait_running
from lab.judge import judged
from lab.stack import Stack


@pytest.mark.long
def test_members_of_the_stopped_instance_are_removed_and_nothing_waits(stack: Stack) -> None:
    """The gap is at most 10 s, no task of the other instance is closed dirty, nothing is lost."""
    afresh(stack, Deployed(static_membership=False))
    application, config = load_fleet().application("orders"), {"bootstrap.servers": stack.lab.bootstrap}
    stack.start_traffic()
    time.sleep(10)
    with ClusterReader(config) as reader:
        group = reader.group("orders")
    client = streams(stack.lab, 1)
    assert isinstance(group, GroupReading)
    assert isinstance(client, StreamsReading)
    own = members_of(group, InstanceReading("orders-1", Missing("not needed"), client))
    assert 0 < len(own) < len(group.members)

    def remove() -> None:
        GroupWriter(config, dry_run=False).remove_members("orders", own)

    times = restart(
        make_deployer(application, dry_run=False),
        "orders-1",
        Target("3.4.1"),
        remove_members=remove,
        log=print,
    )
    wait_running(stack.lab, stack.supervisor, ("orders-1", "orders-2"))
    time.sleep(10)
    assert judged(stack).faults() == {}
    outputs = kafka.appended(stack.lab.bootstrap, "orders-running")
    longest = report.gap(
        outputs,
        report.Rolled(
            bounce=1,
            instance="orders-1",
            stopped_at_ms=times.stop_requested_ms,
            started_at_ms=times.started_ms,
            gate_passed_at_ms=times.started_ms + 30_000,
        ),
    )
    assert longest is not None
    assert longest <= 10
    other = (stack.lab.logs / "orders-2.log").read_text(encoding="utf-8")
    assert "Closed dirty" not in other
