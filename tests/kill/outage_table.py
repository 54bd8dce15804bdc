"""The rows of `make test-brokers` as a document and as a page; pure but for the page that it continues."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.report import FAULTS

from kill.harness import Row
from kill.table import SCHEMA_VERSION, cell, judge_of, passed

_HEAD = """# Brokers that die in the middle of a step

Written by `make test-brokers`: three brokers in KRaft mode, each of them a controller too; three replicas,
`min.insync.replicas=2`. Each run has a fresh orders application under traffic. While a task is at work a broker is
killed (SIGKILL) and started again some seconds later, or the preferred leaders are elected. The drawn task is struck
again if it had ended before. A failed task is cleared, and the run goes on to its end. *Away* is the time until every
replica is in sync again; *meanwhile* is what the waits and decisions of the run said in that time. The judge reads
every input and every output. A certificate is false if a broker appended an output after it.

| row | what is different |
|---|---|
| two_brokers_down | certify_drain while two of three brokers are away, or one while topics demand three in sync |
| older_broker | library_bump on a cluster whose third broker runs an older release |
"""
_SECTION = re.compile(r"^## (\S+)\n", re.MULTILINE)


@dataclass(frozen=True)
class Tried:
    """One run: the name of its section, its seed, and what it came to."""

    name: str
    seed: int
    row: Row


def document(found: Sequence[Tried]) -> dict[str, Any]:
    """Everything as JSON; `ok` is what the exit code says."""
    return {
        "schema_version": SCHEMA_VERSION,
        "command": "test-brokers",
        "ok": passed([one.row for one in found]),
        "rows": [
            {
                "runbook": one.name,
                "seed": one.seed,
                "run_id": one.row.run_id,
                "strikes": [
                    {
                        "task": struck.kill.task,
                        "what": struck.kill.moment,
                        "after_s": struck.kill.after_s,
                        "doing": struck.kill.doing,
                        "away": struck.kill.away,
                        "meanwhile": [*struck.kill.meanwhile],
                        "went_on": struck.went_on,
                    }
                    for struck in one.row.kills
                ],
                "outcome": one.row.outcome,
                "judge": {"inputs_seen": one.row.inputs_seen, **one.row.judge},
                "faults": [*one.row.faults],
                "seconds": one.row.seconds,
            }
            for one in found
        ],
    }


def page(found: Sequence[Tried]) -> str:
    """The whole page."""
    names = dict.fromkeys(one.name for one in found)
    return "\n".join((_HEAD, *(_section(name, [one for one in found if one.name == name]) for name in names)))


def kept_page(file: Path, found: Sequence[Tried]) -> str:
    """The page with the sections of an earlier one whose runbooks were not tried."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    _, *parts = _SECTION.split(text)
    sections = {name: f"## {name}\n{body.rstrip()}\n" for name, body in zip(parts[::2], parts[1::2], strict=True)}
    sections |= {name: _section(name, [one for one in found if one.name == name]) for name in {o.name for o in found}}
    return "\n".join((_HEAD, *sections.values()))


def _section(name: str, found: Sequence[Tried]) -> str:
    rows = [one.row for one in found]
    struck, inputs = sum(len(row.kills) for row in rows), sum(row.inputs_seen or 0 for row in rows)
    bad = sum(bool(row.faults) for row in rows)
    return "\n".join(
        (
            f"## {name}",
            "",
            f"Seed {found[0].seed}.",
            "",
            f"| run | task | what happened | away | meanwhile | the run | judge: {', '.join(FAULTS)} |",
            "|---|---|---|---|---|---|---|",
            *(line for number, row in enumerate(rows, start=1) for line in _lines(number, row)),
            "",
            f"{len(rows)} runs, {struck} strikes, {inputs:,} inputs judged; {bad or 'no'} run{'s' * (bad != 1)} with a "
            "fault, a false certificate, a hold left or an instance stopped.",
            *(f"- run {number}: {fault}" for number, row in enumerate(rows, start=1) for fault in row.faults),
            "",
        )
    )


def _lines(number: int, row: Row) -> Iterator[str]:
    for one in row.kills:
        kill = one.kill
        said = "; ".join(kill.meanwhile) or "nothing"
        yield (
            f"| {number} | {kill.task} | {kill.moment}, {kill.after_s} s after its start | {kill.away} | {cell(said)} "
            f"| {one.went_on}; {row.outcome} | {judge_of(row)} |"
        )
    if not row.kills:
        yield f"| {number} | {row.task} | not struck | | | {row.outcome} | {judge_of(row)} |"
