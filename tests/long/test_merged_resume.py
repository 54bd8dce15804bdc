"""A backlog longer than the grace: read as it comes, windows drop its records; merged by time, they drop none.

The application is not stopped. Its copier is, for three times the grace, while producers go on.
"""

import time
from collections.abc import Iterator

import pytest
from kstreams_runbooks.model.readings.readings import StreamsReading
from kstreams_runbooks.observe.application.metrics import read_streams
from kstreams_runbooks.properties import dump, write_atomically
from lab import kafka
from lab.afresh import afresh
from lab.application import TO_RELEASE, Deployed
from lab.copier import TRAFFIC
from lab.shipped_copier import INSTANCES, NAME, RELEASE, shipped_copier
from lab.stack import Stack
from lab.supervise import until
from world.flushing import SHORT
from world.given import declared_as

pytestmark = pytest.mark.long

_GRACE_S, _HELD_S, _WARM_S = 25, 75, 20
_MERGED = {"order": "by-time", "pace": "4"}
_COPIER = INSTANCES[0]
# Records that a copier under traffic may have left: less than a second of them.
_LIVE = 300


@pytest.fixture(scope="module")
def behind_a_copier(stack: Stack) -> Iterator[Stack]:
    """The orders application with a short grace, behind one instance of the shipped copier, under traffic."""
    afresh(stack, Deployed(release=TO_RELEASE, settings={"window.grace.ms": str(_GRACE_S * 1000)}))
    with declared_as(stack, limits=SHORT), shipped_copier(stack, [_COPIER]):
        stack.supervisor.start(TRAFFIC)
        time.sleep(_WARM_S)
        yield stack


def dropped(stack: Stack) -> int:
    """Records that the tasks with windows have dropped; other tasks drop responses of a foreign-key join."""
    total = 0
    for number in range(len(Deployed().names)):
        reading = read_streams(stack.lab.metrics_url(number))
        assert isinstance(reading, StreamsReading), reading
        assert isinstance(reading.buffers, tuple), reading.buffers
        assert isinstance(reading.dropped, tuple), reading.dropped
        windows = {buffer.task.rpartition("_")[0] for buffer in reading.buffers}
        total += sum(count for task, count in reading.dropped if task.rpartition("_")[0] in windows)
    return total


def dropped_by_a_hold(stack: Stack, **settings: str) -> int:
    """Hold the inputs by the copier, let them go with these settings of it; what the tasks with windows drop."""
    before = dropped(stack)
    stack.supervisor.stop(_COPIER)
    deployment = stack.lab.instances / _COPIER / "deployment.properties"
    write_atomically(deployment, dump({"release": RELEASE, **settings}))
    time.sleep(_HELD_S)
    stack.supervisor.start(_COPIER)
    until(lambda: sum(kafka.lag(stack.lab.bootstrap, NAME).values()) < _LIVE, 240, f"{NAME} has caught up", poll_s=1)
    time.sleep(_WARM_S)
    return dropped(stack) - before


def test_a_hold_of_three_graces_drops_nothing_if_it_comes_back_merged(behind_a_copier: Stack) -> None:
    """The same hold in both ways on the same application; the merged one comes first and second."""
    assert dropped_by_a_hold(behind_a_copier, **_MERGED) == 0
    assert dropped_by_a_hold(behind_a_copier) > 0
    assert dropped_by_a_hold(behind_a_copier, **_MERGED) == 0
