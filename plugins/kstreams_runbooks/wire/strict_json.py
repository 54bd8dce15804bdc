"""JSON from another system, parsed only if every reader would see the same document."""

from typing import Any

from kstreams_runbooks.documents.json_document import json_document
from kstreams_runbooks.errors import BadInput

# 10,000 tasks with ten figures each; they take some 50 MB as Python values, where 16 MiB of `[],[],…` would take 500.
_MOST_VALUES = 200_000


def parsed(body: bytes) -> Any:
    """The document; ValueError, with the reason, if it is not UTF-8 or not one plain JSON document within limits."""
    if sum(body.count(mark) for mark in (b"[", b"{", b",")) > _MOST_VALUES:
        raise ValueError(f"has more than {_MOST_VALUES:,} values")
    try:
        return json_document(body.decode("utf-8"), largest=len(body) + 1, nodes=_MOST_VALUES)
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    except BadInput as error:
        # Its last part is advice about a file.
        raise ValueError(str(error).rpartition(";")[0]) from None
