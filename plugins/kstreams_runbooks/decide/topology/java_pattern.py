r"""A Java regular expression of a Kafka Streams subscription, matched as Java would; refused if that is uncertain.

Topic names are letters, digits, dots, `_` and `-`, and the whole name has to match: on these Java's `Pattern`
(java.util.regex.Pattern, JDK documentation), RE2 and the library `regex` agree for every construct that is accepted
here. Different spellings are translated: `\Q…\E`, which `Pattern.quote` writes, and named groups. A construct that one
of them would silently read differently (classes within classes, `&&`, octal numbers, Java's own flags) is refused: a
pattern that is half understood would omit topics.
"""

import re
from functools import lru_cache
from itertools import accumulate
from math import prod

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.matching import LimitedPattern, in_linear_time, under_a_timeout
from kstreams_runbooks.wording import outside

_LONGEST = 20_000
_SHOWN = 300
# RE2 takes seconds and hundreds of megabytes for groups nested by the thousand.
_DEEPEST = 100
# The library `regex` writes counted repetitions out while it compiles: those of a thousand of a thousand of a thousand
# fill the memory.
_MOST_REPETITIONS = 10_000
# Characters of a pattern after writing out its repetitions: a hundred thousand take 40 MB at most.
_MOST_WRITTEN_OUT = 100_000
_PART = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|\Z)"
    r"|\(\?<(?P<name>[a-zA-Z][a-zA-Z0-9]*)>"
    r"|\\k<(?P<again>[a-zA-Z][a-zA-Z0-9]*)>"
    r"|\(\?(?P<flags>[ims]+|[ims]*-[ims]+)[:)]"
    r"|\(\?(?::|>|<?[=!])"
    r"|\((?!\?)"
    # Few letters and digits have a meaning; a reference back of two digits means another group in each of them.
    r"|\\(?:[dDwWsSbBAtnrfa]|[1-9](?![0-9])|[^a-zA-Z0-9])"
    r"|\\(?P<end>[zZ])"
    r"|\\(?:x[0-9a-fA-F]{2}|x\{[0-9a-fA-F]{1,6}\}|[pP](?:[LMNPSZC]|\{[LMNPSZC][a-z]?\}))"
    # A class without an inner class, an intersection, or a construct that Python plans to read as one.
    r"|\[\^?\]?(?:(?!&&|--|~~|\|\|)[^\]\[\\]|\\(?:[dDwWsStnrfa]|x[0-9a-fA-F]{2}|[^a-zA-Z0-9]))*\]"
    r"|\{(?P<least>[0-9]{1,4})(?:,(?P<most>[0-9]{0,4}))?\}"
    r"|[^\\\[({]",
    re.DOTALL,
)
_SURROGATE = re.compile("[\ud800-\udfff]")
# Topics that consumers never get by a pattern (setting exclude.internal.topics, Topic.INTERNAL_TOPICS in Kafka 4.3).
# Other names that begin with two underscores are ordinary.
KAFKAS_OWN = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


@lru_cache(maxsize=256)
def matcher(pattern: str) -> LimitedPattern:
    """A matcher of whole topic names; BadInput if it is not certain to read the pattern as Java does."""
    shown = outside(pattern, _SHOWN)
    # Half a surrogate pair has no bytes that RE2 could read.
    possible = len(pattern) <= _LONGEST and not _SURROGATE.search(pattern)
    parts = list(_PART.finditer(pattern)) if possible else []
    # Text that fits no part is the gap between two of them.
    whole = "".join(part[0] for part in parts) == pattern and _depth(parts) <= _DEEPEST
    if whole and not _folds_beyond_ascii(pattern, parts):
        found = in_linear_time("".join(map(_for_re2, parts)), shown)
        plain = all(_is_plain(number, part) for number, part in enumerate(parts))
        if found is None and plain and _can_be_written_out(parts, len(pattern)):
            found = under_a_timeout("".join(map(_for_regex, parts)), shown)
        if found is not None:
            return found
    raise BadInput(
        f"source pattern {shown}: cannot be read here as Java reads it, so the topics that it matches are not known; "
        "write it without what is Java's alone (docs/lag.md), or subscribe to the topics by name"
    )


def parts_of(pattern: str) -> list[str] | None:
    r"""The pattern in its parts, such as `(`, `[a-z]`, `\.`; None if it is not certain to be read as Java reads it."""
    try:
        matcher(pattern)
    except BadInput:
        return None
    return [part[0] for part in _PART.finditer(pattern)]


def matched(pattern: str, name: str) -> bool:
    """Whether a client that subscribes by this pattern reads the topic; BadInput as `matcher`, or PatternTooSlow."""
    return name not in KAFKAS_OWN and matcher(pattern).matches(name)


def _folds_beyond_ascii(pattern: str, parts: list[re.Match[str]]) -> bool:
    """Whether case is ignored for letters that Java, RE2 and Python fold differently."""
    return any(part["flags"] for part in parts) and (not pattern.isascii() or r"\x" in pattern)


def _depth(parts: list[re.Match[str]]) -> int:
    """The nesting depth of groups."""
    steps = (part[0].startswith("(") - (part[0] == ")") for part in parts)
    return max(accumulate(steps), default=0)


def _can_be_written_out(parts: list[re.Match[str]], length: int) -> bool:
    times = _repetitions(parts)
    return times <= _MOST_REPETITIONS and times * length <= _MOST_WRITTEN_OUT


def _repetitions(parts: list[re.Match[str]]) -> int:
    """The product of all counted repetitions, as if each were inside the next."""
    return prod(max(int(part["least"]), int(part["most"] or 0), 1) for part in parts if part["least"])


def _is_plain(number: int, part: re.Match[str]) -> bool:
    """Whether backtracking reads a part as Java does; it would apply flags in the middle to the whole."""
    if part["flags"]:
        return "-" not in part["flags"] and (number == 0 or part[0].endswith(":"))
    return not part[0].startswith((r"\p", r"\P", r"\x{"))


def _for_re2(part: re.Match[str]) -> str:
    if part["quoted"] is not None:
        return re.escape(part["quoted"])
    if part["name"]:
        return f"(?P<{part['name']}>"
    return r"\z" if part["end"] else part[0]


def _for_regex(part: re.Match[str]) -> str:
    if part["again"]:
        return f"(?P={part['again']})"
    return r"\Z" if part["end"] else _for_re2(part)
