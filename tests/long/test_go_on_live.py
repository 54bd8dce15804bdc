"""GO ON of refused runs, followed: the command of each, from its own log, is not refused for the same reason."""

import shlex
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import pytest
from lab.afresh import afresh
from lab.application import Deployed, wait_running
from lab.stack import Stack
from world.endings import NOTHING_CHANGED, begun_other
from world.runs import command, evidence, finished, log_of

pytestmark = pytest.mark.long

# What a person writes in place of a placeholder.
_WORDS = {"REASON": "OPS-9, accepted for this test", "RELEASE": "3.4.1", "TARGET": "4.3.1", "RUN": "none-of-these"}


@pytest.fixture(scope="module")
def fresh(stack: Stack) -> Stack:
    """Two instances on the old release; every run here is a dry run."""
    afresh(stack, Deployed())
    return stack


@contextmanager
def one_down(stack: Stack) -> Iterator[None]:
    """One instance is down until the run has ended; it is started before its GO ON is followed."""
    stack.supervisor.stop("orders-1")
    try:
        yield
    finally:
        stack.supervisor.start("orders-1")
        wait_running(stack.lab, stack.supervisor, ("orders-1",))


@dataclass(frozen=True)
class Case:
    """A refused dry run, the beginning of the command that GO ON has, and whether that run completes."""

    dag_id: str
    params: dict[str, Any]
    command: str
    completes: bool = False
    meanwhile: Callable[[Stack], AbstractContextManager[Any]] = field(default=lambda _: nullcontext())


CASES = (
    Case("rolling_bounce", {"release": "3.4.1"}, "trigger rolling_bounce", completes=True),
    Case("rolling_bounce", {"settings": {"num.stream.threads": "two"}}, "trigger rolling_bounce"),
    Case("rolling_bounce", {"settings": {"upgrade.from": "3.4"}}, "trigger rolling_bounce"),
    Case("stop_and_restart", {"local_state": "some"}, "trigger stop_and_restart", completes=True),
    Case("stop_and_restart", {"lose_state": ["none"]}, "trigger stop_and_restart", completes=True),
    Case("library_bump", {"target": "4.3.1", "unchanged": ["values"]}, "trigger library_bump"),
    Case("library_bump", {"target": "3.4.1"}, "trigger library_bump"),
    Case("reset_and_cleanup", {"mode": "reset", "targets": {"orders": "+0"}}, "trigger reset_and_cleanup"),
    Case("reset_and_cleanup", {"mode": "reset", "targets": {"none": "earliest"}}, "trigger reset_and_cleanup"),
    Case("reset_and_cleanup", {"mode": "reset", "clean_outputs": ["none"]}, "trigger reset_and_cleanup"),
    Case("plan_change", {}, "trigger plan_change"),
    Case("plan_change", {"topology_file": "topology.txt"}, "trigger plan_change"),
    Case("rolling_bounce", {"restart": True}, "clear", completes=True, meanwhile=one_down),
)


def followed(stack: Stack, run_id: str) -> tuple[int, str]:
    """What the command of GO ON in the log of `conclude` ends with: its exit code, and what it or its run reports."""
    lines = log_of(stack, run_id, "conclude").splitlines()
    at = next(number for number, line in enumerate(lines) if "GO ON: " in line)
    line = next(line for line in lines[at:] if "kstreams-runbooks " in line)
    words = shlex.split(line[line.index("kstreams-runbooks ") :])[1:]
    given = [word.partition("=") for word in words]
    answered = [name + equals + _WORDS.get(value, value) for name, equals, value in given]
    assert "--execute" not in answered
    if answered[0] == "trigger":
        return command(stack, *answered, "--wait")
    assert command(stack, *answered)[0] == 0
    state = finished(stack, run_id)
    return int(state != "success"), str(evidence(stack, run_id)["run"]["outcome_sentence"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.dag_id}-{'-'.join(case.params) or 'empty'}")
def test_the_command_of_go_on_is_not_refused_for_the_same_reason(fresh: Stack, case: Case) -> None:
    """It is there whole, it runs, and a run that it completes ends well."""
    with case.meanwhile(fresh):
        trial = begun_other(fresh, case.dag_id, dry_run=True, **case.params)
        assert finished(fresh, trial.run_id) == "failed"
        run = evidence(fresh, trial.run_id)["run"]
    assert run["outcome"] == NOTHING_CHANGED
    code, said = followed(fresh, trial.run_id)
    assert run["outcome_sentence"] not in said
    assert (code == 0) or not case.completes, said
