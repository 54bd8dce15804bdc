"""What only the tests need of the distribution is named in one line where it cannot be installed."""

import shutil
import subprocess
from pathlib import Path

import pytest
from lab.settings import CHECKOUT

SCRIPT = CHECKOUT / "tests" / "lab" / "packages"


def run(folder: Path, *there: str) -> subprocess.CompletedProcess[str]:
    """The script where nothing but `there` and a user id is at PATH."""
    folder.mkdir()
    for name in ("bash", "id"):
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    for name in there:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    bash = shutil.which("bash")
    assert bash
    return subprocess.run(
        [bash, str(SCRIPT)], env={"PATH": str(folder)}, capture_output=True, text=True, check=False, timeout=30
    )


def test_what_is_missing_is_one_line(tmp_path: Path) -> None:
    """And no reason to stop: the other tests run."""
    done = run(tmp_path / "bin", "initdb")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        "packages: chromium fonts-dejavu-core (Debian's names): not installed, and not installed from here; install "
        "them: the tests that need them fail, all others run\n"
    )


@pytest.mark.parametrize("browser", ["chromium", "chromium-browser", "google-chrome"])
def test_where_all_is_there_nothing_is_said(tmp_path: Path, browser: str) -> None:
    """Whatever the browser is called."""
    done = run(tmp_path / "bin", browser, "initdb")
    assert (done.returncode, done.stderr) == (0, "")
