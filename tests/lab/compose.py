"""`make compose-env`, `compose-up` and `compose-down`: docker-compose.yaml on the Docker Engine of this machine.

    python3 -m lab.compose env|up|down|check

`check` is for `make test-compose`, which starts an engine of its own if none answers and the user is root.

Needs Docker, Compose (1.29 or 2) and Python's standard library, no environment of this project. Exit codes: 0 done, 1 a
container ended or did not become healthy, 2 the machine lacks something, 4 the engine does not answer.
"""

import base64
import http.client
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kstreams_runbooks.errors import BadInput, Refused, RunbookError, Unreachable

CHECKOUT = Path(__file__).resolve().parents[2]
FILE = CHECKOUT / "docker-compose.yaml"
ENV = CHECKOUT / ".env"

# Variables of the file that a person may give: name, default.
GIVEN = {
    "COMPOSE_PROJECT_NAME": "kstreams-runbooks",
    "BASE": "debian:bookworm-slim",
    "AIRFLOW_PORT": "8080",
    "ORDERS_RELEASE": "3.4.1",
    "TRAFFIC_RATE": "300",
}
DRAWN = (
    *("ADMIN_PASSWORD", "ONCALL_PASSWORD", "APPROVER_PASSWORD", "NOTES_PASSWORD"),
    *("AIRFLOW_DB_PASSWORD", "LEDGER_DB_PASSWORD", "REDIS_PASSWORD", "API_SECRET", "JWT_SECRET"),
)
_SOCKET = "/var/run/docker.sock"
# An administrator's programs are not on the path of every shell.
_PROGRAMS = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
_LABEL = "com.docker.compose.project"
# Of the container of a runbook's description (deployers/docker/topology_container.py).
_DESCRIBES = "kstreams-runbooks.compose-project"
_CALL_S = 30
_HEALTHY_S = 900
_POLL_S = 2.0
_SAY_EVERY_S = 10.0


@dataclass(frozen=True)
class Engine:
    """The Docker Engine behind a socket on this machine, as far as this needs it."""

    path: Path

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "Engine":
        """The engine of DOCKER_HOST; BadInput if it is not a socket, Unreachable if it does not answer."""
        address = environ.get("DOCKER_HOST") or f"unix://{_SOCKET}"
        if not address.startswith("unix://"):
            raise BadInput(
                f"DOCKER_HOST={address}: the runbooks reach the engine by its socket on this machine; unset it, or set "
                "it to unix:///path/to/docker.sock"
            )
        engine = cls(Path(address.removeprefix("unix://")))
        engine.get("/_ping")
        return engine

    def get(self, path: str, *, method: str = "GET") -> Any:
        """The answer of one call, None if it is not JSON; Refused with the engine's message for an error."""
        connection = http.client.HTTPConnection("engine", timeout=_CALL_S)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(_CALL_S)
        try:
            connection.sock.connect(os.fspath(self.path))
            connection.request(method, path)
            answer = connection.getresponse()
            body = answer.read()
        except PermissionError:
            raise BadInput(
                f"docker: this user may not use the engine's socket {self.path} ({_group(self.path)}); add the user to "
                "that group and log in again, or run this as root"
            ) from None
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(
                f"docker: the engine at {self.path} does not answer ({error}); install and start it (Debian: apt-get "
                "install docker.io docker-compose), or set DOCKER_HOST to its socket"
            ) from None
        finally:
            connection.close()
        document = _json(body)
        if answer.status >= http.client.BAD_REQUEST:
            raise Refused(f"docker: {method} {path}: {(document or {}).get('message', answer.status)}")
        return document

    def containers(self, project: str) -> list[dict[str, Any]]:
        """Every container of a project, also one that a runbook has created again, which keeps its labels."""
        return list(self.get(f"/containers/json?all=1&filters={_filter(project)}"))

    def descriptions(self, project: str) -> list[dict[str, Any]]:
        """Containers in which a runbook describes a release of the project; a worker that was killed leaves one."""
        return list(self.get(f"/containers/json?all=1&filters={_filter(project, _DESCRIBES)}"))

    def left(self, project: str) -> list[str]:
        """What the engine still has of a project."""
        containers = [*self.containers(project), *self.descriptions(project)]
        found = [f"container {one['Names'][0].lstrip('/')}" for one in containers]
        found += [f"network {one['Name']}" for one in self.get(f"/networks?filters={_filter(project)}")]
        volumes = self.get(f"/volumes?filters={_filter(project)}")["Volumes"] or []
        return found + [f"volume {one['Name']}" for one in volumes]

    def has_image(self, reference: str) -> bool:
        """Whether an image is on the engine."""
        try:
            self.get(f"/images/{quote(reference, safe='')}/json")
        except Refused:
            return False
        return True

    def images(self, project: str) -> list[str]:
        """Tags of the images of a project."""
        tags = (tag for one in self.get("/images/json") for tag in one["RepoTags"] or ())
        return sorted(tag for tag in tags if tag.startswith(f"{project}/"))


@dataclass(frozen=True)
class Compose:
    """Compose on the file of this checkout, with the variables of one env file."""

    engine: Engine
    command: tuple[str, ...]
    env: Path = ENV
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @classmethod
    def of(cls, environ: Mapping[str, str] = os.environ, env: Path = ENV) -> "Compose":
        """Compose of this machine; BadInput or Unreachable names what is missing."""
        command = _compose()
        return cls(Engine.of(environ), command, env, environ)

    @property
    def project(self) -> str:
        """The name in front of containers, networks, volumes and images."""
        return self.variables()["COMPOSE_PROJECT_NAME"]

    def variables(self) -> dict[str, str]:
        """The env file; BadInput if there is none."""
        try:
            lines = self.env.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            raise BadInput(f"{self.env}: does not exist; make it with `make compose-env`") from None
        pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
        return {name: value for name, _, value in pairs}

    def run(self, *arguments: str, capture: bool = False, check: bool = True) -> str:
        """One command of Compose; Refused if it fails. Its output is its own unless it is captured."""
        ours = {*GIVEN, *DRAWN, "DOCKER_GROUP", "DOCKER_SOCKET", "FERNET_KEY"}
        # The env file counts, not a variable of this shell. The old Compose would build with the docker command.
        environ = {name: value for name, value in self.environ.items() if name not in ours}
        environ |= {"COMPOSE_DOCKER_CLI_BUILD": "0", "DOCKER_HOST": f"unix://{self.engine.path}"}
        words = [*self.command, "--env-file", str(self.env), "--project-directory", str(CHECKOUT), "-f", str(FILE)]
        done = subprocess.run(
            [*words, "-p", self.project, *arguments],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if capture else sys.stderr,
            stderr=subprocess.PIPE if capture else None,
            text=True,
            check=False,
        )
        if done.returncode and check:
            why = (done.stderr or "").strip().splitlines()[-1:] or ["its output is above"]
            raise Refused(f"{' '.join(self.command)} {arguments[0]}: exit {done.returncode}: {why[0]}")
        return done.stdout or ""

    def build(self) -> None:
        """Build every image once, those that no service runs too."""
        services = ("postgresql", "redis", "broker", "orders-1", "image-of-4.3.1", "api")
        try:
            self.run("--profile", "images", "build", *services)
        except Refused as error:
            base = self.variables().get("BASE") or GIVEN["BASE"]
            if self.engine.has_image(base):
                raise
            raise Refused(
                f"{error}; BASE {base} is not on the engine: if it cannot be pulled, make a base and draw "
                f"{self.env.name} again (docs/compose.md, Without a registry)"
            ) from None

    def up(self, say: Callable[[str], None]) -> None:
        """Start everything, and return when it is healthy."""
        self.run("up", "-d", "--no-build")
        self.wait_healthy(say)

    def wait_healthy(self, say: Callable[[str], None], limit_s: float = _HEALTHY_S) -> None:
        """Return when every container is healthy or has done its work; Refused for one that failed."""
        began = said = time.monotonic()
        while waits := self._waits():
            now = time.monotonic()
            if now - began > limit_s:
                raise Refused(f"not healthy within {limit_s:g} s: {', '.join(waits)}; read `docker logs` of them")
            if now - said >= _SAY_EVERY_S:
                said = now
                say(f"{now - began:.0f} of {limit_s:.0f} s: waits for {', '.join(waits)}")
            time.sleep(_POLL_S)

    def _waits(self) -> list[str]:
        waits = []
        for one in self.engine.containers(self.project):
            name, state, status = one["Names"][0].lstrip("/"), one["State"], str(one["Status"])
            if state == "exited" and status.startswith("Exited (0)"):
                continue
            if state in {"exited", "dead", "restarting"}:
                raise Refused(f"container {name} ended: {status}; read `docker logs {name}`")
            if "(healthy)" not in status:
                waits.append(name)
        return sorted(waits)

    def down(self, *, images: bool = False) -> None:
        """Remove containers, networks and volumes, and the images if that is asked for; Refused if something stays."""
        project = self.project
        # First: Compose does not know them, and removes no volume and no image that one of them has.
        for one in self.engine.descriptions(project):
            # The worker may remove it at the same time. What is still there is named below.
            with suppress(Refused):
                self.engine.get(f"/containers/{one['Id']}?force=1&v=1", method="DELETE")
        self.run("--profile", "images", "down", "--volumes", "--remove-orphans")
        if left := self.engine.left(project):
            raise Refused(f"docker: still there: {', '.join(left)}; remove it, or run `make compose-down` again")
        if images:
            for tag in self.engine.images(project):
                self.engine.get(f"/images/{quote(tag, safe='')}", method="DELETE")


def draw(engine: Engine, environ: Mapping[str, str], file: Path = ENV) -> bool:
    """Write the env file with passwords of its own; False, and nothing is changed, if it is there."""
    given = {name: environ.get(name) or default for name, default in GIVEN.items()}
    drawn = {name: secrets.token_hex(24) for name in DRAWN}
    drawn["FERNET_KEY"] = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
    docker = {"DOCKER_SOCKET": str(engine.path.resolve()), "DOCKER_GROUP": str(engine.path.stat().st_gid)}
    lines = [
        "# Drawn by `make compose-env` for docker-compose.yaml. It has passwords: only the owner may read it.",
        *(f"{name}={value}" for name, value in (given | docker | drawn).items()),
    ]
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")
    return True


def check(environ: Mapping[str, str]) -> None:
    """BadInput or Unreachable unless `make test-compose` has Compose and an engine, or can start one."""
    _compose()
    try:
        Engine.of(environ)
    except Unreachable as error:
        if os.geteuid() != 0:
            raise
        missing = [name for name in ("dockerd", "iptables") if not shutil.which(name, path=_PROGRAMS)]
        if missing:
            raise Unreachable(
                f"{error}; the tests can start no engine of their own without {' and '.join(missing)} (Debian: apt-get "
                "install docker.io iptables)"
            ) from None


def _compose() -> tuple[str, ...]:
    """The command of Compose; BadInput if there is none."""
    command = next((one for one in (("docker", "compose"), ("docker-compose",)) if _works(one)), None)
    if command is None:
        raise BadInput(
            "docker: neither `docker compose` nor `docker-compose` is on this machine; install Compose (Debian: "
            "apt-get install docker.io docker-compose)"
        )
    return command


def _group(socket_file: Path) -> str:
    try:
        return f"group {socket_file.group()}"
    except (OSError, KeyError):
        return "its group"


def _works(command: tuple[str, ...]) -> bool:
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run([*command, "version"], capture_output=True, check=False).returncode == 0


def _filter(project: str, label: str = _LABEL) -> str:
    return quote(json.dumps({"label": [f"{label}={project}"]}))


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def main(arguments: list[str]) -> int:
    """Entry point: one sentence and an exit code for every error of our own tree."""
    try:
        match arguments:
            case ["env"]:
                made = draw(Engine.of(os.environ), os.environ)
                _say(f"{ENV}: {'drawn' if made else 'exists, nothing is changed; delete it to draw another'}")
            case ["up"]:
                compose = Compose.of()
                compose.variables()
                compose.build()
                compose.up(_say)
                drawn = compose.variables()
                _say(f"Airflow    http://127.0.0.1:{drawn['AIRFLOW_PORT']} (login oncall, approver or admin)")
                _say(f"passwords  {compose.env}")
                _say("it stays up until: make compose-down")
            case ["down"]:
                Compose.of().down(images=bool(os.environ.get("IMAGES")))
                _say("nothing is left" if os.environ.get("IMAGES") else "nothing is left but the images")
            case ["check"]:
                check(os.environ)
            case _:
                raise BadInput("usage: python3 -m lab.compose env|up|down|check")
    except RunbookError as error:
        _say(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        _say("interrupted; make compose-down removes what is there")
        return 130
    return 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
