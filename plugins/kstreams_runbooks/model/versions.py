"""Kafka Streams releases, and what the published rules say of going from one to another."""

import re
from dataclasses import dataclass
from functools import total_ordering

from kstreams_runbooks.errors import BadInput

_RELEASE = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?(?:\.(\d+))?")


@total_ordering
@dataclass(frozen=True, slots=True)
class Release:
    """A release such as 3.4.1; ordered by number, printed as it was written."""

    text: str

    @classmethod
    def parse(cls, text: str) -> "Release":
        """Release from its text; BadInput if it is none."""
        if not _RELEASE.fullmatch(text.strip()):
            raise BadInput(f"release {text!r} is not a Kafka release; give one such as 4.3.1")
        return cls(text.strip())

    @classmethod
    def known(cls, text: str) -> bool:
        """Whether `text` is a release as Apache Kafka numbers them."""
        return _RELEASE.fullmatch(text.strip()) is not None

    @property
    def numbers(self) -> tuple[int, ...]:
        """(major, minor, patch…); a missing patch is 0."""
        found = _RELEASE.fullmatch(self.text)
        if found is None:
            raise BadInput(f"release {self.text!r} is not a Kafka release; give one such as 4.3.1")
        return tuple(int(part or 0) for part in found.groups())

    @property
    def minor(self) -> str:
        """Major and minor as `upgrade.from` wants them: 3.4."""
        major, minor, *_ = self.numbers
        return f"{major}.{minor}"

    def __lt__(self, other: object) -> bool:
        """Order by number."""
        return self.numbers < other.numbers if isinstance(other, Release) else NotImplemented

    def __str__(self) -> str:
        """As written."""
        return self.text


@dataclass(frozen=True, slots=True)
class UpgradePathRule:
    """One row of the version rules: which pairs it covers and what they need.

    `from_min`/`from_max` and `to_min`/`to_max` are inclusive minors; `needs` names what the application must use for
    the row to bind (`table_aggregations`, `foreign_key_joins`; empty: always); `upgrade_from` says that the first of
    two bounces sets `upgrade.from` to the running minor.
    """

    id: str
    from_min: str
    from_max: str
    to_min: str
    to_max: str
    needs: tuple[str, ...]
    upgrade_from: bool
    effect: str
    reason: str
    source: str
