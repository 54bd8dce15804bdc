"""Settings as the releases of Kafka Streams have them: name, default, the values that they take, and what each does."""

from dataclasses import dataclass
from typing import Literal

from kstreams_runbooks.model.releases.rules import ReleaseRanges
from kstreams_runbooks.model.verdicts import Severity

SettingPart = Literal["streams", "consumer", "producer", "admin"]
PARTS: tuple[SettingPart, ...] = ("streams", "consumer", "producer", "admin")
SettingType = Literal["boolean", "class", "double", "int", "list", "long", "password", "short", "string"]


@dataclass(frozen=True, slots=True)
class ReleaseSetting:
    """One setting in some parts of some releases, as their ConfigDef defines it.

    `of` is Kafka Streams itself or the clients that have it. `default` is None if it is not set, or has to be set.
    `values` are all values that a release takes (empty: any), in upper and lower case with `any_case`; `range` is the
    lowest and the highest number (None: open). `check` is the release's own text about any other check.
    """

    name: str
    of: tuple[SettingPart, ...]
    type: SettingType
    importance: Literal["high", "medium", "low"]
    releases: ReleaseRanges = ("..",)
    default: str | None = None
    deprecated: bool = False
    values: tuple[str, ...] = ()
    any_case: bool = False
    range: tuple[float | None, float | None] | None = None
    check: str = ""


@dataclass(frozen=True, slots=True)
class SettingEffect:
    """What a setting does, as the end of the sentence "it controls …"."""

    name: str
    does: str


@dataclass(frozen=True, slots=True)
class SettingCatalogue:
    """Rows of settings, and what the most important ones do; a part of all rows is a catalogue too."""

    rows: tuple[ReleaseSetting, ...] = ()
    effects: tuple[SettingEffect, ...] = ()

    def does(self, name: str) -> str:
        """What a setting does, empty if no row explains it."""
        return next((one.does for one in self.effects if one.name == name), "")


@dataclass(frozen=True, slots=True)
class SettingFinding:
    """One thing that a release does with a setting; with `refuse` no instance starts on it."""

    id: str
    severity: Severity
    name: str
    message: str
    refuse: bool = False
