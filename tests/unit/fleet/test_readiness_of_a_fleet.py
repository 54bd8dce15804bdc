"""`readiness` of a fleet of which a part cannot be read: said, with its exit code, and it hides no other."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput


@pytest.fixture(autouse=True)
def _connected(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(config))
    extra = {"bootstrap.servers": "127.0.0.1:1", "security.protocol": "FOO"}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEMO", json.dumps({"conn_type": "kafka", "extra": extra}))


def test_each_cluster_that_cannot_be_read_says_why(config: Path, write: Callable[..., Path]) -> None:
    """One without a connection, one with a setting that no client takes; every runbook of both is not known."""
    (config / "clusters" / "far.yaml").write_text("connection: kafka_far\n", encoding="utf-8")
    write("elsewhere", ("cluster: demo", "cluster: far"))
    result = CliRunner().invoke(cli, ["readiness", "--format", "json"])
    assert result.exit_code == 2, result.exception
    far, demo = json.loads(result.stdout)["applications"]
    assert far["not_read"].startswith("Airflow connection kafka_far: not found")
    assert 'Invalid value "FOO" for configuration property "security.protocol"' in demo["not_read"]
    assert (far["unreachable"], demo["unreachable"]) == (None, None)
    assert all("not known" in {each["standing"] for each in one["runbooks"]} for one in (far, demo))


def test_nothing_declared_is_bad_input(config: Path) -> None:
    """Of no application nobody can say that all of it is ready."""
    (config / "applications" / "orders.yaml").unlink()
    with pytest.raises(BadInput, match="declares no application; declare or discover one"):
        CliRunner().invoke(cli, ["readiness"], catch_exceptions=False)


def test_declarations_that_are_all_bad_are_told(write: Callable[..., Path]) -> None:
    """They are declared: what is to be mended is in them."""
    write("orders", ("cluster: demo", "cluster: nowhere"))
    result = CliRunner().invoke(cli, ["readiness"])
    assert result.exit_code == 1
    assert "is not declared in" in result.stderr
