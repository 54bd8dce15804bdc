"""Whether a run may go on although a topology was not compared: only if a person accepts that in the form."""

from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.wording import first_of

WITHOUT_TOPOLOGY = "without_topology"
NOT_COMPARED = "topology-not-compared"
_SOURCE = "docs/deployers.md, a topology that cannot be read; tests/airflow/test_unread_topology.py"
_MOST = 3


def may_stay_unread(unread: tuple[str, ...], declared: DeclaredApplication, accepted: str | None) -> Verdict:
    """Whether what was not compared may stay so; `unread` has one sentence for each cause, none if all was compared.

    `accepted` is a person's reason from the form, empty without one, None if the form has no such field. It is a danger
    that the approver reads. An approval that no person gives accepts nothing: Refused.
    """
    if not unread:
        return Verdict(Outcome.PROCEED, ("every topology was read",))
    causes = first_of(list(dict.fromkeys(unread)), _MOST, "; ")
    if not accepted:
        offer = "" if accepted is None else f" (or accept that, with a reason in {WITHOUT_TOPOLOGY})"
        return Verdict(Outcome.INCONCLUSIVE, (f"{causes}{offer}",))
    if declared.automatic_approval and not declared.approvers:
        return Verdict(
            Outcome.REFUSE,
            (
                f"{WITHOUT_TOPOLOGY}: an approver has to accept it, and the fleet entry of {declared.name} has none "
                "(its approvals are automatic); add approvers, then trigger a new run",
            ),
        )
    return Verdict(Outcome.PROCEED, ("the topology was not compared",), (_accepted(causes, declared, accepted),))


def unread_release(why: Missing) -> str:
    """The sentence about a release whose topology was not read."""
    return f"whether the topology changes is not known: {why.missing}; correct that, then trigger a new run"


def _accepted(causes: str, declared: DeclaredApplication, reason: str) -> Finding:
    message = (
        f"NOT COMPARED: {causes}. If the topology changes, old and new members stop each other, or state and records "
        f"are lost; accepted with the reason: {reason}"
    )
    return Finding(NOT_COMPARED, "danger", declared.name, message, _SOURCE)
