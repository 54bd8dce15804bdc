"""`make setup` makes the command without building anything."""

import subprocess
import sysconfig
from pathlib import Path

import pytest
from lab import link_project


def test_the_command_runs_from_a_path_with_blanks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It calls the environment's own Python, whatever the directory is called."""
    site, scripts = tmp_path / "site", tmp_path / "my scripts"
    site.mkdir()
    scripts.mkdir()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(site if name == "purelib" else scripts))
    command = link_project.link()
    assert (site / "kstreams_runbooks.pth").read_text(encoding="utf-8").strip().endswith("/plugins")
    done = subprocess.run([str(command), "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: kstreams-runbooks ")
