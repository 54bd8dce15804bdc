"""One JSON document as plain values; its limits are checked before Python's parser, which recurses, reads it."""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from kstreams_runbooks.documents import DEEPEST, LONGEST_NUMBER, MOST_NODES, beginning
from kstreams_runbooks.documents.text import require_length
from kstreams_runbooks.errors import BadInput

# Whole strings: a bracket inside one does not count; an unterminated one takes the rest of the text.
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)|[\[\]{},]', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def json_document(text: str, *, largest: int = 1024 * 1024, nodes: int = MOST_NODES) -> Any:
    """The values of a JSON text; `largest` in characters, `nodes` are values and keys.

    BadInput for invalid JSON, for more than `DEEPEST` levels, for a key given twice, NaN and infinity, a number of
    absurd length or beyond the range of a float, and half a surrogate pair, which cannot be printed.
    """
    require_length(text, limit=largest)
    _require_shape(text, nodes)
    try:
        found = json.loads(
            text,
            object_pairs_hook=_pairs,
            parse_int=_integer,
            parse_float=_decimal,
            parse_constant=_constant,
        )
    except json.JSONDecodeError as error:
        raise BadInput(f"is not valid JSON: line {error.lineno}: {error.msg}; correct it") from None
    if _SURROGATE.search(text):
        _require_printable(found)
    return found


def _require_shape(text: str, most: int) -> None:
    depth, found = 0, 1
    for token in _TOKEN.finditer(text):
        one = text[token.start()]
        if one in "[{":
            depth += 1
            found += 1
            if depth > DEEPEST:
                line = text.count("\n", 0, token.start()) + 1
                raise BadInput(f"line {line} is nested deeper than {DEEPEST} levels (the limit); nest it less")
        elif one in "]}":
            depth -= 1
        else:
            found += 1
        if found > most:
            raise BadInput(f"has more than {most:,} values (the limit); give fewer")


def _pairs(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise BadInput(f"has the key {beginning(twice)} a second time; remove one of them")
    return found


def _integer(text: str) -> int:
    return int(_short(text))


def _decimal(text: str) -> float:
    value = float(_short(text))
    if not math.isfinite(value):
        raise BadInput(f"has the number {text}, which is too large; correct it")
    return value


def _short(text: str) -> str:
    if len(text) > LONGEST_NUMBER:
        raise BadInput(f"has a number of {len(text):,} characters (limit {LONGEST_NUMBER}); correct it")
    return text


def _constant(text: str) -> Any:
    raise BadInput(f"has {text}, which is not a number of JSON; give a number or null")


def _require_printable(found: Any) -> None:
    try:
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise BadInput("has half a surrogate pair in a text, which nothing can print; correct it") from None
