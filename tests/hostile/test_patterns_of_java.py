"""Source patterns against java.util.regex itself: the same topics, or refused."""

import subprocess
from pathlib import Path

import pytest
from kstreams_runbooks.decide.topology.java_pattern import matched
from kstreams_runbooks.errors import BadInput

_JAVA = Path(__file__).with_name("JavaPatterns.java")
_REFUSED = (r"(a)\11", r"\0101", "a{2}{3}", "[+--]+")
_PATTERNS = (
    "[]a]+",
    "[^]a]+",
    "a(?i)b|c",
    "(?i-s)ab",
    "\\x{61}\\x62",
    "\\p{Lu}\\pL+",
    "[\\w-z]+",
    "[a-c-e]+",
    "x{2}+",
    "(?<a>x|y)-\\k<a>",
    "\\Qa.b\\E-.*",
    "\\Qa.b",
    "(?m)^a$",
    "a\\Z",
    "\\Aa\\z",
    "(?>a|ab)c",
    "(a|ab)(c|bcd)(d*)",
    "\\_a",
    "\\-",
    "a}",
    "[a^]+",
    "(?i:A)b",
    "(?s).*",
    "[\\d.]+",
    "\\ba-b\\b",
    "(|a)+b",
    "(a*)*b",
    "[.-]+",
    "a\\.b",
    "[\\]]+",
    "[-a]+",
    "[a-]+",
    "(?i)K",
    "\\w++\\d",
)
_NAMES = (
    "a",
    "ab",
    "aB",
    "AB",
    "C",
    "c",
    "]",
    "a]",
    "Orders",
    "orders",
    "aa",
    "A",
    "x-x",
    "x-y",
    "a.b-1",
    "axb-1",
    "a.b",
    "acd",
    "abcd",
    "abc",
    "ac",
    "abbcd",
    "+-",
    "_a",
    "-",
    "a}",
    "^",
    "b",
    "1.2",
    "a-b",
    "aaaaaa",
    "xx",
    ".-",
    "k",
    "K",
    "w-z",
    "a-e",
    "abe",
    "w1",
    "a1",
)


@pytest.mark.long
def test_every_pattern_matches_what_java_matches() -> None:
    """And what Java reads otherwise than RE2 or Python is refused."""
    given = ["java", str(_JAVA), *_PATTERNS, "--", *_NAMES]
    lines = subprocess.run(given, capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
    ours = ["".join(str(int(matched(pattern, name))) for name in _NAMES) for pattern in _PATTERNS]
    assert dict(zip(_PATTERNS, ours, strict=True)) == dict(zip(_PATTERNS, lines, strict=True))
    for pattern in _REFUSED:
        with pytest.raises(BadInput):
            matched(pattern, "a")
