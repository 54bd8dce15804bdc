"""The stages of a cutover: two holds, the groups that move one by one, and the old side again at the end."""

from dataclasses import replace

from kstreams_runbooks.decide.plans.cutover import (
    after_unequal,
    back_command,
    cutover_plan,
    left_alone,
    stands_s,
    stood_text,
    task_of_stage,
)
from kstreams_runbooks.model.runs.object_stages import SetOffsets
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Certify, StartAll, StopAll
from world.cutting import BILLING, cutover, part, restart
from world.samples import OLD


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


def test_the_old_side_is_down_for_the_comparison_and_every_move() -> None:
    """The bound that its windows are judged by: each output compared, each group within its gate."""
    made = replace(cutover_plan(restart(), cutover()), limits=(("gate_ceiling_s", 60.0),))
    assert stands_s(made, 900) == 2 * 900 + 2 * 60
    alone = replace(cutover_plan(restart(), cutover(moving=())), limits=(("gate_ceiling_s", 60.0),))
    assert stands_s(alone, 10) == 20


def test_that_going_back_is_not_exact_is_part_of_the_undo() -> None:
    """For windows whose grace is smaller than the time of the old side's stop."""
    not_exact = "going back is not exact for windows whose grace is smaller than the time for which orders was down"
    assert not_exact in cutover_plan(restart(), cutover()).undo[1]
    assert stood_text("orders", 84.4).startswith(f"orders was down for 84 s: {not_exact}")
    assert stood_text("orders", None).startswith("orders was down for a time that is not known: going back")
