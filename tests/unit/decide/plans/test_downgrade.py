"""The plan of a library bump to an older release: its stages, its reasons, and what it refuses."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import StartAll
from kstreams_runbooks.rules import upgrade_path_rules
from world.samples import NEW, OLD, declared, instance, reading

GUARD = (("upgrade.from", "3.4"),)


def on(release: str, settings: tuple[tuple[str, str], ...] = ()) -> ApplicationReading:
    return reading(*(instance(f"orders-{n}", release=release, settings=settings) for n in (1, 2)))


def down_to(target: str, now: ApplicationReading, **entry: Any) -> Plan:
    releases = tuple(dict.fromkeys((OLD, NEW, "3.9.1", "3.9.2", "3.2.3", "2.8.2", target)))
    return bump_plan(now, declared(releases=releases, **entry), target, upgrade_path_rules(), (), (), "code")


def stages(made: Plan) -> list[tuple[int, str]]:
    return [(one.number, one.kind) for one in made.stages]


def start_of(made: Plan) -> StartAll:
    assert isinstance(made.start, StartAll)
    return made.start


def test_formats_that_the_old_release_misreads_are_held_back_and_read_first() -> None:
    """upgrade.from on the running release, a drain, all down, state cleared, then the old release without it."""
    made = down_to(OLD, on(NEW))
    assert stages(made) == [(1, "bounce"), (2, "drain"), (3, "stop_all"), (4, "start_all")]
    assert [(one.release, one.settings) for one in made.rolled] == [(NEW, GUARD)]
    start = start_of(made)
    assert (start.release, start.settings, start.clear_state, start.must_clear) == (OLD, (), True, True)
    assert {one.id for one in made.findings} >= {"table-aggregations-drain", "store-offsets-4.3"}
    assert made.title == "downgrade to 3.4.1"
    assert made.undo == (
        "until the stop: every instance back to 4.3.1, one after another",
        "after the stop: every instance back to 4.3.1, all at once",
    )


def test_equal_formats_need_no_bounce_before() -> None:
    """4.3 and 3.9 write the same records; the files differ."""
    made = down_to("3.9.1", on(NEW))
    assert stages(made) == [(1, "stop_all"), (2, "start_all")]
    assert start_of(made).clear_state
    assert made.undo == ("every instance back to 4.3.1, all at once",)
    assert made.bounce(1) is None
    assert made.bounce(2) is None


def test_an_application_without_these_formats_needs_no_bounce_before() -> None:
    """The declared facts decide."""
    made = down_to(OLD, on(NEW), uses=frozenset())
    assert stages(made) == [(1, "stop_all"), (2, "start_all")]


def test_a_patch_of_the_same_minor_keeps_its_local_state() -> None:
    """The files are the same."""
    start = start_of(down_to("3.9.1", on("3.9.2")))
    assert (start.release, start.clear_state, start.must_clear) == ("3.9.1", False, False)


def test_upgrade_from_that_every_instance_has_is_not_set_again() -> None:
    """A downgrade that another run left half done continues: the value is unset by the start."""
    made = down_to(OLD, on(NEW, GUARD))
    assert stages(made) == [(1, "drain"), (2, "stop_all"), (3, "start_all")]
    assert start_of(made).settings == ()


def test_upgrade_from_that_one_instance_lacks_is_set() -> None:
    """That instance still writes the new format."""
    half = reading(instance("orders-1", release=NEW, settings=GUARD), instance("orders-2", release=NEW))
    assert stages(down_to(OLD, half))[:2] == [(1, "bounce"), (2, "drain")]


def test_settings_of_earlier_runbooks_stay() -> None:
    """Only upgrade.from goes."""
    made = down_to(OLD, on(NEW, (("num.stream.threads", "2"),)))
    assert dict(made.rolled[0].settings) == {"num.stream.threads": "2", "upgrade.from": "3.4"}
    assert start_of(made).settings == (("num.stream.threads", "2"),)


def test_a_guarantee_that_the_old_release_lacks_is_changed_with_it() -> None:
    """exactly_once_v2 is exactly_once_beta in 2.8."""
    made = down_to("2.8.2", on("3.2.3"), uses=frozenset())
    assert start_of(made).settings == (("processing.guarantee", "exactly_once_beta"),)


@pytest.mark.parametrize("target", [OLD, "3.9.1"])
def test_instances_on_several_releases_are_refused(target: str) -> None:
    """Half an upgrade is taken back by undo, which knows what ran before."""
    mixed = reading(instance("orders-1", release=NEW, settings=GUARD), instance("orders-2"))
    with pytest.raises(Refused, match=r"orders-1 runs 4\.3\.1, orders-2 runs 3\.4\.1 \(expected one release before"):
        down_to(target, mixed)


def test_foreign_key_joins_do_not_go_below_3_3() -> None:
    """Their stores and changelogs have entries on which 3.2 fails."""
    with pytest.raises(Refused, match=r"3\.4\.1 to 3\.2\.3: The subscription stores"):
        down_to("3.2.3", on(OLD))


def test_stream_time_that_is_forgotten_is_shown() -> None:
    """Below 3.3 the metadata of committed offsets is not read."""
    made = down_to("3.2.3", on(OLD), uses=frozenset())
    assert [one.severity for one in made.findings if one.id == "stream-time-forgotten"] == ["warning"]


def test_an_instance_that_cannot_be_read_is_inconclusive() -> None:
    """It may run any release."""
    now = on(NEW)
    unread = replace(now, instances=(now.instances[0], replace(now.instances[1], streams=Missing("timed out"))))
    with pytest.raises(Inconclusive, match="orders-2: timed out"):
        down_to(OLD, unread)


def test_the_digest_changes_with_the_stages() -> None:
    """What was approved for one target is not approved for another."""
    assert down_to(OLD, on(NEW)).digest != down_to("3.9.1", on(NEW)).digest
    assert down_to(OLD, on(NEW)).digest == down_to(OLD, on(NEW)).digest
