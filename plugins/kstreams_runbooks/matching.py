"""Whether names match a regular expression from outside, within a limit of processor time.

RE2 takes time in proportion to the name, for every pattern. The library `regex` tries the patterns that RE2 rejects
(lookaround, references back, possessive quantifiers) under a timeout. No decision depends on the limit's value: a
pattern that exceeds it has no answer.
"""

import time
from collections.abc import Callable

import re2
import regex

from kstreams_runbooks.errors import Inconclusive

# A topic name has 249 characters at most: an ordinary pattern takes microseconds.
ONE_NAME_S = 0.5
# Of processor time, for a hundred thousand names; ordinary patterns take a tenth of it.
MANY_NAMES_S = 5.0
MANY_NAMES = 100_000
# Of an RE2 program: counted repetitions of counted repetitions are refused above it.
_RE2_BYTES = 1024 * 1024
# The `regex` library has no limit of its own while it compiles.
_LONGEST_TRIED = 2_000


class PatternTooSlow(Inconclusive):
    """A pattern takes longer than its limit: its matches are unknown."""


class LimitedPattern:
    """A pattern that is matched against whole names; once too slow, it stays so for this process."""

    def __init__(self, shown: str, fullmatch: Callable[[str], bool]) -> None:
        self._shown = shown
        self._fullmatch = fullmatch
        self._spent_s, self._names, self._is_slow = 0.0, 0, False

    def matches(self, name: str) -> bool:
        """Whether the whole name matches; PatternTooSlow beyond the limits above."""
        if not self._is_slow:
            began = time.thread_time()
            try:
                found = self._fullmatch(name)
            except TimeoutError:
                found, self._is_slow = False, True
            self._spent_s += time.thread_time() - began
            self._names += 1
            self._is_slow = self._is_slow or self._spent_s > MANY_NAMES_S
            if self._names >= MANY_NAMES:
                self._spent_s, self._names = 0.0, 0
        if self._is_slow:
            raise PatternTooSlow(
                f"source pattern {self._shown}: takes longer than {ONE_NAME_S:g} s for one name, or {MANY_NAMES_S:g} s "
                f"for {MANY_NAMES:,}, so the topics that it matches are not known; write it without nested "
                "repetition, or subscribe to the topics by name"
            )
        return found


def in_linear_time(pattern: str, shown: str) -> LimitedPattern | None:
    """The pattern by RE2, None if RE2 does not accept it."""
    options = re2.Options()
    options.max_mem = _RE2_BYTES
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error:
        return None
    return LimitedPattern(shown, lambda name: compiled.fullmatch(name) is not None)


def under_a_timeout(pattern: str, shown: str) -> LimitedPattern | None:
    """The pattern by backtracking, None if `regex` does not accept it either."""
    if len(pattern) > _LONGEST_TRIED:
        return None
    try:
        compiled = regex.compile(pattern, regex.VERSION0)
    except (regex.error, OverflowError, RecursionError, ValueError):
        return None

    def fullmatch(name: str) -> bool:
        # Other threads continue meanwhile.
        return compiled.fullmatch(name, timeout=ONE_NAME_S, concurrent=True) is not None

    return LimitedPattern(shown, fullmatch)
