"""Where a job may write its document."""

import os
from pathlib import Path

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.frames.connect import MODE
from kstreams_runbooks.frames.job import REMOTE, opened, result_path, run_job
from pyspark.sql import SparkSession


def test_a_file_that_is_there_or_not_yet(tmp_path: Path) -> None:
    """As a path and as an address."""
    (tmp_path / "old.json").touch()
    for name in ("old.json", "new.json"):
        assert result_path(str(tmp_path / name)) == result_path(f"file://{tmp_path / name}") == tmp_path / name


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "--result: is empty"),
        (" ", "--result: is empty"),
        ("{here}", "--result {here}: is a directory"),
        ("file:{here}/", "--result file:{here}/: is a directory"),
        ("{here}/none/one.json", "{here}/none is not a directory here"),
        ("s3://bucket/one.json", "s3 is not supported"),
    ],
)
def test_where_no_file_can_be_is_told_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: str, said: str
) -> None:
    """One sentence on stderr, and exit code 2."""
    uri = given.format(here=tmp_path)
    with pytest.raises(BadInput) as told:
        result_path(uri)
    assert said.format(here=tmp_path) in str(told.value)
    assert run_job("a job", lambda: pytest.fail("it was done"), uri) == 2
    assert capsys.readouterr() == ("", f"a job: {told.value}\n")


def test_a_job_that_was_submitted_drops_the_marks_of_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their presence alone would make pyspark ask for a server; a submitter cannot take them out of an environment."""
    monkeypatch.setenv(MODE, "1")
    monkeypatch.setenv(REMOTE, "")
    seen: list[bool] = []

    class Ended(Exception):
        """In place of a session."""

    def get_or_create(_: object) -> None:
        seen.append(MODE in os.environ or REMOTE in os.environ)
        raise Ended

    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", get_or_create)
    with pytest.raises(Ended), opened("a job", None):
        pass
    assert seen == [False]
