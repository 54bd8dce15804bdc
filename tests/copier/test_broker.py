"""A broker that dies, and one that forgets offsets: tests of a broker of their own, under a minute of retention."""

import time

import pytest
from lab import kafka
from lab.processes import kill_main_process
from lab.supervise import until
from lab.topic_copier import REFUSED, TERMINATED
from world.copied import Begin, OwnBroker, load

pytestmark = pytest.mark.long

_FORGOTTEN_S = 150
# More than twice the minute after which the broker deletes offsets of a group without members.
_IDLE_S = 130


def test_a_broker_that_is_killed_and_comes_back_changes_nothing(begin_there: Begin, own_broker: OwnBroker) -> None:
    """The copier survives it under load."""
    stack = own_broker.stack
    copy = begin_there("a", "b").create().seed()
    copier = copy.copier().start().wait_running()
    with load(copy, transactional=False):
        until(lambda: sum(copy.committed().values()) > 1_000, 60, "it copies")
        kill_main_process(stack, "broker")
        time.sleep(3)
        stack.supervisor.start("broker")
        kafka.wait_for_broker(stack.lab, stack.supervisor)
        before = sum(copy.committed().values())
        until(lambda: sum(copy.committed().values()) > before + 2_000, 120, "it copies again")
    copy.wait_copied()
    assert copier.terminate() == TERMINATED
    copy.require_left()
    assert copy.require_equal() > 0


def test_offsets_of_idle_partitions_are_kept_while_it_runs_and_lost_while_it_is_stopped(begin_there: Begin) -> None:
    """One route has records in one partition, the other none; a stopped copier refuses, and copies nothing again."""
    idle, stopped = begin_there("a", "b").create().seed(), begin_there().create().seed()
    stopped.send(50)
    ended = stopped.copier().start().wait_running()
    stopped.wait_copied()
    assert ended.terminate() == TERMINATED
    copier = idle.copier().start().wait_running()
    until_s = time.monotonic() + _IDLE_S
    number = 0
    while time.monotonic() < until_s:
        idle.send(1, partition=1, begin=number)
        number += 1
        time.sleep(1)
    idle.wait_copied()
    for source in idle.routes:
        assert idle.committed(source).keys() == {0, 1, 2, 3}
    idle.send(5, partition=3)
    idle.wait_copied()
    assert copier.terminate() == TERMINATED
    assert idle.require_equal() == number + 5
    until(lambda: stopped.committed() == {}, _FORGOTTEN_S, "the offsets of the stopped one are gone", poll_s=1)
    assert ended.start().end() == REFUSED
    assert "4 of 4 partitions (0; 1; 2; …): no committed offset" in ended.last_line
    assert stopped.require_equal() == 50
