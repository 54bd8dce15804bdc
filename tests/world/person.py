"""The person behind a manual deployer, for the orders application under supervisord."""

import re
import time

from kstreams_runbooks.properties import dump, write_atomically
from lab.stack import Stack

from world.runs import dag_of

_ASKED = re.compile(
    r"PLEASE set (?P<instance>\S+) to release (?P<release>\S+) \(\S+\) (?:with (?P<settings>\S.*) and )?"
    r"without (?:other )?settings of runbooks"
)
# A start is told from the write before it by their times.
_TELL_APART_S = 0.2


class Person:
    """Does what a bounce asks for, once each, as soon as the log says it; `idle` and nothing happens."""

    def __init__(self, stack: Stack, run_id: str) -> None:
        self._stack = stack
        self._run_id = run_id
        self.done: list[str] = []
        self.idle = False

    def __call__(self) -> None:
        """Look at what waits, and do what is asked for."""
        if self.idle:
            return
        for task_id, task in self._stack.api().tasks(dag_of(self._run_id), self._run_id).items():
            if task_id.startswith(("bounce_", "undo")) and task["state"] == "deferred":
                lines = self._stack.api().log(dag_of(self._run_id), self._run_id, task_id, task["try_number"])
                for line in lines:
                    if "PLEASE set" in line and f"{task_id} {line}" not in self.done:
                        self.done.append(f"{task_id} {line}")
                        self._does(line)

    def _does(self, line: str) -> None:
        found = _ASKED.search(line)
        assert found, line
        name, settings = found["instance"], found["settings"]
        pairs = settings.split(", ") if settings else []
        values = {"release": found["release"], **dict(pair.split("=", 1) for pair in pairs)}
        self._stack.supervisor.stop(name)
        write_atomically(self._stack.lab.instances / name / "deployment.properties", dump(values))
        time.sleep(_TELL_APART_S)
        self._stack.supervisor.start(name)
