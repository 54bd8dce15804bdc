"""Prints a plan on a terminal: the text of `present/change/text.py` with colours."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from kstreams_runbooks.present.change.blocks import Block, blocks, covered
from kstreams_runbooks.present.change.headline import headline, notes
from kstreams_runbooks.present.change.sections import sections
from kstreams_runbooks.present.change.text import source_lines

_VERDICT = {"proceed": "bold yellow", "refuse": "bold red", "inconclusive": "bold yellow"}
_SEVERITY = {"danger": "red", "warning": "yellow", "info": "dim"}
_MARGIN = 10


def show(plan: Mapping[str, Any], console: Console) -> None:
    """Print a plan; everything is text, never markup: names come from files."""
    title = headline(plan)
    safe, danger = title.startswith("SAFE"), "(danger: " in title
    style = "bold green" if safe else "bold red" if danger else _VERDICT[plan["verdict"]]
    console.print(Text(title, style=style))
    for reason in notes(plan):
        _line(console, Text(reason))
    if found := list(blocks(plan)):
        console.print()
        console.print(Text("findings", style="bold"))
    for block in found:
        _block(console, block)
    if more := covered(plan):
        _line(console, Text(more, style="dim"))
    for title, lines in (*sections(plan), ("sources", source_lines(plan))):
        if lines:
            console.print()
            console.print(Text(title, style="bold"))
        for line in lines:
            _line(console, Text(line, style="dim" if title == "sources" else ""))


def _block(console: Console, block: Block) -> None:
    style = _SEVERITY[block.severity]
    first = Text(f"{block.severity:8}", style=style)
    first.append(block.rule, style="dim" if block.severity == "info" else "bold")
    first.append(f" [{block.numbers}]", style="dim")
    _line(console, first)
    for part in block.parts:
        _line(console, Text(part.says, style="dim" if block.severity == "info" else ""), _MARGIN)
        for one in part.objects:
            _line(console, Text(f"- {one}"), _MARGIN)
        if part.data:
            _line(console, Text(f"{part.data}.", style=style), _MARGIN)


def _line(console: Console, text: Text, left: int = 2) -> None:
    console.print(Padding(text, (0, 0, 0, left), expand=False))
