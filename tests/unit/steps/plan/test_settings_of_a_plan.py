"""A plan that changes settings: what a description with them shows is compared, what none shows is a finding."""

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace

import pytest
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.readings.topics_seen import TopicsSeen
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.steps.plan.plan import _same_program, _with_what_it_changes
from kstreams_runbooks.steps.plan.releases import before_a_roll, one_running, running
from kstreams_runbooks.steps.run.run import Run
from world.samples import OLD, declared, down, instance, reading
from world.sides import AUDITED, COUNTS

RUNS = reading(instance("orders-1", topology=COUNTS), instance("orders-2", topology=COUNTS))
SEEN = TopicsSeen({"orders": 4, "counted": 4}, {}, {})


class Describing:
    """A deployer whose topology has one more subtopology if `audit` is set; it may take settings or not."""

    def __init__(self, *, takes_settings: bool) -> None:
        self.abilities = SimpleNamespace(topology_settings=takes_settings)
        self.printed: list[Target] = []

    def topology_target(self, target: Target) -> Target:
        """What the command gets."""
        return target if self.abilities.topology_settings else target.release_alone

    def topology(self, target: Target) -> str:
        """What it prints."""
        self.printed.append(self.topology_target(target))
        return AUDITED if dict(self.printed[-1].settings).get("audit") == "true" else COUNTS

    def facts(self, target: Target, *, started: bool = False) -> None:
        """It prints descriptions."""


@pytest.fixture
def asked(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The run, on a cluster that has every topic."""
    vars(run).update(declared=declared(), deployer=Describing(takes_settings=True), running_facts=lambda _: {})
    monkeypatch.setattr(Run, "topics_seen", lambda *_: SEEN)
    # tests/secured takes each of them away.
    monkeypatch.setattr("kstreams_runbooks.steps.plan.fitting.require_rights_of_versions", lambda *_: None)
    return run


def plan_of(run: Run, settings: Mapping[str, str], now: ApplicationReading = RUNS, *, at_once: bool = False) -> Plan:
    """The plan of a restart with these settings on the same release, with what it changes."""
    given: dict[str, str | None] = {**settings}
    made = restart_plan(now, declared(), None, given, (), declared().limits, "code", at_once=at_once)
    return _with_what_it_changes(run, now, made)


def test_settings_that_change_the_topology_are_not_rolled(asked: Run) -> None:
    """They are compared as another release would be."""
    with pytest.raises((Refused, Inconclusive), match=r"subtopolog|repartition"):
        plan_of(asked, {"audit": "true"})


def test_settings_that_leave_the_topology_are_rolled_with_a_word_on_what_no_text_shows(asked: Run) -> None:
    """An application's own setting may still change a window."""
    (found,) = plan_of(asked, {"audit": "false"}).findings
    assert (found.id, found.severity) == ("settings-may-change-the-topology", "info")
    assert found.message.startswith("audit: change nothing in the topology description")


def test_settings_of_kafka_streams_are_not_described_at_all(asked: Run) -> None:
    """The release is described once, for the topics that it needs."""
    assert plan_of(asked, {"num.stream.threads": "2"}).findings == ()
    assert {dict(target.settings).get("audit") for target in asked.deployer.printed} == {None}  # type: ignore[attr-defined] # the fake above


@pytest.mark.parametrize("at_once", [False, True])
def test_a_command_that_takes_no_settings_does_not_show_what_they_change(asked: Run, *, at_once: bool) -> None:
    """Inconclusive, unless a person accepts it; settings that stay are in neither description, which is a warning."""
    vars(asked)["deployer"] = Describing(takes_settings=False)
    with pytest.raises(Inconclusive, match="whether audit changes the topology is not known: the topology command"):
        plan_of(asked, {"audit": "true"}, at_once=at_once)
    reason = replace(asked.record, params={"without_topology": "tried on the test stack"})
    accepted = replace(asked, record=reason)
    vars(accepted).update({name: value for name, value in vars(asked).items() if name != "record"})
    danger, found = plan_of(accepted, {"audit": "true"}, at_once=at_once).findings
    assert (danger.id, danger.severity) == ("topology-not-compared", "danger")
    assert (found.id, found.severity) == ("settings-may-change-the-topology", "warning")
    assert found.message.startswith("audit: may change what the application reads and writes")
    audited = tuple(instance(name, topology=COUNTS, settings=(("audit", "true"),)) for name in ("orders-1", "orders-2"))
    (stays,) = plan_of(asked, {"num.stream.threads": "2"}, reading(*audited), at_once=at_once).findings
    assert (stays.id, stays.severity) == ("settings-may-change-the-topology", "warning")


def test_what_is_down_is_described_with_its_own_settings(asked: Run) -> None:
    """The release that is set, as it is set."""
    audited = (("audit", "true"),)
    stopped = reading(down("orders-1", settings=audited), down("orders-2", settings=audited))
    (before,), after = before_a_roll(asked, stopped, Target(OLD))
    assert not isinstance(after, Missing)
    assert (before.text, after.text) == (AUDITED, COUNTS)
    assert running(asked, one_running(asked, stopped)).text == AUDITED


def test_instances_that_are_down_with_different_settings_are_not_one(asked: Run) -> None:
    """Unless no description would show it."""
    stopped = reading(down("orders-1", settings=(("audit", "true"),)), down("orders-2"))
    assert [one.text for one in before_a_roll(asked, stopped, Target(OLD))[0]] == [AUDITED, COUNTS]
    with pytest.raises(Refused, match=r"are set to release=3\.4\.1, audit=true and release=3\.4\.1 \(expected: one\)"):
        running(asked, one_running(asked, stopped))
    vars(asked)["deployer"] = Describing(takes_settings=False)
    assert running(asked, one_running(asked, stopped)).text == COUNTS


@pytest.mark.parametrize(
    ("build", "settings", "known"),
    [
        ("sha256:1", {"topology.optimization": "all"}, True),
        ("", {"topology.optimization": "all"}, False),
        ("sha256:1", {"topology.optimization": "all", "audit": "true"}, False),
    ],
)
def test_one_build_is_known_by_what_its_deployer_shows(build: str, settings: dict[str, str], known: bool) -> None:
    """A release without a build may be another one, and a setting of the program's own may change what code decides."""
    given: dict[str, str | None] = {**settings}
    made = restart_plan(RUNS, declared(), None, given, (), declared().limits, "code", at_once=False)
    at_start = tuple(replace(one, build=build) for one in made.facts.at_start)
    shown = _same_program(replace(made, facts=replace(made.facts, at_start=at_start)))
    assert shown == (f"by its deployer, which shows build {build} on every instance" if known else "")
    mixed = (replace(at_start[0], build="sha256:2"), *at_start[1:])
    assert _same_program(replace(made, facts=replace(made.facts, at_start=mixed))) == ""
