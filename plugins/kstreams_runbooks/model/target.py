"""What an instance is set to run."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """A release with exactly these settings of a runbook, as pairs of key and value that are kept in the order of keys.

    A release alone does not name what runs: settings change a topology too (`topology.optimization`, names of topics).
    """

    release: str
    settings: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", tuple(sorted(self.settings)))

    @classmethod
    def of(cls, release: str, settings: Mapping[str, str]) -> "Target":
        """The release with settings by key."""
        return cls(release, tuple(settings.items()))

    @property
    def text(self) -> str:
        """`release=4.3.1, upgrade.from=3.4`, for a log."""
        return ", ".join(f"{key}={value}" for key, value in (("release", self.release), *self.settings))
