"""Prints a plan on a terminal: the text of `present/change/text.py` with colours."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from kstreams_runbooks.present.change.blocks import Block, blocks, covered
from kstreams_runbooks.present.change.headline import headline, notes
from kstreams_runbooks.present.change.sections import Section, sections
from kstreams_runbooks.present.change.text import WIDEST, section_lines, source_lines, wrapped
from kstreams_runbooks.wording import fitted

_VERDICT = {"proceed": "bold yellow", "refuse": "bold red", "inconclusive": "bold yellow"}
_SEVERITY = {"danger": "red", "warning": "yellow", "info": "dim"}
_MARGIN = 10


def show(plan: Mapping[str, Any], console: Console) -> None:
    """Print a plan; everything is text, never markup: names come from files. A command stays whole for pasting."""
    width = min(WIDEST, console.width)
    title = headline(plan)
    safe, danger = title.startswith("SAFE"), "(danger: " in title
    style = "bold green" if safe else "bold red" if danger else _VERDICT[plan["verdict"]]
    _lines(console, fitted(title, width).splitlines(), style)
    for reason in notes(plan):
        _lines(console, wrapped(reason, width=width))
    if found := list(blocks(plan)):
        _title(console, "findings")
    for block in found:
        _block(console, block, width)
    _lines(console, wrapped(covered(plan), width=width), "dim")
    for section in (*sections(plan), Section("sources", source_lines(plan))):
        if section.lines:
            _title(console, fitted(section.title, width))
            _lines(console, section_lines(section, width), "dim" if section.title == "sources" else "")


def _block(console: Console, block: Block, width: int) -> None:
    style = _SEVERITY[block.severity]
    first = Text(f"  {block.severity:8}", style=style)
    first.append(block.rule, style="dim" if block.severity == "info" else "bold")
    first.append(f" [{block.numbers}]", style="dim")
    console.print(first, soft_wrap=True)
    for part in block.parts:
        _lines(console, wrapped(part.says, _MARGIN, width), "dim" if block.severity == "info" else "")
        for one in part.objects:
            _lines(console, wrapped(f"- {one}", _MARGIN, width))
        if part.data:
            _lines(console, wrapped(f"{part.data}.", _MARGIN, width), style)


def _title(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, style="bold"))


def _lines(console: Console, lines: Iterable[str], style: str = "") -> None:
    """Lines that are as wide as they should be: rich would break a command."""
    for line in lines:
        console.print(Text(line, style=style), soft_wrap=True)
