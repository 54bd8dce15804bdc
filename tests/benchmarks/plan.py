"""`make bench-plan`: processor seconds of `kstreams-runbooks plan` for two versions of 3,000 operators, by shape.

The new version has a filter in front of the old one: it shifts the number in every generated name. What is counted is
user and system time of the whole command, with Python's start, imports and printing. Two floors are measured in turn
with it: the start of Python with click alone, and a process that only reads and parses the same files. Python's
bytecode is kept in a folder of its own, which a first run fills; that run does not count. FORMAT=json and REPEATS as
everywhere; PLUGINS measures the package in another folder, such as that of an older commit.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.settings import CHECKOUT
from world.large_programs import OPERATORS, SHAPES, large_pair

SCHEMA_VERSION = 1
REPEATS = 5
AIM_S = 2.0
_SIDES = ("from", "to")
# 0 rolls, 1 needs a runbook, 3 cannot be told: each is a whole answer.
_ANSWERED = {0, 1, 3}
_START = "import click"
_PARSE = """
import sys
from pathlib import Path
from kstreams_runbooks.terminal.change.inputs import SideFiles, read_side
for side in ("from", "to"):
    declaration = Path(sys.argv[1], f"{side}.yaml")
    read_side(SideFiles(Path(sys.argv[1], f"{side}.txt"), declaration if sys.argv[2:] else None))
"""


def cpu_seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """User and system seconds of one process that answers."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode in _ANSWERED, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write(folder: Path, shape: str, *, generated: bool) -> None:
    """The descriptions and declarations of both versions."""
    for side, program in zip(_SIDES, large_pair(shape, generated=generated), strict=True):
        (folder / f"{side}.txt").write_text(program.described(), encoding="utf-8")
        (folder / f"{side}.yaml").write_text(program.declared(), encoding="utf-8")


def measured(folder: Path, environment: Mapping[str, str], repeats: int, *, declared: bool) -> dict[str, Any]:
    """The command and its floors in turn: seconds, and how many times its floor the command takes."""
    options = [f"--{side}-topology={folder / f'{side}.txt'}" for side in _SIDES]
    options += [f"--{side}-declaration={folder / f'{side}.yaml'}" for side in _SIDES] if declared else []
    commands = {
        "start_s": [sys.executable, "-c", _START],
        "parse_s": [sys.executable, "-c", _PARSE, str(folder), *(["declared"] if declared else [])],
        "plan_s": [sys.executable, "-m", "kstreams_runbooks.cli", "plan", *options],
    }
    found: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(repeats + 1):
        for name, command in commands.items():
            took = cpu_seconds(command, environment)
            if number:
                found[name].append(took)
    ratios = [plan / parse for plan, parse in zip(found["plan_s"], found["parse_s"], strict=True)]
    return {**{name: spread(values) for name, values in found.items()}, "plan_by_parse": spread(ratios)}


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, smallest and largest."""
    return {
        "median": round(statistics.median(values), 2),
        "min": round(min(values), 2),
        "max": round(max(values), 2),
        "n": len(values),
    }


def main() -> None:
    """Print a line for each shape, or the document."""
    repeats = int(os.environ.get("REPEATS") or REPEATS)
    plugins = os.environ.get("PLUGINS") or str(CHECKOUT / "plugins")
    rows = []
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "PYTHONPATH": plugins, "PYTHONPYCACHEPREFIX": str(Path(home) / "bytecode")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for shape in SHAPES:
            for generated in (True, False):
                write(Path(home), shape, generated=generated)
                for declared in (True, False):
                    row = measured(Path(home), environment, repeats, declared=declared)
                    names = "generated" if generated else "chosen"
                    rows.append({"shape": shape, "names": names, "declared": declared, **row})
                    print(as_line(rows[-1]), file=sys.stderr, flush=True)
    document = {"schema_version": SCHEMA_VERSION, "operators": OPERATORS, "aim_s": AIM_S, "rows": rows}
    if os.environ.get("FORMAT") == "json":
        print(json.dumps(document, indent=2))


def as_line(row: Mapping[str, Any]) -> str:
    """One row for a person."""
    what = f"{row['shape']}, {row['names']} names, {'declared' if row['declared'] else 'not declared'}"
    plan = row["plan_s"]
    return (
        f"{what:66} {plan['median']:5.2f} s ({plan['min']:.2f}–{plan['max']:.2f}, aim ≤ {AIM_S}); "
        f"{row['plan_by_parse']['median']:.1f} times reading alone ({row['parse_s']['median']:.2f} s); "
        f"start {row['start_s']['median']:.2f} s"
    )


if __name__ == "__main__":
    main()
