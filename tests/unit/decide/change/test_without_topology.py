"""What was not compared stays so only with a person's reason, and never without an approver."""

from dataclasses import replace

from kstreams_runbooks.decide.change.without_topology import may_stay_unread, unread_release
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome
from world.samples import declared

UNREAD = (unread_release(Missing("release 4.3.1: no login to the registry")),)


def test_what_was_read_needs_no_reason() -> None:
    for accepted in (None, "", "the registry is down"):
        found = may_stay_unread((), declared(), accepted)
        assert (found.outcome, found.findings) == (Outcome.PROCEED, ())


def test_without_a_reason_it_is_inconclusive_and_names_the_field_of_the_form() -> None:
    """A form without the field is not told of it."""
    assert may_stay_unread(UNREAD, declared(), "").text.endswith("(or accept that, with a reason in without_topology)")
    found = may_stay_unread(UNREAD, declared(), None)
    assert (found.outcome, "without_topology" in found.text) == (Outcome.INCONCLUSIVE, False)


def test_equal_causes_are_one_and_many_are_counted() -> None:
    """Bounces of one release have the same cause."""
    assert may_stay_unread(UNREAD * 2, declared(), "").text.count("no login to the registry") == 1
    many = tuple(f"cause {number}" for number in range(5))
    assert "cause 3" not in may_stay_unread(many, declared(), "").text


def test_a_reason_is_a_danger_for_an_approver() -> None:
    """With the cause, the consequence and the reason."""
    found = may_stay_unread(UNREAD, declared(), "the registry is down")
    [danger] = found.findings
    assert (found.outcome, danger.id, danger.severity) == (Outcome.PROCEED, "topology-not-compared", "danger")
    assert danger.message == (
        "NOT COMPARED: whether the topology changes is not known: release 4.3.1: no login to the registry; correct "
        "that, then trigger a new run. If the topology changes, old and new members stop each other, or state and "
        "records are lost; accepted with the reason: the registry is down"
    )


def test_an_approval_that_no_person_can_give_accepts_nothing() -> None:
    """Automatic approvals with an approver in the fleet entry ask that person."""
    automatic = replace(declared(), automatic_approval=True)
    assert may_stay_unread(UNREAD, automatic, "the registry is down").outcome is Outcome.PROCEED
    nobody = replace(automatic, approvers=())
    found = may_stay_unread(UNREAD, nobody, "the registry is down")
    assert found.outcome is Outcome.REFUSE
    assert found.text.endswith("add approvers, then trigger a new run")
