"""Settings as the releases of Kafka Streams have them: name, default, the values that they take, and what each does."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.rules import ReleaseRanges
from kstreams_runbooks.model.verdicts import Severity

SettingPart = Literal["streams", "consumer", "producer", "admin"]
PARTS: tuple[SettingPart, ...] = ("streams", "consumer", "producer", "admin")
# Source: StreamsConfig, its methods *Prefix and get*Configs (Apache Kafka 4.3).
PREFIXES: tuple[tuple[str, tuple[SettingPart, ...]], ...] = (
    ("main.consumer.", ("consumer",)),
    ("restore.consumer.", ("consumer",)),
    ("global.consumer.", ("consumer",)),
    ("consumer.", ("consumer",)),
    ("producer.", ("producer",)),
    ("admin.", ("admin",)),
    ("topic.", ()),
)
# The prefixes of the main consumer, whose group is the application's; the first name that is set counts. Source:
# StreamsConfig, its method getMainConsumerConfigs (Apache Kafka 2.0 to 4.3).
MAIN_CONSUMER = ("main.consumer.", "consumer.", "")
# Kafka Streams sets these itself over the values of an application, which have no effect and are not checked.
# Source: StreamsConfig, getRestoreConsumerConfigs and getGlobalConsumerConfigs (Apache Kafka 4.3).
SET_OVER = frozenset({"restore.consumer.auto.offset.reset", "global.consumer.auto.offset.reset"})
# A client has a setting of the same name with other values.
_NOT_OF_CLIENTS = frozenset({"group.protocol"})
# Kafka's settings of type password and their kin (Apache Kafka documentation, Security Configuration); the same words
# are in Settings.java of topology-facts.jar.
_SECRET = re.compile(
    r"passw|passphrase|pwd|secret|credential|token|jaas|ssl\.key|private[.-]?key|api[.-]?key|user\.info"
)
# Names that the library itself reads by their beginnings. Source: StreamsConfig, AbstractConfig (Apache Kafka 4.3).
_GIVEN_ON = ("__", "client.tag.", "config.providers")
SettingType = Literal["boolean", "class", "double", "int", "list", "long", "password", "short", "string"]


def is_secret(name: str) -> bool:
    """Whether a setting or a variable of that name is a secret."""
    return _SECRET.search(name.lower()) is not None


def is_provided(value: str, config: Mapping[str, str]) -> bool:
    """Whether a config provider gives a value at start (KIP-297); nothing asks it before."""
    return "${" in value and "config.providers" in config


def in_part(name: str) -> tuple[tuple[SettingPart, ...], str]:
    """The parts that a setting is for, and its name there."""
    for prefix, parts in PREFIXES:
        if name.startswith(prefix):
            return parts, name.removeprefix(prefix)
    return ("streams",) if name in _NOT_OF_CLIENTS else PARTS, name


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
class SettingCondition:
    """One condition of a refusal, on the value of a setting in one part of the application; exactly one test is given.

    `setting` is the name without the prefix of a client. A setting that is not set has the value `unset`, or the
    release's own default. The tests: it `is_set` and not empty, or is set `prefixed` with its client; it `begins`
    with a text; it is `one_of` these or `none_of` these; an item of its list is `unlike` a pattern, or `lacks` the
    setting of this prefix and its name (with `whole` the value is one item); as a number it is `above`, `at_least` or
    `below` another setting of the same part, the sum of several, or a number. `other` is the value of such another
    setting if it is not set.
    """

    setting: str
    of: SettingPart = "streams"
    unset: str | None = None
    is_set: bool = False
    prefixed: bool = False
    begins: str = ""
    one_of: tuple[str, ...] = ()
    none_of: tuple[str, ...] = ()
    unlike: str = ""
    whole: bool = False
    lacks: str = ""
    above: str = ""
    at_least: str = ""
    below: str = ""
    other: str | None = None


@dataclass(frozen=True, slots=True)
class SettingRefusal:
    """Settings that a release refuses together: all conditions of `when` hold. The first names the setting to correct.

    `because` is the rule in one clause, `cure` what a person changes. `refused` and `taken` are settings that
    `make settings` gives to each release: it refuses the first and takes the second. `releases` are those that did, as
    they are printed in settings.yaml, with the library's own words. `text_alone`: a program may give another object
    than text, and the library takes that.
    """

    id: str
    when: tuple[SettingCondition, ...]
    because: str
    cure: str
    source: str
    refused: Mapping[str, str]
    taken: Mapping[str, str]
    text_alone: bool = False
    releases: ReleaseRanges = ()
    words: str = ""


@dataclass(frozen=True, slots=True)
class SettingCatalogue:
    """Rows of settings, what the most important ones do, and which a release refuses together; a part is one too.

    `limits` are refusals by brokers, or values that only a start shows to be too low; `topics` are settings of topics
    as brokers take them, without the prefix.
    """

    rows: tuple[ReleaseSetting, ...] = ()
    effects: tuple[SettingEffect, ...] = ()
    refusals: tuple[SettingRefusal, ...] = ()
    limits: tuple[SettingRefusal, ...] = ()
    topics: tuple[ReleaseSetting, ...] = ()

    def has(self, name: str, release: Release | None = None, parts: tuple[SettingPart, ...] = PARTS) -> bool | None:
        """Whether these parts of a release have a setting (without the prefix of a client), or of any release.

        None without rows.
        """
        if not self.rows:
            return None
        return any(
            row.name == name and set(row.of) & set(parts) and (release is None or within(release, row.releases))
            for row in self.rows
        )

    def is_of_the_program(self, name: str) -> bool:
        """Whether no release has a setting: the program reads it, or a class to which Kafka Streams gives it."""
        parts, there = in_part(name)
        return bool(parts) and not name.startswith(_GIVEN_ON) and self.has(there) is False

    def does(self, name: str) -> str:
        """What a setting does, empty if no row explains it."""
        return next((one.does for one in self.effects if one.name == name), "")


@dataclass(frozen=True, slots=True)
class SettingFinding:
    """One thing that a release does with a setting; with `refuse` no instance starts on it.

    `source` is empty for what the release's own list of settings shows.
    """

    id: str
    severity: Severity
    name: str
    message: str
    refuse: bool = False
    source: str = ""
