"""The holds of a plan: pairs of stages that hold the inputs and let them flow again, as often as it has them."""

from dataclasses import replace

from kstreams_runbooks.model.runs.object_stages import DeleteTopics, ResumeInputs, SetOffsets
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Certify, StartAll, StopAll
from world.two_holds import two_holds


def numbers(plan: Plan) -> list[tuple[list[int], int, list[int], list[int]]]:
    """Of each hold what pauses, the certificate, what relies on it, and what resumes."""
    return [
        (
            [one.number for one in hold.pausing],
            hold.certify.number,
            [one.number for one in hold.stops],
            [one.number for one in hold.resuming],
        )
        for hold in plan.input_holds
    ]


def test_a_plan_with_two_holds_has_two_pairs() -> None:
    """The first only finds a point, in the second the application is stopped."""
    plan = two_holds()
    assert numbers(plan) == [([1], 2, [], [3]), ([4], 5, [6], [7])]
    assert [one.name for one in plan.input_holds] == ["hold 1 of 2, stages 1 to 3", "hold 2 of 2, stages 4 to 7"]
    assert plan.switching == plan.input_holds[1]


def test_a_plan_with_one_hold_does_not_name_it() -> None:
    """A person has no other one to take it for."""
    [_, hold] = two_holds().input_holds
    only = replace(two_holds(), stages=(*hold.pausing, hold.certify, *hold.stops, *hold.resuming))
    assert [(one.number, one.name) for one in only.input_holds] == [(1, "")]


def test_what_comes_before_a_hold_is_not_a_part_of_it() -> None:
    """Topics that are created first, and what is done after the inputs flow again, hold nothing."""
    base = two_holds()
    stages = (
        DeleteTopics(1, ("before",)),
        StopAll(2, side="copier"),
        Certify(3, ("orders",), "copier", 1, 1),
        StartAll(4, "r", (), side="copier"),
        SetOffsets(5, "group", ("orders",), "end"),
    )
    assert numbers(replace(base, stages=stages)) == [([2], 3, [], [4])]


def test_a_plan_without_a_certificate_holds_nothing() -> None:
    """Also if its stages let inputs flow."""
    plan = replace(two_holds(), stages=(StopAll(1), ResumeInputs(2, ("orders",)), StartAll(3, "r", ())))
    assert plan.input_holds == ()
    assert plan.switching is None


def test_the_pairs_of_one_side_are_those_of_the_whole_plan() -> None:
    """A side has only its own stages, with the numbers of the whole."""
    [_, hold] = two_holds().of_side("").input_holds
    assert ([one.number for one in hold.stops], hold.pausing, hold.resuming) == ([6], (), ())


def test_a_hold_is_over_once_all_that_resumes_is_complete() -> None:
    """One that nothing lets flow again is never over."""
    first, second = two_holds().input_holds
    assert [first.is_over({1, 2, 3}), second.is_over({1, 2, 3, 4, 5, 6})] == [True, False]
    assert not replace(first, resuming=()).is_over({1, 2, 3})
