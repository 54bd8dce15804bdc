"""Stops a stack and nothing else: its processes are those of its supervisord's session, independent of their names."""

import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from kstreams_runbooks.errors import BadInput, Unreachable

from lab.settings import Lab, Ports
from lab.supervise import Supervisor, until

# Longest stopwaitsecs of a program, plus supervisord's own time.
_SHUTDOWN_S = 100
_TERM_S = 10
# Marks the files next to it as written by a stack.
_MARKER = ".kstreams-runbooks-demo"
_OURS = (
    "airflow",
    "broker",
    "broker-2",
    "broker-3",
    "instances",
    "logs",
    "env",
    "ledger.db",
    "ledger.db-shm",
    "ledger.db-wal",
    "supervisord.conf",
    "supervisord.pid",
    "notifications.jsonl",
    "result.json",
    "started.json",
    "dags",
)


@dataclass(frozen=True)
class Started:
    """The started stack: supervisord's process id, which is its session's id too, and when, in seconds since 1970."""

    session: int
    at: float
    port_base: int

    def write(self, path: Path) -> None:
        """Keep it for the process that stops the stack."""
        path.write_text(json.dumps(self.__dict__), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Started | None":
        """The kept values; None if there are none, or if they are unreadable."""
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def listening(self) -> dict[str, str]:
        """Every address that one of its processes listens at, with the process's command."""
        found: dict[str, str] = {}
        for process in self.processes():
            # A process that has ended since the listing does not listen.
            with suppress(psutil.NoSuchProcess):
                command, sockets = " ".join(process.cmdline()), process.net_connections("inet")
                found |= {
                    f"{one.laddr.ip}:{one.laddr.port}": command for one in sockets if one.status == psutil.CONN_LISTEN
                }
        return found

    def processes(self) -> list[psutil.Process]:
        """Every living process of the session, and those that one of them started and that left it."""
        found: dict[int, psutil.Process] = {}
        for process in psutil.process_iter():
            try:
                if os.getsid(process.pid) == self.session and process.create_time() >= self.at - 1:
                    found |= {one.pid: one for one in (process, *process.children(recursive=True))}
            except (OSError, psutil.Error):
                continue
        return [process for process in found.values() if _lives(process)]


def stop(lab: Lab) -> bool:
    """Stop the stack of this run directory; False if none is up. Unreachable if a process stays."""
    started = Started.read(lab.started_file)
    if started is None:
        return False
    known = started.processes()
    was_up = bool(known)
    supervisor = Supervisor(Lab(lab.run_dir, Ports(started.port_base), lab.checkout))
    if any(process.pid == started.session for process in known) and supervisor.answers():
        supervisor.shutdown()
        with suppress(Unreachable):
            until(lambda: not _lives_pid(started.session), _SHUTDOWN_S, "supervisord has ended")
    # The remaining processes lost their parent before, for example to a SIGKILL.
    left = [process for process in {*known, *started.processes()} if _lives(process)]
    for process in left:
        _quietly(process.terminate)
    _, left = psutil.wait_procs(left, timeout=_TERM_S)
    for process in left:
        _quietly(process.kill)
    _, left = psutil.wait_procs(left, timeout=_TERM_S)
    if left:
        raise Unreachable(f"still there after SIGKILL: {', '.join(str(process.pid) for process in left)}")
    lab.environment_file.unlink(missing_ok=True)
    lab.started_file.unlink(missing_ok=True)
    return was_up


def clear(lab: Lab) -> None:
    """Delete the files of an earlier stack in the run directory, and only those that a stack writes.

    BadInput if a file has one of these names and no stack wrote it: it may be a user's own.
    """
    lab.run_dir.mkdir(parents=True, exist_ok=True)
    # Only the owner may read logs, passwords and the application's data.
    lab.run_dir.chmod(0o700)
    marker = lab.run_dir / _MARKER
    foreign = [name for name in _OURS if (lab.run_dir / name).exists()]
    if foreign and not marker.exists():
        raise BadInput(
            f"RUN_DIR={lab.run_dir}: holds {', '.join(foreign)}, which no demo wrote and a demo would delete; set "
            "RUN_DIR to a folder of its own"
        )
    marker.write_text("made by make demo; the next one deletes the content\n", encoding="utf-8")
    for name in _OURS:
        path = lab.run_dir / name
        if path.is_dir():
            _delete(path)
        else:
            path.unlink(missing_ok=True)


def _delete(path: Path) -> None:
    # A JVM that has just ended may still delete a file meanwhile.
    for _ in range(3):
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return
        time.sleep(0.2)
    shutil.rmtree(path)


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _lives_pid(pid: int) -> bool:
    try:
        return _lives(psutil.Process(pid))
    except psutil.Error:
        return False


def _quietly(action: Callable[[], None]) -> None:
    with suppress(psutil.Error):
        action()
