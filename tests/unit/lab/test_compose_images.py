"""The images and the fleet of docker-compose.yaml fit it."""

import re
from typing import Any

import pytest
import yaml
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.fleet.deployers.docker import DockerSettings
from kstreams_runbooks.fleet.notifications import NOTE_CONNECTION, notification_settings
from lab.compose import CHECKOUT, FILE

SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))["services"]
DOCKERFILE = (CHECKOUT / "config" / "image" / "Dockerfile").read_text(encoding="utf-8")
FLEET = CHECKOUT / "config" / "compose"
BIN = CHECKOUT / "config" / "image" / "bin"


def stages() -> dict[str, str]:
    """The text of each stage of the Dockerfile, by its name."""
    parts = re.split(r"^FROM \S+ AS (\w+)$", DOCKERFILE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("target", sorted({one["build"]["target"] for one in SERVICES.values()}))
def test_no_image_runs_as_root(target: str) -> None:
    """The last user of each image that runs is `runbooks`."""
    assert re.findall(r"^USER (\w+)$", stages()[target], re.MULTILINE)[-1:] == ["runbooks"]


def test_packages_come_from_the_hashed_locks() -> None:
    """No package of Python without its hash, and no other list of them."""
    installs = [line for line in DOCKERFILE.splitlines() if "pip install" in line or "pip sync" in line]
    assert len(installs) == 2
    assert DOCKERFILE.count("--require-hashes") == 2
    assert DOCKERFILE.count("--mount") == 0, "the builder before BuildKit has no mounts"


def test_each_copied_file_is_in_the_context() -> None:
    """What the Dockerfile copies is there, and .dockerignore lets it through."""
    ignored = (CHECKOUT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    let_in = [line.removeprefix("!") for line in ignored if line.startswith("!")]
    for words in re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE):
        for name in words.split()[:-1]:
            assert (CHECKOUT / name).exists(), name
            assert any(name == one or name.startswith(f"{one}/") for one in let_in), name


def test_each_script_can_be_run() -> None:
    """A file without the right to execute ends its container at the start."""
    assert all(one.stat().st_mode & 0o111 for one in BIN.iterdir())
    used = {one["command"][0] for one in SERVICES.values() if "command" in one} - {
        "airflow",
        "kstreams-runbooks",
        "true",
    }
    assert used <= {one.name for one in BIN.iterdir()}


def test_the_fleet_fits_the_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of containers, images and volumes, the queue, and the port of Jolokia."""
    monkeypatch.setenv("PROJECT", "p")
    fleet = load_fleet(FLEET)
    assert not fleet.problems
    made = fleet.application("orders").deployer
    assert isinstance(made, DockerSettings)
    project = "${COMPOSE_PROJECT_NAME:?run make compose-env}"
    for number, one in enumerate(made.instances, start=1):
        service = SERVICES[one.name]
        assert service["container_name"].replace(project, "p") == one.container
        assert service["volumes"] == [f"state-{number}:{made.state}"]
        assert f"state-{number}:{one.state_dir}" in SERVICES["worker"]["volumes"]
        assert f"//{one.name}:8778/" in one.metrics
        assert service["environment"]["STREAMS_APPLICATION_ID"] == "orders"
        assert service["environment"]["STREAMS_STATE_DIR"] == str(made.state)
    later = SERVICES["image-of-4.3.1"]["image"].replace(project, "p")
    assert made.images["4.3.1"] == later
    [cluster] = fleet.clusters.values()
    assert cluster.queue in SERVICES["worker"]["command"][-2].split(",")


def test_the_logins_of_the_fleet_are_those_of_airflow() -> None:
    """Who may operate and approve can sign in; the login of the notes has its connection."""
    given = SERVICES["api"]["environment"]
    logins = {one.partition(":")[0] for one in given["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS"].split(",")}
    declared = yaml.safe_load((FLEET / "applications" / "orders.yaml").read_text(encoding="utf-8"))
    assert {*declared["operators"], *declared["approvers"]} <= logins
    script = (BIN / "api-server").read_text(encoding="utf-8")
    assert set(re.findall(r'"(\w+)": "%s"', script)) == logins
    assert notification_settings(FLEET).note_connection == NOTE_CONNECTION
    assert f"AIRFLOW_CONN_{NOTE_CONNECTION.upper()}" in given
