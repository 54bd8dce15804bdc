"""`lag` of a fleet of which a part cannot be read: said, with its exit code, and never left out."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput, Inconclusive, RunbookError, Unreachable

Write = Callable[..., Path]
NOBODY = json.dumps({"conn_type": "kafka", "extra": {"bootstrap.servers": "127.0.0.1:1"}})


@pytest.fixture(autouse=True)
def _silent(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(config))
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{config / 'ledger.db'}")
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEMO", NOBODY)
    # A port that refuses is tried again for 1.5 s: tests/unit/observe/login/test_way_in.py waits for it.
    monkeypatch.setattr("kstreams_runbooks.observe.login.way_in._AGAIN_S", 0.1)


def lag(*words: str) -> tuple[RunbookError, dict[str, Any]]:
    """How it ends, and the document."""
    result = CliRunner().invoke(cli, ["lag", *words, "--format", "json"])
    assert isinstance(result.exception, RunbookError), result.exception
    return result.exception, json.loads(result.stdout)


def test_a_cluster_that_does_not_answer_has_its_applications_in_the_document() -> None:
    """Unknown, with the reason."""
    error, document = lag("orders")
    assert isinstance(error, Unreachable)
    [application] = document["applications"]
    assert (application["application"], application["status"], application["partitions"]) == ("orders", "unknown", [])
    assert application["problems"] == [str(error)]


def test_a_cluster_without_a_connection_hides_no_other(config: Path, write: Write) -> None:
    """What can be read is; the sentence of each that cannot is told, and the worst exit code counts."""
    (config / "clusters" / "far.yaml").write_text("connection: kafka_far\n")
    write("elsewhere", ("cluster: demo", "cluster: far"))
    error, document = lag()
    assert isinstance(error, Unreachable)
    assert {one["cluster"] for one in document["applications"]} == {"demo", "far"}
    assert "cluster far: Airflow connection kafka_far: not found" in str(error)
    assert "cluster demo: Kafka at 127.0.0.1:1: nothing listens" in str(error)


def test_a_declaration_that_is_bad_is_not_left_out(config: Path, write: Write) -> None:
    """With nothing else to read it is no empty fleet that has read everything."""
    for file in (config / "applications").glob("*.yaml"):
        file.unlink()
    write("orders", ("cluster: demo", "cluster: nowhere"))
    error, document = lag()
    assert (type(error), document["applications"]) == (Inconclusive, [])
    assert str(error).startswith("orders is not checked: its declaration is bad: ")


def test_nothing_to_read_is_bad_input(config: Path) -> None:
    """An empty fleet, and a group without a name."""
    for file in (config / "applications").glob("*.yaml"):
        file.unlink()
    for words, said in (((), "declares no application"), (("--group", "", "--cluster", "demo"), "--group: is empty")):
        with pytest.raises(BadInput, match=said):
            CliRunner().invoke(cli, ["lag", *words], catch_exceptions=False)


def test_stdout_has_nothing_but_the_document() -> None:
    """Airflow's own logging goes there as soon as it is imported, and clients log what does not answer."""
    done = subprocess.run(
        [sys.executable, "-m", "kstreams_runbooks.cli", "lag", "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert json.loads(done.stdout)["applications"]
    assert "Kafka at 127.0.0.1:1: nothing listens" in done.stderr
