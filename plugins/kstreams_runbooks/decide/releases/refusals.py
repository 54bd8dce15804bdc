"""Settings that a release refuses together: each of them alone is valid.

`make settings` gives the examples of each row to every release of Kafka Streams, which constructs an application with
them. The rows are judged by the settings alone, so they hold for descriptions and properties without a program.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.settings import (
    MAIN_CONSUMER,
    SettingCatalogue,
    SettingCondition,
    SettingFinding,
    SettingPart,
    SettingRefusal,
    is_provided,
)

# The names that a part reads, the first that is set wins. The main consumer counts for the consumers. Source:
# StreamsConfig, get*Configs (Apache Kafka 2.4 to 4.3).
_NAMES: Mapping[SettingPart, tuple[str, ...]] = {
    "streams": ("",),
    "consumer": MAIN_CONSUMER,
    "producer": ("producer.", ""),
    "admin": ("admin.", ""),
}
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_NEWEST = Release("4.4.0")


def refused_together(
    config: Mapping[str, str],
    target: Release,
    catalogue: SettingCatalogue,
    *,
    whole: bool = True,
    tried: bool = False,
) -> Iterator[SettingFinding]:
    """Each row of which all conditions hold, for the release; a condition on a value that is not known does not.

    `whole`: every other setting has its default. Otherwise `config` is a part, and a setting outside it is not known.
    `tried`: the library was given the settings as the program has them, which may not be text.
    """
    for row in catalogue.refusals:
        found = _Values(config, target, catalogue, whole)
        known = within(target, row.releases) and not (tried and row.text_alone)
        if known and all(map(found.fulfil, row.when)):
            yield _finding(row, found)


def past_limits(
    config: Mapping[str, str], release: Release | None, catalogue: SettingCatalogue
) -> dict[str, SettingRefusal]:
    """The limits that settings are past, each by the name under which an application gives one of its settings.

    Without a release a setting that is not given has the default of the newest.
    """
    found = _Values(config, release or _NEWEST, catalogue, whole=True)
    past = [row for row in catalogue.limits if all(map(found.fulfil, row.when))]
    return {name: row for row in past if (name := found.given_of(row))}


def names_of(row: SettingRefusal) -> frozenset[str]:
    """The settings of a row, without prefixes of clients."""
    compared = (name for one in row.when for name in _operands(one) if not _INTEGER.fullmatch(name))
    return frozenset((*(one.setting for one in row.when), *compared))


@dataclass(frozen=True, slots=True)
class _Values:
    """The settings of an application on a release, as its parts read them."""

    config: Mapping[str, str]
    release: Release
    catalogue: SettingCatalogue
    whole: bool

    def fulfil(self, one: SettingCondition) -> bool:
        """Whether the settings fulfil a condition."""
        if one.is_set or one.prefixed:
            name, given = self.given(one.setting, one.of)
            return bool(given) and (one.is_set or name != one.setting)
        value = self.value(one.setting, one.of, one.unset)
        if value is None:
            return False
        if one.begins:
            return value.lower().startswith(one.begins)
        if one.one_of or one.none_of:
            return value.lower() in one.one_of if one.one_of else value.lower() not in one.none_of
        if one.unlike or one.lacks:
            items = [value] if one.whole else [item for part in value.split(",") if (item := part.strip())]
            return any(
                not re.fullmatch(one.unlike, item) if one.unlike else self._lacks(f"{one.lacks}{item}")
                for item in items
            )
        number, limit = _number(value), self._limit(one)
        if number is None or limit is None:
            return False
        return number > limit if one.above else number >= limit if one.at_least else number < limit

    def given(self, name: str, part: SettingPart) -> tuple[str, str]:
        """The name under which a part finds a setting, and its value; empty if it is not set."""
        found = next((full for prefix in _NAMES[part] if (full := f"{prefix}{name}") in self.config), "")
        return found, self.config.get(found, "").strip()

    def given_of(self, row: SettingRefusal) -> str:
        """The name of the first setting of a row that is given; empty if all have their defaults."""
        names = [(one.setting, one.of) for one in row.when]
        names += [(name, one.of) for one in row.when for name in _operands(one)]
        return next((given for name, part in names if (given := self.given(name, part)[0])), "")

    def value(self, name: str, part: SettingPart, unset: str | None) -> str | None:
        """The value that counts for a part: its own, else `unset`, else the release's default; None if unknown."""
        found, value = self.given(name, part)
        if found:
            return None if is_provided(value, self.config) else value
        if unset is not None or not self.whole:
            return unset if self.whole else None
        rows = (row for row in self.catalogue.rows if row.name == name and part in row.of)
        return next((row.default for row in rows if within(self.release, row.releases)), None)

    def _lacks(self, name: str) -> bool:
        return self.whole and name not in self.config

    def _limit(self, one: SettingCondition) -> int | None:
        """The number to compare with: one, or the sum of settings; None if one of them is not known."""
        found = [
            int(name) if _INTEGER.fullmatch(name) else _number(self.value(name, one.of, one.other))
            for name in _operands(one)
        ]
        known = [number for number in found if number is not None]
        return sum(known) if len(known) == len(found) else None


def _operands(one: SettingCondition) -> tuple[str, ...]:
    return tuple(filter(None, (one.above or one.at_least or one.below).split(" + ")))


def _number(value: str | None) -> int | None:
    return int(value) if value is not None and _INTEGER.fullmatch(value) else None


def _finding(row: SettingRefusal, found: _Values) -> SettingFinding:
    first, *others = dict.fromkeys(_shown(row, found))
    name = found.given(row.when[0].setting, row.when[0].of)[0] or row.when[0].setting
    others = [f"with {', '.join(others)}"] if others else []
    message = (
        f"{' '.join([f'{found.release} refuses {first}', *others])}: {row.because}. No instance starts; {row.cure}"
    )
    return SettingFinding("setting-refused", "danger", name, message, refuse=True, source=row.source)


def _shown(row: SettingRefusal, found: _Values) -> Iterator[str]:
    """Each setting of a row with its value, as the application names it."""
    for one in row.when:
        for name, unset in ((one.setting, one.unset), *((name, one.other) for name in _operands(one))):
            given, value = found.given(name, one.of)
            if given:
                yield f"{given}={value}"
            elif not _INTEGER.fullmatch(name):
                yield f"{name}={found.value(name, one.of, unset)} (the default)"
