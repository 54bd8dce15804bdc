"""Airflow's own parts die at a bad moment: no instance stays down, and every instance is restarted once."""

import pytest
from lab.processes import (
    API_SERVER,
    SCHEDULER,
    TRIGGERER,
    kill_component,
    kill_main_process,
    start_component,
    stopping,
)
from lab.stack import Stack
from lab.supervise import until
from world.endings import COMPLETED, STOPPED, begun, ended
from world.runs import DAG, approve, finished, reached

pytestmark = pytest.mark.long

_EACH_ONCE = ((1, "orders-1"), (1, "orders-2"))
_STOPPED_S = 60


def test_the_scheduler_is_killed_while_an_instance_is_down(one_bounce: Stack) -> None:
    """The task that it has forked outlives it and starts the instance, but its own end is lost with the scheduler.

    The run is red and says what was changed; cleared, it goes on from there.
    """
    trial = begun(one_bounce)
    approve(one_bounce, trial.run_id, "approve_plan")
    _until_stopping(one_bounce)
    kill_main_process(one_bounce, SCHEDULER)
    start_component(one_bounce, SCHEDULER)
    document = ended(trial, state="failed", outcome=STOPPED, restarted=_EACH_ONCE[:1])
    assert "bounce_1_first began and gave no answer" in document["run"]["outcome_sentence"]
    one_bounce.api().clear(DAG, trial.run_id, "bounce_1_first")
    assert finished(one_bounce, trial.run_id) == "success"
    ended(trial, state="success", outcome=COMPLETED, restarted=_EACH_ONCE)


def test_the_api_server_is_killed_while_an_instance_is_down(one_bounce: Stack) -> None:
    """The task cannot tell anybody how it goes, starts the instance all the same, and is heard later."""
    trial = begun(one_bounce)
    approve(one_bounce, trial.run_id, "approve_plan")
    _until_stopping(one_bounce)
    kill_component(one_bounce, API_SERVER)
    start_component(one_bounce, API_SERVER)
    assert finished(one_bounce, trial.run_id) == "success"
    ended(trial, state="success", outcome=COMPLETED, restarted=_EACH_ONCE)


def test_the_triggerer_is_killed_while_it_watches_a_gate(one_bounce: Stack) -> None:
    """The next one takes the watch up; what the first had counted is forgotten, what it had seen is not needed."""
    trial = begun(one_bounce)
    approve(one_bounce, trial.run_id, "approve_plan")
    reached(one_bounce, trial.run_id, "bounce_1_first", "deferred")
    kill_component(one_bounce, TRIGGERER)
    start_component(one_bounce, TRIGGERER)
    assert finished(one_bounce, trial.run_id) == "success"
    ended(trial, state="success", outcome=COMPLETED, restarted=_EACH_ONCE)


def _until_stopping(stack: Stack) -> None:
    until(lambda: stopping(stack, "orders-1") is not None, _STOPPED_S, "orders-1 is told to stop", poll_s=0.03)
