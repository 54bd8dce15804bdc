"""What can be answered, and who needs a reason for an emergency."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.decide.runs.answers import assigned, deleted_for_good, emergency_helps, meant, options_of
from kstreams_runbooks.model.runs.object_stages import DeleteRecords, DeleteTopics
from kstreams_runbooks.rules import upgrade_path_rules
from world.samples import NEW, declared, reading


def test_the_point_of_no_return_has_choices_of_its_own_names() -> None:
    """An approval of a plan has Airflow's."""
    assert options_of(1) == ("Approve", "Reject")
    assert options_of(2) == ("bounce 2: no way back", "stay on bounce 1")
    assert options_of(1, deletes=True) == ("delete: no way back", "delete nothing")


@pytest.mark.parametrize(
    ("stage", "is_for_good"),
    [
        (DeleteTopics(3, ("counts-changelog",), at_rest=True), True),
        (DeleteTopics(3, ("counts-changelog",), retired=True), True),
        (DeleteRecords(3, ("totals",), shown=True), True),
        (DeleteTopics(3, ("control",)), False),
        (DeleteRecords(3, ("old-repartition",), certified=True), False),
    ],
)
def test_what_no_undo_brings_back(stage: DeleteTopics | DeleteRecords, is_for_good: bool) -> None:
    """Of a reset, a retirement and cleaned outputs; not a flush's own empty topics, or records that were read."""
    plan = bump_plan(reading(), declared(), NEW, upgrade_path_rules(), (), (), "code")
    assert deleted_for_good(plan) == ()
    assert deleted_for_good(replace(plan, stages=(*plan.stages, stage))) == ((stage,) if is_for_good else ())


def test_approve_and_reject_mean_the_way_on_and_the_way_to_stop() -> None:
    """For a command; of several ways on a person names one, and the way to stop is the last."""
    assert meant("Approve", options_of(2)) == "bounce 2: no way back"
    assert meant("Reject", options_of(2)) == "stay on bounce 1"
    assert meant("Reject", options_of(1)) == "Reject"
    assert [meant(one, options_of(1, deletes=True)) for one in ("Approve", "Reject")] == [*options_of(1, deletes=True)]
    assert meant("Approve", ("library_bump", "reset_and_cleanup", "none")) == "Approve"
    assert meant("Reject", ("library_bump", "reset_and_cleanup", "none")) == "none"
    assert meant("Reject", ()) == "Reject"
    assert meant("none", ("library_bump", "none")) == "none"


def test_an_emergency_reason_helps_a_requester_who_may_approve_under_four_eyes() -> None:
    """In any of the applications; somebody else needs none."""
    green = declared(name="green", approvers=("green-lead",))
    assert not emergency_helps(declared(), "oncall")
    assert emergency_helps(declared(), "admin")
    assert emergency_helps(declared(), "unknown")
    assert not emergency_helps(declared(four_eyes=False), "admin")
    assert emergency_helps(declared(), "green-lead", (green,))


def test_airflow_refuses_others_only_if_it_knows_every_approver() -> None:
    """One without an id would be locked out, also of another application that the run changes."""
    ids = (("approver", "7"), ("admin", "1"))
    assert assigned(declared()) == ()
    assert assigned(declared(approver_ids=ids[:1])) == ()
    assert assigned(declared(approver_ids=ids)) == (("7", "approver"), ("1", "admin"))
    green = declared(name="green", approvers=("green-lead",))
    assert assigned(declared(approver_ids=ids), (green,)) == ()


def test_a_login_may_be_an_id() -> None:
    """An id that the fleet declares comes first."""
    users = ("admin", "approver", "oncall")
    assert assigned(declared(), own_ids=users) == (("approver", "approver"), ("admin", "admin"))
    assert assigned(declared(approver_ids=(("admin", "1"),)), own_ids=users) == (
        ("approver", "approver"),
        ("1", "admin"),
    )
    assert assigned(declared(approvers=("dora", "admin")), own_ids=users) == ()
