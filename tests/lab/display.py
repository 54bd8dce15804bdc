"""Shows the steps of a run as they proceed, and the result as tables. On a pipe, plain lines."""

import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

_STYLES = {"success": "green", "failed": "red", "upstream_failed": "red", "running": "cyan", "deferred": "cyan"}
_WORDS = {
    None: "",
    "none": "",
    "success": "done",
    "awaiting_input": "asks",
    "deferred": "waits at its gate",
    "upstream_failed": "not reached",
}
_LINE_EVERY_S = 10
_LINE_LENGTH = 240
# Of a pipe, which has no width.
_COLUMNS = 120
# States in which a person reads the whole verdict; of the others one line is enough.
_OPEN = frozenset({"running", "deferred", "awaiting_input", "failed"})
_FAULTS = ("missing", "extra", "duplicate", "out_of_order")
_NUMBERS = ("inputs_seen", "expected", "seen")
_NO_OUTCOME = "`conclude` left none; read its log in Airflow"


class Display:
    """Progress on stderr: live on a terminal, one line per change elsewhere."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._began = time.monotonic()
        self._said: dict[str, tuple[str, str, float]] = {}
        self._live: Live | None = None

    def say(self, line: str) -> None:
        """Print one line that stays."""
        line = f"{time.monotonic() - self._began:6.1f} s  {line}"
        if self._console.is_terminal:
            (self._live.console if self._live else self._console).print(Text(line), soft_wrap=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def steps(self, tasks: Mapping[str, Mapping[str, Any]], lines: Mapping[str, str]) -> None:
        """Show the steps; `lines` has the last line of each one's log."""
        if not self._console.is_terminal:
            self._changes(tasks, lines)
            return
        if self._live is None:
            self._live = Live(console=self._console, refresh_per_second=4)
            self._live.start()
        self._live.update(Group(_steps_table(tasks, lines)))

    def close(self) -> None:
        """Leave the last picture on the screen."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _changes(self, tasks: Mapping[str, Mapping[str, Any]], lines: Mapping[str, str]) -> None:
        """A new state always gets a line, a new sentence in the same state only now and then."""
        for name, task in tasks.items():
            if task["state"] in {None, "none", "scheduled", "queued"}:
                continue
            word, line, now = _word(task["state"]), lines.get(name, ""), time.monotonic()
            before, said, at = self._said.get(name, ("", "", 0.0))
            if word != before or (line != said and now - at >= _LINE_EVERY_S):
                self._said[name] = (word, line, now)
                self.say(_short(f"{name}: {word}" + (f": {line}" if line else "")))


def _steps_table(tasks: Mapping[str, Mapping[str, Any]], lines: Mapping[str, str]) -> Table:
    """The steps; on a narrow terminal only the verdict gives way. Every cell is text: logs have brackets."""
    table = Table(box=None, pad_edge=False)
    table.add_column("step", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("s", justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    for name, task in tasks.items():
        style = _STYLES.get(str(task["state"]), "yellow" if task["state"] == "awaiting_input" else "dim")
        is_open = task["state"] in _OPEN
        verdict = Text(lines.get(name, ""), no_wrap=not is_open, overflow="fold" if is_open else "ellipsis")
        table.add_row(Text(name), Text(_word(task["state"]), style), Text(elapsed(task)), verdict)
    return table


def _short(line: str) -> str:
    return line if len(line) <= _LINE_LENGTH else f"{line[: _LINE_LENGTH - 1]}…"


def _word(state: str | None) -> str:
    return _WORDS.get(state, str(state).replace("_", " "))


def elapsed(task: Mapping[str, Any]) -> str:
    """Seconds that a step has taken so far; empty before it starts."""
    if not task.get("start_date"):
        return ""
    start = datetime.fromisoformat(task["start_date"])
    end = datetime.fromisoformat(task["end_date"]) if task.get("end_date") else datetime.now(start.tzinfo)
    return f"{(end - start).total_seconds():.0f}"


def show(document: Mapping[str, Any], console: Console | None = None) -> None:
    """The result as tables on stdout, at most as wide as the terminal; a failed run with its outcome."""
    console = console or Console(file=sys.stdout, width=None if sys.stdout.isatty() else _COLUMNS)
    restarts = (_restarts(document),) if document["bounces"] else ()
    internal = map(_internal, document["internal_topics"])
    for table in (_outputs(document), *internal, *restarts, _instances(document)):
        console.print(table)
        console.print()
    run = document["run"]
    held = f", inputs held for {_seconds(document['held_seconds'])}" if document["held_seconds"] is not None else ""
    faults = ", ".join(f"{document[name]} {name.replace('_', ' ')}" for name in ("missing", "extra", "duplicate"))
    bounces = f"{document['bounces']} bounce{'s' if document['bounces'] != 1 else ''}"
    lines = [
        f"{run['dag_id']}: run {run['state']}, {bounces}{held},"
        f" longest silence {_seconds(document['silence_seconds'])}, {document['inputs_seen']:,} inputs: {faults}"
        f" — the judge's verdict: {document['verdict']}"
    ]
    if downstream := document["downstream"]:
        lines.append(
            f"{downstream['group']} read {downstream['read']:,} of {downstream['sent']:,} results from "
            f"{', '.join(downstream['topics'])}: {downstream['missing']} missing, {downstream['doubled']} doubled"
        )
    if run["state"] != "success":
        lines.append(f"{str(run.get('outcome') or 'no outcome').upper()}: {run.get('sentence') or _NO_OUTCOME}")
    for line in lines:
        # Words stay whole where a terminal would cut them; a pipe gets the line as it is.
        console.print(Text(line), soft_wrap=not console.is_terminal)


def _table(title: str, heads: Sequence[str], numbers: Sequence[str] = (), last: Sequence[str] = ()) -> Table:
    """A table without a frame, which costs three characters a column; only `last` gives way."""
    table = Table(title=Text(title, "bold"), title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in heads:
        table.add_column(Text(name, "underline"), no_wrap=True)
    for name in numbers:
        table.add_column(Text(name, "underline"), justify="right")
    for name in last:
        table.add_column(Text(name, "underline"), overflow="fold")
    return table


def _outputs(document: Mapping[str, Any]) -> Table:
    table = _table(
        "Outputs, judged from the topics alone", ("topic", "verdict"), ("inputs", "expected", "seen"), ("faults",)
    )
    for output in document["judge"]["outputs"]:
        found = [f"{output[name]:,} {name.replace('_', ' ')}" for name in _FAULTS if output[name]]
        cells = (output["topic"], output["verdict"], *(_number(output[name]) for name in _NUMBERS))
        table.add_row(*map(Text, cells), Text("\n".join(found) or "none"))
    return table


def _internal(found: Mapping[str, Any]) -> Table:
    verdict = "as expected" if found["ok"] else "NOT as expected"
    title = f"Internal topics of {found['application_id']} (expected: {found['expected']}; {verdict})"
    table = _table(title, (), (), ("topic", "id before", "id after"))
    for one in found["topics"]:
        table.add_row(*(Text(one[cell] or "absent") for cell in ("name", "id_before", "id_after")))
    return table


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _restarts(document: Mapping[str, Any]) -> Table:
    right = ("gap in processing", "stop to gate", "slowest second of the bounce")
    table = _table("Each restart", ("bounce", "instance"), right)
    gaps = {(one["bounce"], one["instance"]): one["seconds"] for one in document["gaps"]}
    for bounce in document["per_bounce"]:
        for name, times in bounce["instances"].items():
            passed = times["gate_passed_at_ms"]
            cells = (
                str(bounce["number"]),
                name,
                _seconds(gaps.get((bounce["number"], name))),
                _seconds(None if passed is None else (passed - times["stopped_at_ms"]) / 1000),
                "not measured" if (least := bounce["records_per_second_min"]) is None else f"{least} inputs",
            )
            table.add_row(*map(Text, cells))
    return table


def _instances(document: Mapping[str, Any]) -> Table:
    table = _table("Each start, as its log prints it", ("instance", "Kafka Streams", "upgrade.from"))
    for name, seen in document["instances"].items():
        for start in seen["starts"]:
            table.add_row(*map(Text, (name, start["version"], start["upgrade_from"] or "none")))
    return table


def _seconds(value: float | None) -> str:
    return "not reached" if value is None else f"{value:.1f} s"
