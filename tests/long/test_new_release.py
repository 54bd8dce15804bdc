"""`make new-release` on jars of Maven Central: what it prints of 4.4.0 is what the rules have of it."""

import pytest
import yaml
from kstreams_runbooks.rules import upgrade_path_rules
from lab import new_release

pytestmark = pytest.mark.long


def test_the_draft_of_the_newest_release(capsys: pytest.CaptureFixture[str]) -> None:
    """Next to 4.3.1: its values, its settings, what it refuses otherwise, what moved, and what programs show."""
    assert new_release.main(["4.4.0", "4.3.1"]) == 0
    draft = yaml.safe_load(capsys.readouterr().out)
    row = next(one for one in upgrade_path_rules().upgrade_from if one.releases == ("4.4",))
    accepted = draft["rules/releases.yaml"]["upgrade_from"]
    assert (accepted["releases"], accepted["lowest"], accepted["highest"]) == (["4.4"], row.lowest, row.highest)
    paths = draft["rules/upgrades.yaml, downgrades.yaml, brokers.yaml, defects.yaml"]
    assert "no-format-change-from-3.5" in paths["rows with an open end that cover it"]
    joins = "org.apache.kafka.streams.kstream.internals.foreignkeyjoin.SubscriptionWrapperSerde$1"
    assert paths["upgrade.from is heeded in"][joins].endswith(" 32 33")
    assert list(paths["otherwise than before in"]) == ["org.apache.kafka.streams.internals.UpgradeFromValues"]
    settings = {(one["name"], one["of"]): one for one in draft["rules/settings.yaml"]}
    assert settings["enable.transactional.statestores", "streams"]["is"] == "new"
    assert settings["upgrade.from", "streams"]["differs"] == {"values": {"added": ["4.3"]}}
    refused = {one["id"]: one for one in draft["rules/setting_refusals.yaml"]}
    assert refused["static-membership-with-streams-protocol"]["4.4.0"] == "taken"
    moved = draft["rules/release_changes.yaml"]["moved"]
    assert moved["org.apache.kafka.common.utils.AppInfoParser"].startswith("org.apache.kafka.common.utils.internals.")
    facts = draft["topology_facts"]
    assert facts["built by one release alone"] == []
    [change] = facts["differs"]
    assert change["is"].endswith("KTableImpl$DefaultForeignResponseSinkPartitioner")


@pytest.mark.parametrize("arguments", [[], ["4.4"], ["4.4.0", "1.2.3"], ["a", "b", "c"]])
def test_a_wrong_release_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert new_release.main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1


def test_a_release_that_nobody_published_is_not_a_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    """Maven has no jar of it."""
    assert new_release.main(["4.4.77"]) == 1
    said = capfd.readouterr()
    assert "# A draft" not in said.out
    assert "RELEASE=4.4.77: its jars, or those of 4.4.0, could not be read (mvn failed)" in said.err
