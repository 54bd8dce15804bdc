"""Follows one run to its end over REST, and answers its questions."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from kstreams_runbooks.errors import Refused, Unreachable

from lab.airflow import Airflow

_POLL_S = 1.5
_LIMIT_S = 3_600
_BY_HAND_S = 8 * 3_600
# Four eyes ask again; a login that is never accepted would be asked without end.
_ANSWERS = 3
# No person reads a plan faster, and an answer that comes too soon is lost (`heard_end` in airflow.py).
READING_S = 4.0
_ENDED = frozenset({"success", "failed"})
_GOING = frozenset({"running", "deferred", "awaiting_input"})


class Watch(Protocol):
    """Receives the progress of the run."""

    def say(self, line: str) -> None:
        """One line of progress."""

    def steps(self, tasks: Mapping[str, Mapping[str, Any]], lines: Mapping[str, str]) -> None:
        """Task instances in the order of their start, and the last line of each one's log."""


def follow(
    api: Airflow,
    dag_id: str,
    run_id: str,
    *,
    approver: Airflow | None,
    others: tuple[Airflow, ...] = (),
    watch: Watch | None = None,
    each_time: Callable[[], None] = lambda: None,
    at_once: Callable[[str], bool] = lambda _: False,
    poll_s: float = _POLL_S,
    limit_s: float | None = None,
) -> str:
    """Return the state in which the run ended; `approver` approves everything, None leaves it to a person.

    If a question is asked again, the `others` answer, one after another. `at_once` decides whether a task's question
    may be answered without the time that a reader takes. Unreachable if the run does not end, Refused if it asks the
    same again and again.
    """
    lines: dict[str, str] = {}
    final: set[tuple[str, str]] = set()
    asked: dict[str, float] = {}
    answered: dict[str, int] = {}
    deadline = time.monotonic() + (limit_s or (_LIMIT_S if approver else _BY_HAND_S))
    while time.monotonic() < deadline:
        each_time()
        state, tasks = str(api.run(dag_id, run_id)["state"]), api.tasks(dag_id, run_id)
        if watch:
            for name, task in tasks.items():
                ended = (name, str(task["end_date"]))
                if task["state"] in _GOING or (task["end_date"] and task["try_number"] and ended not in final):
                    lines[name] = last_line(api.log(dag_id, run_id, name, max(1, task["try_number"])))
                    final.add(ended)
            watch.steps(dict(sorted(tasks.items(), key=lambda one: one[1]["start_date"] or "~")), lines)
        if state in _ENDED:
            return state
        if approver:
            _answer((approver, *others), dag_id, run_id, at_once, asked, answered, watch)
        time.sleep(poll_s)
    raise Unreachable(f"run {run_id} of {dag_id} has not ended in time; look at {api.url}/dags/{dag_id}/runs/{run_id}")


def _answer(
    approvers: tuple[Airflow, ...],
    dag_id: str,
    run_id: str,
    at_once: Callable[[str], bool],
    asked: dict[str, float],
    answered: dict[str, int],
    watch: Watch | None,
) -> None:
    for question in approvers[0].pending(dag_id, run_id):
        task_id = question["task_instance"]["task_id"]
        if time.monotonic() - asked.setdefault(task_id, time.monotonic()) < READING_S and not at_once(task_id):
            continue
        del asked[task_id]
        approver = approvers[answered.get(task_id, 0) % len(approvers)]
        answered[task_id] = answered.get(task_id, 0) + 1
        if answered[task_id] > _ANSWERS * len(approvers):
            raise Refused(f"{task_id} asks again after {_ANSWERS} answers by {approver.login}: {question['subject']}")
        approver.answer(dag_id, run_id, task_id)
        if watch:
            watch.say(f"{approver.login} approved: {question['subject']}")


def last_line(log: list[str]) -> str:
    """Last line that a step wrote for a person, without `[application @ cluster]`, which begins each of them."""
    ours = [line.partition("] ")[2] for line in log if line.startswith("[") and " @ " in line.partition("]")[0]]
    return ours[-1] if ours else ""
