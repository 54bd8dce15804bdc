"""The rows as a document and as a table; pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lab.report import FAULTS

from kill.harness import Row

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Session:
    """What was tried: `seed` is None where no task was drawn, `chosen` where some were named."""

    runbook: str
    tasks: tuple[str, ...]
    seed: int | None
    chosen: bool = False


def document(session: Session, rows: Sequence[Row]) -> dict[str, Any]:
    """Everything as JSON; `ok` is what the exit code says."""
    return {
        "schema_version": SCHEMA_VERSION,
        "command": "test-kill",
        "ok": passed(rows),
        "runbook": session.runbook,
        "seed": session.seed,
        "rows": [
            {
                "task": row.task,
                "run_id": row.run_id,
                "kills": [
                    {
                        "what": str(one.kill.moment),
                        "try": one.kill.try_number,
                        "after_s": one.kill.after_s,
                        "doing": one.kill.doing,
                        "went_on": one.went_on,
                    }
                    for one in row.kills
                ],
                "outcome": row.outcome,
                "judge": {"inputs_seen": row.inputs_seen, **row.judge},
                "faults": list(row.faults),
                "seconds": row.seconds,
            }
            for row in rows
        ],
    }


def passed(rows: Sequence[Row]) -> bool:
    """Whether there is a row, every one has its kills, and none has a fault."""
    return bool(rows) and all(row.kills and not row.faults for row in rows)


def markdown(session: Session, rows: Sequence[Row]) -> str:
    """The table: one line per kill; the judge is of the whole run, so a task that was killed twice shows it twice."""
    every = f"{len(session.tasks)} chosen tasks" if session.chosen else "every task"
    drawn = every if session.seed is None else f"{len(session.tasks)} tasks drawn with seed {session.seed}"
    if len(rows) < len(session.tasks):
        drawn += f", {len(rows)} of {len(session.tasks)} tried so far"
    kills, inputs = sum(len(row.kills) for row in rows), sum(row.inputs_seen or 0 for row in rows)
    bad = sum(bool(row.faults) for row in rows)
    lines = [
        f"# {session.runbook}: killed at every task",
        "",
        f"Written by `make test-kill RUNBOOK={session.runbook}` ({drawn}).",
        "Each task has its own run on a fresh orders application under traffic. SIGKILL ends the task in its middle;",
        "then the failed task is cleared, and the run goes on to its end. The judge reads every input and every",
        "output of that run.",
        "",
        "| task | killed | at | its last log line | outcome | judge: missing, extra, duplicate, out of order |",
        "|---|---|---|---|---|---|",
        *(line for row in rows for line in _lines(row)),
        "",
        f"{len(rows)} runs, {kills} kills, {inputs:,} inputs judged; {bad or 'no'} run{'s' * (bad != 1)} with a fault, "
        "a hold left or an instance stopped.",
    ]
    lines += [f"- {row.task}: {fault}" for row in rows for fault in row.faults]
    return "\n".join(lines) + "\n"


def _lines(row: Row) -> Iterator[str]:
    judge = judge_of(row)
    for one in row.kills:
        kill = one.kill
        yield (
            f"| {kill.task} | {kill.moment} | {kill.after_s} s after its start | {cell(kill.doing)} "
            f"| {one.went_on}; {row.outcome} | {judge} |"
        )
    if not row.kills:
        yield f"| {row.task} | not killed | | | {row.outcome} | {judge} |"


def judge_of(row: Row) -> str:
    """The figures of a run, of so many inputs."""
    counts = [row.judge[fault] for fault in FAULTS]
    return "not judged" if None in counts else f"{', '.join(str(count) for count in counts)} of {row.inputs_seen:,}"


def cell(text: str) -> str:
    """A text that breaks no column."""
    return text.replace("|", "\\|") or "nothing yet"
