"""docker-compose.yaml keeps its promises, and a machine without Docker gets one sentence."""

import os
import re
import stat
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml
from kstreams_runbooks.deployers.docker import topology_container
from kstreams_runbooks.errors import BadInput, Refused, Unreachable
from lab import compose
from lab.compose import DRAWN, FILE, GIVEN, Compose, Engine, draw

CONFIG: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = CONFIG["services"]
ONCE = {"migrate", "topics", "image-of-4.3.1"}
# Keys of services that docker-compose 1.29 and docker compose 2 read alike without a `version`.
KNOWN = {
    *(
        "build",
        "cap_drop",
        "command",
        "container_name",
        "depends_on",
        "environment",
        "group_add",
        "healthcheck",
        "image",
    ),
    *("logging", "mem_limit", "pids_limit", "ports", "profiles", "restart", "security_opt", "shm_size"),
    *("stop_grace_period", "stop_signal", "volumes"),
}


@pytest.mark.parametrize("name", SERVICES)
def test_each_service_is_limited_and_checked(name: str) -> None:
    """Memory, processes, logs, capabilities; a health check unless it runs once; nothing that one Compose lacks."""
    one = SERVICES[name]
    assert one.keys() <= KNOWN
    assert one["mem_limit"]
    assert one["pids_limit"]
    assert one["cap_drop"] == ["ALL"]
    assert one["security_opt"] == ["no-new-privileges:true"]
    assert one["logging"]["options"]["max-size"]
    assert "healthcheck" in one or name in ONCE
    assert one["restart"] in {"unless-stopped", "no"}, "an engine must not start an instance that a runbook stopped"


@pytest.mark.parametrize(("age_s", "healthy"), [(None, False), (5, True), (60, False)])
def test_the_health_of_the_traffic_is_the_age_of_its_file(age_s: float | None, healthy: bool, tmp_path: Path) -> None:
    """A broker that listens does not tell whether anything is sent."""
    traffic = SERVICES["traffic"]
    file = traffic["command"][traffic["command"].index("--alive") + 1]
    kind, check = traffic["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    assert check.count(file) == 1
    if age_s is not None:
        (tmp_path / "alive").touch()
        os.utime(tmp_path / "alive", (time.time() - age_s,) * 2)
    done = subprocess.run(["sh", "-c", check.replace(file, f"{tmp_path}/alive")], capture_output=True, check=False)
    assert (done.returncode == 0) is healthy


def test_only_the_loopback_is_published() -> None:
    """One port, on 127.0.0.1."""
    published = [port for one in SERVICES.values() for port in one.get("ports", ())]
    assert published == ["127.0.0.1:${AIRFLOW_PORT:-8080}:8080"]
    assert "version" not in CONFIG


def test_no_password_is_in_the_file() -> None:
    """Each secret is a variable that has to be set, with the command that draws it."""
    text = FILE.read_text(encoding="utf-8")
    for name in (*DRAWN, "FERNET_KEY"):
        assert f"${{{name}:?run make compose-env}}" in text
        assert not re.search(rf"\$\{{{name}(?::-|\}})", text), "no default, and no use without the check"
    used = set(re.findall(r"\$\{(\w+)", text))
    assert used == {*GIVEN, *DRAWN, "FERNET_KEY", "DOCKER_GROUP", "DOCKER_SOCKET"}


def test_only_the_services_near_the_instances_have_the_socket() -> None:
    """Who has it is root on the machine."""
    have = {
        name for name, one in SERVICES.items() if any("docker.sock" in str(place) for place in one.get("volumes", ()))
    }
    assert have == {"worker", "triggerer"}
    assert {name for name, one in SERVICES.items() if "group_add" in one} == have


def test_every_volume_is_named() -> None:
    """Nothing of a container is on the host but the socket."""
    places = [str(place) for one in SERVICES.values() for place in one.get("volumes", ())]
    sources = {place.split(":")[0] for place in places if "docker.sock" not in place}
    assert sources == set(CONFIG["volumes"])


def test_the_env_file_is_drawn_once(tmp_path: Path) -> None:
    """Only the owner may read it; what is there is never overwritten."""
    (socket := tmp_path / "docker.sock").touch()
    env = tmp_path / ".env"
    assert draw(Engine(socket), {"BASE": "base:mine"}, env)
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    drawn = dict(line.split("=", 1) for line in env.read_text().splitlines() if not line.startswith("#"))
    assert drawn["BASE"] == "base:mine"
    assert drawn["DOCKER_GROUP"] == str(socket.stat().st_gid)
    assert len({drawn[name] for name in DRAWN}) == len(DRAWN)
    assert all(len(drawn[name]) >= 48 for name in DRAWN)
    had = env.read_text()
    assert not draw(Engine(socket), {}, env)
    assert env.read_text() == had


def test_an_engine_that_is_away_is_named(tmp_path: Path) -> None:
    """One sentence with what to install."""
    with pytest.raises(Unreachable, match=r"engine at .*none\.sock does not answer .*apt-get install docker\.io") as no:
        Engine.of({"DOCKER_HOST": f"unix://{tmp_path}/none.sock"})
    assert "\n" not in str(no.value)


class FakeSocket:
    """A socket of an engine that this user may not use."""

    def __init__(self, *_: object) -> None:
        """As the library makes one."""

    def settimeout(self, _: float) -> None:
        """Nothing waits."""

    def connect(self, _: str) -> None:
        """Refused by the rights of the file."""
        raise PermissionError(13, "Permission denied")

    def close(self) -> None:
        """Nothing is open."""


def test_a_socket_that_the_user_may_not_use_names_its_group(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The engine is installed and runs: only the user is missing in the group."""
    file = tmp_path / "docker.sock"
    file.touch()
    monkeypatch.setattr("lab.compose.socket.socket", FakeSocket)
    with pytest.raises(BadInput) as no:
        Engine.of({"DOCKER_HOST": f"unix://{file}"})
    assert f"may not use the engine's socket {file} (group {file.group()}); add the user to that group" in str(no.value)
    assert "install" not in str(no.value)


@pytest.mark.parametrize("there", [True, False])
def test_a_build_without_its_base_names_the_way_without_a_registry(
    there: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Only if the base is not on the engine: another build has another reason."""
    (tmp_path / ".env").write_text("BASE=base:mine\n", encoding="utf-8")
    asked: list[str] = []

    def get(_: Engine, path: str) -> None:
        asked.append(path)
        if not there:
            raise Refused("docker: GET: no such image")

    def run(*_: object, **__: object) -> str:
        raise Refused("docker-compose build: exit 1: its output is above")

    monkeypatch.setattr(Engine, "get", get)
    monkeypatch.setattr(Compose, "run", run)
    with pytest.raises(Refused) as no:
        Compose(Engine(tmp_path), ("docker-compose",), tmp_path / ".env").build()
    assert asked == ["/images/base%3Amine/json"]
    said = (
        "BASE base:mine is not on the engine: if it cannot be pulled, make a base and draw .env again (docs/compose.md"
    )
    assert (said in str(no.value)) is not there


@pytest.mark.parametrize(
    ("user", "programs", "sentence"),
    [
        (1000, ("dockerd", "iptables"), "does not answer"),
        (
            0,
            ("dockerd",),
            "the tests can start no engine of their own without iptables (Debian: apt-get install docker.io",
        ),
        (0, ("dockerd", "iptables"), ""),
    ],
)
def test_the_test_of_the_containers_names_what_is_missing_before_it_begins(
    user: int, programs: tuple[str, ...], sentence: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One sentence and no test: each of them would fail in its fixture."""
    monkeypatch.setattr(compose, "_works", lambda _: True)
    monkeypatch.setattr("lab.compose.os.geteuid", lambda: user)
    monkeypatch.setattr("lab.compose.shutil.which", lambda name, path: name if name in programs and path else None)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    said: list[str] = []
    monkeypatch.setattr(compose, "_say", said.append)
    assert compose.main(["check"]) == (4 if sentence else 0)
    assert len(said) == bool(sentence)
    assert sentence in "".join(said)
    makefile = (compose.CHECKOUT / "Makefile").read_text(encoding="utf-8")
    assert "\t@$(COMPOSE) check\n\t$(BIN)/python -m pytest -s tests/compose\n" in makefile


def test_an_engine_over_the_network_is_refused() -> None:
    """The worker needs its socket."""
    with pytest.raises(BadInput, match=r"DOCKER_HOST=tcp://elsewhere:2376: the runbooks reach the engine by"):
        Engine.of({"DOCKER_HOST": "tcp://elsewhere:2376"})


def test_a_machine_without_compose_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither command is there."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BadInput, match=r"neither `docker compose` nor `docker-compose` is on this machine"):
        Compose.of()


def test_without_an_env_file_its_command_is_named(tmp_path: Path) -> None:
    """Nothing is started without passwords."""
    with pytest.raises(BadInput, match="make it with `make compose-env`"):
        _ = Compose(Engine(tmp_path), ("docker-compose",), tmp_path / ".env").project


def test_a_container_that_ended_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Waiting ends at once, with the command that shows why."""
    (tmp_path / ".env").write_text("COMPOSE_PROJECT_NAME=p\n", encoding="utf-8")
    found = [
        {"Names": ["/p-migrate-1"], "State": "exited", "Status": "Exited (0) 2 minutes ago"},
        {"Names": ["/p-api-1"], "State": "running", "Status": "Up 2 minutes (health: starting)"},
        {"Names": ["/p-spark-1"], "State": "exited", "Status": "Exited (1) 3 seconds ago"},
    ]
    monkeypatch.setattr(compose.Engine, "containers", lambda *_: found)
    waiting = Compose(Engine(tmp_path), ("docker-compose",), tmp_path / ".env")
    with pytest.raises(Refused, match=r"container p-spark-1 ended: Exited \(1\) 3 seconds ago; read `docker log"):
        waiting.wait_healthy(lambda _: None, limit_s=1)
    found[2] |= {"State": "restarting", "Status": "Restarting (1) 24 seconds ago"}
    with pytest.raises(Refused, match=r"container p-spark-1 ended: Restarting \(1\)"):
        waiting.wait_healthy(lambda _: None, limit_s=1)
    del found[2]
    with pytest.raises(Refused, match="not healthy within 0 s: p-api-1; read"):
        waiting.wait_healthy(lambda _: None, limit_s=0)
    found[1]["Status"] = "Up 2 minutes (healthy)"
    waiting.wait_healthy(lambda _: None, limit_s=0)


def test_a_description_that_a_killed_worker_left_is_removed_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It has the volumes and the image of an instance; one that is removed meanwhile is no error."""
    (tmp_path / ".env").write_text("COMPOSE_PROJECT_NAME=p\n", encoding="utf-8")
    described: list[dict[str, Any]] = [
        {"Id": "a1", "Names": ["/kstreams-runbooks-topology-1"]},
        {"Id": "b2", "Names": ["/gone"]},
    ]
    done: list[str] = []

    def get(_: Engine, path: str, *, method: str = "GET") -> Any:
        path = unquote(path)
        if method == "DELETE":
            done.append(path)
            described[:] = [one for one in described if one["Id"] not in path]
            if "b2" in path:
                raise Refused("docker: DELETE: no such container")
        if path.startswith("/volumes"):
            return {"Volumes": None}
        return list(described) if f'["{topology_container._PROJECT}=p"]' in path else []

    monkeypatch.setattr(Engine, "get", get)
    monkeypatch.setattr(Compose, "run", lambda *words, **_: done.append(" ".join(words[1:])))
    compose_ = Compose(Engine(tmp_path), ("docker-compose",), tmp_path / ".env")
    assert compose_.engine.left("p") == ["container kstreams-runbooks-topology-1", "container gone"]
    compose_.down()
    assert done == [
        "/containers/a1?force=1&v=1",
        "/containers/b2?force=1&v=1",
        "--profile images down --volumes --remove-orphans",
    ]
