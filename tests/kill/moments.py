"""When a task is killed, and what: by what the task does, never by a time."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from importlib import import_module
from textwrap import shorten
from typing import Any

import psutil
from airflow.providers.standard.operators.hitl import HITLOperator
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.steps.inputs.certify import CertifyHeld
from kstreams_runbooks.steps.instances.restart import WaitCaughtUp
from kstreams_runbooks.steps.instances.rolling import RollingOperator
from lab import processes
from lab.follow import last_line
from lab.stack import Stack
from lab.supervise import until

# A task waits for the approvals and the bounces before it.
_REACHED_S = 300
_LOOK_S = 0.01
_LOOK_FOR_S = 2.0
_ASK_S = 0.25
# The watch is at work: it has read the application twice.
_READINGS = 2
_LINE = 100
ENDED = frozenset({"success", "failed", "up_for_retry", "upstream_failed", "skipped"})


class Moment(StrEnum):
    """What a task is doing when it is killed, and thereby what has to die."""

    WORKING = "its process, at work"
    STOPPING = "its process, between stop and start of an instance"
    WRITING = "its process, once it has announced a change"
    STARTING = "its process, once the first instance is started"
    DEFERRED = "the triggerer, while it watches for it"
    ASKING = "the scheduler, while a person is asked"


# Kinds of tasks that do more than work in one process. A new operator is a row here; what is not one of them works.
_OF_OPERATOR: tuple[tuple[type, tuple[Moment, ...]], ...] = (
    (HITLOperator, (Moment.ASKING,)),
    (RollingOperator, (Moment.STOPPING, Moment.DEFERRED)),
    (WaitCaughtUp, (Moment.DEFERRED,)),
    (CertifyHeld, (Moment.DEFERRED,)),
)


def moments_of(task: Mapping[str, Any]) -> tuple[Moment, ...]:
    """The moments at which a task, as Airflow's API describes it, is killed, one after another."""
    operator = getattr(import_module(task["class_ref"]["module_path"]), task["class_ref"]["class_name"])
    return next((moments for kind, moments in _OF_OPERATOR if issubclass(operator, kind)), (Moment.WORKING,))


class Missed(Refused):
    """The task had ended before it could be killed."""


@dataclass(frozen=True)
class Kill:
    """One kill: `after_s` is counted from the start of the task's try, `doing` is what it had said last, or asked.

    If something was away for some time, `away` names it and the time, and `meanwhile` is what the run's gates said.
    """

    task: str
    moment: str
    try_number: int
    after_s: float
    doing: str
    away: str = ""
    meanwhile: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass(frozen=True)
class Target:
    """One task of one run on a stack, with the instances that the run may restart."""

    stack: Stack
    dag_id: str
    run_id: str
    task: str
    instances: tuple[str, ...]

    @property
    def run_key(self) -> str:
        """The run in the ledger."""
        return f"{self.dag_id}/{self.run_id}"

    def now(self) -> dict[str, Any]:
        """The task's newest try as Airflow sees it."""
        return self.stack.api().tasks(self.dag_id, self.run_id)[self.task]

    def tried(self, number: int) -> dict[str, Any]:
        """One try of the task as Airflow sees it, also after the next one has begun."""
        path = f"/dags/{self.dag_id}/dagRuns/{self.run_id}/taskInstances/{self.task}/tries/{number}"
        return self.stack.api().call("GET", path)

    def kept(self, kind: str, after_try: int) -> int:
        """How many pieces of evidence the task has left in tries later than `after_try`."""
        kept = Ledger.open().evidence(self.run_key, kind=kind, task_id=self.task)
        return sum(piece.try_number > after_try for piece in kept)


def strike(target: Target, moment: Moment, after_try: int) -> Kill:
    """Wait for a moment in a try later than `after_try`, kill, and start again what is a component.

    Missed where the try ended before, also where its process had said so already when it was killed. What the run asks
    meanwhile has to be answered by somebody else.
    """
    number, at = _STRIKES[moment](target, after_try)
    began = datetime.fromisoformat(target.tried(number)["start_date"]).timestamp()
    return Kill(target.task, moment, number, round(at - began, 1), doing(target, number))


def doing(target: Target, try_number: int) -> str:
    """The question that the task asked, else the last line of the try's log, without what only makes it long."""
    api = target.stack.api()
    details = api.call("GET", f"/dags/{target.dag_id}/dagRuns/{target.run_id}/hitlDetails")["hitl_details"]
    asked = [str(one["subject"]) for one in details if one["task_instance"]["task_id"] == target.task]
    if asked:
        return asked[-1].partition("] ")[2]
    said = last_line(api.log(target.dag_id, target.run_id, target.task, try_number))
    return shorten(said.replace(f"{target.stack.lab.run_dir}/", ""), _LINE, placeholder=" …")


def _working(target: Target, after_try: int) -> tuple[int, float]:
    # The note that a step has begun is its first piece of evidence; every answer of it is still to come.
    return _kill_process(target, after_try, lambda: target.kept("note", after_try) > 0)


def _writing(target: Target, after_try: int) -> tuple[int, float]:
    def announced() -> bool:
        cards = Ledger.open().cards(target.run_key)
        return any(card.task_id == target.task for card in cards)

    return _kill_process(target, after_try, announced)


def _stopping(target: Target, after_try: int) -> tuple[int, float]:
    return _kill_process(target, after_try, lambda: processes.stopping(target.stack, *target.instances) is not None)


def _starting(target: Target, after_try: int) -> tuple[int, float]:
    def one_is_up() -> bool:
        return any(target.stack.supervisor.pid(name) is not None for name in target.instances)

    return _kill_process(target, after_try, one_is_up)


def _deferred(target: Target, after_try: int) -> tuple[int, float]:
    def watching(task: dict[str, Any]) -> bool:
        return task["state"] == "deferred" and target.kept("reading", after_try) >= _READINGS

    return _kill_component(target, after_try, watching, processes.TRIGGERER)


def _asking(target: Target, after_try: int) -> tuple[int, float]:
    return _kill_component(target, after_try, lambda task: task["state"] == "awaiting_input", processes.SCHEDULER)


# For each moment: what waits and kills; answers the number of the try that was killed, and when (s since 1970).
_STRIKES: Mapping[Moment, Callable[[Target, int], tuple[int, float]]] = {
    Moment.WORKING: _working,
    Moment.WRITING: _writing,
    Moment.STOPPING: _stopping,
    Moment.STARTING: _starting,
    Moment.DEFERRED: _deferred,
    Moment.ASKING: _asking,
}


def _kill_process(target: Target, after_try: int, reached: Callable[[], bool]) -> tuple[int, float]:
    found: list[psutil.Process] = []

    def there(task: dict[str, Any]) -> bool:
        # Airflow is asked seldom: its answer takes longer than a short task.
        deadline = time.monotonic() + _LOOK_FOR_S
        while not found and time.monotonic() < deadline:
            process = processes.task_process(target.stack, task["id"])
            found.extend([process] if process else [])
            time.sleep(_LOOK_S)
        return bool(found)

    task = wait_for(target, after_try, there)
    with suppress(psutil.NoSuchProcess):
        while found[0].status() != psutil.STATUS_ZOMBIE:
            if reached():
                found[0].kill()
                at = time.time()
                _require_broken_off(target, task)
                return int(task["try_number"]), at
            time.sleep(_LOOK_S)
    raise Missed(f"{target.task} ended before it was killed")


def _require_broken_off(target: Target, task: dict[str, Any]) -> None:
    """Missed where the try that was killed had said already that it succeeded."""

    def judged() -> bool:
        now = target.now()
        if now["id"] == task["id"] and now["state"] == "success":
            raise Missed(f"{target.task} had said that it succeeded before it was killed")
        return now["id"] != task["id"] or now["state"] in ENDED

    until(judged, _REACHED_S, f"Airflow sees that {target.task} was killed", poll_s=_ASK_S)


def _kill_component(
    target: Target, after_try: int, reached: Callable[[dict[str, Any]], bool], name: str
) -> tuple[int, float]:
    task = wait_for(target, after_try, reached)
    processes.kill_component(target.stack, name)
    at = time.time()
    processes.start_component(target.stack, name)
    return int(task["try_number"]), at


def wait_for(target: Target, after_try: int, reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The task's new try once `reached` holds for it; Missed where it ended before."""
    newest: dict[str, Any] = {}

    def there() -> bool:
        newest.clear()
        newest.update(target.now())
        if newest["try_number"] <= after_try:
            return False
        if newest["state"] in ENDED:
            raise Missed(f"{target.task} ended ({newest['state']}) before it was killed")
        return reached(newest)

    until(there, _REACHED_S, f"{target.task} of {target.run_id} can be killed", poll_s=_ASK_S)
    return newest
