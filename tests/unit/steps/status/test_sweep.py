"""Guards of applications that runs hold, swept on a real ledger: one that cannot be read costs no other."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    InstanceReading,
    Missing,
    TopicReading,
)
from kstreams_runbooks.steps.approval.void import voided
from kstreams_runbooks.steps.instances.gate_trigger import keep_passed
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.status import sweep as sweeping
from world.samples import applied, card, instance, reading

RECREATED = replace(reading(), topics=(TopicReading("orders", "id-2", 1),))
STAGE = instance("orders-1", release="4.3.1", settings=(("upgrade.from", "3.4"),))
# Set by a person for the next start: the old release still runs.
SET = applied(instance("orders-1", release="4.3.1", settings=(("upgrade.from", "3.4"),), version="3.4.1"), value=False)


@pytest.fixture
def reads(run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Takes the hold of the run, and gives what the next readings are."""
    run.ledger.take_hold(run.key, ("application:demo:orders",), "demo", 1, 1, lambda _: False)
    monkeypatch.setattr(Ledger, "open", classmethod(lambda *_: run.ledger))
    monkeypatch.setattr(sweeping, "_AGAIN_S", 0.0)

    def give(*found: ApplicationReading | Exception) -> None:
        left = list(found)

        def read(_: Run) -> ApplicationReading:
            one = left.pop(0)
            if isinstance(one, Exception):
                raise one
            return one

        monkeypatch.setattr(Run, "read", read)

    return give


def swept(run: Run, *, over: bool = False) -> tuple[int, list[str]]:
    """One sweep: how many plans became void, and what was said."""
    found, said = sweep(run, over=over)
    assert found.unknown == ()
    return found.void, said


def sweep(run: Run, *, over: bool = False) -> tuple[sweeping.Swept, list[str]]:
    """One sweep, whatever it could not look at."""
    said: list[str] = []
    return sweeping.sweep(run.ledger, "sweep_holds", lambda _: over, said.append), said


def test_a_world_as_planned_leaves_the_plan_alone(run: Run, reads: Callable[..., None]) -> None:
    """And nothing stands in the evidence of the run: it was only looked at."""
    before = len(run.ledger.evidence(run.key))
    reads(reading())
    assert swept(run) == (
        0,
        [f"[orders @ demo] held by {run.key}: proceed: topics, group and instances are as planned"],
    )
    assert voided(run) is None
    assert len(run.ledger.evidence(run.key)) == before


def test_a_drift_has_to_show_twice(run: Run, reads: Callable[..., None]) -> None:
    """A broker that restarts may leave a topic out of one answer."""
    reads(RECREATED, reading())
    assert swept(run)[0] == 0
    assert voided(run) is None
    reads(RECREATED, RECREATED)
    assert swept(run)[0] == 1
    assert voided(run) is not None


def test_a_plan_becomes_void_once_and_its_owner_is_told_once(
    run: Run, reads: Callable[..., None], told: Callable[[], list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The decision can be made again from what was kept."""
    monkeypatch.setattr(Run, "again", classmethod(lambda *_: _as_sweep(run)))
    reads(RECREATED, RECREATED)
    assert swept(run)[0] == 1
    count, said = swept(run)
    assert count == 0
    assert "is void already: topic orders: recreated (id id-2, in the plan id-1)" in said[0]
    (only,) = told()
    assert only["kind"] == "drifted_while_waiting"
    verdicts = run.ledger.evidence(run.key, kind="verdict", name="nothing_drifted")
    assert [one.task_id for one in verdicts] == ["sweep_holds"]


def _as_sweep(run: Run) -> Run:
    made = replace(run, task_id="sweep_holds")
    vars(made)["application"] = run.application
    return made


def test_what_cannot_be_looked_at_is_said(run: Run, reads: Callable[..., None]) -> None:
    """Missing is not drift, and not fine either."""
    reads(Unreachable("Kafka at here: no answer"))
    assert sweep(run) == (
        sweeping.Swept(0, ("orders @ demo",)),
        [f"[orders @ demo] held by {run.key}: its guards could not be run: Kafka at here: no answer"],
    )
    assert voided(run) is None


def test_an_instance_that_does_not_answer_is_unknown_and_hides_no_drift(run: Run, reads: Callable[..., None]) -> None:
    """Nobody can say whether the plan still holds, unless something else has certainly drifted."""
    silent = reading(instance("orders-1"), replace(instance("orders-2"), deployment=Missing("no answer")))
    reads(silent)
    assert sweep(run) == (
        sweeping.Swept(0, ("orders @ demo",)),
        [f"[orders @ demo] held by {run.key}: inconclusive: orders-2: no answer"],
    )
    assert voided(run) is None
    reads(*(replace(silent, topics=RECREATED.topics),) * 2)
    assert swept(run)[0] == 1
    assert voided(run) is not None


def test_the_hold_of_a_run_that_has_ended_is_not_looked_at(run: Run, reads: Callable[..., None]) -> None:
    """It is free to the next."""
    reads()
    count, [said] = swept(run, over=True)
    assert (count, said) == (0, f"[orders @ demo] held by {run.key}, which has ended: its hold is free")


def test_an_instance_in_the_middle_of_its_restart_is_no_drift(run: Run, reads: Callable[..., None]) -> None:
    """Any stage of the plan is allowed: the run stands at one of them."""
    reads(reading(STAGE, instance("orders-2")))
    assert "proceed" in swept(run)[1][0]
    reads(reading(SET, instance("orders-2")))
    assert "proceed" in swept(run)[1][0]


def test_what_a_person_does_in_the_middle_of_a_restart_by_hand_voids_nothing(
    run: Run, reads: Callable[..., None]
) -> None:
    """The run has asked for it, and its own gate looks at the result: release and setting may come one by one."""
    half = applied(instance("orders-1", release="4.3.1", version="3.4.1"), value=False)
    half = replace(half, deployment=replace(_deployment(half), settings=(("upgrade.from", "2.0"),)))
    run.ledger.write_card(card(at_ms=2_000, facts={"bounce": 1}))
    reads(reading(half, instance("orders-2")))
    assert "proceed" in swept(run)[1][0]
    # The one that nobody asked to touch is another thing.
    other = replace(half, instance="orders-2")
    reads(*(reading(instance("orders-1"), other),) * 2)
    assert "orders-2 runs 3.4.1 with upgrade.from=2.0" in swept(run)[1][0]


def test_what_passed_its_gate_and_is_set_back_by_hand_is_drift(run: Run, reads: Callable[..., None]) -> None:
    """Its start is allowed until then, and not any more."""
    reads(reading())
    assert "proceed" in swept(run)[1][0]
    run.ledger.write_card(card(at_ms=2_000, facts={"bounce": 1}))
    keep_passed(run, STAGE, 1)
    reads(reading(STAGE, instance("orders-2")))
    assert "proceed" in swept(run)[1][0]
    reads(reading(), reading())
    assert "orders-1 runs 3.4.1" in swept(run)[1][0]
    assert voided(run) is not None


def test_a_plan_that_cannot_be_read_costs_no_other(run: Run, reads: Callable[..., None]) -> None:
    """It has another form; an error of no kind that is ours is reported as well."""
    other = replace(run.record, run_key="library_bump/a", run_id="a", application="a-payments")
    run.ledger.start_run(other)
    run.ledger.store_plan(other.run_key, "0123456789abcdef", {"facts": {"topics": []}, "bounces": 7})
    run.ledger.take_hold(other.run_key, ("application:demo:a-payments",), "demo", 2, 1, lambda _: False)
    reads(reading())
    found, said = sweep(run)
    assert found == sweeping.Swept(0, ("a-payments @ demo",))
    assert "plan 0123456789abcdef in the ledger does not have the format of this release" in said[0]
    assert said[1].endswith("proceed: topics, group and instances are as planned")
    reads(TimeoutError("timed out"))
    assert "its guards could not be run: TimeoutError: timed out" in sweep(run)[1][1]


def test_every_held_application_is_guarded(run: Run, reads: Callable[..., None]) -> None:
    """The one that the plan is about by its facts; another one, of which the plan has none, is unknown."""
    held = ("application:demo:orders", "application:demo:payments", "topic:demo:orders-in", "route:demo:to-orders")
    run.ledger.take_hold(run.key, held, "demo", 1, 1, lambda _: False)
    reads(reading())
    found, said = sweep(run)
    assert found == sweeping.Swept(0, ("payments @ demo",))
    assert said[0] == f"[orders @ demo] held by {run.key}: proceed: topics, group and instances are as planned"
    assert said[1].startswith(f"[payments @ demo] held by {run.key}: its guards could not be run: payments: plan ")
    assert len(said) == 2


def test_each_held_application_is_read_itself(run: Run, reads: Callable[..., None]) -> None:
    """A reading of the run's own application would pass for every other."""
    reads(reading())
    step = run.on("payments")
    assert (step.key, step.record.application, step.ledger) == (run.key, "payments", run.ledger)
    assert step.line("x") == "[payments @ demo] x"
    assert run.on("orders") is run


def test_a_run_that_holds_topics_alone_is_guarded_too(run: Run, reads: Callable[..., None]) -> None:
    """As its own application, under the name of what it holds."""
    run.ledger.release_holds(run.key)
    run.ledger.take_hold(run.key, ("route:demo:to-orders", "topic:demo:orders"), "demo", 1, 1, lambda _: False)
    reads(RECREATED, RECREATED)
    found, [said] = sweep(run)
    assert found == sweeping.Swept(1, ())
    assert said.startswith(f"[route to-orders, topic orders @ demo] held by {run.key}: refuse: topic orders: recreated")


def _deployment(one: InstanceReading) -> Deployment:
    assert isinstance(one.deployment, Deployment)
    return one.deployment
