"""Whether something would start an instance again that a run has stopped."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.instances.stays_down import stays_down
from kstreams_runbooks.ledger.codec import call_again, encode, encode_call
from kstreams_runbooks.model.readings.readings import Deployment, InstanceReading, Missing
from kstreams_runbooks.model.verdicts import Outcome
from world.samples import instance

UNSEEN = Missing("the instances command does not print its autorestart")


def seen(*autorestart: bool | Missing) -> tuple[InstanceReading, ...]:
    """Instances with these reports, orders-1 first."""
    made = []
    for number, value in enumerate(autorestart, 1):
        one = instance(f"orders-{number}")
        assert isinstance(one.deployment, Deployment)
        made.append(replace(one, deployment=replace(one.deployment, autorestart=value)))
    return tuple(made)


def test_nothing_else_starts_them() -> None:
    """As supervisord reports of what it stopped."""
    verdict = stays_down(seen(False, False), "orders", required=True)
    assert (verdict.outcome, verdict.findings) == (Outcome.PROCEED, ())


@pytest.mark.parametrize("required", [True, False])
def test_one_that_comes_back_is_refused(*, required: bool) -> None:
    """By name, whatever is known of the others."""
    verdict = stays_down(seen(UNSEEN, True, False), "orders", required=required)
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons == (
        "orders-2: started again by something else after a stop (autorestart is true, expected false while every "
        "instance has to stay down); switch that autorestart or autoscaler off, then trigger this again",
    )


def test_what_is_not_reported_is_never_fine() -> None:
    """A finding for the approver, or inconclusive where the run demands to know."""
    verdict = stays_down(seen(False, UNSEEN), "orders")
    (finding,) = verdict.findings
    assert (verdict.outcome, finding.id, finding.severity) == (Outcome.PROCEED, "may-be-started-again", "info")
    assert finding.message.startswith("orders-2: whether anything else starts it while it has to stay down is not kn")
    verdict = stays_down(seen(False, UNSEEN), "orders", required=True)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.reasons[0].endswith(
        "let the instances command print autorestart, or declare deployer.stays_stopped: true once an autorestart and "
        "an autoscaler are off"
    )
    unread = replace(instance("orders-1"), deployment=Missing("supervisord does not answer"))
    assert stays_down((unread,), "orders", required=True).outcome is Outcome.INCONCLUSIVE


def test_the_fleet_entry_answers_for_what_is_not_reported() -> None:
    """Somebody declared it; a report to the contrary, and an instance that cannot be read, count more."""
    verdict = stays_down(seen(False, UNSEEN), "orders", required=True, declared=True)
    assert (verdict.outcome, verdict.findings) == (Outcome.PROCEED, ())
    assert verdict.sentence == (
        "proceed: orders: nothing else starts orders-2 after a stop, as its fleet entry declares "
        "(deployer.stays_stopped)"
    )
    assert stays_down(seen(True, UNSEEN), "orders", declared=True).outcome is Outcome.REFUSE
    unread = replace(instance("orders-3"), deployment=Missing("supervisord does not answer"))
    some = (*seen(False, UNSEEN), unread)
    assert stays_down(some, "orders", required=True, declared=True).outcome is Outcome.INCONCLUSIVE


def test_the_decision_is_made_again_from_its_evidence() -> None:
    """Inputs and result go to the ledger and back."""
    inputs = {"instances": seen(False, UNSEEN), "application": "orders"}
    found = stays_down(seen(False, UNSEEN), "orders")
    assert call_again(stays_down, encode_call(stays_down, inputs, found)) == encode(found)
