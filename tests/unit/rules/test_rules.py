"""The rows themselves: complete, with sources, and equal to what the releases say of themselves."""

import re
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks import rules
from kstreams_runbooks.decide.releases.rules import accepted_upgrade_from
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.rules import upgrade_path_rules

RULES = upgrade_path_rules()
SAMPLE = Path(__file__).parent / "samples" / "settings_of_each_release.txt"
SECTIONS = ("upgrades", "downgrades", "guarantee_changes", "protocol_changes", "brokers", "defects", "changes")


def said(setting: str) -> dict[str, tuple[str, ...]]:
    """Release: the values of a setting that its own jar takes; empty where it takes anything."""
    lines = (line for line in SAMPLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    rows = (line.split(" | ") for line in lines)
    return {
        release: () if values == "takes anything" else tuple(value for value in values.split(", ") if value != "null")
        for release, name, values in rows
        if name == setting
    }


def test_every_release_has_said_what_it_takes() -> None:
    """The list of releases and the sample are the same releases, oldest first."""
    assert [release.text for release in RULES.releases] == list(said("upgrade.from"))
    assert sorted(RULES.releases) == list(RULES.releases)


@pytest.mark.parametrize("release", RULES.releases, ids=str)
def test_values_of_upgrade_from_are_what_the_release_takes(release: Release) -> None:
    """Never more than the jar takes; less only by what is known to throw later."""
    taken = said("upgrade.from")[release.text]
    accepted = accepted_upgrade_from(release, RULES)
    throwing: tuple[str, ...] = {"3.5.0": ("3.4",), "3.5.1": ("3.4",)}.get(release.text, ())
    if within(release, ("4.0..4.1",)):
        throwing = tuple(value for value in taken if Release(value) <= Release("2.3"))
    assert accepted == tuple(value for value in taken if value not in throwing)


@pytest.mark.parametrize("release", [one for one in RULES.releases if one >= Release("0.11.0.0")], ids=str)
def test_guarantees_are_what_the_release_takes(release: Release) -> None:
    """KIP-129, KIP-447, KIP-732, and what 4.0 removed."""
    known = tuple(row.value for row in RULES.guarantees if within(release, row.releases))
    assert known == said("processing.guarantee")[release.text]


def test_the_streams_protocol_is_where_the_releases_have_it() -> None:
    """KIP-1071: a setting from 4.1 on."""
    has = {release.text for release in RULES.releases for row in RULES.protocols[1:] if within(release, row.releases)}
    assert has == {release for release, values in said("group.protocol").items() if values}


def every_row(loaded: UpgradePathRules) -> list[Any]:
    return [row for section in SECTIONS for row in getattr(loaded, section)]


def test_every_row_has_a_source_and_an_id_of_its_own() -> None:
    """A rule without a source is a rumour."""
    rows = every_row(RULES)
    assert all(len(row.source) >= len("KIP-268") for row in (*rows, *RULES.upgrade_from, *RULES.guarantees))
    assert len({row.id for row in rows}) == len(rows)


def test_every_row_that_refuses_says_what_to_do() -> None:
    """A refusal ends with the next action."""
    refusing: list[Any] = [*RULES.upgrades, *RULES.downgrades, *RULES.guarantee_changes, *RULES.protocol_changes]
    assert all(row.action for row in refusing if row.effect == "refuse")
    assert all(row.first_fixed != ("none",) for row in RULES.defects if "refuse" in row.effects)


def test_releases_that_fix_are_known_and_better() -> None:
    """Nobody is sent to a release that is not there, or to another one with the same defect."""
    for row in RULES.defects:
        for text in row.first_fixed:
            assert text == "none" or (Release(text) in RULES.releases and not within(Release(text), row.releases))


def test_each_release_from_0_10_1_has_its_api_changes() -> None:
    """Nothing in between is skipped: the upgrade guide is read by release."""
    told = {change.since for change in RULES.changes if change.kind == "api"}
    firsts = {next(one.text for one in RULES.releases if one.minor == minor.minor) for minor in RULES.releases}
    assert told == firsts - {"0.10.0.0"}


def test_rules_survive_the_ledger() -> None:
    """They are an input of a decision, so they are kept with it."""
    assert decode(UpgradePathRules, encode(RULES)) == RULES


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (
            {"id": "x", "running": ["2.4"], "target": ["3.0"], "effect": "perhaps", "reason": "r", "source": "s"},
            "effect",
        ),
        ({"id": "x", "running": ["two"], "target": ["3.0"], "effect": "refuse", "reason": "r", "source": "s"}, "'two'"),
        ({"id": "x", "running": ["2.4"], "target": ["3.0"], "effect": "refuse", "reason": "r"}, "source"),
        ({"id": "x", "ruining": ["2.4"]}, "x has ruining; known are"),
    ],
)
def test_a_row_that_is_none_does_not_load(row: dict[str, Any], problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A typing error in the data is found when it is loaded, not at night."""
    documents = {name: rules._document(name) for name in rules._FILES}
    documents["upgrades.yaml"] = {"upgrades": [row]}
    monkeypatch.setattr(rules, "_document", documents.__getitem__)
    upgrade_path_rules.cache_clear()
    try:
        with pytest.raises(ValueError, match=problem):
            upgrade_path_rules()
    finally:
        upgrade_path_rules.cache_clear()


_DEFECT: dict[str, Any] = {
    "id": "x",
    "releases": ["3.4..3.5.2"],
    "when": ["leaving"],
    "effects": ["warn"],
    "data": "kept",
    "first_fixed": ["3.6.0"],
    "reason": "r",
    "proof": "read",
    "source": "KAFKA-1",
}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"source": None}, "defects.yaml, defects: x has no source; add it"),
        ({"first_fixed": None}, "defects.yaml, defects: x has no first_fixed; add it"),
        ({"source": ""}, "defects.yaml, defects: x has no source (expected: at least one); add it"),
        ({"first_fixed": []}, "defects.yaml, defects: x has no first_fixed (expected: at least one); add it"),
        ({"when": []}, "defects.yaml, defects: x has no when (expected: at least one); add it"),
        (
            {"first_fixed": ["3.6.9"]},
            "defects.yaml, defects: x has 3.6.9 in first_fixed (expected: a release in releases.yaml); correct it",
        ),
        (
            {"releases": ["3.4..3.5.9"]},
            "defects.yaml, defects: x has 3.5.9 in releases (expected: a release in releases.yaml); correct it",
        ),
        (
            {"needs": {"standbys": ["maybe"]}},
            "defects.yaml, defects: x needs standbys: maybe (expected: yes, no); correct it",
        ),
        (
            {"needs": {"stanbys": ["yes"]}},
            "defects.yaml, defects: x needs stanbys: yes (expected: guarantee, protocol,",
        ),
    ],
)
def test_a_defect_that_is_none_is_one_sentence(
    changes: dict[str, Any], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row without source or fix, of a release nobody has, or with a need that no fact answers."""
    row = {name: value for name, value in {**_DEFECT, **changes}.items() if value is not None}
    documents = {name: rules._document(name) for name in rules._FILES}
    documents["defects.yaml"] = {"defects": [row]}
    monkeypatch.setattr(rules, "_document", documents.__getitem__)
    upgrade_path_rules.cache_clear()
    try:
        with pytest.raises(ValueError, match=re.escape(sentence)) as raised:
            upgrade_path_rules()
        assert "\n" not in str(raised.value)
    finally:
        upgrade_path_rules.cache_clear()


def test_a_defect_that_no_release_fixes_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has that in words; a range may end with a minor, or be open."""
    documents = {name: rules._document(name) for name in rules._FILES}
    documents["defects.yaml"] = {"defects": [{**_DEFECT, "first_fixed": ["none"], "releases": ["3.4..3.5", "4.3.."]}]}
    monkeypatch.setattr(rules, "_document", documents.__getitem__)
    upgrade_path_rules.cache_clear()
    try:
        assert upgrade_path_rules().defects[0].first_fixed == ("none",)
    finally:
        upgrade_path_rules.cache_clear()


def test_ranges_are_read_as_they_are_written() -> None:
    """A minor has all its patches; both ends of a range are inside."""
    assert within(Release("3.5.2"), ("3.5",))
    assert within(Release("3.5.1"), ("3.5.0..3.5.1",))
    assert not within(Release("3.5.2"), ("3.5.0..3.5.1",))
    assert within(Release("0.10.2.1"), ("..0.10",))
    assert within(Release("1.1.1"), ("..1.1",))
    assert not within(Release("3.10.0"), ("..3.9",))
    assert within(Release("4.3"), ("2.5..",))


def test_releases_are_ordered_by_number() -> None:
    """3.10 is newer than 3.9, and text does not know that."""
    assert Release.parse("3.10.0") > Release.parse("3.9.2") > Release.parse("3.9")
    assert (Release("0.10.2.1").minor, Release("3.4.1").minor) == ("0.10.2", "3.4")
