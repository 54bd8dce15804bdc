"""Text from outside, made safe to print: in a sentence, in Markdown, in a command for pasting.

`outside` is for a name, an id, a reason, an answer or a script's output inside a sentence; `sentence` for one of our
own sentences with everything it quotes; `markdown`, `cell` and `code` for Markdown; `pasted` for a command. Each
returns one line without characters that control a terminal or are invisible.
"""

import re
import shlex
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence

# Long enough for the message of a library, short enough for a line of a log.
LONGEST = 500
LONGEST_REASON = 500
# One of our own sentences with every name in it, or a command after a few words.
LONGEST_SENTENCE = 8000
# Too long to paste; a shell of a terminal takes at least 4,096 bytes a line.
LONGEST_COMMAND = 4000
_FEWEST_LETTERS = 3
# Text beyond this many times the limit is not read: a flood costs as much as a long line.
_LOOKED_AT = 4
# Printable by their category, but invisible: joiners, fillers, variation selectors, the empty Braille cell.
_INVISIBLE = frozenset(
    map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164, 0xFFA0))
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
# Accents on one letter; more of them paint over the lines above and below.
_MOST_MARKS = 4
_MARKS = frozenset({"Mn", "Me"})
# Python's form of bytes in an argument that are not valid UTF-8.
_ARGUMENT_BYTES = range(0xDC80, 0xDD00)
_SURROGATES = range(0xD800, 0xE000)
_BREAKS = re.compile(r"[^\S ]")
# In plain text: the scheme of an address, a mention, a tag of HTML or Slack, and the start of a Markdown target.
_LINK = re.compile(r"(?<=\w):(?=//)|(?i:\bwww\.|\bmailto:)|(?<![^\s(\[<,;:\"'])@(?=\w)|<(?=[a-zA-Z!/?@#])|\]\(")
_BROKEN = {"<": "‹", "](": "] ("}
# An underscore inside a word is not emphasis.
_SPECIAL = re.compile(r"[\\`*\[\]<>|~&$]|(?<![^\W_])_|_(?![^\W_])")
# Characters that begin a heading, a list, a rule or a definition at the start of a line.
_AT_START = re.compile(r"^(\d*)([-+=#.:)])(?=[-+=#:]*(?: |$))")
# Text that GitHub, Airflow and chat tools turn into a link or a mention without any markup.
_LINKED = re.compile(r"://|@\w|(?i:www\.|mailto:|xmpp:)|[^\W\d_]\.[^\W\d_]{2}")
_MARKED = re.compile(r"\\([!-/:-@\[-`{-~])|(`+)( ?)(.+?)\3\2(?!`)|\*\*")


def outside(text: object, limit: int = LONGEST) -> str:
    r"""One line: white space is one blank, an unprintable character is shown as `\x1b`, cut with "…" at `limit`.

    Text that a mail program, a chat or a log's page would turn into a link, a mention or a tag is broken: `https[:]//`.
    """
    line = _LINK.sub(lambda found: _BROKEN.get(found[0]) or f"{found[0][:-1]}[{found[0][-1]}]", _line(text, limit))
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def sentence(text: object, limit: int = LONGEST_SENTENCE) -> str:
    """One of our own sentences as one line, with everything it quotes; blanks and addresses of commands stay."""
    return _cut(str(text), limit, lambda begin: _BREAKS.sub(" ", begin))


def fitted(line: str, columns: int | None) -> str:
    """A line broken at blanks to at most `columns` characters, the rest two further to the right; None leaves it whole.

    A name that is longer stays whole.
    """
    if columns is None or len(line) <= columns:
        return line
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(
        line.strip(),
        columns,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def markdown(text: object, limit: int = LONGEST) -> str:
    """One line as text of Markdown: it cannot become a row, link, image, heading, HTML or emphasis."""
    line = " ".join(_word(word) for word in _line(text, limit).split(" "))
    return _AT_START.sub(r"\1\\\2", line)


def cell(text: object, limit: int = LONGEST) -> str:
    """The same for a row of a Markdown table, in which an empty cell keeps its place."""
    return markdown(text, limit) or " "


def code(text: object, limit: int = LONGEST) -> str:
    """Inline code that a backtick cannot end; a text with `|` stays plain, since it would end the cell."""
    line = _line(text, limit)
    return markdown(line, limit) if "|" in line or not line else _fenced(line)


def unmarked(text: str) -> str:
    """Our own Markdown as plain text: without the escapes, the bold, and the backticks of code."""
    return _MARKED.sub(lambda found: found[1] or found[4] or "", text)


def pasted(words: Iterable[str], *, links: bool = True) -> str:
    """A command that a shell splits into exactly `words`; a comment if a shell cannot, or if it is too long.

    Characters that do not print are written as `$'…'`, which bash, zsh and ksh read. Without `links` no address in it
    becomes a link: `https:''//` is the same to a shell.
    """
    words = list(words)
    if wrong := next((word for word in words if not _can_be_typed(word)), None):
        return f"# no command: {outside(wrong, 80)} has a character that cannot be typed"
    line = " ".join(_quoted(word, links=links) for word in words)
    if len(line) > LONGEST_COMMAND:
        return f"# no command: it has {len(line):,} characters (limit {LONGEST_COMMAND:,})"
    return line


def why_no_reason(text: object) -> str:
    """The fault of a reason, as the end of a sentence about it; empty for a valid reason: one line of words."""
    if not isinstance(text, str):
        return f"is not text ({outside(text, 40)}); write it in words"
    if len(text) > LONGEST_REASON:
        return f"has {len(text):,} characters (limit {LONGEST_REASON}); shorten it"
    # White space that Python does not print, such as a no-break space, is pasted by accident and harmless.
    if any(not (one.isprintable() or unicodedata.category(one) == "Zs") or one in _INVISIBLE for one in text.strip()):
        return f"has a line break or a character that does not print ({outside(text, 80)}); write it in one line"
    if len([one for one in text if one.isalpha()]) < _FEWEST_LETTERS:
        return f"is {outside(text, 40) or 'empty'}, without {_FEWEST_LETTERS} letters; write why, or the ticket"
    return ""


def _line(text: object, limit: int) -> str:
    return _cut(str(text), limit, lambda begin: " ".join(begin.split()))


def _cut(whole: str, limit: int, joined: Callable[[str], str]) -> str:
    begin = whole[: _LOOKED_AT * limit]
    line = joined(begin)
    if not (line.isascii() and line.isprintable()):
        line = "".join(_visible(line))
    if len(line) <= limit and len(begin) == len(whole):
        return line
    return f"{line[: limit - 1]}…"


def _visible(line: str) -> Iterator[str]:
    marks = 0
    for one in line:
        if one.isascii() and one.isprintable():
            marks = 0
            yield one
        elif not one.isprintable() or one in _INVISIBLE:
            yield _escaped(ord(one))
        else:
            marks = marks + 1 if unicodedata.category(one) in _MARKS else 0
            if marks <= _MOST_MARKS:
                yield one


def one_cause_each(reasons: Iterable[str]) -> tuple[str, ...]:
    """Reasons in which each cause occurs once: `group: away` and `topics: away` become `group, topics: away`.

    The words before the first colon are about what a reason is, the rest is its cause.
    """
    about: dict[str, list[str]] = {}
    for reason in reasons:
        head, colon, cause = reason.partition(": ")
        heads = about.setdefault(cause if colon else reason, [])
        if colon and head not in heads:
            heads.append(head)
    return tuple(f"{', '.join(heads)}: {cause}" if heads else cause for cause, heads in about.items())


def first_of(items: Sequence[str], most: int = 3, between: str = ", ") -> str:
    """The first few of many, and how many more there are: `a, b and 3 more`, or `a; b; and 3 more`."""
    shown, more = between.join(items[:most]), len(items) - most
    return shown if more <= 0 else f"{shown}{'' if between == ', ' else between.rstrip()} and {more:,} more"


def _escaped(point: int) -> str:
    if point <= 0xFF:  # noqa: PLR2004 - Python's own border between \x and \u
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"  # noqa: PLR2004 - and between \u and \U


def _word(word: str) -> str:
    """One word of Markdown: as code if a tool would turn it into a link despite all escapes, without its comma."""
    if _LINKED.search(word):
        inner = word.rstrip(",;:.")
        return "\\|".join(_fenced(part) if part else "" for part in inner.split("|")) + word[len(inner) :]
    return _SPECIAL.sub(r"\\\g<0>", word)


def _fenced(line: str) -> str:
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    blank = " " if "`" in {line[0], line[-1]} else ""
    return f"{fence}{blank}{line}{blank}{fence}"


def _can_be_typed(word: str) -> bool:
    return all(one != "\0" and (ord(one) not in _SURROGATES or ord(one) in _ARGUMENT_BYTES) for one in word)


def _quoted(word: str, *, links: bool) -> str:
    if not all(one.isprintable() and one not in _INVISIBLE for one in word):
        typed = "".join(map(_typed, word))
        return f"$'{typed}'" if links else f"$'{typed}'".replace("://", ":\\057/")
    # zsh expands a word that begins with = to the path of a command.
    quoted = f"'{word}'" if word.startswith("=") and shlex.quote(word) == word else shlex.quote(word)
    return quoted if links else quoted.replace("://", ":''//")


def _typed(one: str) -> str:
    if one in "\\'":
        return f"\\{one}"
    if one != "!" and one.isprintable() and one not in _INVISIBLE:
        return one
    return "".join(f"\\{byte:03o}" for byte in one.encode("utf-8", "surrogateescape"))
