"""Topology descriptions that are made to cost: each ends within a time and a size, whatever it is compared with."""

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from world.large_programs import SHAPES, large_pair

# Processor seconds of the whole process, a second of them for its imports; a chain of 2,000 took minutes before.
_SECONDS = 60
# Of a program that a person may have written. It takes less than 2; a thousand branches took 17 before.
_SECONDS_OF_A_PROGRAM = 6
_BYTES = 2 * 2**30
_HEAD = "Topologies:\n   Sub-topology: 0\n"


def _chain(operators: int, called: str) -> str:
    lines = ["    Source: in (topics: [in])", f"      --> {called}1"]
    for number in range(1, operators):
        after = f"{called}{number + 1}" if number < operators - 1 else "out"
        lines += [
            f"    Processor: {called}{number} (stores: [])",
            f"      --> {after}",
            f"      <-- {f'{called}{number - 1}' if number > 1 else 'in'}",
        ]
    return _HEAD + "\n".join([*lines, "    Sink: out (topic: out)", f"      <-- {called}{operators - 1}"])


def _merges(sources: int, topic: str) -> str:
    """Each merge reads one topic more than the one before it, and keeps a store."""
    lines: list[str] = []
    for number in range(sources):
        lines += [f"    Source: s{number} (topics: [{topic}{number}])", f"      --> m{number}"]
    for number in range(sources):
        lines += [
            f"    Processor: m{number} (stores: [kept{number}])",
            f"      --> {f'm{number + 1}' if number < sources - 1 else 'none'}",
            f"      <-- s{number}" + (f", m{number - 1}" if number else ""),
        ]
    return _HEAD + "\n".join(lines)


def _stores(count: int, called: str) -> str:
    stores = ", ".join(f"{called}{number}" for number in range(count))
    return (
        f"{_HEAD}    Source: in (topics: [in])\n      --> keeps\n"
        f"    Processor: keeps (stores: [{stores}])\n      --> none\n      <-- in"
    )


def _plan(folder: Path, before: str, after: str, seconds: int = _SECONDS) -> subprocess.CompletedProcess[str]:
    def held() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))

    (folder / "before.txt").write_text(before, encoding="utf-8")
    (folder / "after.txt").write_text(after, encoding="utf-8")
    command = [sys.executable, "-m", "kstreams_runbooks.cli", "plan"]
    files = ["--from-topology", str(folder / "before.txt"), "--to-topology", str(folder / "after.txt")]
    return subprocess.run(
        [*command, *files],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=held,
    )


@pytest.mark.parametrize(
    ("made", "code"),
    [
        pytest.param(lambda: (_chain(4_900, "map-"), _chain(4_900, "filter-")), 3, id="chain"),
        pytest.param(lambda: (_stores(4_990, "old"), _stores(4_990, "new")), 3, id="stores"),
        pytest.param(lambda: (_merges(1_240, "t"), _merges(1_240, "t")), 3, id="merges", marks=pytest.mark.long),
        pytest.param(lambda: (_merges(1_240, "t"), _merges(1_240, "u")), 3, id="others", marks=pytest.mark.long),
    ],
)
def test_a_large_topology_is_compared_within_limits(
    tmp_path: Path, made: Callable[[], tuple[str, str]], code: int
) -> None:
    """The answer comes, with a text that a person can still scroll."""
    done = _plan(tmp_path, *made())
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr[-500:]
    assert len(done.stdout) < 8 * 2**20


@pytest.mark.parametrize("shape", SHAPES)
def test_a_program_of_which_nothing_is_declared_is_planned_in_seconds(tmp_path: Path, shape: str) -> None:
    """Thousands of undeclared facts are counted and printed in one pass, whatever the shape."""
    before, after = large_pair(shape, generated=False)
    done = _plan(tmp_path, before.described(), after.described(), _SECONDS_OF_A_PROGRAM)
    assert (done.returncode, "NOT KNOWN" in done.stdout) == (3, True), done.stderr[-500:]


@pytest.mark.parametrize("text", [_chain(5_001, "m"), _stores(5_000, "s"), _stores(40_000, "s")])
def test_one_that_is_larger_is_bad_input(tmp_path: Path, text: str) -> None:
    """Before anything is compared."""
    done = _plan(tmp_path, text, text)
    assert done.returncode == 2
    assert "(limit 5,000); give the description of one application" in done.stderr
    assert done.stderr.count("\n") == 1
