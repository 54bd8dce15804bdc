"""The file whose age tells whether the generator sends."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.demo.traffic import produce
from kstreams_runbooks.errors import BadInput

WORDS = ["generate-traffic", "--bootstrap", "127.0.0.1:9"]


@pytest.fixture(autouse=True)
def handlers_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command sets its own, here in the process of the tests."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)


def test_it_is_touched_with_each_line_of_progress(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Not before the first events: a file of an earlier start stays old."""
    file = tmp_path / "alive"
    file.touch()
    os.utime(file, (1, 1))
    ages: list[bool] = []

    def generate(*_: object, progress: Callable[[str], None], **__: object) -> produce.Produced:
        for _line in range(2):
            os.utime(file, (1, 1))
            ages.append(file.stat().st_mtime == 1)
            progress("100 orders sent")
            ages.append(file.stat().st_mtime == 1)
        return produce.Produced("r", 200, 1, 10.0)

    monkeypatch.setattr(produce, "generate", generate)
    done = CliRunner().invoke(cli, [*WORDS, "--alive", str(file)])
    assert (done.exit_code, ages) == (0, [True, False, True, False])
    assert CliRunner().invoke(cli, WORDS).exit_code == 0
    assert ages[4:] == [True, True, True, True], "off unless it is asked for"


def test_a_file_that_cannot_be_written_is_bad_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One sentence with the option."""

    def generate(*_: object, progress: Callable[[str], None], **__: object) -> None:
        progress("100 orders sent")

    monkeypatch.setattr(produce, "generate", generate)
    done = CliRunner().invoke(cli, [*WORDS, "--alive", str(tmp_path / "none" / "alive")])
    assert isinstance(done.exception, BadInput)
    assert str(done.exception) == (
        f"--alive {tmp_path}/none/alive: cannot be written (No such file or directory); give a file that can be"
    )
