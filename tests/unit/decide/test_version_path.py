"""Which bounces a pair of releases needs: the rows that 3.4.1 to 4.3.1 needs."""

import pytest
from kstreams_runbooks.decide.version_path import version_path
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.model.versions import Release
from kstreams_runbooks.rules import upgrade_path_rules


def path(running: str, target: str, *uses: str) -> list[tuple[int, str, dict[str, str]]]:
    found = version_path(upgrade_path_rules(), Release.parse(running), Release.parse(target), frozenset(uses))
    return [(bounce.number, bounce.release, dict(bounce.settings)) for bounce in found.bounces]


def test_table_aggregations_need_the_double_bounce() -> None:
    """KIP-904: 3.4 cannot read what 3.5 and later write."""
    assert path("3.4.1", "4.3.1", "table_aggregations") == [(1, "4.3.1", {"upgrade.from": "3.4"}), (2, "4.3.1", {})]


def test_without_table_aggregations_one_bounce_suffices() -> None:
    """No record of the changed format is ever written."""
    assert path("3.4.1", "4.3.1") == [(1, "4.3.1", {})]


def test_an_interrupted_bump_goes_on_from_the_minor_it_writes() -> None:
    """An instance with upgrade.from counts as that older minor."""
    assert len(path("3.4", "4.3.1", "table_aggregations")) == 2


def test_a_pair_that_no_row_covers_is_refused() -> None:
    """A path that nobody has shown is never guessed."""
    with pytest.raises(Refused, match=r"library bump 2\.8\.2 to 4\.3\.1: no published rule covers this pair"):
        path("2.8.2", "4.3.1")


def test_the_same_release_and_no_release_are_bad_input() -> None:
    """One sentence each."""
    with pytest.raises(BadInput, match=r"already runs 4\.3\.1"):
        path("4.3.1", "4.3.1")
    with pytest.raises(BadInput, match="release 'four' is not a Kafka release"):
        Release.parse("four")


def test_releases_are_ordered_by_number() -> None:
    """3.10 is newer than 3.9, and text does not know that."""
    assert Release.parse("3.10.0") > Release.parse("3.9.2") > Release.parse("3.9")


def test_every_row_has_a_public_source() -> None:
    """A rule without a source is a rumour."""
    assert all(rule.source and rule.reason for rule in upgrade_path_rules())
