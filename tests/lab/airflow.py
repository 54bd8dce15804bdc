"""Airflow's four components: their environment, their start, and a person's actions in the UI, over REST."""

import json
import os
import secrets
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
from kstreams_runbooks.decide.runs.answers import meant
from kstreams_runbooks.errors import BadInput, Refused, Unreachable
from kstreams_runbooks.fleet.notifications import NOTE_CONNECTION
from kstreams_runbooks.terminal.airflow.client import AirflowApi
from kstreams_runbooks.terminal.airflow.login import PASSWORD, URL, USER, Login

from lab.settings import Lab
from lab.supervise import Program, Supervisor, Waiting, log_tail, unheard, until

COMPONENTS = ("airflow-api-server", "airflow-scheduler", "airflow-dag-processor", "airflow-triggerer")

SECOND_SCHEDULER = "airflow-scheduler-2"
_SECOND = {SECOND_SCHEDULER: "airflow-scheduler"}

# Writes the notes of runs, as docs/security.md describes its rights.
NOTES = "runbook_notes"
# name: role; each stack draws its own passwords
LOGINS = {
    "admin": "admin",
    "oncall": "op",
    "approver": "op",
    "other_approver": "op",
    "viewer": "viewer",
    NOTES: "user",
}
_PASSWORD_BYTES = 12
_LOCAL_SETTINGS = "from kstreams_runbooks.local_settings import task_instance_mutation_hook  # noqa: F401\n"

_WITHOUT_LOG_SERVER = dict.fromkeys(("airflow-scheduler", "airflow-triggerer"), ("--skip-serve-logs",))

REQUESTER, APPROVER = "oncall", "approver"
# May approve for applications of another team alone.
OTHER_APPROVER = "other_approver"

MIGRATE_S = 300
_HEALTHY_S = 300
_PARSED_S = 120
_CALL_S = 60.0
_FINISHED = frozenset({"success", "failed"})
# Levels that Airflow's page of a log shows in colour.
_LOUD = frozenset({"warning", "error", "critical"})
_PARTS = ("metadatabase", "scheduler", "dag_processor", "triggerer")


def draw_passwords(lab: Lab) -> None:
    """Draw a password for each login and keep them where Airflow reads them; only the owner may read the file."""
    lab.airflow_home.mkdir(mode=0o700, parents=True, exist_ok=True)
    drawn = {name: secrets.token_urlsafe(_PASSWORD_BYTES) for name in LOGINS}
    descriptor = os.open(_passwords_file(lab), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(drawn, file)


def passwords(lab: Lab) -> dict[str, str]:
    """Each login's password; BadInput if no stack with Airflow is up."""
    try:
        drawn: dict[str, str] = json.loads(_passwords_file(lab).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"{_passwords_file(lab)}: does not exist; start the demo first") from None
    return drawn


def _passwords_file(lab: Lab) -> Path:
    return lab.airflow_home / "passwords.json"


def environment(lab: Lab) -> dict[str, str]:
    """Airflow's settings, secrets included; a name in capitals after AIRFLOW__ is section and key of airflow.cfg."""
    home, ports = lab.airflow_home, lab.ports
    settings = {
        "api__base_url": lab.airflow_url,
        "api__host": "127.0.0.1",
        "api__port": str(ports.api),
        "api__secret_key": secrets.token_hex(16),
        "api__workers": "1",
        "api_auth__jwt_secret": secrets.token_hex(32),
        "core__auth_manager": "airflow.api_fastapi.auth.managers.simple.simple_auth_manager.SimpleAuthManager",
        "core__dags_are_paused_at_creation": "False",
        "core__dags_folder": str(lab.dags),
        "core__execution_api_server_url": f"{lab.airflow_url}/execution/",
        "core__executor": "LocalExecutor",
        "core__load_examples": "False",
        "core__parallelism": "4",
        "core__plugins_folder": str(lab.checkout / "plugins"),
        "core__simple_auth_manager_passwords_file": str(_passwords_file(lab)),
        "core__simple_auth_manager_users": ",".join(f"{name}:{role}" for name, role in LOGINS.items()),
        "dag_processor__refresh_interval": "10",
        "database__sql_alchemy_conn": lab.metadata or f"sqlite:///{home / 'airflow.db'}",
        "logging__base_log_folder": str(home / "logs"),
        "logging__colored_console_log": "False",
        # How long a task that could start waits for the scheduler's next pass.
        "scheduler__scheduler_idle_sleep_time": "0.2",
        "usage_data_collection__enabled": "False",
        # How late Airflow may notice that a task's process has ended. If a task defers itself (a question, a gate)
        # and resumes before that, the scheduler fails it: "finished with state success, but the task instance's
        # state attribute is running".
        "workers__min_heartbeat_interval": "1",
        # More processes run here than two cores can serve at once: a late answer is not a lost one.
        "workers__execution_api_timeout": "30",
    }
    if lab.metadata:
        # The same driver: Airflow would look for another one.
        settings["database__sql_alchemy_conn_async"] = lab.metadata
        # A scheduler that is gone is found, and its tasks are taken over, in seconds: after minutes by default.
        settings["scheduler__scheduler_health_check_threshold"] = "15"
        settings["scheduler__orphaned_tasks_check_interval"] = "10"
    # With this the terminal commands find Airflow, as the person who may trigger.
    ours = {URL: lab.airflow_url, USER: REQUESTER, PASSWORD: passwords(lab)[REQUESTER]}
    ours[f"AIRFLOW_CONN_{NOTE_CONNECTION.upper()}"] = json.dumps(
        {
            "conn_type": "http",
            "host": "127.0.0.1",
            "port": ports.api,
            "login": NOTES,
            "password": passwords(lab)[NOTES],
        }
    )
    return ours | {"AIRFLOW_HOME": str(home)} | {f"AIRFLOW__{name.upper()}": value for name, value in settings.items()}


def programs(lab: Lab, names: Sequence[str] = COMPONENTS) -> tuple[Program, ...]:
    """The four components under supervisord, and a second scheduler if it is among the names.

    The log servers of the scheduler and the triggerer bind every address, and Airflow 3.3 has no setting for it. They
    are not started: the API server is on the same machine and reads the files.
    """
    airflow = (str(lab.python), "-m", "airflow")
    return tuple(
        Program(name, (*airflow, what.removeprefix("airflow-"), *_WITHOUT_LOG_SERVER.get(what, ())), kill_group=True)
        for name, what in ((name, _SECOND.get(name, name)) for name in names)
    )


def prepare(lab: Lab, environ: Mapping[str, str]) -> None:
    """Create the database; starts nothing."""
    # Airflow looks for it in $AIRFLOW_HOME/config.
    local_settings = lab.airflow_home / "config" / "airflow_local_settings.py"
    local_settings.parent.mkdir(exist_ok=True)
    local_settings.write_text(_LOCAL_SETTINGS, encoding="utf-8")
    lab.dags.mkdir()
    for file in (lab.checkout / "dags").glob("*.py"):
        (lab.dags / file.name).symlink_to(file)
    lab.logs.mkdir(parents=True, exist_ok=True)
    log = lab.logs / "airflow-db.log"
    with log.open("w", encoding="utf-8") as out:
        code = subprocess.run(
            [str(lab.python), "-m", "airflow", "db", "migrate"],
            env=dict(environ),
            cwd=lab.airflow_home,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            timeout=MIGRATE_S,
            check=False,
        ).returncode
    if code:
        raise Unreachable(
            f"airflow db migrate failed (exit {code}); its last lines ({log}):", *log_tail(log).splitlines()
        )


def heard_end(lab: Lab, task_id: str, run_id: str) -> bool:
    """Whether the scheduler has registered the end of each process that it started for a task, by its own log.

    A question that is answered before that is lost: Airflow 3.3 fails its task ("finished with state success, but the
    task instance's state attribute is queued").
    """
    logs = [file.read_text(encoding="utf-8", errors="replace") for file in lab.logs.glob("airflow-scheduler*.log")]
    lines = [line for log in logs for line in log.splitlines() if run_id in line and task_id in line]
    started = sum(f".{task_id} {run_id} " in line for line in lines if "Trying to enqueue tasks" in line)
    key = f"task_id='{task_id}', run_id='{run_id}'"
    ended = sum(key in line for line in lines if "Received executor event" in line)
    return 0 < started <= ended


def wait_healthy(lab: Lab, supervisor: Supervisor, say: Callable[[str], None] = unheard) -> float:
    """Return when all four components report healthy; returns seconds. `say` counts them every five seconds."""
    said: dict[str, str] = {}
    waiting = Waiting(_HEALTHY_S, say)

    def healthy() -> bool:
        waiting.count(lambda: still_starting(lab.airflow_url, said))
        supervisor.require_running(*COMPONENTS)
        try:
            answer = httpx.get(f"{lab.airflow_url}/api/v2/monitor/health", timeout=_CALL_S, trust_env=False).json()
            said.update({part: str((answer.get(part) or {}).get("status")) for part in _PARTS})
            if any(said[part] != "healthy" for part in _PARTS):
                return False
            # The API for tasks is built at its first request, which takes seconds: a task must not make that request.
            return httpx.get(f"{lab.airflow_url}/execution/health", timeout=_CALL_S, trust_env=False).is_success
        except (httpx.HTTPError, ValueError):
            return False

    try:
        return until(healthy, _HEALTHY_S, "Airflow is healthy", poll_s=0.5)
    except Unreachable as error:
        raise Unreachable(f"{error} ({said or 'its API does not answer'}); read {lab.logs}/airflow-*.log") from None


def still_starting(url: str, said: Mapping[str, str]) -> str:
    """What Airflow still waits for, by what its health page reports; the address comes last."""
    if not said:
        return f"Airflow's API does not answer yet: {url}"
    late = ", ".join(f"{part.replace('_', ' ')} {word}" for part, word in said.items() if word != "healthy")
    return f"Airflow starts ({late or 'its API for tasks does not answer yet'}): {url}"


class Airflow(AirflowApi):
    """Airflow's API as one of its logins: the actions of the terminal commands, and of a person in the UI."""

    @classmethod
    def of(cls, lab: Lab, login: str = "admin") -> "Airflow":
        """The API of a stack."""
        return cls(lab.airflow_url, Login(login, passwords(lab)[login]))

    def answer(
        self, dag_id: str, run_id: str, task_id: str, option: str = "Approve", params: Mapping[str, Any] | None = None
    ) -> None:
        """Answer a question; Approve and Reject are the way on and the way to stop if it has other names for them."""
        path = f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}/-1/hitlDetails"
        options = tuple(self.call("GET", path)["options"])
        super().answer(dag_id, run_id, task_id, meant(option, options), params)

    def log(self, dag_id: str, run_id: str, task_id: str, try_number: int = 1) -> list[str]:
        """Lines of a task's log."""
        content = self._log(dag_id, run_id, task_id, try_number)
        return [str(line.get("event", line)) if isinstance(line, dict) else str(line) for line in content]

    def loud(self, dag_id: str, run_id: str, task_id: str, try_number: int = 1) -> list[str]:
        """Its warnings and errors: those that the page shows in colour."""
        content = self._log(dag_id, run_id, task_id, try_number)
        return [str(one["event"]) for one in content if isinstance(one, dict) and one.get("level") in _LOUD]

    def _log(self, dag_id: str, run_id: str, task_id: str, try_number: int) -> list[Any]:
        path = f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}/logs/{try_number}"
        return self.call("GET", path).get("content") or []

    def wait_for_dag(self, dag_id: str, limit_s: float = _PARSED_S, say: Callable[[str], None] = unheard) -> float:
        """Return when the DAG is known; Refused with its import error if it has one."""
        waiting = Waiting(limit_s, say)

        def known() -> bool:
            waiting.count(lambda: f"Airflow has not read {dag_id} yet: {self.url}")
            with suppress(BadInput):
                return bool(self.dag(dag_id))
            for error in self.call("GET", "/importErrors")["import_errors"]:
                if dag_id in str(error["filename"]):
                    raise Refused(f"DAG {dag_id} does not load: {error['stack_trace'].strip().splitlines()[-1]}")
            return False

        return until(known, limit_s, f"DAG {dag_id} is known", poll_s=0.5)

    def wait_finished(self, dag_id: str, run_id: str, limit_s: float) -> str:
        """Return the state in which a run ended."""
        state = ""

        def finished() -> bool:
            nonlocal state
            state = str(self.run(dag_id, run_id)["state"])
            return state in _FINISHED

        until(finished, limit_s, f"run {run_id} of {dag_id} ends", poll_s=0.3)
        return state
