"""One supervisord runs every program of a stack: its configuration, its start, its end.

Everything it starts stays in its session: the remains of a stack can be found without guessing from names.
supervisord documentation, "Configuration File" and "XML-RPC API Documentation".
"""

import http.client
import os
import shlex
import subprocess
import time
import xmlrpc.client
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kstreams_runbooks.errors import Unreachable

from lab.settings import Lab

_POLL_S = 0.1
_UP_WITHIN_S = 60
_COUNT_EVERY_S = 5


@dataclass(frozen=True)
class Program:
    """One program; it is started by name, and never restarted automatically: a run has to see what died."""

    name: str
    command: tuple[str, ...]
    stop_wait_s: int = 30
    # Airflow's components fork; if they have to be killed, their child processes go with them.
    kill_group: bool = False


def configuration(lab: Lab, programs: Iterable[Program]) -> str:
    """Text of supervisord.conf; secrets stay in the environment that it inherits."""
    run = _plain(str(lab.run_dir))
    lines = [
        "[supervisord]",
        f"logfile={run}/logs/supervisord.log",
        "logfile_maxbytes=0",
        f"pidfile={run}/supervisord.pid",
        f"directory={run}",
        "nodaemon=true",
        "silent=true",
        "minfds=1024",
        "",
        "[inet_http_server]",
        f"port=127.0.0.1:{lab.ports.supervisor}",
        "",
        "[rpcinterface:supervisor]",
        "supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface",
        "",
        "[supervisorctl]",
        f"serverurl=http://127.0.0.1:{lab.ports.supervisor}",
    ]
    for program in programs:
        lines += _section(lab, program)
    return "\n".join(lines) + "\n"


def _section(lab: Lab, program: Program) -> list[str]:
    """The lines of one program."""
    return [
        "",
        f"[program:{program.name}]",
        f"command={_plain(shlex.join(program.command))}",
        "autostart=false",
        "autorestart=false",
        "startsecs=0",
        "stopsignal=TERM",
        f"stopwaitsecs={program.stop_wait_s}",
        f"killasgroup={str(program.kill_group).lower()}",
        "redirect_stderr=true",
        f"stdout_logfile={_plain(str(lab.run_dir))}/logs/{program.name}.log",
        # never rotated: the output of each start is evidence
        "stdout_logfile_maxbytes=0",
    ]


def _plain(text: str) -> str:
    return text.replace("%", "%%")


class Supervisor:
    """XML-RPC of the stack's supervisord."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    def launch(self, programs: Iterable[Program], environment: Mapping[str, str]) -> int:
        """Start supervisord in a session of its own and wait until it answers; returns its process id."""
        lab = self._lab
        lab.logs.mkdir(parents=True, exist_ok=True)
        file = lab.run_dir / "supervisord.conf"
        file.write_text(configuration(lab, programs), encoding="utf-8")
        with (lab.logs / "supervisord.out").open("ab") as out:
            process = subprocess.Popen(
                [str(lab.python), "-m", "supervisor.supervisord", "-c", str(file)],
                env=dict(environment),
                cwd=lab.run_dir,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        until(lambda: process.poll() is not None or self.answers(), _UP_WITHIN_S, "supervisord answers")
        if process.poll() is not None:
            raise Unreachable(f"supervisord ended with {process.returncode}; read {lab.logs}/supervisord.out")
        return process.pid

    def answers(self) -> bool:
        """Whether supervisord has the program."""
        try:
            self._call("getState")
        except Unreachable:
            return False
        return True

    def add(self, program: Program) -> None:
        """Declare one more program while the stack is up; one that is declared already is left alone."""
        file = self._lab.run_dir / "supervisord.conf"
        text = file.read_text(encoding="utf-8")
        if f"[program:{program.name}]" in text:
            return
        file.write_text(text + "\n".join(_section(self._lab, program)) + "\n", encoding="utf-8")
        self._call("reloadConfig")
        self._call("addProcessGroup", program.name)

    def start(self, *names: str) -> None:
        """Start programs without waiting for them."""
        for name in names:
            self._call("startProcess", name, False)

    def stop(self, *names: str) -> None:
        """Stop programs and wait until their processes are gone; one that does not run is left alone."""
        for name in names:
            if self.pid(name) is not None:
                self._call("stopProcess", name, False)
        # supervisord itself kills what outlives its stopwaitsecs.
        until(lambda: all(self.pid(name) is None for name in names), 90, f"{', '.join(names)} stopped")

    def pid(self, name: str) -> int | None:
        """Process id of a program, None where it does not run."""
        return self.process(name)["pid"] or None

    def process(self, name: str) -> dict[str, Any]:
        """The information of supervisord about one program."""
        found: dict[str, Any] = self._call("getProcessInfo", name)
        return found

    def require_running(self, *names: str) -> None:
        """Unreachable for a program that has ended by itself."""
        for name in names:
            info = self.process(name)
            if not info["pid"]:
                raise Unreachable(f"{name} ended with {info['exitstatus']}; read {self._lab.logs}/{name}.log")

    def shutdown(self, last: str = "broker") -> None:
        """Stop all programs at once, then those that the others need (their names begin so), and end supervisord.

        By itself it would stop one program after another.
        """
        names = [info["name"] for info in self._call("getAllProcessInfo")]
        self.stop(*(name for name in names if not name.startswith(last)))
        self._call("shutdown")

    def _call(self, method: str, *arguments: Any) -> Any:
        proxy = xmlrpc.client.ServerProxy(self._lab.supervisor_url, allow_none=True)
        try:
            return getattr(proxy.supervisor, method)(*arguments)
        except xmlrpc.client.Error as error:
            raise Unreachable(f"supervisord: {method} failed: {error} ({self._lab.supervisor_url})") from None
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(
                f"supervisord: {error}; start it, or correct the deployer's url ({self._lab.supervisor_url})"
            ) from None


def until(done: Callable[[], bool], limit_s: float, what: str, poll_s: float = _POLL_S) -> float:
    """Wait until `done`; returns the seconds it took, Unreachable after `limit_s`."""
    began = time.monotonic()
    while not done():
        if time.monotonic() - began > limit_s:
            raise Unreachable(f"not within {limit_s:.0f} s: {what}")
        time.sleep(poll_s)
    return time.monotonic() - began


class Waiting:
    """Counts the seconds of a wait: a line every five seconds, `25 of 300 s: …`."""

    def __init__(self, limit_s: float, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._limit_s, self._say, self._clock = limit_s, say, clock
        self._began = self._said = clock()

    def count(self, what: Callable[[], str]) -> None:
        """Say what is waited for, if the last line is five seconds old."""
        now = self._clock()
        if now - self._said >= _COUNT_EVERY_S:
            self._said = now
            self._say(f"{now - self._began:.0f} of {self._limit_s:.0f} s: {what()}")


def unheard(_: str) -> None:
    """No progress is shown."""


def exit_of(process: "subprocess.Popen[bytes]", limit_s: float, say: Callable[[str], None], what: str) -> int:
    """Return the exit code of a program that ends by itself; `say` counts the seconds. It does not outlive the wait."""
    waiting = Waiting(limit_s, say)

    def ended() -> bool:
        waiting.count(lambda: what)
        return process.poll() is not None

    try:
        until(ended, limit_s, what)
    finally:
        process.kill()
        code = process.wait()
    return code


def inherited(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The caller's environment without variables that would affect a stack."""
    ours = ("AIRFLOW", "KSTREAMS_RUNBOOKS", "DEMO_", "PYTHON", "_AIRFLOW", "SPARK_", "PYSPARK_")
    kept = {name: value for name, value in environ.items() if not name.startswith(ours)}
    # Every connection stays on this machine; a proxy could not reach it.
    local = "127.0.0.1,localhost"
    for name in ("NO_PROXY", "no_proxy"):
        kept[name] = f"{kept[name]},{local}" if kept.get(name) else local
    return kept | {"PYTHONUNBUFFERED": "1"}


def log_tail(path: Path, lines: int = 15) -> str:
    """Last lines of a log."""
    try:
        return "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
    except OSError:
        return f"(no {path})"
