"""Waits for a run's end over Airflow's API alone: a CI does not see the ledger."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from kstreams_runbooks.decide.runs.commands import clear_named
from kstreams_runbooks.decide.runs.go_on import INDENT
from kstreams_runbooks.errors import Inconclusive, Unreachable
from kstreams_runbooks.terminal.airflow.client import AirflowApi
from kstreams_runbooks.terminal.airflow.progress import Progress, at_work, paused_lines
from kstreams_runbooks.terminal.airflow.question import open_questions
from kstreams_runbooks.terminal.airflow.shapes import Concluded, Left, require

_POLL_S = 3.0
# Longer than a restart of Airflow.
_AWAY_S = 300.0
_FAILED = {"failed": "failed", "up_for_retry": "waits to be tried again"}
_ENDED = frozenset({"success", "failed"})


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a run; `outcome` is None if it did not end in time; the exit code is that of errors.py.

    `plan` are the lines of a dry run's plan, empty for another run; `next` those of GO ON and GO BACK, and
    `manually` those of the undo cards; `changed` whether the run changed anything itself.
    """

    state: str
    outcome: str | None
    sentence: str
    exit_code: int
    plan: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    manually: tuple[str, ...] = ()
    changed: bool = False


def wait(
    api: AirflowApi,
    dag_id: str,
    run_id: str,
    *,
    say: Callable[[str], None],
    timeout_s: float | None = None,
    poll_s: float = _POLL_S,
) -> Ended:
    """Return when the run has ended; `say` receives each question once, with its approvers and its link.

    One that is asked again because an answer did not count is another. `say` also receives why a task failed, or waits
    to be tried again. The tasks at work are shown when they change, and each ten seconds. Unreachable if Airflow gives
    no answer for five minutes.
    """
    began = heard = time.monotonic()
    asked: set[str] = set()
    failed: set[tuple[str, str]] = set()
    waits_for, progress = "", Progress(say)
    while True:
        try:
            state = str(api.run(dag_id, run_id)["state"])
            if state in _ENDED:
                return outcome_of(api, dag_id, run_id, state)
            waits_for = ""
            tasks = api.tasks(dag_id, run_id)
            for question in open_questions(api, dag_id, run_id, tasks):
                waits_for = question.sentence
                if waits_for not in asked:
                    asked.add(waits_for)
                    say(waits_for)
            for name, line in _failures(api, dag_id, run_id, tasks):
                if (name, line) not in failed:
                    failed.add((name, line))
                    say(line)
            heard = time.monotonic()
            doing = {name: str(tasks[name]["state"]) for name in at_work(tasks)}
            progress.show(doing or {run_id: state}, partial(_why_queued, api, dag_id, state))
        except Unreachable as error:
            if time.monotonic() - heard > _AWAY_S:
                raise
            progress.away(error, _AWAY_S)
        if timeout_s is not None and time.monotonic() - began >= timeout_s:
            return _too_late(timeout_s, waits_for)
        time.sleep(poll_s)


def _failures(
    api: AirflowApi, dag_id: str, run_id: str, tasks: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Each task that failed or waits to be tried again, with its own sentence; `conclude` is the run's outcome."""
    for name, task in tasks.items():
        if task["state"] not in _FAILED or name == "conclude":
            continue
        left = api.xcom(dag_id, run_id, name, "error")
        if left is not None:
            require(Left, left, api.url)
            yield name, f"{name}: {_FAILED[task['state']]}: {left['sentence']}"


def _why_queued(api: AirflowApi, dag_id: str, state: str) -> tuple[str, ...]:
    """The lines about the pause of a DAG if it keeps a run in this state."""
    return paused_lines(dag_id) if state == "queued" and api.dag(dag_id)["is_paused"] else ()


def outcome_of(api: AirflowApi, dag_id: str, run_id: str, state: str) -> Ended:
    """The end from the answer of `conclude`; Airflow's state of a run alone proves nothing."""
    command = INDENT + clear_named(f"{dag_id}/{run_id}", "conclude")
    report = ("GO ON: let `conclude` report it:", command)
    left = api.xcom(dag_id, run_id, "conclude", "return_value")
    if left is not None:
        require(Concluded, left, api.url)
        green = left["exit_code"] == 0
        if green == (state == "success"):
            plan, on, manually = (tuple(left.get(name, ())) for name in ("plan", "next", "manually"))
            return Ended(
                state, left["outcome"], left["sentence"], left["exit_code"], plan, on, manually, changed=left["changed"]
            )
        sentence = f"Airflow shows {state}, the run itself {left['outcome']}: it was marked manually; look at the run"
        return Ended(state, None, sentence, Inconclusive.exit_code, next=report)
    failed = api.xcom(dag_id, run_id, "conclude", "error")
    if failed is not None:
        require(Left, failed, api.url)
        # Without a next action `conclude` failed at a run that has begun, such as while the ledger was away.
        on = tuple(failed.get("next", ())) or (
            "GO ON: once the ledger answers, let `conclude` report it:",
            command,
        )
        return Ended(state, failed.get("outcome"), failed["sentence"], failed["exit_code"], next=on)
    if "conclude" not in api.tasks(dag_id, run_id):
        # A monitor has no outcome: its tasks fail if it could not check everything.
        well = state == "success"
        sentence = (
            f"{dag_id} has ended" if well else f"{dag_id} failed: it could not check everything; look at its tasks"
        )
        return Ended(state, None, sentence, 0 if well else Inconclusive.exit_code)
    sentence = f"Airflow shows {state}, but `conclude` left no outcome (marked manually, or killed); look at the run"
    return Ended(state, None, sentence, Inconclusive.exit_code, next=report)


def _too_late(timeout_s: float, waits_for: str) -> Ended:
    if waits_for:
        return Ended("running", None, f"not ended within {timeout_s:g} s: {waits_for}", 1)
    sentence = f"not ended within {timeout_s:g} s (--timeout); the run goes on"
    return Ended("running", None, sentence, Inconclusive.exit_code)
