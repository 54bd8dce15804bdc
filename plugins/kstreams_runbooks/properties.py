"""Java properties files: read and written as java.util.Properties reads and writes them."""

import re
from collections.abc import Mapping
from pathlib import Path

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.files import replace_file

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_LOGICAL_END = re.compile(r"(?<!\\)(?:\\\\)*\\$")
_SURROGATE = re.compile("[\ud800-\udfff]")


def parse(text: str) -> dict[str, str]:
    r"""Keys and values; comments, blank lines, continuation lines and escapes as in java.util.Properties#load.

    A character beyond the basic plane is two escapes, its surrogates. BadInput, without the value, for a lone one,
    which is not a character, and for `\u` without four hexadecimal digits, which Java rejects too.
    """
    found: dict[str, str] = {}
    for line in _logical_lines(text):
        key, value = map(_unescape, _split(line))
        found[_whole(key, "a key")] = _whole(value, f"the value of {key}")
    return found


def dump(values: Mapping[str, str], comment: str = "") -> str:
    """Text that `parse` and Java read back as `values`, keys sorted; BadInput for half a character, as `parse`."""
    lines = [f"# {line}" for line in comment.splitlines()]
    whole = {_whole(key, "a key"): _whole(value, f"the value of {key}") for key, value in values.items()}
    lines += [f"{_escape(key, key=True)}={_escape(value, key=False)}" for key, value in sorted(whole.items())]
    return "".join(f"{line}\n" for line in lines)


def write_atomically(path: Path, text: str) -> None:
    """Replace the file at `path` in one rename, never through a link; an existing file keeps its mode."""
    replace_file(path, text.encode("latin-1"))


def _logical_lines(text: str) -> list[str]:
    lines: list[str] = []
    pending = ""
    for natural in re.split(r"\r\n|\n|\r", text):
        line = natural.lstrip(" \t\f")
        if not pending and (not line or line[0] in "#!"):
            continue
        if _LOGICAL_END.search(line):
            pending += line[:-1]
            continue
        lines.append(pending + line)
        pending = ""
    return [*lines, pending] if pending else lines


def _split(line: str) -> tuple[str, str]:
    index = 0
    while index < len(line) and line[index] not in "=: \t\f":
        index += 2 if line[index] == "\\" else 1
    key, rest = line[:index], line[index:].lstrip(" \t\f")
    if rest[:1] in {"=", ":"}:
        rest = rest[1:].lstrip(" \t\f")
    return key, rest


def _unescape(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        code = found[1]
        if code == "u":
            raise BadInput("a \\u is not followed by four hexadecimal digits; Java refuses the file too: correct it")
        return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPES.get(code, code)

    return re.sub(r"\\(u[0-9A-Fa-f]{4}|.)", one, text)


def _whole(text: str, what: str) -> str:
    """The text with each pair of surrogates as the one character it encodes; BadInput for a lone one."""
    if not _SURROGATE.search(text):
        return text
    try:
        return text.encode("utf-16-be", "surrogatepass").decode("utf-16-be")
    except UnicodeDecodeError:
        raise BadInput(
            f"{_SURROGATE.sub('?', what)} has half a character (a surrogate alone); write it again"
        ) from None


def _escape(text: str, *, key: bool) -> str:
    escaped = text.replace("\\", "\\\\")
    for letter, character in _ESCAPES.items():
        escaped = escaped.replace(character, f"\\{letter}")
    escaped = re.sub(r"[=:#! ]" if key else r"^[ ]", lambda found: f"\\{found[0]}", escaped)
    # Latin-1 is what java.util.Properties reads; beyond the basic plane Java wants the two surrogates.
    return "".join(character if " " <= character <= "~" else _unicode(character) for character in escaped)


def _unicode(character: str) -> str:
    pairs = character.encode("utf-16-be")
    return "".join(f"\\u{pairs[at : at + 2].hex()}" for at in range(0, len(pairs), 2))
