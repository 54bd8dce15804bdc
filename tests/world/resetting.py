"""The orders application as a reset of it is tried: declared with its facts, its outputs settable, under traffic."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.ends import held_of
from lab import started_over
from lab.stack import Stack
from lab.supervise import until

from world.endings import COMPLETED, begun_other, held_by
from world.given import declared_as
from world.runs import approve, evidence, finished

DAG = "reset_and_cleanup"
SHORT = {"gate_interval_s": 0.5, "gate_good_readings": 2}
_WRITTEN = 500


@contextmanager
def declared(stack: Stack, **fields: Any) -> Iterator[None]:
    """The application declared with a release that prints its facts, and with settings that name its outputs."""
    with declared_as(stack, limits=SHORT, **started_over.fields(stack.lab) | fields):
        yield


def write(stack: Stack) -> None:
    """Start the traffic, and return once the application has written results."""
    stack.start_traffic()
    until(lambda: records_in(stack, "orders-running") > _WRITTEN, 90, "the application has written results")


def done(stack: Stack, **conf: Any) -> str:
    """A reset that has ended well; its id."""
    trial = begun_other(stack, DAG, **conf)
    approve(stack, trial.run_id, "approve_plan")
    state = finished(stack, trial.run_id)
    document = evidence(stack, trial.run_id)
    assert state == "success", document["run"]["outcome_sentence"]
    assert document["run"]["outcome"] == COMPLETED
    assert document["recheck"]["different"] == []
    assert held_by(stack) == ()
    return trial.run_id


def records_in(stack: Stack, topic: str) -> int:
    """The sum of the end offsets of a topic."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        held = held_of(reader, reader.topics([topic]))
    assert isinstance(held, tuple)
    return sum(one.end for one in held if isinstance(one.end, int))
