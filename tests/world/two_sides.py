"""The pretended runbook (world/pretended.py) on a stack: its DAG, its second application, and what it leaves behind."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kstreams_runbooks.model.writes import CommittedOffset
from kstreams_runbooks.observe import ClusterReader
from lab.afresh import afresh
from lab.application import TO_RELEASE, Deployed
from lab.second import INSTANCE, committed, second_application
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
def pretended_dag(stack: Stack, dag_id: str = DAG) -> Iterator[None]:
    """A DAG of tests/world is in Airflow's folder, and known, while the body runs."""
    link = stack.lab.dags / f"{dag_id}.py"
    link.symlink_to(_FILE.with_name(f"{dag_id}.py"))
    try:
        stack.api().wait_for_dag(dag_id)
        yield
    finally:
        link.unlink()


@contextmanager
def pretended_runbook(stack: Stack) -> Iterator[Found]:
    """The same with both applications from nothing; what is there before."""
    afresh(stack, Deployed(release=TO_RELEASE))
    with pretended_dag(stack), second_application(stack):
        yield found(stack)


def found(stack: Stack) -> Found:
    """What is there now; of the offsets those of the input that is read again."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        topics = reader.topics([TOPIC])
    return Found(next((one.topic_id for one in topics), None), committed(stack), stack.supervisor.pid(INSTANCE))
