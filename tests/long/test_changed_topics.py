"""Another set of internal topics under static membership: what rolling it does, and what a stop and restart does."""

import time
from collections.abc import Callable

import pytest
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.act.groups import GroupWriter
from kstreams_runbooks.decide.instances.members import group_is_empty
from kstreams_runbooks.model.readings.readings import GroupReading, Missing
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.lag.partition_rows import read_partitions
from kstreams_runbooks.properties import dump, write_atomically
from lab.afresh import afresh
from lab.application import TO_RELEASE, Deployed, streams, wait_running
from lab.stack import Stack
from lab.supervise import until

pytestmark = pytest.mark.long

_NEW_TOPIC = "orders-orders-audit-repartition"
_DEPLOYED = Deployed(release=TO_RELEASE)
_TELL_APART_S = 0.2
# Streams waits 60 s (max.block.ms) for a partition that nobody has told its producer of.
_ERROR_S = 150
_EMPTY_S = 60


def states(stack: Stack) -> list[str]:
    found = [streams(stack.lab, number) for number in (1, 2)]
    return ["gone" if isinstance(one, Missing) else one.state for one in found]


def committed(stack: Stack) -> int:
    """Records of the new repartition topic that the group has read."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        partitions = read_partitions(reader, "orders", {_NEW_TOPIC: "repartition"}, reader.topics([_NEW_TOPIC]))
    assert not isinstance(partitions, Missing)
    return sum(one.committed for one in partitions if one.committed is not None)


def set_audit(stack: Stack, name: str) -> None:
    file = stack.lab.instances / name / "deployment.properties"
    write_atomically(file, dump({"release": TO_RELEASE, "audit": "true"}))
    time.sleep(_TELL_APART_S)


def roll(stack: Stack) -> None:
    """One instance after another, each within its session timeout."""
    for name in _DEPLOYED.names:
        stack.supervisor.stop(name)
        set_audit(stack, name)
        stack.supervisor.start(name)
        time.sleep(5)


def restart_at_once(stack: Stack) -> None:
    """Both together, but within their session timeout: the group is never EMPTY."""
    stack.supervisor.stop(*_DEPLOYED.names)
    for name in _DEPLOYED.names:
        set_audit(stack, name)
    stack.supervisor.start(*_DEPLOYED.names)


def restart_emptied(stack: Stack) -> None:
    """Both together, with their members removed in between."""
    stack.supervisor.stop(*_DEPLOYED.names)
    config = {"bootstrap.servers": stack.lab.bootstrap}

    def group() -> GroupReading:
        with ClusterReader(config) as reader:
            found = reader.group("orders")
        assert isinstance(found, GroupReading)
        return found

    GroupWriter(config, dry_run=False).remove_members("orders", group().members)
    until(lambda: group_is_empty(group(), "orders").outcome is Outcome.PROCEED, _EMPTY_S, "the group is EMPTY")
    for name in _DEPLOYED.names:
        set_audit(stack, name)
    stack.supervisor.start(*_DEPLOYED.names)


@pytest.mark.parametrize("change", [roll, restart_at_once])
def test_a_static_member_keeps_an_assignment_that_no_longer_fits(stack: Stack, change: Callable[[Stack], None]) -> None:
    """RUNNING again, nothing of the new topic read, and then ERROR: only an EMPTY group is assigned anew."""
    afresh(stack, _DEPLOYED)
    stack.start_traffic()
    time.sleep(8)
    change(stack)
    until(lambda: "ERROR" in states(stack) or "gone" in states(stack), _ERROR_S, "an instance ends in ERROR")
    assert "ERROR" in states(stack) or "gone" in states(stack)
    assert committed(stack) == 0
    stack.stop_traffic()


def test_an_emptied_group_reads_the_new_topic(stack: Stack) -> None:
    """The same change, well within a minute."""
    afresh(stack, _DEPLOYED)
    stack.start_traffic()
    time.sleep(8)
    restart_emptied(stack)
    wait_running(stack.lab, stack.supervisor, _DEPLOYED.names, 60)
    until(lambda: committed(stack) > 0, 60, "the new topic is read")
    assert committed(stack) > 0
    assert _NEW_TOPIC in AdminClient({"bootstrap.servers": stack.lab.bootstrap}).list_topics(timeout=30).topics
    stack.stop_traffic()
