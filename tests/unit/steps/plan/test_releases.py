"""The rows about settings that are kept with a decision about a change."""

from dataclasses import replace
from typing import Any

from kstreams_runbooks.decide.change.described import described_change
from kstreams_runbooks.ledger.codec import call_again, encode, encode_call
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.settings import SettingCatalogue
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.rules import release_settings, topology_change_rules, upgrade_path_rules
from kstreams_runbooks.steps.plan.releases import settings_between
from world.samples import NEW
from world.sides import BEFORE, COUNTS, declaration, described, known

REFUSED = described(COUNTS, NEW, declaration(config={"num.stream.threads": "many", "client.id": "a"}))


def test_only_what_the_change_is_about_is_kept() -> None:
    """Its settings, and those whose default changes between the two releases."""
    part = settings_between((BEFORE,), REFUSED)
    names = {row.name for row in part.rows}
    assert {"num.stream.threads", "client.id", "processing.guarantee"} <= names
    assert "max.poll.records" not in names
    assert len(part.rows) < len(release_settings().rows) / 4
    assert {one.name for one in part.effects} <= names


def test_without_declared_settings_nothing_is_asked() -> None:
    """Nor without a description of what is wanted."""
    bare = replace(REFUSED, declared=None)
    assert settings_between((described(),), bare) == SettingCatalogue()
    assert settings_between((BEFORE,), Missing("not printed")) == SettingCatalogue()


def test_a_release_that_the_text_does_not_name_is_the_declared_one() -> None:
    """Without either there are rows about the settings alone."""
    assert REFUSED.declared is not None
    unnamed = replace(REFUSED, library="")
    assert {row.name for row in settings_between((BEFORE,), unnamed).rows} == {
        *("num.stream.threads", "client.id", "processing.guarantee")
    }
    by_declaration = replace(unnamed, declared=replace(REFUSED.declared, library=Release(NEW)))
    assert settings_between((BEFORE,), by_declaration) == settings_between((BEFORE,), REFUSED)


def test_the_decision_is_made_again_from_what_was_kept() -> None:
    """With those rows the change is refused, and so it is from the evidence."""
    inputs: dict[str, Any] = {
        "before": BEFORE,
        "after": REFUSED,
        "known": known(),
        "rules": topology_change_rules(),
        "versions": upgrade_path_rules(),
        "catalogue": settings_between((BEFORE,), REFUSED),
    }
    found = described_change(**inputs)
    assert found.plan.verdict is Outcome.REFUSE
    assert "refuses num.stream.threads=many (expected: a number of type int)" in found.plan.reasons[0]
    assert call_again(described_change, encode_call(described_change, inputs, found)) == encode(found)
