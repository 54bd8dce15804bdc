"""The stages of a cutover: two holds, the groups that move one by one, and the old side again at the end."""

from dataclasses import replace
from typing import Any

from kstreams_runbooks.decide.plans.cutover import (
    Cutover,
    MovingGroup,
    after_unequal,
    back_command,
    cutover_plan,
    left_alone,
    task_of_stage,
)
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.model.runs.object_stages import SetOffsets
from kstreams_runbooks.model.runs.plan import Plan, SidePart
from kstreams_runbooks.model.runs.stages import Certify, StartAll, StopAll
from world.samples import OLD, declared, reading


def restart() -> Plan:
    """A stop and restart of the old side as it is."""
    made = restart_plan(reading(), declared(), None, {"audit": "true"}, (), (), "code", at_once=True)
    [bounce] = made.bounces
    return replace(made, stages=(replace(bounce, settings=()),))


def part(name: str, **settings: str) -> SidePart:
    """Another application, whose instances have these settings."""
    facts = restart().facts
    runs = tuple(replace(one, settings=tuple(sorted(settings.items()))) for one in facts.at_start)
    return SidePart("", name, "demo", replace(facts, at_start=runs))


BILLING = MovingGroup(
    part("billing", **{"in.totals": "totals", "mode": "fast"}),
    "billing-group",
    (("totals", "totals-v2"),),
    (("in.totals", "totals"),),
)
REPORTS = MovingGroup(
    part("reports", **{"in.a": "totals", "in.b": "windows"}),
    "reports-group",
    (("totals", "totals-v2"), ("windows", "windows-v2")),
    (("in.a", "totals"), ("in.b", "windows")),
)


def cutover(**changes: Any) -> Cutover:
    """Two outputs, and two groups that read them."""
    of = Cutover(
        inputs=("orders-control",),
        outputs=(("totals", "totals-v2"), ("windows", "windows-v2")),
        green=part("orders-v2"),
        copier=part("orders-copier", mode="same-partition"),
        moving=(BILLING, REPORTS),
    )
    return replace(of, **changes)


def kinds(plan: Plan) -> list[str]:
    """The stages, with the side of those of another application."""
    return [f"{one.kind}{'@' * bool(one.side)}{one.side}" for one in plan.stages]


def test_the_old_side_is_down_while_the_groups_move_one_by_one() -> None:
    """The copier is stopped twice; the old side starts last, so that a way back has a seam of its own."""
    made = cutover_plan(restart(), cutover())
    assert kinds(made) == [
        *("stop_all@copier", "certify", "start_all@copier"),
        *("stop_all@copier", "certify", "stop_all", "start_all@copier"),
        *("stop_all@downstream_1", "set_offsets@downstream_1", "start_all@downstream_1"),
        *("stop_all@downstream_2", "set_offsets@downstream_2", "start_all@downstream_2"),
        "start_all",
    ]
    assert [one.number for one in made.stages] == list(range(1, 15))
    assert [one.number for one in made.input_holds] == [1, 2]
    assert [len(one.stops) for one in made.input_holds] == [0, 1]
    assert made.start == made.stages[-1]
    assert made.at_once


def test_both_sides_are_behind_the_hold_and_the_copier_is_not() -> None:
    """Chain and other applications too: each is read for its grace, and its team approves as a side of the plan."""
    made = cutover_plan(restart(), cutover(chain=(part("fill-chain"),), neighbours=(part("audit"),)))
    assert [one.behind for one in made.stages if isinstance(one, Certify)] == [
        ("", "green", "chain_1", "neighbour_1")
    ] * 2
    roles = {one.role: one.application for one in made.sides}
    assert roles == {
        "green": "orders-v2",
        "copier": "orders-copier",
        "chain_1": "fill-chain",
        "neighbour_1": "audit",
        "downstream_1": "billing",
        "downstream_2": "reports",
    }


def test_a_group_goes_on_at_the_seam_of_the_new_outputs_with_its_settings_changed() -> None:
    """Nothing else of it changes, and the metadata of its offsets goes with them."""
    made = cutover_plan(restart(), cutover())
    first, second = [one for one in made.stages if isinstance(one, SetOffsets)]
    assert (first.group, first.topics, first.to) == ("billing-group", ("totals-v2",), "seam")
    assert second.pairs == (("totals-v2", "totals"), ("windows-v2", "windows"))
    starts = {one.side: one.settings for one in made.stages if isinstance(one, StartAll)}
    assert starts["downstream_1"] == (("in.totals", "totals-v2"), ("mode", "fast"))
    assert starts["downstream_2"] == (("in.a", "totals-v2"), ("in.b", "windows-v2"))


def test_copier_and_old_side_go_on_as_they_ran() -> None:
    """Neither gets another release or setting."""
    made = cutover_plan(restart(), cutover())
    starts = [one for one in made.stages if isinstance(one, StartAll)]
    copies = [(one.release, one.settings, one.must_clear) for one in starts if one.side == "copier"]
    assert copies == [(OLD, (("mode", "same-partition"),), True)] * 2
    assert (starts[-1].side, starts[-1].release, starts[-1].settings) == ("", OLD, ())


def test_without_a_group_behind_it_only_the_sides_change() -> None:
    """The new side serves from then on; the old one starts again all the same."""
    made = cutover_plan(restart(), cutover(moving=()))
    assert kinds(made)[-2:] == ["start_all@copier", "start_all"]
    assert [one.role for one in made.sides] == ["green", "copier"]


def test_the_groups_are_moved_by_one_task() -> None:
    """All other stages have tasks of their kind, or of their hold."""
    made = cutover_plan(restart(), cutover())
    assert [task_of_stage(one) for one in made.stages] == [*[""] * 7, *["move_downstream"] * 6, ""]


def test_an_undo_leaves_a_group_whose_start_has_begun() -> None:
    """The others go back, and read on at the seam of the old outputs; so does every group of another runbook."""
    made = cutover_plan(restart(), cutover())
    starts = [one.number for one in made.stages if isinstance(one, StartAll) and one.side.startswith("downstream")]
    assert left_alone(made, ()) == ()
    assert left_alone(made, starts[:1]) == ("downstream_1",)
    assert left_alone(made, [*starts, made.stages[2].number]) == ("downstream_1", "downstream_2")
    assert left_alone(replace(made, runbook="another"), starts) == ()


def test_after_unequal_ends_the_old_side_starts_again() -> None:
    """By the stage with which the plan ends."""
    made = cutover_plan(restart(), cutover())
    assert after_unequal(made) == made.stages[-1]
    stops = [one for one in made.stages if isinstance(one, StopAll) and not one.side]
    assert made.start_after(stops[0]) == after_unequal(made)


def test_the_way_back_is_the_same_runbook_with_the_sides_exchanged() -> None:
    """A new seam, never the old offsets; first as a dry run."""
    command = "kstreams-runbooks trigger blue_green_cutover --application orders-v2 --param green=orders"
    assert back_command("orders", "orders-v2", "orders-copier") == f"{command} --param copier=orders-copier"
    made = cutover_plan(restart(), cutover())
    assert made.undo[1].endswith(f"{command} --param copier=orders-copier")


def test_measured_figures_of_a_side_do_not_bind() -> None:
    """Other outputs, groups and settings do."""
    made = cutover_plan(restart(), cutover())
    assert cutover_plan(restart(), cutover()).digest == made.digest
    assert cutover_plan(restart(), cutover(moving=(BILLING,))).digest != made.digest
    assert cutover_plan(restart(), cutover(outputs=(("totals", "totals-v3"),))).digest != made.digest
