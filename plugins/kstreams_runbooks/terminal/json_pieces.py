"""A JSON document as text in pieces: its long lists are never in memory as a whole."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def json_pieces(document: Mapping[str, Any], lists: Mapping[str, Iterable[Any]]) -> Iterator[str]:
    """The text of `{**document, **lists}`, as `json.dumps` with two blanks of indent and sorted keys writes it."""
    yield "{"
    for place, key in enumerate(sorted({**document, **lists})):
        yield f"{',' if place else ''}\n  {json.dumps(key)}: "
        if key in lists:
            yield from _list(lists[key])
        else:
            yield _text(document[key], "  ")
    yield "\n}\n"


def _list(values: Iterable[Any]) -> Iterator[str]:
    empty = True
    for value in values:
        yield f"{'[' if empty else ','}\n    {_text(value, '    ')}"
        empty = False
    yield "[]" if empty else "\n  ]"


def _text(value: Any, indent: str) -> str:
    # A line break inside a string is escaped: each one here ends a line of the layout.
    return json.dumps(value, indent=2, sort_keys=True).replace("\n", f"\n{indent}")
