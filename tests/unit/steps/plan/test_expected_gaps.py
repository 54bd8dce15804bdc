"""The timeouts of an instance's group: read from its program, else set or declared, else the release's default."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.model.copying import AS_DEPLOYED
from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.model.runs.plan import Plan, SidePart
from kstreams_runbooks.model.runs.stages import StartAll, StopAll
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.steps.plan.expected_gaps import with_gaps
from kstreams_runbooks.steps.run.run import Run
from world.samples import declared, instance, reading

SESSION = "session.timeout.ms"
_DECLARES = "kstreams_runbooks.steps.plan.expected_gaps.release_declaration"


@pytest.fixture
def planned(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The run with a reading, no facts and no declaration."""
    deployer = SimpleNamespace(
        abilities=SimpleNamespace(act=True), facts=lambda _: None, topology_target=lambda target: target
    )
    vars(run).update(
        application=SimpleNamespace(as_deployed=False, copies=False), deployer=deployer, running_facts=lambda _: {}
    )
    vars(run)["declared"] = declared()
    vars(run)["observed"] = lambda _: reading()
    monkeypatch.setattr(_DECLARES, lambda *_: None)
    return run


def made(settings: Mapping[str, str] | None = None, was: tuple[tuple[str, str], ...] = ()) -> Plan:
    now = reading(*(instance(name, settings=was) for name in ("orders-1", "orders-2")))
    return restart_plan(now, declared(), None, dict(settings or {"a": "1"}), (), (), "code", at_once=False)


def facts(**config: str) -> FactsReading:
    named = {name.replace("_", "."): value for name, value in config.items()}
    return FactsReading(Taken(1, "test"), "client", Declaration(config=named))


def why(run: Run, plan: Plan) -> str:
    return with_gaps(run, plan, "observe").costs[0].why


def test_what_runs_counts_before_everything_else(planned: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its facts have what the deployer set, too."""
    monkeypatch.setattr(_DECLARES, lambda *_: Declaration(config={SESSION: "20000"}))
    vars(planned)["running_facts"] = lambda _: {"orders-1": facts(session_timeout_ms="30000")}
    found = with_gaps(planned, made(was=((SESSION, "25000"),)), "observe").costs
    assert "session.timeout.ms 30,000 (read from its program)" in found[0].why
    assert "session.timeout.ms 25,000 (set by its deployer)" in found[1].why


def test_without_facts_it_is_set_declared_or_the_default(planned: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An instance that shows no facts is not taken for one without settings of its own."""
    vars(planned)["running_facts"] = lambda _: {"orders-1": Missing("no answer")}
    assert "45,000, max.poll.interval.ms 300,000 (the default of Kafka Streams 3.4.1)" in why(planned, made())
    monkeypatch.setattr(_DECLARES, lambda *_: Declaration(config={f"main.consumer.{SESSION}": "20000"}))
    assert "20,000 (declared for its release)" in why(planned, made())


def test_the_topology_command_is_asked_before_a_default_is_assumed(
    planned: Run, caplog: pytest.LogCaptureFixture
) -> None:
    """If it prints facts; one that fails leaves the default, and the log says why."""
    vars(planned.deployer)["facts"] = lambda _: Declaration(config={SESSION: "12000"})
    assert "session.timeout.ms 12,000 (printed by its topology command)" in why(planned, made())
    vars(planned)["running_facts"] = lambda _: {"orders-1": facts(session_timeout_ms="30000")}
    assert "session.timeout.ms 30,000 (read from its program)" in why(planned, made())

    def fails(_: object) -> None:
        raise Refused("no login to the registry")

    vars(planned)["running_facts"] = lambda _: {}
    vars(planned.deployer)["facts"] = fails
    with caplog.at_level("INFO", logger="kstreams_runbooks.run"):
        assert "(the default of Kafka Streams 3.4.1)" in why(planned, made())
    assert "orders-1: its settings are not read, so the timeouts of its group may be defaults: no login" in caplog.text


def test_of_several_bounces_the_shortest_timeout_counts(planned: Run, plan: Plan) -> None:
    """The second bounce ends a session that the first one began."""
    first, second = plan.bounces
    shorter = replace(first, settings=(*first.settings, (SESSION, "7000")))
    found = with_gaps(planned, replace(plan, stages=(shorter, second)), "observe")
    assert found.costs[0].session_ms == 7_000
    assert found.findings[-1].id == "restart-outlasts-session"
    assert "(set by this plan)" in found.findings[-1].message


def test_a_copier_of_the_same_run_counts_for_itself(planned: Run) -> None:
    """It starts `as-deployed`, which is no release, and stops at once while the application rolls."""
    plan = made()
    copier = SidePart("copier", "passing", plan.cluster, plan.facts, ())
    stages = (StopAll(8, side="copier"), StartAll(9, AS_DEPLOYED, (), side="copier"), *plan.stages)
    assert why(planned, replace(plan, stages=stages, sides=(copier,))) == why(planned, plan)


def test_a_setting_of_the_last_bounce_ends_no_session_of_this_run(planned: Run) -> None:
    """It is that of the next run."""
    assert with_gaps(planned, made({SESSION: "7000"}), "observe").costs[0].session_ms == 45_000


def test_a_declaration_that_cannot_be_read_is_the_reason(planned: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not taken for one without the setting."""

    def broken(*_: str) -> None:
        raise BadInput("3.4.1.yaml: broken")

    monkeypatch.setattr(_DECLARES, broken)
    found = with_gaps(planned, made(), "observe")
    assert [one.id for one in found.findings] == ["session-timeout-unknown"]
    assert "3.4.1.yaml: broken" in found.findings[0].message


@pytest.mark.parametrize(
    ("value", "ms", "said"),
    [
        ("60000", 60_000, "streams.session.timeout.ms of group orders, on its brokers"),
        (Missing("hidden"), None, "a streams group has the timeouts of its brokers, hidden"),
        ("soon", None, "is not a number of milliseconds"),
    ],
)
def test_a_streams_group_has_the_session_timeout_of_its_brokers(
    planned: Run, value: str | Missing, ms: int | None, said: str
) -> None:
    """KIP-1071: the clients' settings have no effect."""
    asked: list[tuple[str, str]] = []

    def setting(group: str, name: str) -> str | Missing:
        asked.append((group, name))
        return value

    vars(planned).update(declared=declared(), reader=lambda: nullcontext(SimpleNamespace(group_setting=setting)))
    plan = made()
    streams = replace(plan, facts=replace(plan.facts, group_type="streams"))
    cost = with_gaps(planned, streams, "observe").costs[0]
    assert (cost.session_ms, said in cost.session_source) == (ms, True)
    assert asked == [("orders", "streams.session.timeout.ms")]


def test_the_decision_is_evidence_and_the_digest_stays(planned: Run) -> None:
    """`evidence --recheck` makes it again."""
    plan = made()
    assert with_gaps(planned, plan, "observe").digest == plan.digest
    assert len(planned.verdicts("with_expected_gaps")) == 1
