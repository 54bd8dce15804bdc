r"""The topic names that a source pattern matches, if they can be written down: `orders`, `orders\.(eu|us)`.

It proves that one pattern lets through all that another did: a change that only widens a pattern stops reading nothing.
"""

from collections.abc import Collection, Iterator
from contextlib import suppress
from string import ascii_letters, digits

from kstreams_runbooks.decide.topology.java_pattern import matched, parts_of
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.matching import PatternTooSlow

# More names than a person writes into one pattern; a character that may be any has 65.
_MOST = 500
# The characters of topic names (Topic#validate, Apache Kafka 4.3).
_LEGAL = frozenset(f"{ascii_letters}{digits}._-")
_ANY_END = ".*"


def reads_all_of(pattern: str, topics: Collection[str], patterns: Collection[str]) -> bool:
    """Whether these topics and patterns have each topic that the pattern matches; False if that is not proven.

    Proven by the names that the pattern matches, one by one; or a new pattern begins as the old one does and ends with
    any name; or each of its alternatives is one of a new pattern.
    """
    names = _names_of(pattern)
    if names is not None:
        return all(name in topics or any(matches(other, name) for other in patterns) for name in names)
    return any(_has_alternatives_of(other, pattern) or _begins_as(other, pattern) for other in patterns)


def matches(pattern: str, name: str) -> bool:
    """Whether a pattern matches a topic name; False for one that may not be read here as Java reads it."""
    with suppress(BadInput, PatternTooSlow):
        return matched(pattern, name)
    return False


def _names_of(pattern: str) -> frozenset[str] | None:
    """All legal topic names that the pattern matches; None for more than can be written down, or not read here."""
    parts = parts_of(pattern)
    names = None if parts is None else _Reader(parts).names()
    return None if names is None else frozenset(names)


def _has_alternatives_of(wider: str, pattern: str) -> bool:
    """Whether each alternative of a pattern is, by its text, one of the other."""
    was, now = _alternatives(pattern), _alternatives(wider)
    return was is not None and now is not None and set(was) <= set(now)


def _begins_as(wider: str, pattern: str) -> bool:
    r"""Whether the other pattern is plain text and `.*`, and each match of the pattern begins with that text."""
    if not wider.endswith(_ANY_END) or wider.endswith("\\" + _ANY_END):
        return False
    begins, was = _names_of(wider.removesuffix(_ANY_END)), _alternatives(pattern)
    if begins is None or len(begins) != 1 or was is None or len(was) != 1:
        return False
    [text] = begins
    return _plain_begin(pattern).startswith(text)


def _alternatives(pattern: str) -> list[str] | None:
    """The alternatives of a whole pattern, of one group around it too; None for flags or references in it."""
    parts = parts_of(pattern)
    if parts is None or any(part.startswith("(?") or (part[0] == "\\" and part[1:].isdigit()) for part in parts):
        return None
    if _is_one_group(parts):
        parts = parts[1:-1]
    found, depth = [""], 0
    for part in parts:
        depth += part.startswith("(") - (part == ")")
        if part == "|" and depth == 0:
            found.append("")
        else:
            found[-1] += part
    return found


def _is_one_group(parts: list[str]) -> bool:
    depth = 0
    for number, part in enumerate(parts):
        depth += part.startswith("(") - (part == ")")
        if depth == 0:
            return number == len(parts) - 1 and parts[0] == "("
    return False


def _plain_begin(pattern: str) -> str:
    """The text with which each match of a pattern without alternatives begins."""
    parts, text = parts_of(pattern) or [], ""
    for part, following in zip(parts, [*parts[1:], ""], strict=True):
        plain = _characters(part)
        if plain is None or len(plain) != 1 or following[:1] in {"*", "?", "{", "+"}:
            break
        text += min(plain)
    return text


def _characters(part: str) -> frozenset[str] | None:
    """The characters of topic names that one part matches; None for a part that is not one character of a few."""
    if part == ".":
        return _LEGAL
    if part == r"\d":
        return frozenset(digits)
    if part == r"\w":
        return _LEGAL - {".", "-"}
    if part.startswith("[") and part.endswith("]"):
        return _of_class(part[1:-1])
    if part.startswith("\\"):
        return frozenset(part[1]) if len(part) == len(r"\.") and not part[1].isalnum() else None
    return None if part in "|()*+?{}^$" or len(part) != 1 else frozenset(part)


def _of_class(inner: str) -> frozenset[str] | None:
    if not inner or "\\" in inner or inner[0] in "^]":
        return None
    found, at = set[str](), 0
    while at < len(inner):
        if inner[at + 1 : at + 2] == "-" and at + 2 < len(inner):
            found |= set(map(chr, range(ord(inner[at]), ord(inner[at + 2]) + 1)))
            at += 3
        else:
            found.add(inner[at])
            at += 1
    return frozenset(found & _LEGAL)


class _Reader:
    """Reads the parts of a pattern once, from the first to the last."""

    def __init__(self, parts: list[str]) -> None:
        self._parts: Iterator[str] = iter([*parts, ""])
        self._next = next(self._parts)

    def names(self) -> set[str] | None:
        """The names of the whole."""
        names = self._alternatives()
        return names if self._next == "" else None

    def _alternatives(self) -> set[str] | None:
        names = self._sequence()
        while names is not None and self._next == "|":
            self._take()
            more = self._sequence()
            names = None if more is None else names | more
        return names

    def _sequence(self) -> set[str] | None:
        names = {""}
        while self._next not in {"", "|", ")"}:
            step = self._step()
            if step is None or len(names) * len(step) > _MOST:
                return None
            names = {f"{name}{more}" for name in names for more in step}
        return names

    def _step(self) -> set[str] | None:
        part = self._take()
        found: set[str] | None
        if part in {"(", "(?:"}:
            found = self._alternatives()
            if found is None or self._take() != ")":
                return None
        elif part.startswith(r"\Q"):
            found = {part[2:].removesuffix(r"\E")}
        else:
            characters = _characters(part)
            found = None if characters is None else set(characters)
        if found is not None and self._next == "?":
            self._take()
            found |= {""}
        return None if self._next[:1] in {"*", "+", "{", "?"} else found

    def _take(self) -> str:
        taken, self._next = self._next, next(self._parts, "")
        return taken
