"""The plan of a run of `plan_change`, from the document that the ledger keeps: the same in logs and in evidence."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from kstreams_runbooks.model.times import utc_minute
from kstreams_runbooks.present.change.text import WIDEST, as_markdown, as_text
from kstreams_runbooks.wording import LONGEST_SENTENCE, markdown


def kept_lines(stored: Mapping[str, Any] | None, digest: str | None, width: int = WIDEST) -> list[str]:
    """The plan as lines, what it leaves out, and its digest; empty for another document or one of another format."""
    if not _is_change(stored):
        return []
    try:
        return [*as_text(stored, width).splitlines(), *_after(stored, digest)]
    except (KeyError, TypeError):
        return []


def kept_markdown(stored: Mapping[str, Any] | None, digest: str | None) -> list[str]:
    """The same as Markdown: its headings are one level below that of a part."""
    if not _is_change(stored):
        return []
    try:
        text, rest = as_markdown(stored).splitlines(), list(_after(stored, digest))
    except (KeyError, TypeError):
        return []
    below = (f"#{line}" if line.startswith("#") else line for line in text)
    return [*below, "", *(f"- {markdown(line, LONGEST_SENTENCE)}" for line in rest)]


def _is_change(stored: Mapping[str, Any] | None) -> TypeGuard[Mapping[str, Any]]:
    """Whether a stored plan is that of `plan_change`: other runbooks keep an encoded `Plan`."""
    return stored is not None and "choices" in stored


def _after(stored: Mapping[str, Any], digest: str | None) -> Iterator[str]:
    """What only a run knows: how far back the inputs reach, and the runbooks that would refuse."""
    if (reach := stored["costs"]["inputs_reach_back_to_ms"]) is not None:
        yield f"inputs reach back to {utc_minute(reach)}"
    yield from stored["choices"]["left_out"]
    yield f"plan {digest}"
