"""A plan as lines: what it says of the way back."""

from dataclasses import replace

from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.decide.plans.undo import undo_plan
from kstreams_runbooks.decide.plans.way_back import Move, Undone
from kstreams_runbooks.model.runs.plan import DeployedInstance
from kstreams_runbooks.present.plan_lines import before_after, plan_lines
from kstreams_runbooks.rules import upgrade_path_rules
from world.samples import BOUNCE_1, NEW, OLD, declared, instance, reading


def test_a_plan_has_what_its_undo_sets_back() -> None:
    """With the path of each instance."""
    plan = bump_plan(reading(), declared(), NEW, upgrade_path_rules(), (), (), "code")
    (line,) = before_after(plan)
    assert line == "orders-1, orders-2: 3.4.1 → 4.3.1 with upgrade.from=3.4 → 4.3.1; undo sets back 3.4.1"
    assert [one for one in plan_lines(plan) if one.startswith("undo ")] == [f"undo {one}" for one in plan.undo]


def test_an_undo_has_no_undo() -> None:
    """Its plan names the runbook to trigger once more, as the next action of its run does."""
    now = reading(instance("orders-1", release=NEW, settings=BOUNCE_1.settings), instance("orders-2"))
    at = DeployedInstance("orders-1", OLD, (), OLD)
    move = Move("orders-1", 1, at, replace(at, release=NEW, version=NEW, settings=BOUNCE_1.settings), clears_state=True)
    undone = Undone("library_bump/r", "library_bump", False, (move,), False, ("orders",))
    plan = undo_plan(now, declared(), undone, upgrade_path_rules(), 10_000_000, (), "code")
    lines = plan_lines(plan)
    assert next(one for one in lines if one.startswith("orders-1: 4.3.1")).endswith(" → 3.4.1")
    assert "an undo has no undo: trigger library_bump again" in lines
    assert not [one for one in lines if one.startswith("undo trigger") or "undo sets back" in one]
