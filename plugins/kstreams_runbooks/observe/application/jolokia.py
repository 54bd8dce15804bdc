"""Jolokia's answer to the one bulk request, with its types checked before any value is used.

Jolokia protocol, "Responses and errors": one object per request, with `request`, `status`, `value` and `timestamp`.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

OK: Final = 200
# Jolokia's status for a bean or a pattern that matches nothing.
_NO_BEAN: Final = 404
# Offsets and counts are Java longs, times are milliseconds up to the year 5138.
_MOST: Final = 2**63
_LAST_MS: Final = 100_000_000_000_000
_LONGEST_DESCRIPTION: Final = 2**20
_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")

# The form of each text: nothing that could end a line, a table cell or a quotation where it is shown.
APPLICATION_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
STATE: Final = re.compile(r"[A-Z_]{1,40}")
VERSION: Final = re.compile(r"[A-Za-z0-9._+-]{1,60}")
STORE: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
TASK: Final = re.compile(r"([A-Za-z0-9._-]{1,249}__)?[0-9]{1,9}_[0-9]{1,9}")
CLIENT_ID: Final = re.compile(r"[A-Za-z0-9._:+@-]{1,300}")


class NotJolokia(ValueError):
    """The answer has another shape than Jolokia's; the text names the place and repeats no value."""


def parts_of(document: Any) -> dict[str, Mapping[str, Any]]:
    """Jolokia's parts by the requested bean, as they came."""
    if not isinstance(document, list):
        raise NotJolokia("it is not a list of answers")
    found: dict[str, Mapping[str, Any]] = {}
    for number, part in enumerate(document):
        request = part.get("request") if isinstance(part, dict) else None
        bean = request.get("mbean") if isinstance(request, dict) else None
        if not isinstance(bean, str):
            raise NotJolokia(f"answer {number} has no request with a bean")
        if bean in found:
            raise NotJolokia(f"answer {number} is about the same bean as an earlier one")
        found[bean] = part
    return found


def pattern(part: Mapping[str, Any] | None, what: str) -> dict[str, Mapping[str, Any]]:
    """Attributes by bean name in the answer to a pattern; empty if Jolokia knows no such bean."""
    value = _value(part, what)
    if value is None:
        return {}
    found: dict[str, Mapping[str, Any]] = {}
    for name, attributes in value.items():
        if not isinstance(attributes, dict):
            raise NotJolokia(f"{what}: a bean has no attributes")
        found[name] = attributes
    return found


def denied(part: Mapping[str, Any] | None) -> bool:
    """Whether the agent gives no answer about a bean: an access policy may allow others only."""
    status = None if part is None else part.get("status", OK)
    return part is None or (_is_integer(status) and status not in {OK, _NO_BEAN})


def bean(part: Mapping[str, Any] | None, what: str) -> Mapping[str, Any] | None:
    """Attributes in the answer about one bean; None if Jolokia does not know it."""
    return _value(part, what)


def _value(part: Mapping[str, Any] | None, what: str) -> Mapping[str, Any] | None:
    if part is None:
        raise NotJolokia(f"{what}: there is no answer about it")
    status = part.get("status")
    if not _is_integer(status):
        raise NotJolokia(f"{what}: it has no status")
    if status == _NO_BEAN:
        return None
    if status != OK:
        raise NotJolokia(f"{what}: status {str(status)[:6]} (expected 200, or 404 for none); does the agent allow it?")
    value = part.get("value")
    if not isinstance(value, dict):
        raise NotJolokia(f"{what}: its value has another type")
    return value


def text(values: Mapping[str, Any], name: str, shape: re.Pattern[str]) -> str | None:
    """A short text, None if it is missing."""
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not shape.fullmatch(value):
        raise NotJolokia(f"{name} has another shape than Kafka Streams gives it")
    return value


def description(values: Mapping[str, Any], name: str, *, longest: int = _LONGEST_DESCRIPTION) -> str | None:
    """A text of several lines with at most `longest` characters, None if it is missing or empty."""
    value = values.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise NotJolokia(f"{name} is not a text")
    if len(value) > longest:
        raise NotJolokia(f"{name} has {len(value):,} characters (limit {longest:,})")
    if _CONTROL.search(value):
        raise NotJolokia(f"{name} has control characters")
    return value


def count(values: Mapping[str, Any], name: str, *, lowest: int = 0) -> int | None:
    """A whole number from `lowest` up, None if it is missing. Metrics are doubles: 2.0 is 2."""
    value = values.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise NotJolokia(f"{name} is not a whole number")
    if not lowest <= value < _MOST:
        raise NotJolokia(f"{name} is out of range")
    return int(value)


def moment(values: Mapping[str, Any], name: str, *, per_second: int) -> int | None:
    """A time after 1970 as whole seconds or milliseconds, None if it is missing."""
    value = count(values, name)
    if value is not None and value >= _LAST_MS // (1000 // per_second):
        raise NotJolokia(f"{name} is out of range")
    return value


def object_keys(name: str) -> dict[str, str]:
    """The keys of an object name with their values, without quotation marks."""
    pairs = (pair.partition("=") for pair in name.partition(":")[2].split(","))
    return {key: value.strip('"') for key, _, value in pairs}


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
