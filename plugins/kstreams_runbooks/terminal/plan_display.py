"""Prints a plan on a terminal: the text of `present/change_text.py`, with a table of findings and colours."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kstreams_runbooks.present.change_text import headline, infos, notes, sections, uncovered
from kstreams_runbooks.wording import sentence

_VERDICT = {"proceed": "bold green", "refuse": "bold red", "inconclusive": "bold yellow"}
_SEVERITY = {"danger": "red", "warning": "yellow", "info": "dim"}


def show(plan: Mapping[str, Any], console: Console) -> None:
    """Print a plan; everything is text, never markup: names come from files."""
    console.print(Text(headline(plan), style=_VERDICT[plan["verdict"]]))
    for reason in notes(plan):
        console.print(Padding(Text(reason), (0, 0, 0, 2), expand=False))
    happening, *rest = sections(plan)
    _section(console, happening.title, happening.lines)
    if worse := [one for one in uncovered(plan) if one["severity"] != "info"]:
        table = Table("", "rule", "object", "what follows", "runbook", show_lines=True, expand=False)
        for one in worse:
            severity = Text(one["severity"], style=_SEVERITY[one["severity"]])
            table.add_row(
                severity, *(Text(sentence(one[name] or "")) for name in ("id", "object", "message", "runbook"))
            )
        console.print()
        console.print(table)
    for line in infos(plan):
        console.print(Text(f"  {line}", style=_SEVERITY["info"]))
    for title, lines in rest:
        _section(console, title, lines)


def _section(console: Console, title: str, lines: list[str]) -> None:
    if lines:
        console.print()
        console.print(Text(title, style="bold"))
        for line in lines:
            console.print(Padding(Text(line), (0, 0, 0, 2), expand=False))
