"""Kafka Streams releases and ranges of them."""

import re
from dataclasses import dataclass
from functools import cache, total_ordering

from kstreams_runbooks.errors import BadInput

_SHOWN = 40
_RELEASE = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:\.([0-9]{1,9}))?")


@total_ordering
@dataclass(frozen=True, slots=True)
class Release:
    """A release such as 3.4.1; ordered by number, printed as written."""

    text: str

    @classmethod
    def parse(cls, text: str) -> "Release":
        """Release from its text; BadInput if the text is not a release."""
        if not _RELEASE.fullmatch(text.strip()):
            raise BadInput(f"release {text[:_SHOWN]!r} is not a Kafka release; give one such as 4.3.1")
        return cls(text.strip())

    @classmethod
    def known(cls, text: str) -> bool:
        """Whether `text` is a release as Apache Kafka numbers them."""
        return _RELEASE.fullmatch(text.strip()) is not None

    @classmethod
    def full(cls, text: str) -> bool:
        """Whether `text` is a release with three or four numbers: 4.3 is not one, 4.3.1 is."""
        return cls.known(text) and text.count(".") > 1

    @property
    def numbers(self) -> tuple[int, ...]:
        """(major, minor, patch…); a missing patch is 0."""
        return _numbers(self.text)

    @property
    def minor(self) -> str:
        """The part that `upgrade.from` wants: 3.4 of 3.4.1; before 1.0 it has three numbers, 0.10.2 of 0.10.2.1."""
        major, minor, third, _ = self.numbers
        return f"{major}.{minor}" if major else f"{major}.{minor}.{third}"

    def __lt__(self, other: object) -> bool:
        """Order by number."""
        return self.numbers < other.numbers if isinstance(other, Release) else NotImplemented

    def __str__(self) -> str:
        """As written."""
        return self.text


def within(release: Release, ranges: tuple[str, ...]) -> bool:
    """Whether a release is in one of the ranges; ValueError if one is not a range.

    A range is a release or a minor (`3.5`: all its patches), or two of them with two dots between, both ends included
    and each of them optional: `2.4..3.2`, `..2.3`, `4.0..`.
    """
    return _within(release.text, ranges)


@cache
def _within(release: str, ranges: tuple[str, ...]) -> bool:
    return any(_in_range(_numbers(release), text) for text in ranges)


def _in_range(numbers: tuple[int, ...], text: str) -> bool:
    low, dots, high = text.partition("..")
    if not dots:
        high = low
    return (not low or _prefix(numbers, low) >= _given(low)) and (not high or _prefix(numbers, high) <= _given(high))


def _prefix(numbers: tuple[int, ...], end: str) -> tuple[int, ...]:
    """The part of a release that the end of a range has: 3.5 covers 3.5.2."""
    return numbers[: len(_given(end))]


@cache
def _given(text: str) -> tuple[int, ...]:
    if not _RELEASE.fullmatch(text):
        raise ValueError(f"{text!r} is neither a release nor a minor (such as 4.3.1 or 4.3)")
    return tuple(int(part) for part in text.split("."))


@cache
def _numbers(text: str) -> tuple[int, ...]:
    found = _RELEASE.fullmatch(text)
    if found is None:
        raise BadInput(f"release {text[:_SHOWN]!r} is not a Kafka release; give one such as 4.3.1")
    return tuple(int(part or 0) for part in found.groups())
