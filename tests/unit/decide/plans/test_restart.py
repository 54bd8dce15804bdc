"""The plan of a rolling bounce and of a stop and restart."""

import pytest
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.model.runs.plan import Plan
from world.samples import NEW, OLD, declared, instance, reading

RELEASES = {"releases": (OLD, NEW, "build-7"), "libraries": (("build-7", OLD),)}


def plan_of(
    settings: dict[str, str | None] | None = None,
    release: str | None = None,
    now: ApplicationReading | None = None,
    *,
    at_once: bool = False,
    restart: bool = False,
) -> Plan:
    return restart_plan(
        now or reading(),
        declared(**RELEASES),
        release,
        settings or {},
        (),
        (),
        "code",
        at_once=at_once,
        restart=restart,
    )


def set_to(*settings: tuple[str, str]) -> ApplicationReading:
    return reading(instance("orders-1", settings=settings), instance("orders-2", settings=settings))


def test_settings_go_over_those_that_stand_and_null_unsets() -> None:
    """What other runs have set stays."""
    now = set_to(("a", "1"), ("b", "2"))
    [bounce] = plan_of({"b": None, "c": "3"}, now=now).bounces
    assert (bounce.release, bounce.settings) == (OLD, (("a", "1"), ("c", "3")))


def test_a_release_that_is_not_named_after_its_library() -> None:
    """The gate expects what the library says of itself."""
    [bounce] = plan_of(release="build-7").bounces
    assert (bounce.release, bounce.version) == ("build-7", OLD)


def test_another_library_is_for_the_library_bump() -> None:
    """It knows what lies between two of them."""
    with pytest.raises(
        Refused, match=r"release 4\.3\.1 is Kafka Streams 4\.3\.1, orders-1 has 3\.4\.1 .* library_bump"
    ):
        plan_of(release=NEW)


def test_unknown_releases_and_upgrade_from_are_bad_input() -> None:
    """One sentence, before anything is changed."""
    with pytest.raises(BadInput, match=r"release 9\.9: not declared for orders"):
        plan_of(release="9.9")
    with pytest.raises(BadInput, match="set and unset by library_bump alone"):
        plan_of({"upgrade.from": "3.4"})


def test_nothing_to_change_is_bad_input_for_a_rolling_bounce_alone() -> None:
    """A stop and restart without a change is a cure."""
    with pytest.raises(BadInput, match=r"nothing to change: every instance of orders is deployed as 3\.4\.1 already"):
        plan_of()
    made = plan_of(at_once=True)
    assert (made.at_once, made.runbook, made.bounces[0].settings) == (True, "stop_and_restart", ())


def test_a_restart_without_a_change_is_a_choice() -> None:
    """Each instance as it is deployed; together with a change it would be unclear what is meant."""
    now = set_to(("a", "1"))
    made = plan_of(now=now, restart=True)
    [bounce] = made.bounces
    assert (bounce.again, bounce.release, bounce.settings) == (True, OLD, (("a", "1"),))
    assert bounce.sentence == f"bounce 1: a restart of {OLD} with a=1"
    assert made.title == f"rolling restart of {OLD} with a=1"
    assert ("restart", "without a change") in made.change
    for change in ({"release": "build-7"}, {"settings": {"a": "2"}}):
        with pytest.raises(BadInput, match="restart: is a restart without a change, and the form has a release or"):
            plan_of(**change, now=now, restart=True)


def test_a_library_bump_that_is_not_finished_comes_first() -> None:
    """upgrade.from would be lost with the next deployment."""
    with pytest.raises(Refused, match=r"orders-1 still has upgrade\.from=3\.4"):
        plan_of({"a": "1"}, now=set_to(("upgrade.from", "3.4")))


def test_an_interrupted_run_is_taken_up_by_the_same_change() -> None:
    """Instances may differ in what this change sets, in nothing else."""
    half = reading(instance("orders-1", settings=(("a", "1"),)), instance("orders-2"))
    assert plan_of({"a": "1"}, now=half).bounces[0].settings == (("a", "1"),)
    with pytest.raises(Refused, match="orders-2 has no setting of a runbook, orders-1 has a=1"):
        plan_of({"b": "1"}, now=half)


def test_the_digest_binds_settings_and_not_the_words() -> None:
    """Another value is another plan."""
    assert plan_of({"a": "1"}).digest == plan_of({"a": "1"}).digest
    assert plan_of({"a": "1"}).digest != plan_of({"a": "2"}).digest
