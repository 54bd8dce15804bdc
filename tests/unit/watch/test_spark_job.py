"""The lines of spark-submit on a terminal: shown if the job left no answer, and never above an answer."""

from pathlib import Path

import pytest
from kstreams_runbooks.watch.spark_job import Submission, submit_here


def submission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Submission:
    """A job whose spark-submit is this script; it gets the file of the answer as its last word."""
    program = tmp_path / "spark-submit"
    program.write_text(
        f'#!/bin/sh\nfor last; do :; done\necho "WARN NativeCodeLoader" >&2\n{script}\n', encoding="utf-8"
    )
    program.chmod(0o755)
    monkeypatch.setattr("kstreams_runbooks.watch.spark_job.sysconfig.get_path", lambda _: str(tmp_path))
    result = tmp_path / "result.json"
    return Submission("job.py", ("--result", str(result)), "frames.zip", "a.jar", {}, result)


@pytest.mark.parametrize("code", [0, 3])
def test_an_answer_has_no_warning_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], code: int
) -> None:
    """An error that the job leaves is a sentence too."""
    made = submission(tmp_path, monkeypatch, f'echo "{{}}" > "$last"; exit {code}')
    assert submit_here(made) is (code == 0)
    assert capsys.readouterr().err == ""


def test_without_an_answer_they_show_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last ones, if they are many."""
    assert not submit_here(submission(tmp_path, monkeypatch, 'echo "no space left" >&2; exit 1'))
    assert capsys.readouterr().err == "WARN NativeCodeLoader\nno space left\n"
    assert not submit_here(submission(tmp_path, monkeypatch, "head -c 300000 /dev/zero >&2; echo end >&2; exit 1"))
    said = capsys.readouterr().err
    assert (len(said), said[-4:]) == (100_000, "end\n")
