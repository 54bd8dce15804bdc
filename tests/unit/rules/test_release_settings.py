"""The catalogue of settings: as `make settings` prints it, and equal to what the releases answer to a value."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml
from kstreams_runbooks import rules
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.releases.release import within
from kstreams_runbooks.model.releases.settings import PARTS, ReleaseSetting, SettingCatalogue
from kstreams_runbooks.rules import release_settings, upgrade_path_rules
from lab.release_settings import FILE, Said, differing, printed, rows

SAMPLE = Path(__file__).parent / "samples" / "settings_of_each_release.txt"
RELEASES = upgrade_path_rules().releases
# A class inside StreamsConfig has this name; no ConfigDef lists it.
NOT_LISTED = {"__internal.override.topic.prefix__"}


def answers() -> list[tuple[str, str, str]]:
    """Release, setting and the values that its own StreamsConfig takes."""
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    return [(row[0], row[1], row[2]) for line in lines if not line.startswith("#") for row in [line.split(" | ")]]


def listed(name: str, release: str) -> list[ReleaseSetting]:
    """Rows of a setting of Kafka Streams itself in one release."""
    at = next(one for one in RELEASES if one.text == release)
    every = release_settings().rows
    return [row for row in every if row.name == name and "streams" in row.of and within(at, row.releases)]


def kept() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.load(FILE.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)["settings"]
    return found


def said() -> Said:
    """What the file has, as if every release were asked again."""
    found: Said = defaultdict(dict)
    for row in kept():
        name, of, releases = row.pop("name"), row.pop("of"), row.pop("releases", [".."])
        for release in RELEASES:
            for part in of:
                # Admin clients came with 0.11.
                if within(release, tuple(releases)) and (part != "admin" or within(release, ("0.11.0..",))):
                    found[name][part, release.text] = row
    return found


@pytest.mark.parametrize(("release", "name", "values"), answers())
def test_values_are_those_that_the_release_takes(release: str, name: str, values: str) -> None:
    """The sample was taken in another way: each release was given a value that it does not take."""
    found = listed(name, release)
    wanted = [] if values == "takes anything" else [one for one in values.split(", ") if one != "null"]
    if name == "group.protocol":  # it is taken in either case, and comes in no order
        wanted = sorted(one.lower() for one in wanted)
    assert [value for row in found for value in row.values] == wanted
    assert len(found) <= 1


def test_no_part_of_a_release_has_a_setting_twice() -> None:
    """Two rows for one place would be two answers."""
    for release in RELEASES:
        for part in PARTS:
            names = [row.name for row in release_settings().rows if part in row.of and within(release, row.releases)]
            assert len(names) == len(set(names)), (release, part)


def test_the_file_is_as_it_is_printed() -> None:
    """A line written by hand would be lost at the next `make settings`."""
    text = FILE.read_text(encoding="utf-8")
    refused = yaml.load(text, Loader=yaml.CSafeLoader)["refused_by"]
    assert printed(rows(said(), tuple(one.text for one in RELEASES)), refused) == text


def test_a_release_that_differs_from_the_file_is_named() -> None:
    """A new default, a setting that went and one that came; the other release is as it was."""
    there = said()
    assert differing(there, kept(), ["3.4.1", "4.3.1"]) == []
    changed = dict(there)
    changed["acks"] = {**there["acks"], ("producer", "4.3.1"): {"type": "string", "default": "0"}}
    changed["poll.ms"] = {place: row for place, row in there["poll.ms"].items() if place[1] != "4.3.1"}
    changed["brand.new"] = {("admin", "4.3.1"): {"type": "int"}}
    found = differing(changed, kept(), ["3.4.1", "4.3.1"])
    assert [line.split(":")[0] for line in found] == [
        "4.3.1, streams, poll.ms",
        "4.3.1, producer, acks",
        "4.3.1, admin, brand.new",
    ]


def test_what_is_explained_is_a_setting() -> None:
    """Names that no release has would never be shown."""
    effects = [one.name for one in release_settings().effects]
    assert set(effects) - {row.name for row in release_settings().rows} == NOT_LISTED
    assert effects == sorted(set(effects))
    assert all(one.does[0].islower() and not one.does.endswith(".") for one in release_settings().effects)
    assert release_settings().does("state.dir") == "the directory of local state"
    assert release_settings().does("no.such.setting") == ""


def test_rows_survive_the_ledger() -> None:
    """They are an input of a decision, so they are kept with it."""
    assert decode(SettingCatalogue, encode(release_settings())) == release_settings()


def test_a_row_that_is_not_valid_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that the program does not know would be ignored for ever."""
    row = {"name": "a", "of": ["streams"], "type": "int", "importance": "low", "defualt": "1"}
    monkeypatch.setattr(rules, "_document", lambda _: {"settings": [row], "setting_effects": []})
    release_settings.cache_clear()
    try:
        with pytest.raises(ValueError, match="has defualt; known are"):
            release_settings()
    finally:
        release_settings.cache_clear()
