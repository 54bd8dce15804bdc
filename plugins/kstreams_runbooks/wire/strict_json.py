"""JSON from another system: parsed only where every reader would take it for the same document.

RFC 8259, sections 4 (names should be unique), 6 (no NaN, range of numbers), 8.2 (lone surrogates) and 9 (a parser may
set limits on size, depth and range).
"""

import json
import math
from typing import Any

# The deepest answer that is read has 5 levels. 200,000 values are 10,000 tasks with ten figures each; they take some
# 50 MB as Python values, where 16 MiB of `[],[],…` would take 500.
MOST_DEPTH = 40
MOST_VALUES = 200_000
_MOST_DIGITS = 40


def parsed(body: bytes) -> Any:
    """The document; ValueError, with a reason that repeats nothing of it, where it is not one plain JSON document."""
    if sum(body.count(mark) for mark in (b"[", b"{", b",")) > MOST_VALUES:
        raise ValueError(f"it has more than {MOST_VALUES:,} values")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    try:
        document = json.loads(
            text, object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise ValueError(f"it is nested deeper than {MOST_DEPTH} levels") from None
    _check(document)
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object in it has the same name twice")
    return found


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number in it has more than {_MOST_DIGITS} digits")
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number in it is out of range")
    return value


def _constant(_: str) -> float:
    raise ValueError("it holds NaN or Infinity, which JSON does not have")


def _check(document: Any) -> None:
    """Depth, and strings that no encoding has: either would end whatever prints or stores the value later."""
    level, depth = [document], 0
    while level:
        depth += 1
        if depth > MOST_DEPTH:
            raise ValueError(f"it is nested deeper than {MOST_DEPTH} levels")
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below += [*value, *value.values()]
            elif isinstance(value, list):
                below += value
            elif isinstance(value, str) and not value.isascii() and _has_surrogate(value):
                raise ValueError("a text in it has half of a surrogate pair")
        level = below


def _has_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
