"""`make test-kill RUNBOOK=x`: kill every task of a runbook in its middle, and show that each run ends well.

    python -m kill

`RUNBOOK` is required. `TASKS=a,b` takes some tasks, `COUNT=2` draws so many with `SEED` (printed; a new one where none
is given), `FORMAT=json` prints the document, `OUT=file` keeps the table as Markdown, `KEEP=folder` the stack's logs.
stdout has the result alone. Exit codes: 0 every run ended well, 1 one did not (judge not at zero, a hold left, an
instance stopped), 2 bad input, 4 a part of the stack does not answer.
"""

import json
import os
import random
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from difflib import get_close_matches
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from kstreams_runbooks.errors import BadInput, RunbookError
from lab.settings import CHECKOUT, Lab
from lab.stack import Parts, Stack, stack
from world.two_sides import pretended_dag

from kill.harness import Row, Strike, tried
from kill.moments import Kill, Moment, Target, moments_of, strike
from kill.runbooks import RUNBOOKS, Scenario
from kill.table import Session, document, markdown, passed

SEEDS = 1_000_000


def run(environ: Mapping[str, str]) -> int:
    """Everything; returns the exit code."""
    name, form = environ.get("RUNBOOK") or "", environ.get("FORMAT") or "table"
    scenario = known(name)
    if form not in {"table", "json"}:
        raise BadInput(f"FORMAT={form}: unknown; leave it out for a table, or set FORMAT=json")
    count, seed = number(environ, "COUNT"), number(environ, "SEED")
    with tempfile.TemporaryDirectory(prefix="kill-") as scratch:
        lab = lab_of(environ, Path(scratch))
        os.environ.update(lab.fleet_environment())
        keep = Path(environ["KEEP"]) if environ.get("KEEP") else None
        dag_id = scenario.dag or name
        with stack(lab, Parts(deployed=scenario.deployed), keep=keep) as made, _dags(made, scenario):
            made.api().wait_for_dag(dag_id)
            found = in_order(made.api().call("GET", f"/dags/{dag_id}/tasks")["tasks"])
            tasks = {name: task for name, task in found.items() if name not in scenario.idle}
            chosen = selected(tuple(tasks), environ.get("TASKS") or "")
            if count is not None:
                seed = secrets.randbelow(SEEDS) if seed is None else seed
                tell(f"SEED={seed} COUNT={count}")
                chosen = drawn(chosen, seed, count)
            named = bool(environ.get("TASKS"))
            session, rows = Session(name, chosen, seed if count is not None else None, chosen=named), []
            for task in chosen:
                rows.append(_row(made, dag_id, scenario, tasks[task]))
                if environ.get("OUT"):
                    # After each row: half an hour is long enough for somebody to interrupt it.
                    Path(environ["OUT"]).write_text(markdown(session, rows), encoding="utf-8")
    print(json.dumps(document(session, rows), indent=2) if form == "json" else markdown(session, rows))
    return 0 if passed(rows) else 1


def _dags(made: Stack, scenario: Scenario) -> AbstractContextManager[None]:
    """The runbook for tests in Airflow's folder, if the scenario needs it."""
    return pretended_dag(made) if scenario.second else nullcontext()


def known(name: str) -> Scenario:
    """The scenario of a runbook; BadInput names those that there are."""
    if name not in RUNBOOKS:
        raise BadInput(f"RUNBOOK={name}: unknown; set RUNBOOK to one of {', '.join(RUNBOOKS)}")
    return RUNBOOKS[name]


def number(environ: Mapping[str, str], name: str) -> int | None:
    """A whole number from the environment, None where it is not set."""
    text = environ.get(name) or ""
    if text and not text.isdigit():
        raise BadInput(f"{name}={text}: not a whole number from 0; set {name} to one or leave it out")
    return int(text) if text else None


def selected(tasks: tuple[str, ...], wanted: str) -> tuple[str, ...]:
    """The tasks of `wanted` (`a,b`) in the DAG's order, all for an empty one; BadInput for one that is none."""
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    for name in names:
        if name not in tasks:
            near = get_close_matches(name, tasks, n=2) or tasks
            raise BadInput(f"TASKS={wanted}: {name} is no task of the runbook; did you mean {' or '.join(near)}?")
    return tuple(task for task in tasks if task in names) if names else tasks


def drawn(tasks: tuple[str, ...], seed: int, count: int) -> tuple[str, ...]:
    """`count` of the tasks, drawn with a seed, in their order; BadInput where there are fewer."""
    if not 1 <= count <= len(tasks):
        raise BadInput(f"COUNT={count}: there are {len(tasks)} tasks; set COUNT from 1 to {len(tasks)}")
    chosen = random.Random(seed).sample(tasks, count)
    return tuple(task for task in tasks if task in chosen)


def lab_of(environ: Mapping[str, str], scratch: Path) -> Lab:
    """A stack in a folder of its own, with a copy of the fleet: limits are set in it."""
    config = scratch / "config"
    shutil.copytree(CHECKOUT / "config", config)
    lab = Lab.of({**environ, "RUN_DIR": environ.get("RUN_DIR") or str(scratch / "stack")})
    return Lab(lab.run_dir, lab.ports, config=config)


def in_order(listed: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Tasks as Airflow's API describes them, by name, in the order in which they run."""
    tasks = {task["task_id"]: task for task in listed}
    before: dict[str, list[str]] = {name: [] for name in tasks}
    for name, task in tasks.items():
        for after in task["downstream_task_ids"]:
            before[after].append(name)
    return {name: tasks[name] for name in TopologicalSorter(before).static_order()}


def _row(made: Stack, dag_id: str, scenario: Scenario, task: Mapping[str, Any]) -> Row:
    name = str(task["task_id"])
    moments = scenario.moments.get(name) or moments_of(task)
    strikes = [Strike(name, _killing(moment)) for moment in moments]
    row = tried(made, dag_id, scenario, name, strikes, tell)
    say_row(row)
    return row


def _killing(moment: Moment) -> Callable[[Target, int], Kill]:
    return lambda target, after_try: strike(target, moment, after_try)


def say_row(row: Row) -> None:
    """What a run came to, in one line."""
    tell(f"{row.task}: {row.outcome}, {'; '.join(row.faults) or 'judge at zero'} ({row.seconds:.0f} s)")


def tell(line: str) -> None:
    """A line for the person who waits."""
    print(line, file=sys.stderr, flush=True)


def entry(work: Callable[[Mapping[str, str]], int]) -> int:
    """Entry point: one sentence and an exit code for every error of our own tree."""
    try:
        return work(os.environ)
    except RunbookError as error:
        tell(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        tell("interrupted; what was started is stopped")
        return 130


if __name__ == "__main__":
    sys.exit(entry(run))
