"""Two schedulers on PostgreSQL, which has the ledger too: one of them is killed, and the run goes on.

The server is real, as are both schedulers; each has an executor of its own, and its tasks die with it.
"""

import os
from collections.abc import Iterator

import pytest
from kstreams_runbooks.ledger import Ledger, migrate
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.watch.evidence import verified
from lab.afresh import afresh
from lab.airflow import SECOND_SCHEDULER
from lab.application import Deployed
from lab.judge import judged
from lab.postgresql import postgresql
from lab.processes import SCHEDULER, kill_component, task_process_of
from lab.stack import Parts, Stack
from lab.supervise import until
from world.endings import COMPLETED, held_by
from world.own_stack import own_stack
from world.ports import SCHEDULERS
from world.runs import DAG, approve, evidence, finished, states, trigger

_BOTH = (SCHEDULER, SECOND_SCHEDULER)
_FOUND_S = 120


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Two instances of the application and Airflow with two schedulers."""
    parts = Parts(second_scheduler=True, built=bool(os.environ.get("TEST_BUILT")))
    with postgresql() as server:
        ledger = server.database("ledger")
        migrate(ledger)
        places = {"ledger": ledger, "metadata": server.database("airflow")}
        with own_stack(tmp_path_factory, parts, SCHEDULERS, **places) as made:
            yield made


@pytest.fixture
def begun(two: Stack) -> str:
    """A run under traffic whose plan is approved."""
    afresh(two, Deployed())
    two.start_traffic()
    run_id = trigger(two)
    approve(two, run_id, "approve_plan")
    return run_id


def state_of(stack: Stack, run_id: str, task_id: str) -> str:
    return states(stack, run_id)[task_id]


def where_it_runs(stack: Stack, run_id: str, task_id: str) -> str | None:
    """The scheduler whose executor has the process of this task."""
    identity = stack.api().tasks(DAG, run_id)[task_id]["id"]
    return next((name for name in _BOTH if task_process_of(stack, identity, name) is not None), None)


def completed(stack: Stack, run_id: str) -> None:
    """It ends well, no record is lost, the ledger is whole, and the run that was in it is decided as it was."""
    assert finished(stack, run_id) == "success"
    document = evidence(stack, run_id)
    assert document["run"]["outcome"] == COMPLETED
    assert document["recheck"]["different"] == []
    ledger = Ledger.open(stack.environment()["KSTREAMS_RUNBOOKS_LEDGER"])
    assert ledger.database.engine.dialect.name == "postgresql"
    assert verified(ledger, ledger.run(f"{DAG}/{run_id}"), None).outcome is Outcome.PROCEED
    assert held_by(stack) == ()
    judgement = judged(stack)
    assert (judgement.code, judgement.faults()) == (0, {})


@pytest.mark.parametrize("killed", _BOTH)
def test_a_scheduler_dies_while_a_gate_waits(two: Stack, begun: str, killed: str) -> None:
    """The scheduler has no task of the run then: the other scheduler goes on, and no task has to be cleared."""
    until(lambda: state_of(two, begun, "bounce_1_first") == "deferred", _FOUND_S, "bounce_1_first waits at its gate")
    kill_component(two, killed)
    try:
        completed(two, begun)
    finally:
        two.supervisor.start(killed)


def test_a_scheduler_dies_with_a_task_in_it(two: Stack, begun: str) -> None:
    """Between stop and start of an instance: the other one takes the task over, or fails it; one clear then goes on."""
    found: list[str] = []

    def runs() -> bool:
        if state_of(two, begun, "bounce_1_first") == "running":
            found.extend(filter(None, [where_it_runs(two, begun, "bounce_1_first")]))
        return bool(found)

    until(runs, _FOUND_S, "bounce_1_first runs", poll_s=0.05)
    kill_component(two, found[0])
    try:
        if finished(two, begun) == "failed":
            two.api().clear(DAG, begun, "bounce_1_first")
        completed(two, begun)
    finally:
        two.supervisor.start(found[0])
