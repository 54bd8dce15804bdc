"""Known defects in the plan of each runbook and in the log of `check`: shown, and binding nothing."""

from types import SimpleNamespace

import pytest
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, Described
from kstreams_runbooks.steps.plan.defects import planned_defects, with_defects
from kstreams_runbooks.steps.plan.plan import store
from kstreams_runbooks.steps.run.run import Run
from world.samples import NEW, declared, down, instance, reading
from world.sides import described

_VERSIONS = "kstreams_runbooks.steps.plan.defects.versions_of"
IN_MEMORY = Declaration(
    stores={"counts": DeclaredStore(in_memory=True)}, config={"processing.guarantee": "exactly_once_v2"}
)
ENTRY = declared(processing_guarantee="exactly_once_v2")
Versions = tuple[tuple[Described, ...], tuple[str, ...]]


@pytest.fixture
def planned(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The run on 3.4.1, with versions that keep all state in memory."""
    vars(run).update(application=SimpleNamespace(as_deployed=False, copies=False), declared=ENTRY)
    vars(run)["observed"] = lambda _: reading()
    _describe(monkeypatch, ((described(declares=IN_MEMORY), described(release=NEW, declares=IN_MEMORY)), ()))
    return run


def _describe(monkeypatch: pytest.MonkeyPatch, versions: Versions) -> None:
    monkeypatch.setattr(_VERSIONS, lambda *_: versions)


def made(release: str | None = None) -> Plan:
    return restart_plan(reading(), ENTRY, release, {"a": "1"}, (), (), "code", at_once=False)


def severities(plan: Plan) -> dict[str, str]:
    return {one.id: one.severity for one in plan.findings}


def test_a_plan_shows_the_defects_of_what_runs(planned: Run, caplog: pytest.LogCaptureFixture) -> None:
    """Those of a stop too; the digest is the same, and the log has each."""
    plan = made()
    shown = with_defects(planned, plan, "observe")
    assert severities(shown)["KAFKA-18943"] == "danger"
    assert "KAFKA-16017" not in severities(shown), "its stores have no files"
    assert shown.digest == plan.digest
    caplog.set_level("INFO")
    with_defects(planned, plan, "observe")
    assert "danger KAFKA-18943 on orders (3.4.1): A rebalance" in caplog.text


def test_the_plan_that_a_run_keeps_has_them(planned: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each runbook keeps its plan by one function."""
    for other in ("with_gaps", "with_late_losses"):
        monkeypatch.setattr(f"kstreams_runbooks.steps.plan.plan.{other}", lambda _, plan, __: plan)
    monkeypatch.setattr("kstreams_runbooks.steps.plan.plan.take_hold", lambda *_, **__: None)
    monkeypatch.setattr("kstreams_runbooks.steps.plan.plan.resources", lambda _: ())
    store(planned, made())
    assert severities(planned.plan())["KAFKA-18943"] == "danger"


def test_a_version_that_is_not_described_takes_no_defect_away(planned: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What only its program shows is not known: the row may apply."""
    _describe(monkeypatch, ((described(declares=IN_MEMORY),), ("release 4.3.1 is not described: no topology command",)))
    assert severities(with_defects(planned, made(), "observe"))["KAFKA-16017"] == "warning"

    def fails(*_: object) -> Versions:
        raise Inconclusive("topology command of 4.3.1: exit code 1")

    monkeypatch.setattr(_VERSIONS, fails)
    assert severities(with_defects(planned, made(), "observe"))["KAFKA-16017"] == "warning"


def test_a_copier_has_none(planned: Run) -> None:
    """It is no Kafka Streams application."""
    vars(planned)["application"] = SimpleNamespace(as_deployed=True, copies=True)
    assert with_defects(planned, made(), "observe").findings == made().findings


def test_check_asks_no_command_while_an_instance_is_down(planned: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its release would have to be printed, which may take minutes: the plan does that."""
    asked: list[object] = []

    def versions(*given: object) -> Versions:
        asked.append(given)
        return (described(declares=IN_MEMORY),), ()

    monkeypatch.setattr(_VERSIONS, versions)
    found = {one.id for one in planned_defects(planned, reading(instance("orders-1"), down("orders-2")))}
    assert "KAFKA-16017" in found
    assert not asked
    found = {one.id for one in planned_defects(planned, reading())}
    assert "KAFKA-16017" not in found
    assert len(asked) == 1
