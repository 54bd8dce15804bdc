"""What a wait of eight hours leaves in the ledger, and what its run costs to conclude and to show.

`python -m benchmarks.long_wait --every`: every reading is kept, as before; without it those that `Thinned` keeps.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from kstreams_runbooks.decide.instances.gate import gate
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.ledger.journal import append, locked
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.present.evidence.page import as_markdown
from kstreams_runbooks.steps.conclude import facts_of, has_drifted
from kstreams_runbooks.steps.instances.watch_trigger import SAW
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.evidence import as_document, rechecked
from sqlalchemy.orm import Session
from world.samples import BOUNCE_1, NEW, expectation, instance, partition, reading

_HOURS, _EVERY_S, _PARTITIONS = 8, 5, 200
_RUN = RunRecord("", "library_bump", "r", "orders", "demo", "oncall", False, "", {}, 1)


def _reading(number: int) -> ApplicationReading:
    """A restored instance whose group has a long way to go: another lag each time."""
    rows = tuple(partition(100_000 + number * 1_000 + place, 10**9, place) for place in range(_PARTITIONS))
    own = instance("orders-1", release=NEW, settings=BOUNCE_1.settings)
    return reading(own, instance("orders-2"), at_ms=number, partitions=rows)


def fill(file: Path, *, every: bool) -> None:
    """One run that waited at a gate."""
    ledger = Ledger.open(f"sqlite:///{file}")
    run = Run(ledger.start_run(_RUN), "wait_caught_up", 1, ledger)
    run.keep("note", "begun", {"what": "waits", "run_ends_ms": None, "tasks": []})
    keep: list[tuple[str, str, object, int]] = []
    clock, samples = [0.0], list[ApplicationReading]()
    with patch("time.monotonic", lambda: clock[0]):
        thinned = _thinned()
        for number in range(_HOURS * 3600 // _EVERY_S):
            clock[0] = float(number * _EVERY_S)
            samples = [*samples, _reading(number)][-10:]
            sentence = f"wait: group orders: {10**9 - number * 1_000:,} records of lag (limit 1,000)"
            if every or thinned(sentence):
                keep.append(("reading", "application", encode(samples[-1]), number))
                keep.append(("note", SAW, {"sentence": sentence}, number))

    def work(session: Session) -> None:
        # One transaction: what is measured is the reading.
        row = locked(session, run.key)
        for kind, name, payload, at_ms in keep:
            append(session, row, kind, name, payload, at_ms, run.task_id, 1)

    ledger.database.write(work)
    run.decide(gate, samples=tuple(samples), expected=expectation())


def _thinned() -> Callable[[str], bool]:
    from kstreams_runbooks.watch.thinned import Thinned

    return Thinned().keeps


def measure(file: Path, what: str) -> None:
    """One figure in a process of its own: seconds, and the memory above that of the imports."""
    ledger = Ledger.open(f"sqlite:///{file}")
    run = Run(ledger.run("library_bump/r"), "conclude", 1, ledger)
    idle, began = _peak_kib(), time.process_time()
    if what == "conclude":
        facts_of(run)
        has_drifted(run)
    elif what == "recheck":
        rechecked(ledger, run.record)
    else:
        document = as_document(ledger, run.record)
        as_markdown(document)
    seconds, peak = time.process_time() - began, _peak_kib()
    print(f"{what:10} {seconds:8.2f} s of processor time {(peak - idle) / 1024:8.0f} MiB")


def _peak_kib() -> int:
    """Highest memory of this process since it began; `getrusage` counts that of the process before its exec too."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    return int(found.group(1)) if found else 0


def main() -> None:
    """Fill, then measure each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", action="store_true", help="keep every reading")
    parser.add_argument("--of", nargs=2, metavar=("FILE", "WHAT"), help="measure one thing of a ledger")
    given = parser.parse_args()
    if given.of:
        measure(Path(given.of[0]), given.of[1])
        return
    # In memory where there is such a place: thousands of commits, and none of them is measured.
    memory = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        file = Path(folder) / "ledger.db"
        fill(file, every=given.every)
        entries = Ledger.open(f"sqlite:///{file}").timeline("library_bump/r")
        kept = sum(entry.kind == "reading" for entry in entries)
        print(f"{kept:,} readings of {_PARTITIONS} partitions, ledger {file.stat().st_size / 2**20:,.1f} MiB")
        for what in ("conclude", "markdown", "recheck"):
            subprocess.run([sys.executable, "-m", "benchmarks.long_wait", "--of", str(file), what], check=True)


if __name__ == "__main__":
    main()
