"""Text that people write into forms and options: characters that every system takes, and reasons that give one."""

import json
from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.wording import outside, why_no_reason

# Fields that say why; any other is checked by what it names.
_REASONS = ("reason", "inputs_paused")


def require_free_text(given: Mapping[str, Any], prefix: str = "") -> None:
    r"""BadInput for half a character anywhere in these fields, and for a reason that gives none; blank is none given.

    Half a character (a surrogate alone) comes from bytes that are not UTF-8 and from JSON such as `"\ud83d"`. No
    database, log or properties file takes it.
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
    """Whether all text in a value of JSON can be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return False
    return True
