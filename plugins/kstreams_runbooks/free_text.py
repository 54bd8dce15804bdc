"""Text that people write into forms and options: characters that every system accepts, and reasons with content."""

import json
from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.wording import outside, why_no_reason

# Fields that give a reason; any other field is checked by the thing it names.
_REASONS = ("reason", "inputs_paused")


def require_free_text(given: Mapping[str, Any], prefix: str = "") -> None:
    r"""BadInput for half a character in any of these fields, and for a reason without content; blank counts as absent.

    Half a character (a lone surrogate) comes from bytes that are not valid UTF-8 and from JSON such as `"\ud83d"`.
    Databases, logs and properties files reject it.
    """
    for name, value in given.items():
        if not is_whole({name: value}):
            raise BadInput(
                f"{prefix}{outside(name, 40)}: has half a character (a surrogate alone) or bytes that are not UTF-8; "
                "write it again"
            )
    for name in _REASONS:
        text = given.get(name)
        if text is None or (isinstance(text, str) and not text.strip()):
            continue
        if why := why_no_reason(text):
            raise BadInput(f"{prefix}{name}: {why}")


def is_whole(value: Any) -> bool:
    """Whether all text in a JSON value can be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return False
    return True
