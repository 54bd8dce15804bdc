"""`make soak`: drain the running application again and again, and show that no certificate was false.

    python -m soak

`COUNT` rounds (200), drawn from `SEED` (printed; a new one where none is given); `OUT=file` keeps the table as
Markdown. With `OF=cutover` the rounds are cutovers there and back (20). stdout has the table alone. Exit codes: 0 every
certificate was true and found in time, the judge at zero, or no cutover lost or doubled a record; 1 one did; 2 bad
input; 4 a part of the stack does not answer.
"""

import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kill.__main__ import entry, number, tell
from kstreams_runbooks.errors import BadInput
from lab.application import Deployed
from lab.judge import judged
from lab.settings import CHECKOUT, Lab
from lab.stack import Parts, stack
from world.cutting_over import CUSTOMERS, DAG, both_sides

from soak import cutovers
from soak.cutovers import CutOver
from soak.rounds import Kind, Round, planned, soaked
from soak.table import markdown

_SEEDS = 1_000_000
_COUNTS = {"drain": 200, "cutover": 20}
# Of a hundred rounds: those that take longer.
_TRANSACTIONS, _RESTARTS = 6, 4


def run(environ: Mapping[str, str]) -> int:
    """Everything; returns the exit code."""
    of = environ.get("OF") or "drain"
    if of not in _COUNTS:
        raise BadInput(f"OF={of}: unknown; leave it out, or set it to {' or '.join(_COUNTS)}")
    count, seed = number(environ, "COUNT") or _COUNTS[of], number(environ, "SEED")
    if count < 1:
        raise BadInput(f"COUNT={count}: nothing to do; set it from 1")
    seed = secrets.randbelow(_SEEDS) if seed is None else seed
    tell(f"SEED={seed} COUNT={count}")
    return _cutovers(environ, seed, count) if of == "cutover" else _drains(environ, seed, count)


@contextmanager
def _fleet(environ: Mapping[str, str]) -> Iterator[Lab]:
    """A lab with a copy of the fleet, which is in the environment."""
    with tempfile.TemporaryDirectory(prefix="soak-") as scratch:
        config = Path(scratch) / "config"
        shutil.copytree(CHECKOUT / "config", config)
        # Scheduled, the check would read in the middle of each round.
        (config / "fleet_check.yaml").write_text("every_minutes: 0\n", encoding="utf-8")
        lab = Lab.of({**environ, "RUN_DIR": environ.get("RUN_DIR") or str(Path(scratch) / "stack")})
        lab = Lab(lab.run_dir, lab.ports, config=config)
        os.environ.update(lab.fleet_environment())
        yield lab


def _kept(environ: Mapping[str, str]) -> Path | None:
    return Path(environ["KEEP"]) if environ.get("KEEP") else None


def _cutovers(environ: Mapping[str, str], seed: int, count: int) -> int:
    ended: list[CutOver] = []

    def say(one: CutOver) -> None:
        ended.append(one)
        held = ", ".join(f"{seconds:.1f}" for seconds in one.held_s)
        tell(f"{len(ended)}: {one.drawn.kind} {one.drawn.task}, {one.records:,} records, held {held} s; {one.said}")
        tell(one.fault or "none lost, none twice")
        if environ.get("OUT"):
            Path(environ["OUT"]).write_text(cutovers.markdown(seed, ended), encoding="utf-8")

    parts = Parts(spark=True, customers=CUSTOMERS, built=bool(environ.get("TEST_BUILT")))
    with _fleet(environ) as lab, stack(lab, parts, keep=_kept(environ)) as made:
        made.api().wait_for_dag(DAG)
        with both_sides(made):
            cutovers.cut_over_again(made, [*cutovers.planned(seed, count)], say)
    print(cutovers.markdown(seed, ended), end="")
    return 1 if any(one.fault for one in ended) else 0


def _drains(environ: Mapping[str, str], seed: int, count: int) -> int:
    others: list[Kind] = ["transaction"] * (count * _TRANSACTIONS // 100)
    others += ["restart"] * (count * _RESTARTS // 100)
    plan = planned(seed, count, others)
    rounds: list[Round] = []

    def say(one: Round) -> None:
        rounds.append(one)
        tell(f"{len(rounds)}: {one.drawn.kind}, found after {one.found_s:.1f} s, {'; '.join(one.faults) or 'true'}")
        if environ.get("OUT"):
            # After each round: half an hour is long enough for somebody to interrupt it.
            Path(environ["OUT"]).write_text(markdown(seed, rounds), encoding="utf-8")

    parts = Parts.broker_and_application(Deployed())
    with _fleet(environ) as lab, stack(lab, parts, keep=_kept(environ)) as made:
        soaked(made, plan, say)
        faults = judged(made).faults()
    tell(f"the judge of the outputs: {faults or 'at zero'}")
    print(markdown(seed, rounds), end="")
    return 1 if faults or any(one.faults or one.late for one in rounds) or not any(one.forged for one in rounds) else 0


if __name__ == "__main__":
    sys.exit(entry(run))
