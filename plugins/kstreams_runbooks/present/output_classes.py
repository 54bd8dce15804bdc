"""The classes of an application's outputs, as JSON, as text and as an exit code."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from kstreams_runbooks.decide.outputs.sides import words
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.model.output_classes import OutputClass
from kstreams_runbooks.wording import cell, sentence

SCHEMA_VERSION: Final = 1
_MODES = {"latest": "the last value of each key", "windows": "each window once"}


def exit_code(classes: Sequence[OutputClass]) -> int:
    """0 all are known, 1 a declaration contradicts the facts, 3 a class is not known."""
    if any(one.refused for one in classes):
        return Refused.exit_code
    return Inconclusive.exit_code if any(one.kind is None for one in classes) else 0


def document(application: str, classes: Sequence[OutputClass]) -> dict[str, Any]:
    """Every output with its class; `kind` is null if it is not known."""
    return {
        "schema_version": SCHEMA_VERSION,
        "application": application,
        "outputs": [{**asdict(one), "gates": one.gates} for one in classes],
    }


def as_text(application: str, classes: Sequence[OutputClass]) -> str:
    """One line an output, its reasons and what to declare below it."""
    return "\n".join(map(sentence, _lines(application, classes)))


def as_markdown(classes: Sequence[OutputClass]) -> str:
    """A table of the outputs."""
    rows = ["| output | class | compared | why |", "|---|---|---|---|"]
    for one in classes:
        cells = (one.topic, _kind(one), _compared(one), "; ".join(_why(one)))
        rows.append(f"| {' | '.join(map(cell, cells))} |")
    return "\n".join(rows) + "\n"


def _lines(application: str, classes: Sequence[OutputClass]) -> Iterator[str]:
    if not classes:
        yield f"{application}: its topology writes no output"
    for one in classes:
        yield f"{one.topic}: {_kind(one)}; compared: {_compared(one)}"
        yield from (f"  {why}" for why in _why(one))


def _kind(one: OutputClass) -> str:
    return f"not known, at least {words(one.at_least)}" if one.kind is None else words(one.kind)


def _compared(one: OutputClass) -> str:
    ignored = f", without {', '.join(one.ignore)}" if one.ignore else ""
    return f"{_MODES[one.compare]}{ignored}"


def _why(one: OutputClass) -> Iterator[str]:
    yield from (f"REFUSED {why}" for why in one.refused)
    yield from one.reasons
    if one.asked:
        yield f"declare {', '.join(one.asked)}"
