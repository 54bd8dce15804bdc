"""A plan that changes settings: what a description with them shows is compared, what none shows is a finding."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, Taken
from kstreams_runbooks.model.readings.topics_seen import TopicsSeen
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.declaration import DeclaredStore, Described
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.steps.plan import plan as planning
from kstreams_runbooks.steps.plan import releases
from kstreams_runbooks.steps.plan.plan import _same_program, _with_what_it_changes
from kstreams_runbooks.steps.plan.releases import before_a_roll, one_running, running
from kstreams_runbooks.steps.run.run import Run
from world.samples import OLD, declared, down, instance, reading
from world.sides import AUDITED, COUNTS, declaration

RUNS = reading(instance("orders-1", topology=COUNTS), instance("orders-2", topology=COUNTS))
SEEN = TopicsSeen({"orders": 4, "counted": 4}, {}, {})


class Describing:
    """A deployer whose topology has one more subtopology if `audit` is set; it may take settings or not."""

    def __init__(self, *, takes_settings: bool) -> None:
        self.abilities = SimpleNamespace(topology_settings=takes_settings, clear_directories=True)
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


def plan_of(
    run: Run, settings: Mapping[str, str | None], now: ApplicationReading = RUNS, *, at_once: bool = False
) -> Plan:
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
    found, _, own = plan_of(asked, {"audit": "false"}).findings
    assert (found.id, found.severity) == ("settings-may-change-the-topology", "info")
    assert found.message.startswith("audit: change nothing in the topology description")
    assert (own.id, own.severity) == ("own-setting-changed", "warning")


def _shows(run: Run, *, store: Mapping[str, Any] = MappingProxyType({}), **config: str) -> Run:
    """The run with instances that show the facts of their program, with these of its one store."""
    counts = replace(declaration().stores["counts"], **{"timestamped": True, "in_memory": False, **store})
    given = {name.replace("_", "."): value for name, value in config.items()}
    facts = replace(declaration(), stores={"counts": counts}, config={"application.id": "orders", **given})
    read = {name: FactsReading(Taken(1, "jolokia"), name, facts) for name in ("orders-1", "orders-2")}
    vars(run)["running_facts"] = lambda _: read
    return run


def _ids(made: Plan) -> set[tuple[str, str]]:
    return {(one.id, one.severity) for one in made.findings if one.severity != "info"}


@pytest.mark.parametrize("at_once", [False, True])
def test_settings_of_kafka_streams_are_judged_by_the_program_that_runs(asked: Run, *, at_once: bool) -> None:
    """The release is described once, for the topics that it needs; what a setting reaches is in the facts."""
    assert _ids(plan_of(_shows(asked), {"num.stream.threads": "2"}, at_once=at_once)) == set()
    assert {dict(target.settings).get("audit") for target in asked.deployer.printed} == {None}  # type: ignore[attr-defined] # the fake above


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize(
    ("settings", "finding"),
    [
        ({"default.value.serde": "x.Y"}, ("default-serde-changed", "warning")),
        ({"auto.offset.reset": "latest"}, ("begins-elsewhere-without-offset", "warning")),
        ({"default.timestamp.extractor": "x.Clock"}, ("timestamp-extractor-changed", "danger")),
        ({"default.deserialization.exception.handler": "x.Continue"}, ("exception-handler-changed", "warning")),
        ({"producer.acks": "1"}, ("writes-less-safe", "danger")),
        ({"default.dsl.store": "in_memory"}, ("default-store-type-changed", "warning")),
    ],
)
def test_what_a_setting_changes_is_found_in_a_run(
    asked: Run, settings: dict[str, str], finding: tuple[str, str], *, at_once: bool
) -> None:
    """By the same rules as in `plan`."""
    assert _ids(plan_of(_shows(asked), settings, at_once=at_once)) == {finding}


def test_each_version_is_judged_with_the_settings_of_its_own_instances(
    asked: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One instance has a setting and a plain store, the other has neither: no version has one without the other."""
    judged = list[tuple[Mapping[str, str], DeclaredStore]]()

    def judge(*given: Any, **_: Any) -> Plan:
        made: Plan = given[2]
        before: tuple[Described, ...] = given[3]
        judged.extend((one.declaration.config or {}, one.declaration.stores["counts"]) for one in before)
        return made

    def shown(name: str, *, timestamped: bool, **config: str) -> FactsReading:
        counts = replace(declaration().stores["counts"], timestamped=timestamped, in_memory=False)
        given = {key.replace("_", "."): value for key, value in config.items()}
        return FactsReading(Taken(1, "jolokia"), name, replace(declaration(), stores={"counts": counts}, config=given))

    read = {
        "orders-1": shown("orders-1", timestamped=False, poll_ms="50"),
        "orders-2": shown("orders-2", timestamped=True),
    }
    vars(asked)["running_facts"] = lambda _: read
    monkeypatch.setattr(planning, "_judged_change", judge)
    monkeypatch.setattr(planning, "_with_state_of_undo", lambda _, __, made, *___: made)
    set_ = instance("orders-1", topology=COUNTS, settings=(("poll.ms", "50"),))
    plan_of(asked, {"poll.ms": "70"}, reading(set_, instance("orders-2", topology=COUNTS)))
    assert [(config.get("poll.ms"), store.timestamped) for config, store in judged] == [("50", False), (None, True)]


def test_a_setting_that_opens_one_way_is_shown_with_the_way_back(asked: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The release before it does not open the files: an undo deletes and restores them."""
    monkeypatch.setattr(planning, "bytes_of_topics", lambda *_: 0)
    made = plan_of(_shows(asked), {"dsl.store.format": "headers"})
    [back] = [one.message for one in made.findings if one.id == "way-back"]
    assert back.startswith("no way back in place: the files of store counts get headers")
    assert made.bounces[-1].undo_deletes.names == ("1_",)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"group.protocol": "streams"}, r"group-protocol-changed.*use stop_and_restart"),
        ({"producer.partitioner.class": "x.P"}, r"written-to-other-partitions"),
    ],
)
def test_a_setting_that_no_roll_may_bring_is_refused_by_a_roll(
    asked: Run, settings: dict[str, str], sentence: str
) -> None:
    """With all instances down a person decides."""
    with pytest.raises(Refused, match=sentence):
        plan_of(_shows(asked), settings)
    assert _ids(plan_of(_shows(asked), settings, at_once=True))


@pytest.mark.parametrize("at_once", [False, True])
def test_a_setting_that_costs_the_only_copy_is_refused_or_shown(asked: Run, *, at_once: bool) -> None:
    """Near: a store with a changelog restores, and a setting that does not reach the store."""
    unlogged = _shows(asked, store={"logging": False})
    with pytest.raises(Refused, match=r"store counts is on local disks alone, and it begins empty"):
        plan_of(unlogged, {"default.dsl.store": "in_memory"}, at_once=at_once)
    wiped = _ids(plan_of(unlogged, {"processing.guarantee": "exactly_once_v2"}, at_once=at_once))
    assert ("only-copy-wiped-at-crash", "danger") in wiped
    moves = plan_of(unlogged, {"num.stream.threads": "2"}, at_once=at_once)
    assert _ids(moves) == {("only-copy-may-move", "danger")}
    assert _ids(plan_of(unlogged, {"poll.ms": "50"}, at_once=at_once)) == set()


def test_a_setting_that_is_taken_away_has_a_value_that_the_deployer_hid(
    asked: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program may set it in its code: what it then does is not known until its release declares the setting."""
    was = (("group.protocol", "classic"), ("poll.ms", "50"))
    runs = reading(*(instance(name, topology=COUNTS, settings=was) for name in ("orders-1", "orders-2")))
    shows = _shows(asked, group_protocol="classic")
    with pytest.raises(Inconclusive, match=r"group\.protocol"):
        plan_of(shows, {"group.protocol": None}, runs)
    assert _ids(plan_of(shows, {"poll.ms": None}, runs)) == set()
    declares = replace(declaration(), config={"group.protocol": "classic"})
    monkeypatch.setattr(releases, "_known_of", lambda *_: (OLD, declares))
    assert _ids(plan_of(shows, {"group.protocol": None}, runs)) == set()


def test_a_setting_of_a_program_that_nothing_describes_is_inconclusive(asked: Run) -> None:
    """Which stores it reaches is not known; a person may accept that."""
    with pytest.raises(Inconclusive, match=r"declare logging of stores.counts"):
        plan_of(asked, {"num.stream.threads": "2"})


@pytest.mark.parametrize("at_once", [False, True])
def test_a_command_that_takes_no_settings_does_not_show_what_they_change(asked: Run, *, at_once: bool) -> None:
    """Inconclusive, unless a person accepts it; settings that stay are in neither description, which is a warning."""
    vars(asked)["deployer"] = Describing(takes_settings=False)
    with pytest.raises(Inconclusive, match="whether audit changes the topology is not known: the topology command"):
        plan_of(asked, {"audit": "true"}, at_once=at_once)
    reason = replace(asked.record, params={"without_topology": "tried on the test stack"})
    accepted = replace(asked, record=reason)
    vars(accepted).update({name: value for name, value in vars(asked).items() if name != "record"})
    danger, found, _, own = plan_of(accepted, {"audit": "true"}, at_once=at_once).findings
    assert (danger.id, danger.severity) == ("topology-not-compared", "danger")
    assert (own.id, own.severity) == ("own-setting-changed", "warning")
    assert (found.id, found.severity) == ("settings-may-change-the-topology", "warning")
    assert found.message.startswith("audit: may change what the application reads and writes")
    audited = tuple(instance(name, topology=COUNTS, settings=(("audit", "true"),)) for name in ("orders-1", "orders-2"))
    stays, *_ = plan_of(asked, {"poll.ms": "50"}, reading(*audited), at_once=at_once).findings
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
