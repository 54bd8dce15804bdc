"""Shows that a wait for a run goes on: which task is at work, in which state and for how long."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kstreams_runbooks.decide.runs.commands import unpause_command
from kstreams_runbooks.decide.runs.go_on import INDENT

# As in the log of a task.
LINE_EVERY_S = 10.0
_IDLE = {None, "none", "success", "failed", "skipped", "upstream_failed", "removed"}

_AIRFLOW = "Airflow"


def at_work(tasks: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The tasks of a run that have begun and have not ended, by name."""
    return (name for name, task in tasks.items() if task["state"] not in _IDLE)


def paused_lines(dag_id: str) -> tuple[str, str]:
    """Why a run stays in the queue of a paused DAG, and the command that lets it begin."""
    return (
        f"{dag_id} is paused in Airflow: the run stays queued until it is not:",
        f"{INDENT}{unpause_command(dag_id)}",
    )


class Progress:
    """The lines of one wait: one at once when something else is at work, one each ten seconds while nothing changes."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._since: dict[str, float] = {}
        self._said_at = 0.0

    def show(self, doing: Mapping[str, str], more: Callable[[], Sequence[str]] = tuple) -> None:
        """Show what is at work, by its name, and its state, if a line is due; then the lines of `more`."""
        if not self._is_due(doing):
            return
        now = time.monotonic()
        self._say("; ".join(f"{name}: {state}, {now - self._since[name]:.0f} s" for name, state in doing.items()))
        for line in more():
            self._say(line)

    def away(self, error: Exception, limit_s: float) -> None:
        """Show that Airflow does not answer, if a line is due; it is waited for as long as the limit."""
        if self._is_due((_AIRFLOW,)):
            waited_s = time.monotonic() - self._since[_AIRFLOW]
            self._say(f"{error} (waiting for it{f', {waited_s:.0f} of {limit_s:.0f} s' if waited_s >= 1 else ''})")

    def _is_due(self, names: Iterable[str]) -> bool:
        now = time.monotonic()
        since = {name: self._since.get(name, now) for name in names}
        changed, self._since = since.keys() != self._since.keys(), since
        if not changed and now - self._said_at < LINE_EVERY_S:
            return False
        self._said_at = now
        return True
