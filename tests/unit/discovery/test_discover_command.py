"""`discover` and `readiness` before any broker is asked: what is wrong is said, and nothing is written."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from kstreams_runbooks.cli import cli
from kstreams_runbooks.discovery.where import cluster_of, declare_cluster, fleet_of
from kstreams_runbooks.errors import BadInput


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["discover", *(str(argument) for argument in arguments)])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "no bootstrap.servers; give --bootstrap"),
        (("--bootstrap", "b:9", "--out", "somewhere"), "--out somewhere"),
        (("--command-config", "nowhere.properties"), "--command-config nowhere.properties: cannot be read"),
        (
            ("--bootstrap", "b:9", "--out", "new/applications"),
            "no cluster of {here}/new/clusters has it; name one with --cluster",
        ),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: tuple[str, ...], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No folder is made for it."""
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert isinstance(result.exception, BadInput)
    assert sentence.format(here=tmp_path) in str(result.exception).replace(f"{tmp_path}/somewhere", "somewhere")
    assert list(tmp_path.iterdir()) == []


def test_the_cluster_is_the_one_that_has_one_of_the_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its connection; two that have it are for a person to tell apart."""
    monkeypatch.setenv("AIRFLOW_CONN_ONE", '{"conn_type": "kafka", "extra": {"bootstrap.servers": "a:1,b:2"}}')
    monkeypatch.setenv("AIRFLOW_CONN_TWO", '{"conn_type": "kafka", "extra": {"bootstrap.servers": "b:2"}}')
    clusters = tmp_path / "clusters"
    clusters.mkdir()
    for name in ("one", "two"):
        (clusters / f"{name}.yaml").write_text(f"connection: {name}\n", encoding="utf-8")
    fleet = fleet_of(tmp_path / "applications")
    assert cluster_of(fleet, "a:1", None) == "one"
    assert cluster_of(fleet, "z:9", "chosen") == "chosen"
    with pytest.raises(BadInput, match="one and two have it; name one with --cluster"):
        cluster_of(fleet, "c:3, b:2", None)


def test_a_new_cluster_is_declared_once(tmp_path: Path) -> None:
    """With the id of a connection to create; a bad file of that name is named and stays."""
    file = declare_cluster(fleet_of(tmp_path / "applications"), "east")
    assert file == tmp_path / "clusters" / "east.yaml"
    fleet = fleet_of(tmp_path / "applications")
    assert fleet.cluster("east").connection == "kafka_east"
    assert declare_cluster(fleet, "east") is None
    file.write_text("connections: x\n", encoding="utf-8")
    with pytest.raises(BadInput, match="cluster east is disabled"):
        declare_cluster(fleet_of(tmp_path / "applications"), "east")
    assert file.read_text(encoding="utf-8") == "connections: x\n"


@pytest.mark.parametrize("name", ["../east", "a/b", ".east", ""])
def test_a_name_that_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    """It becomes a path."""
    with pytest.raises(BadInput, match="is no name of a cluster"):
        cluster_of(fleet_of(tmp_path / "applications"), "b:1", name)
