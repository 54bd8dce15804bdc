"""A Java properties file, as Kafka's own commands take it with --command-config: settings and secrets of a client."""

import re

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_KEY = re.compile(r"((?:\\.|[^\\\s=:])*)\s*[=:]?\s*(.*)", re.DOTALL)


def parse_properties(text: str) -> dict[str, str]:
    """Names and values; java.util.Properties says what a line, a comment, a continuation and an escape is."""
    found = {}
    for line in _logical_lines(text):
        match = _KEY.match(line)
        if match:
            found[_unescaped(match[1])] = _unescaped(match[2])
    return found


def _logical_lines(text: str) -> list[str]:
    lines: list[str] = []
    continued = False
    for raw in text.splitlines():
        line = raw.lstrip()
        if not continued and (not line or line[0] in "#!"):
            continue
        # An odd number of backslashes at the end: the line goes on in the next.
        goes_on = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        part = line[:-1] if goes_on else line
        if continued:
            lines[-1] += part
        else:
            lines.append(part)
        continued = goes_on
    return lines


def _unescaped(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        found = match[1]
        return chr(int(found[1:], 16)) if len(found) > 1 else _ESCAPES.get(found, found)

    return _ESCAPED.sub(plain, text)
