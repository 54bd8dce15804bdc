"""What was started is stopped, and nothing else."""

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from kstreams_runbooks.errors import BadInput
from lab import leftovers
from lab.leftovers import Started
from lab.settings import Lab, Ports

# A parent that starts a child and is killed; the child stays in the session.
_SLEEPS = "import time; time.sleep(60)"
_PARENT = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {_SLEEPS!r}]).wait()"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path, Ports(23_400))


def test_nothing_up_is_not_an_error(lab: Lab) -> None:
    """Also where what was kept cannot be read."""
    assert leftovers.stop(lab) is False
    lab.started_file.write_text("not JSON", encoding="utf-8")
    assert leftovers.stop(lab) is False


def test_orphans_go_and_neighbours_stay(lab: Lab) -> None:
    """A child whose parent was killed is still of the session; the same command outside of it is not touched."""
    before = time.time()
    parent = subprocess.Popen([sys.executable, "-c", _PARENT], start_new_session=True)
    neighbour = subprocess.Popen([sys.executable, "-c", _SLEEPS])
    try:
        children = _children(parent.pid)
        parent.kill()
        parent.wait()
        Started(parent.pid, before, 23_400).write(lab.started_file)
        assert leftovers.stop(lab) is True
        assert not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children)
        assert neighbour.poll() is None
        assert not lab.started_file.exists()
        assert leftovers.stop(lab) is False
    finally:
        neighbour.kill()
        neighbour.wait()


def test_a_process_that_got_the_number_later_is_not_ours(lab: Lab) -> None:
    """What is older than the stack was there before it, whatever its session's number."""
    process = subprocess.Popen([sys.executable, "-c", _SLEEPS], start_new_session=True)
    try:
        Started(process.pid, time.time() + 3_600, 23_400).write(lab.started_file)
        assert leftovers.stop(lab) is False
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def test_clearing_takes_only_what_a_stack_writes(lab: Lab) -> None:
    """Also from a folder that somebody else uses too."""
    leftovers.clear(lab)
    (lab.run_dir / "broker" / "log").mkdir(parents=True)
    (lab.run_dir / "env").write_text("", encoding="utf-8")
    (lab.run_dir / "mine.txt").write_text("", encoding="utf-8")
    leftovers.clear(lab)
    assert {path.name for path in lab.run_dir.iterdir()} == {".kstreams-runbooks-demo", "mine.txt"}


def test_what_no_stack_wrote_is_not_cleared(lab: Lab) -> None:
    """A folder `airflow` in a RUN_DIR such as the home directory is somebody's own."""
    (lab.run_dir / "airflow").mkdir()
    with pytest.raises(BadInput, match=r"holds airflow, which no demo wrote.*set RUN_DIR"):
        leftovers.clear(lab)
    assert (lab.run_dir / "airflow").is_dir()


def _children(pid: int) -> list[psutil.Process]:
    for _ in range(100):
        if found := psutil.Process(pid).children():
            return found
        time.sleep(0.1)
    raise AssertionError("no child")
