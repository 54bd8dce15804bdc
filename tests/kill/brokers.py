"""`make test-brokers`: one of three brokers is killed in the middle of a task and comes back.

    python -m kill.brokers

`RUNBOOK` is one of `NAMES`; without it each has its turn. `COUNT` runs of it are drawn with `SEED` (printed; a new one
if none is given); without `RUNBOOK` they are drawn from all. `OUT=file` keeps the tables as Markdown: a series
replaces its own section, that of its runbook and seed. `FORMAT=json` prints the document, `KEEP=folder` keeps the
logs. The harness is that of `make test-kill`, and so are stdout and the exit codes.
"""

import json
import os
import random
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kstreams_runbooks.errors import BadInput
from lab.brokers import NODES, OLDER, OLDER_RELEASE, Brokers
from lab.stack import Parts, Stack, stack

from kill.__main__ import SEEDS, entry, in_order, lab_of, number, say_row, tell
from kill.harness import Row, Strike, tried
from kill.outage_table import Tried, document, kept_page, page
from kill.outages import Outage, dealt, drawn_blow
from kill.runbooks import RUNBOOKS, Scenario
from kill.table import passed

TWO_DOWN, OLDER_BROKER = "two_brokers_down", "older_broker"
# Rows that are a runbook of the kill harness under another name, because something else is different.
_DAGS = {TWO_DOWN: "certify_drain", OLDER_BROKER: "library_bump"}
NAMES = ("library_bump", TWO_DOWN, "undo", "stop_and_restart", "certify_drain", OLDER_BROKER)
# Each record is written to three brokers, which share two cores with everything else.
_RATE, _CUSTOMERS = 100, 200
# In a run of a series; more would meet a cluster that is not whole yet, and make the run twice as long.
_STRIKES = 3
# In a run of a series of all runbooks, which a person waits for.
_STRIKES_OF_ALL = 2


@dataclass(frozen=True)
class Draw:
    """One run: the runbook's name here, the seed that gives its strikes, and which of `count` dealt runs it is."""

    name: str
    seed: int
    number: int = 0
    count: int = 1
    strikes: int = _STRIKES_OF_ALL


def run(environ: Mapping[str, str]) -> int:
    """Everything; returns the exit code."""
    name, form = environ.get("RUNBOOK") or "", environ.get("FORMAT") or "table"
    if name and name not in NAMES:
        raise BadInput(f"RUNBOOK={name}: unknown; set RUNBOOK to one of {', '.join(NAMES)}, or leave it out for all")
    if form not in {"table", "json"}:
        raise BadInput(f"FORMAT={form}: unknown; leave it out for a table, or set FORMAT=json")
    count, seed = number(environ, "COUNT"), number(environ, "SEED")
    if count == 0:
        raise BadInput("COUNT=0: no run; set COUNT from 1 or leave it out")
    seed = secrets.randbelow(SEEDS) if seed is None else seed
    draws = drawn_runs(name, count, seed)
    tell(f"SEED={seed} COUNT={len(draws)}: {', '.join(one.name for one in draws)}")
    out = Path(environ["OUT"]) if environ.get("OUT") else None
    found: list[Tried] = []
    for older in (False, True):
        mine = [one for one in draws if (one.name == OLDER_BROKER) is older]
        for row in _tried_on(environ, mine, older=older) if mine else ():
            found.append(row)
            if out:
                # After each run: an hour is long enough for somebody to interrupt it.
                out.write_text(kept_page(out, found), encoding="utf-8")
    print(json.dumps(document(found), indent=2) if form == "json" else page(found))
    return 0 if passed([one.row for one in found]) else 1


def drawn_runs(name: str, count: int | None, seed: int) -> list[Draw]:
    """The runs to try: `count` of one runbook, or `count` drawn from all, or each once."""
    if name:
        return [Draw(name, seed, number, count or 1, _STRIKES) for number in range(count or 1)]
    if count is None:
        return [Draw(one, seed) for one in NAMES]
    draw = random.Random(seed)
    # Two brokers down and an older broker have a row of their own; the others are drawn.
    usual = [one for one in NAMES if one not in _DAGS]
    chosen = [one for _ in range(-(-count // len(usual))) for one in draw.sample(usual, len(usual))]
    return [Draw(one, seed + place) for place, one in enumerate(chosen[:count])]


def _tried_on(environ: Mapping[str, str], draws: Sequence[Draw], *, older: bool) -> Iterator[Tried]:
    """Each run in turn, on one stack of three brokers."""
    with tempfile.TemporaryDirectory(prefix="brokers-") as scratch:
        lab = replace(lab_of(environ, Path(scratch)), brokers=NODES)
        # The scheduled check of the fleet is not tried here, and takes its share of two cores.
        (lab.config / "fleet_check.yaml").write_text("every_minutes: 0\n", encoding="utf-8")
        os.environ.update(lab.fleet_environment())
        keep = Path(environ["KEEP"]) if environ.get("KEEP") else None
        parts = Parts(
            _scenario(draws[0].name).deployed,
            broker={OLDER: OLDER_RELEASE} if older else {},
            traffic_rate=_RATE,
            customers=_CUSTOMERS,
        )
        with stack(lab, parts, keep=keep) as made:
            for one in draws:
                row = _row(made, one)
                say_row(row)
                yield Tried(one.name, one.seed, row)


def _scenario(name: str) -> Scenario:
    return RUNBOOKS[_DAGS.get(name, name)]


def _row(made: Stack, draw: Draw) -> Row:
    scenario = _scenario(draw.name)
    dag_id = scenario.dag or _DAGS.get(draw.name, draw.name)
    made.api().wait_for_dag(dag_id)
    found = in_order(made.api().call("GET", f"/dags/{dag_id}/tasks")["tasks"])
    tasks = tuple(name for name in found if name not in scenario.idle)
    try:
        return tried(made, dag_id, scenario, draw.name, strikes(draw, tasks), tell)
    finally:
        # What a broken row left away would spoil the next one.
        Brokers(made.lab, made.supervisor).start_missing()


def strikes(draw: Draw, tasks: Sequence[str]) -> Sequence[Strike]:
    """What is done to the tasks of one run."""
    if draw.name == TWO_DOWN:
        outage = (Outage.TWO, Outage.BELOW)[draw.number % 2]
        blow = drawn_blow(outage, random.Random(draw.seed + draw.number))
        # Long enough for several readings, whose calls wait for brokers that are away.
        return [Strike("certify", replace(blow, away_s=25 + blow.away_s))]
    return dealt(tasks, draw.seed, draw.count, draw.strikes)[draw.number]


if __name__ == "__main__":
    sys.exit(entry(run))
