"""The rows of `make test-brokers` as a document and as a page; pure but for the page that it continues."""

import re
from collections.abc import Iterable, Iterator, Sequence
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
_SECTION = re.compile(r"^## (.+)\n", re.MULTILINE)
_SUM = re.compile(r"^(\d+) runs, (\d+) strikes, ([\d,]+) inputs judged; (\S+) run", re.MULTILINE)


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
    return _joined(_sections(found).values())


def kept_page(file: Path, found: Sequence[Tried]) -> str:
    """The page with the sections of an earlier one, of other runbooks or other seeds."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    _, *parts = _SECTION.split(text)
    kept = {name: f"## {name}\n{body.rstrip()}\n" for name, body in zip(parts[::2], parts[1::2], strict=True)}
    # Sorted by runbook: those of one series are next to each other.
    return _joined(section for _, section in sorted((kept | _sections(found)).items()))


def _joined(sections: Iterable[str]) -> str:
    every = [*sections]
    sums = [one for section in every for one in _SUM.findall(section)]
    runs, strikes, inputs, bad = (sum(_figure(one[column]) for one in sums) for column in range(4))
    together = f"Together {runs} runs, {strikes} strikes, {inputs:,} inputs; runs with a fault: {bad}.\n"
    return "\n".join((_HEAD, together, *every))


def _figure(text: str) -> int:
    return 0 if text == "no" else int(text.replace(",", ""))


def _sections(found: Sequence[Tried]) -> dict[str, str]:
    """A section for each series, by its heading."""
    series: dict[str, list[Row]] = {}
    for one in found:
        series.setdefault(f"{one.name}, seed {one.seed}", []).append(one.row)
    return {heading: _section(heading, rows) for heading, rows in series.items()}


def _section(heading: str, rows: Sequence[Row]) -> str:
    struck, inputs = sum(len(row.kills) for row in rows), sum(row.inputs_seen or 0 for row in rows)
    bad = sum(bool(row.faults) for row in rows)
    return "\n".join(
        (
            f"## {heading}",
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
