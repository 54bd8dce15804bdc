"""A plan as text and as Markdown, from its document: the answer, its findings, what to do, the sources."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final

from kstreams_runbooks.present.change.blocks import Block, blocks, covered, sources
from kstreams_runbooks.present.change.headline import headline, notes
from kstreams_runbooks.present.change.sections import DECLARE_IT, RUN_IT, Section, sections
from kstreams_runbooks.wording import LONGEST_SENTENCE, cell, code, fitted, markdown, sentence

WIDEST: Final = 110
_MARGIN = 10
# Sections of commands, which stay whole for pasting.
COMMANDS: Final = frozenset({RUN_IT, DECLARE_IT})
_PROGRAM = "kstreams-runbooks "


def as_text(plan: Mapping[str, Any], width: int = WIDEST) -> str:
    """The answer, the findings from the worst, what to declare or to do, and the sources once at the end.

    In lines of at most `width` characters; a command stays whole.
    """
    # A pipe gets headlines as one line.
    narrow = None if width == WIDEST else width
    lines = [fitted(headline(plan), narrow), *(line for reason in notes(plan) for line in wrapped(reason, width=width))]
    if found := [line for block in blocks(plan) for line in block_lines(block, width)]:
        lines += ["", "findings", *found]
    lines += wrapped(covered(plan), width=width)
    for section in (*sections(plan), Section("sources", source_lines(plan))):
        if section.lines:
            lines += ["", fitted(section.title, narrow)]
            lines += section_lines(section, width)
    return "\n".join(lines)


def as_markdown(plan: Mapping[str, Any]) -> str:
    """The same as Markdown for a review: a table of findings and numbered steps."""
    return "\n".join(_markdown(plan)) + "\n"


def section_lines(section: Section, width: int) -> Iterator[str]:
    """The lines of a section below its title; one of commands has whole ones."""
    for line in section.lines:
        yield from [f"  {line}"] if section.title in COMMANDS else wrapped(line, width=width)


def block_lines(block: Block, width: int) -> Iterator[str]:
    """A block as text: its sentence, its objects, and its meaning for the data."""
    for number, part in enumerate(block.parts):
        first = f"{block.severity:8}{block.rule}: {part.says} [{block.numbers}]"
        yield from wrapped(f"also {part.says}", _MARGIN, width) if number else wrapped(first, width=width)
        for one in part.objects:
            yield from wrapped(f"- {one}", _MARGIN, width)
        if part.data:
            yield from wrapped(f"{part.data}.", _MARGIN, width)


def source_lines(plan: Mapping[str, Any]) -> list[str]:
    """Every source once, by the number that the findings have."""
    return [f"[{number}] {sentence(source)}" for number, source in enumerate(sources(plan), 1)]


def wrapped(text: str, indent: int = 2, width: int = WIDEST) -> list[str]:
    """Lines of a text; a continuation is also indented by the width of its start: a severity, a number or nothing."""
    head = text.split(" ", 1)[0]
    severity = 8 if head in {"danger", "warning", "info"} else 0
    hanging = severity or (3 if head.rstrip(".").isdigit() else 4 if head.startswith("[") else 2)
    return textwrap.wrap(
        text,
        width,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + (hanging if indent < _MARGIN or head == "-" else 0)),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _markdown(plan: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"## {_whole(headline(plan))}", "")
    yield from (f"- {_whole(reason)}" for reason in notes(plan))
    yield from (
        "",
        "### Findings",
        "",
        "| severity | rule | finding | for the data | source |",
        "|---|---|---|---|---|",
    )
    for block in blocks(plan):
        finding = "; ".join(one for part in block.parts for one in (part.says, *part.objects))
        words = (cell(finding, LONGEST_SENTENCE), cell("; ".join(part.data for part in block.parts if part.data)))
        yield f"| {' | '.join((block.severity, code(block.rule), *words, block.numbers))} |"
    for title, lines in sections(plan):
        yield from _part(title, lines)
    yield from _part("sources", [f"{number}. {source}" for number, source in enumerate(sources(plan), 1)])


def _part(title: str, lines: list[str]) -> Iterator[str]:
    numbered = bool(lines) and lines[0].startswith("1. ")
    if lines:
        yield from ("", f"### {title[0].upper()}{title[1:]}", "")
    yield from (_numbered(line) if numbered and line[0].isdigit() else f"- {_item(title, line)}" for line in lines)


def _numbered(line: str) -> str:
    number, _, step = line.partition(" ")
    return f"{number} {_whole(step)}"


def _item(title: str, line: str) -> str:
    """A line as Markdown: a command is code, everything else text."""
    return code(line, LONGEST_SENTENCE) if title in COMMANDS and line.startswith(_PROGRAM) else _whole(line)


def _whole(text: str) -> str:
    return markdown(text, LONGEST_SENTENCE)
