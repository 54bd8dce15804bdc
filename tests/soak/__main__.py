"""`make soak`: drain the running application again and again, and show that no certificate was false.

    python -m soak

`COUNT` rounds (200), drawn from `SEED` (printed; a new one where none is given); `OUT=file` keeps the table as
Markdown. stdout has the table alone. Exit codes: 0 every certificate was true and found in time, the judge at zero; 1
one was not; 2 bad input; 4 a part of the stack does not answer.
"""

import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from kill.__main__ import entry, number, tell
from kstreams_runbooks.errors import BadInput
from lab.application import Deployed
from lab.judge import judged
from lab.settings import CHECKOUT, Lab
from lab.stack import Parts, stack

from soak.rounds import Kind, Round, planned, soaked
from soak.table import markdown

_SEEDS = 1_000_000
# Of a hundred rounds: those that take longer.
_TRANSACTIONS, _RESTARTS = 6, 4


def run(environ: Mapping[str, str]) -> int:
    """Everything; returns the exit code."""
    count, seed = number(environ, "COUNT") or 200, number(environ, "SEED")
    if count < 1:
        raise BadInput(f"COUNT={count}: nothing to do; set it from 1")
    seed = secrets.randbelow(_SEEDS) if seed is None else seed
    tell(f"SEED={seed} COUNT={count}")
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

    with tempfile.TemporaryDirectory(prefix="soak-") as scratch:
        config = Path(scratch) / "config"
        shutil.copytree(CHECKOUT / "config", config)
        lab = Lab.of({**environ, "RUN_DIR": environ.get("RUN_DIR") or str(Path(scratch) / "stack")})
        lab = Lab(lab.run_dir, lab.ports, config=config)
        os.environ.update(lab.fleet_environment())
        keep = Path(environ["KEEP"]) if environ.get("KEEP") else None
        with stack(lab, Parts.broker_and_application(Deployed()), keep=keep) as made:
            soaked(made, plan, say)
            faults = judged(made).faults()
    tell(f"the judge of the outputs: {faults or 'at zero'}")
    print(markdown(seed, rounds), end="")
    return 1 if faults or any(one.faults or one.late for one in rounds) or not any(one.forged for one in rounds) else 0


if __name__ == "__main__":
    sys.exit(entry(run))
