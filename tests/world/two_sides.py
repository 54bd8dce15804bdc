"""The pretended runbook (world/pretended.py) on a stack: its DAG, its second application, and what it leaves behind."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kstreams_runbooks.model.writes import CommittedOffset
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from lab.afresh import afresh
from lab.application import TO_RELEASE, Deployed
from lab.second import INPUTS, INSTANCE, NAME, second_application
from lab.settings import CHECKOUT
from lab.stack import Stack

DAG = "pretended"
TOPIC = "pretended-control"
_FILE = CHECKOUT / "tests" / "world" / "pretended.py"


@dataclass(frozen=True)
class Found:
    """What the runbook changes, and its undo brings back."""

    topic_id: str | None
    offsets: dict[tuple[str, int], CommittedOffset]
    pid: int | None


@contextmanager
def pretended_runbook(stack: Stack) -> Iterator[Found]:
    """Both applications from nothing, and the DAG in Airflow's folder, while the body runs; what is there before."""
    link = stack.lab.dags / f"{DAG}.py"
    afresh(stack, Deployed(release=TO_RELEASE))
    link.symlink_to(_FILE)
    try:
        with second_application(stack):
            stack.api().wait_for_dag(DAG)
            yield found(stack)
    finally:
        link.unlink()


def found(stack: Stack) -> Found:
    """What is there now; of the offsets those of the input that is read again."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        topics = reader.topics([TOPIC])
        saved = read_saved(reader, NAME)
    own = {place: one for place, one in saved.by_place().items() if place[0] == INPUTS[0]}
    return Found(next((one.topic_id for one in topics), None), own, stack.supervisor.pid(INSTANCE))
