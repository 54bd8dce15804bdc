"""Settings that were read of one version alone, and those that runbooks set."""

from dataclasses import replace

from kstreams_runbooks.decide.change.comparable import comparable, set_by_runbooks, with_settings
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.declaration import Described
from world.samples import NEW, instance
from world.sides import COUNTS, declaration, described

SETTINGS = {"application.id": "orders", "num.stream.threads": "1"}
DECLARED = described(declares=declaration(config=SETTINGS))
BARE = described(COUNTS, NEW)


def read(release: str, config: dict[str, str] | None) -> Described:
    """A version whose facts were read, without a declaration."""
    found = described(COUNTS, release, declaration(config=config))
    return replace(found, read=True, only_read=True, only_read_settings=config is not None)


def config_of(one: Described) -> object:
    return one.declaration.config


def test_settings_that_one_version_alone_shows_are_not_compared() -> None:
    """An instance with the jar next to a command that prints a description is not a change."""
    (before,), after = comparable((read("3.4.1", SETTINGS),), BARE)
    assert (config_of(before), after) == (None, BARE)
    assert before.declaration.stores == DECLARED.declaration.stores
    (before,), after = comparable((described(),), read(NEW, SETTINGS))
    assert (before, config_of(after)) == (described(), None)


def test_settings_that_both_show_or_a_person_declares_stay() -> None:
    """A plan asks for those of the other version."""
    assert comparable((described(),), BARE) == ((described(),), BARE)
    both = (read("3.4.1", SETTINGS),), read(NEW, {})
    assert comparable(*both) == both
    assert comparable((DECLARED,), BARE) == ((DECLARED,), BARE)
    declared = described(COUNTS, NEW, declaration(config={}))
    assert comparable((read("3.4.1", SETTINGS),), declared) == ((read("3.4.1", SETTINGS),), declared)


def test_what_a_runbook_has_set_stays_in_the_next_release() -> None:
    """Its topology command does not get it; upgrade.from belongs to no release."""
    found = with_settings(read(NEW, SETTINGS), (("num.stream.threads", "4"), ("upgrade.from", "3.4")))
    assert config_of(found) == {"application.id": "orders", "num.stream.threads": "4"}
    for one in (BARE, DECLARED, read(NEW, None)):
        assert with_settings(one, (("num.stream.threads", "4"),)) == one


def test_only_what_all_instances_have_is_set_by_runbooks() -> None:
    """In the middle of a change they differ; a deployment that is not known shows nothing."""
    both = (("num.stream.threads", "2"), ("upgrade.from", "3.4"))
    first = instance("orders-1", settings=both)
    assert set_by_runbooks((first, instance("orders-2", settings=both))) == both
    assert set_by_runbooks((first, instance("orders-2", settings=both[:1]))) == both[:1]
    hidden = replace(instance("orders-2"), deployment=Missing("no such program"))
    assert set_by_runbooks((first, hidden)) == ()
    assert set_by_runbooks(()) == ()
