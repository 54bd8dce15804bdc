"""The rows about changed topologies: what a person reads of each."""

import pytest
from kstreams_runbooks.model.topology.change import ChangeRule
from kstreams_runbooks.rules import topology_change_rules

RULES = topology_change_rules()
WORSE = [rule for rule in RULES if rule.severity != "info"]
MOST_WORDS = 25


@pytest.mark.parametrize("rule", WORSE, ids=lambda rule: f"{rule.id}-{rule.on}-{RULES.index(rule)}")
def test_each_danger_and_warning_has_its_meaning_for_the_data(rule: ChangeRule) -> None:
    """One clause that begins a sentence, without names: it is printed once for all objects of a rule."""
    assert rule.data[:1].isupper()
    assert not rule.data.endswith(".")
    assert "{" not in rule.data
    assert len(rule.data.split()) <= MOST_WORDS
