"""The containers of docker-compose.yaml while a test uses them: Airflow over its API, all else by `exec`."""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kstreams_runbooks.errors import Refused
from kstreams_runbooks.fleet.deployers.docker import BEFORE, NEXT
from kstreams_runbooks.terminal.airflow.login import Login
from lab.airflow import APPROVER, REQUESTER, Airflow
from lab.compose import Compose
from lab.follow import follow
from lab.supervise import until

_DRAINED_S = 180
_EXITED_S = 60
_PASSWORDS = {"admin": "ADMIN_PASSWORD", REQUESTER: "ONCALL_PASSWORD", APPROVER: "APPROVER_PASSWORD"}


def say(line: str) -> None:
    """A line of progress, past pytest's capture."""
    print(line, file=sys.__stderr__, flush=True)


class Composed:
    """A project that is up; `api` is a client of its engine, `seconds` what each part took."""

    def __init__(self, compose: Compose, api: Any) -> None:
        self.compose, self.api = compose, api
        self.seconds: dict[str, float] = {}

    def timed(self, what: str, work: Callable[[], None]) -> None:
        """Do it, and keep how long it took."""
        began = time.monotonic()
        work()
        self.seconds[what] = round(time.monotonic() - began, 1)
        say(f"{what}: {self.seconds[what]} s")

    def airflow(self, login: str = "admin") -> Airflow:
        """Airflow's API as one of its logins."""
        drawn = self.compose.variables()
        return Airflow(f"http://127.0.0.1:{drawn['AIRFLOW_PORT']}", Login(login, drawn[_PASSWORDS[login]]))

    def container(self, service: str) -> dict[str, Any]:
        """`docker inspect` of the container of a service; those of a change (NAME.next) have its labels too."""
        found = [
            one["Id"]
            for one in self.compose.engine.containers(self.compose.project)
            if one["Labels"]["com.docker.compose.service"] == service and not one["Names"][0].endswith((NEXT, BEFORE))
        ]
        assert len(found) == 1, f"{service}: {found}"
        return dict(self.api.inspect_container(found[0]))

    def run(self, dag_id: str, run_id: str, **form: Any) -> str:
        """Trigger a run as the one on call, approve it as another login; the state in which it ends."""
        conf = {"application": "orders", "dry_run": False, "reason": "across containers", **form}
        self.airflow(REQUESTER).trigger(dag_id, conf, run_id)
        return self.follow(dag_id, run_id)

    def follow(self, dag_id: str, run_id: str) -> str:
        """The state in which a run ends whose questions are approved."""
        return follow(self.airflow(), dag_id, run_id, approver=self.airflow(APPROVER), watch=_Said())

    def command(self, *arguments: str) -> dict[str, Any]:
        """JSON that a command prints in the worker's container."""
        words = ("exec", "-T", "worker", "kstreams-runbooks", *arguments, "--format", "json")
        printed = self.compose.run(*words, capture=True, check=False)
        assert printed.startswith("{"), f"{' '.join(words)}: {printed or 'nothing on stdout'}"
        found: dict[str, Any] = json.loads(printed)
        return found

    def outcome(self, run_id: str) -> tuple[str, str]:
        """The outcome of a run in the ledger, and its sentence."""
        run = self.command("evidence", run_id)["run"]
        return run["outcome"], run["outcome_sentence"]

    def judged(self) -> dict[str, Any]:
        """Stop the traffic, let the application read everything, judge."""
        self.compose.run("stop", "traffic")

        def drained() -> bool:
            words = ("exec", "-T", "worker", "kstreams-runbooks", "lag", "orders", "--exact")
            try:
                self.compose.run(*words, capture=True)
            except Refused:
                return False
            return True

        until(drained, _DRAINED_S, "everything is read", poll_s=1)
        return self.command("verify-traffic", "--bootstrap", "broker:9092")

    def places_of_secrets(self) -> dict[str, str]:
        """The text of every place where a secret may show, by what it is."""
        found: dict[str, str] = {}
        for one in self.compose.engine.containers(self.compose.project):
            name = one["Labels"]["com.docker.compose.service"]
            found[f"log of {name}"] = self.api.logs(one["Id"]).decode("utf-8", "replace")
            if one["State"] == "running":
                found[f"arguments of {name}"] = str(self.api.top(one["Id"], ps_args="-eo pid,args")["Processes"])
        logs = ("exec", "-T", "worker", "sh", "-c", "find ~/airflow/logs -type f -exec cat {} +")
        found["task logs"] = self.compose.run(*logs, capture=True)
        for database in ("airflow", "ledger"):
            socket = "/tmp"  # noqa: S108 - of the container
            dump = ("exec", "-T", "postgresql", "pg_dump", "-h", socket, "-U", "runbooks", database)
            found[f"database {database}"] = self.compose.run(*dump, capture=True)
        return found

    @contextmanager
    def worker_dies_with(self, instance: str) -> Iterator[None]:
        """While the body runs, the worker's container is killed as soon as the engine asks the instance to stop."""
        worker, watched = self.container("worker")["Id"], self.container(instance)["Id"]
        asked = self.api.events(filters={"container": watched, "event": "kill"}, decode=True)
        struck = threading.Event()

        def strike() -> None:
            for _ in asked:
                self.api.kill(worker)
                struck.set()
                return

        thread = threading.Thread(target=strike, daemon=True)
        thread.start()
        try:
            yield
            assert struck.is_set(), f"{instance} was never asked to stop"
        finally:
            asked.close()
            thread.join(10)

    def wait_ended(self, service: str) -> None:
        """Return when the container of a service has ended."""

        def ended() -> bool:
            return bool(self.container(service)["State"]["Status"] == "exited")

        until(ended, _EXITED_S, f"{service} has ended")


class _Said:
    """Prints what a run does."""

    def __init__(self) -> None:
        self._states: dict[str, str] = {}

    def say(self, line: str) -> None:
        """One line of progress."""
        say(f"  {line}")

    def steps(self, tasks: Any, lines: Any) -> None:
        """Each task that has changed its state."""
        for name, task in tasks.items():
            if (state := str(task["state"])) != self._states.get(name):
                self._states[name] = state
                say(f"  {name}: {state} {lines.get(name, '')}")
