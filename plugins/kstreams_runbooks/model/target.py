"""What an instance is set to run."""

from collections.abc import Mapping
from dataclasses import dataclass

# Settings of a runbook as pairs of key and value, in the order of keys.
RunbookSettings = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """A release with exactly these settings of a runbook, as pairs of key and value that are kept in the order of keys.

    A release alone does not name what runs: settings change a topology too (`topology.optimization`, names of topics).
    """

    release: str
    settings: RunbookSettings = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", tuple(sorted(self.settings)))

    @classmethod
    def of(cls, release: str, settings: Mapping[str, str]) -> "Target":
        """The release with settings by key."""
        return cls(release, tuple(settings.items()))

    @property
    def release_alone(self) -> "Target":
        """The same release without settings."""
        return Target(self.release)

    def without(self, *names: str) -> "Target":
        """The same without these settings."""
        return Target(self.release, tuple((key, value) for key, value in self.settings if key not in names))

    @property
    def text(self) -> str:
        """`release=4.3.1, upgrade.from=3.4`, for a log."""
        return ", ".join(f"{key}={value}" for key, value in (("release", self.release), *self.settings))
