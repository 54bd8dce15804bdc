"""A hold that is given up starts again what it stopped, and nothing is read from a point that was not noted."""

from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.cutover import cutover_plan
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused, RunbookError, Unreachable
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.readings.sides import NotedEnd, NotedEnds
from kstreams_runbooks.model.runs.input_holds import InputHold
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.cutover import rest
from kstreams_runbooks.steps.cutover.rest import (
    given_up_otherwise,
    moves_begun,
    point_of,
    require_not_given_up,
    start_down,
)
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.order import flows, is_complete, keep_complete, let_flow
from kstreams_runbooks.watch.held_inputs import held_inputs
from world.cutting import cutover, restart
from world.samples import card, down, instance, reading
from world.two_holds import two_holds


@pytest.fixture
def plan() -> Plan:
    """Two holds of a copier."""
    return two_holds()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The applications whose instances that are down were started."""
    names: list[str] = []
    monkeypatch.setattr(rest, "start_down", lambda side, **_: names.append(side.record.application))
    return names


def begin(run: Run, hold: InputHold) -> None:
    """The stop of the copier has its card, which has the number of the start that ends it."""
    [start] = hold.resuming
    run.ledger.write_card(card("copy-1", run_key=run.key, stage=start.number, application="copy"))


def fail(run: Run, hold: InputHold, error: BaseException) -> None:
    """The body of a task that fails in a hold."""
    with given_up_otherwise(run, hold):
        raise error


def test_a_point_is_there_once_it_is_noted(run: Run) -> None:
    """A rerun gets the ends of the first time."""
    with pytest.raises(Refused, match="has not noted a point: clear note_point"):
        point_of(run)
    noted = NotedEnds(7, (NotedEnd("totals", 0, 0, 5),))
    run.ledger.remember(run.key, "ends at the point", encode(noted))
    assert point_of(run) == noted


def test_a_hold_that_was_given_up_is_not_begun_again(run: Run) -> None:
    """Of another hold nothing follows from that."""
    first, second = two_holds().input_holds
    require_not_given_up(run, first)
    run.ledger.remember(run.key, "hold given up 1", "no moment at rest")
    with pytest.raises(Refused, match=r"given up its hold 1 \(no moment at rest\); copy runs again.*trigger a new run"):
        require_not_given_up(run, first)
    require_not_given_up(run, second)


def test_nothing_is_given_up_before_the_copier_is_touched(run: Run, started: list[str]) -> None:
    """The error stays as it is: an approval that is missing stops no copier."""
    first, _ = two_holds().input_holds
    with pytest.raises(Refused, match=r"^no approval$"):
        fail(run, first, Refused("no approval"))
    require_not_given_up(run, first)
    assert started == []


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (Refused("the copier moved"), Refused),
        (BadInput("no such topic"), Refused),
        (Inconclusive("no answer"), Inconclusive),
        (Unreachable("no broker"), Inconclusive),
    ],
)
@pytest.mark.parametrize("number", [1, 2])
def test_any_failure_in_a_hold_starts_again_what_the_hold_has_stopped(
    run: Run, started: list[str], number: int, error: RunbookError, kind: type[RunbookError]
) -> None:
    """The copier last, and in the hold of the stop the old side before it; then nothing is held."""
    hold = two_holds().input_holds[number - 1]
    begin(run, hold)
    assert [one.application for one in held_inputs(run.ledger, run.key)] == ["orders"]
    with pytest.raises(kind, match=f"^{error}; (copy runs|orders and copy run) again, and nothing else was changed"):
        fail(run, hold, error)
    assert started == (["copy"] if number == 1 else ["orders", "copy"])
    assert flows(run, hold)
    assert held_inputs(run.ledger, run.key) == ()
    with pytest.raises(Refused, match=f"given up its hold {number}"):
        require_not_given_up(run, hold)
    assert len(started) == number, "nothing is started again"


def test_an_error_of_another_library_keeps_no_copier_down(run: Run, started: list[str]) -> None:
    """It is raised as it is, with its traceback."""
    first, _ = two_holds().input_holds
    begin(run, first)
    with pytest.raises(KeyError):
        fail(run, first, KeyError("topic"))
    assert started == ["copy"]
    assert held_inputs(run.ledger, run.key) == ()


def test_a_run_that_is_killed_while_it_gives_up_ends_that_at_its_rerun(
    run: Run, started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then the check of the fleet finds the inputs held."""
    _, second = two_holds().input_holds
    begin(run, second)

    def killed(_: Run, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(rest, "start_down", killed)
        with pytest.raises(KeyboardInterrupt):
            fail(run, second, Refused("no moment at rest"))
    assert [one.number for one in held_inputs(run.ledger, run.key)] == [2]
    with pytest.raises(Refused, match=r"given up its hold 2 \(no moment at rest\); orders and copy run again"):
        require_not_given_up(run, second)
    assert started == ["orders", "copy"]
    assert held_inputs(run.ledger, run.key) == ()


def test_a_copier_that_does_not_start_again_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays held, and the undo starts it; the old side that fails does not keep the copier from its start."""
    asked: list[str] = []

    def failing(side: Run, **_: Any) -> None:
        asked.append(side.record.application)
        raise Unreachable("supervisord does not answer")

    monkeypatch.setattr(rest, "start_down", failing)
    _, second = two_holds().input_holds
    begin(run, second)
    with pytest.raises(Inconclusive, match=r"orders is not known .*; copy is not known .*; undo this run"):
        fail(run, second, Refused("no moment at rest"))
    assert asked == ["orders", "copy"]
    assert len(held_inputs(run.ledger, run.key)) == 1


def noted(monkeypatch: pytest.MonkeyPatch) -> dict[str, bool]:
    """By application: whether its end is awaited before its start."""
    seen: dict[str, bool] = {}

    def start(side: Run, *, asked: bool = False) -> None:
        seen[side.record.application] = asked

    monkeypatch.setattr(rest, "start_down", start)
    return seen


def test_what_was_asked_to_stop_is_awaited_before_it_is_started(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its supervisor may end it after the request has failed; what has stopped is started at once."""
    asked = noted(monkeypatch)
    _, second = two_holds().input_holds
    begin(run, second)
    with pytest.raises(Refused):
        fail(run, second, Refused("copy-1: still there 120 s after the stop request"))
    assert asked == {"orders": False, "copy": True}


def test_a_copier_whose_stop_is_complete_is_started_at_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The inputs are held meanwhile; the old side is the one that may still be on its way."""
    asked = noted(monkeypatch)
    _, second = two_holds().input_holds
    begin(run, second)
    keep_complete(run, second.pausing[0])
    [start] = [one for one in two_holds().stages if one.number == 8]
    run.ledger.write_card(card("orders-1", seq=2, run_key=run.key, stage=start.number, application="orders"))
    with pytest.raises(Refused):
        fail(run, second, Refused("orders-1: still there"))
    assert asked == {"orders": True, "copy": False}


def test_an_end_that_comes_after_its_request_is_awaited(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Supervisord reports a process that was asked to stop as one that runs."""
    started: list[str] = []
    deployer = SimpleNamespace(
        abilities=Abilities(instances=True, topology=False, clear=True, act=True, clear_directories=True),
        start=started.append,
    )
    readings = [reading(), reading(down("orders-1"), instance("orders-2")), reading(down("orders-1"), down("orders-2"))]
    left = iter(readings)
    vars(run).update(deployer=deployer)
    monkeypatch.setattr(Run, "new_deployer", lambda _: deployer)
    monkeypatch.setattr(Run, "read", lambda _, **__: next(left))
    monkeypatch.setattr(rest, "_LOOK_AT_END_S", 0.0)
    start_down(run, asked=True)
    assert started == ["orders-1", "orders-2"]
    started.clear()
    monkeypatch.setattr(Run, "read", lambda _, **__: readings[1])
    start_down(run)
    assert started == ["orders-1"]
    monkeypatch.setattr(rest, "_END_S", 0.0)
    with pytest.raises(Inconclusive, match="orders-2: was asked to stop, and its process lives on"):
        start_down(run, asked=True)


def test_once_the_inputs_flow_only_the_copier_starts(run: Run, started: list[str]) -> None:
    """The hold has what it was for: the task goes on from there, and the old side stays at the seam."""
    _, second = two_holds().input_holds
    begin(run, second)
    let_flow(run, second)
    with pytest.raises(Refused, match=r"^its start failed$"):
        fail(run, second, Refused("its start failed"))
    assert started == ["copy"]
    require_not_given_up(run, second)
    assert not is_complete(run, second.resuming[0])


def test_a_group_begins_to_move_with_its_first_card(run: Run) -> None:
    """Its stop, which has the number of its start; cards of the old side and of the copier do not count."""
    made = cutover_plan(restart(), cutover())
    run.ledger.store_plan(run.key, made.digest, encode(made))
    run.ledger.write_card(card("copy-1", run_key=run.key, stage=3, application="copy"))
    assert moves_begun(run) == ()
    [start] = [one for one in made.stages if one.kind == "start_all" and one.side == "downstream_1"]
    run.ledger.write_card(card("billing-1", run_key=run.key, seq=2, stage=start.number, application="billing"))
    assert moves_begun(run) == ("billing",)
