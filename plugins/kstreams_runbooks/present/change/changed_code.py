"""The code that a change touches, for a reviewer: methods by operator, subtopology and the stores that they reach."""

from collections.abc import Iterable, Iterator
from typing import Any

from kstreams_runbooks.decide.comparison.code import ReviewedCode
from kstreams_runbooks.wording import sentence

_NONE = "no part of the program has other code, and each one is proven"
_VALUES = "values that its objects keep"


def code_document(reviewed: Iterable[ReviewedCode]) -> dict[str, Any]:
    """As JSON."""
    return {"schema_version": 1, "changed_code": [_entry(one) for one in reviewed]}


def _entry(one: ReviewedCode) -> dict[str, Any]:
    change = one.change
    return {
        "where": change.where,
        "field": change.field,
        "state": change.state,
        "subtopology": one.subtopology,
        "stores": list(one.stores),
        "added": list(change.added),
        "changed": list(change.altered),
        "removed": list(change.removed),
        "reason": change.reason,
    }


def code_text(reviewed: tuple[ReviewedCode, ...]) -> str:
    """As text."""
    return "\n".join(map(sentence, _lines(reviewed))) if reviewed else _NONE


def _lines(reviewed: Iterable[ReviewedCode]) -> Iterator[str]:
    for one in reviewed:
        change = one.change
        section, _, name = change.where.partition(".")
        what = "" if change.field == "code" else f" {change.field}"
        reach = f"reaches {', '.join(one.stores)}" if one.stores else "reaches no store"
        yield f"{section.removesuffix('s')} {name}{what} (subtopology {one.subtopology or '-'}, {reach})"
        if change.state == "unknown":
            yield f"  not proven: {change.reason}"
            continue
        for word, methods in (("added", change.added), ("changed", change.altered), ("removed", change.removed)):
            yield from (f"  {word} {method}" for method in methods)
        if not change.methods:
            yield f"  changed {_VALUES}"
