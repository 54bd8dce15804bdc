r"""A regular expression that Kafka Streams subscribes by, as Python reads it; refused where the two differ.

Java's `Pattern` (java.util.regex.Pattern, JDK documentation) and Python's `re` agree on what most subscriptions are
made of. Two things that Python spells otherwise are translated: `\Q…\E`, which `Pattern.quote` writes, and named
groups. What Python cannot read (`\p{Lower}`) or would silently read as something else (classes within classes, `&&`) is
refused: a pattern that is half understood would leave topics out.
"""

import re
from contextlib import suppress
from functools import lru_cache

from kstreams_runbooks.errors import BadInput

_PART = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|$)"
    r"|\(\?<(?P<name>[a-zA-Z][a-zA-Z0-9]*)>"
    r"|\\k<(?P<again>[a-zA-Z][a-zA-Z0-9]*)>"
    r"|\\."
    # A class of characters in which nothing is a class of its own, cut with another, or will mean so in Python one day.
    r"|\[\^?\]?(?:(?!&&|--|~~|\|\|)[^\]\[\\]|\\.)*\]"
    r"|[^\\\[]",
    re.DOTALL,
)
# What no consumer gets by a pattern (its setting exclude.internal.topics, Topic.INTERNAL_TOPICS in Kafka 4.3). Other
# names that begin with two underscores are anybody's.
KAFKAS_OWN = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


@lru_cache(maxsize=256)
def matcher(pattern: str) -> re.Pattern[str]:
    """What to match whole topic names with; BadInput where Python cannot read the pattern as Java does."""
    parts = list(_PART.finditer(pattern))
    with suppress(re.error, OverflowError, RecursionError):
        # What fits no part is left out between two of them.
        if "".join(part[0] for part in parts) == pattern:
            return re.compile("".join(map(_python, parts)))
    raise BadInput(
        f"source pattern {pattern}: cannot be read here as Java reads it, so the topics that it matches are not known; "
        "write it without what is Java's alone (docs/lag.md), or subscribe to the topics by name"
    )


def matched(pattern: str, name: str) -> bool:
    """Whether a client that subscribes by this pattern reads the topic; BadInput as `matcher`."""
    return name not in KAFKAS_OWN and matcher(pattern).fullmatch(name) is not None


def _python(part: re.Match[str]) -> str:
    if part["quoted"] is not None:
        return re.escape(part["quoted"])
    if part["name"]:
        return f"(?P<{part['name']}>"
    return f"(?P={part['again']})" if part["again"] else part[0]
