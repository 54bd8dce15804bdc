"""What a person can answer to a question: the options by name, and which fields the form needs."""

from collections.abc import Collection

from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.runs.object_stages import DeleteRecords, DeleteTopics
from kstreams_runbooks.model.runs.plan import Plan

APPROVE, REJECT = "Approve", "Reject"
# Of a plan that deletes for good.
DELETING = ("delete: no way back", "delete nothing")


def deleted_for_good(plan: Plan) -> tuple[DeleteTopics | DeleteRecords, ...]:
    """The stages whose data no undo brings back.

    Not those of topics that a run created itself, or of records that a certificate proves read.
    """
    return tuple(
        one
        for one in plan.stages
        if (isinstance(one, DeleteTopics) and (one.at_rest or one.retired))
        or (isinstance(one, DeleteRecords) and not one.certified)
    )


def options_of(bounce: int, *, deletes: bool = False) -> tuple[str, str]:
    """The way on and the way to stop, in this order: by name if the way on is the point of no return.

    `deletes`: the plan has stages of `deleted_for_good`.
    """
    if bounce > 1:
        return f"bounce {bounce}: no way back", f"stay on bounce {bounce - 1}"
    return DELETING if deletes else (APPROVE, REJECT)


def meant(option: str, options: tuple[str, ...]) -> str:
    """The option of a question for Approve or Reject; any other option is itself.

    Every question has its way to stop last. Of several ways on, Approve names none.
    """
    if option in options or not options:
        return option
    if option == REJECT:
        return options[-1]
    return options[0] if option == APPROVE and len(options) == len((APPROVE, REJECT)) else option


def assigned(
    declared: DeclaredApplication,
    others: tuple[DeclaredApplication, ...] = (),
    own_ids: Collection[str] = (),
) -> tuple[tuple[str, str], ...]:
    """Id in Airflow and login of those who may answer; empty, which lets anyone answer, unless each has an id.

    Airflow refuses the answer of any other person where it is given: that of an approver without an id, too. `own_ids`
    are logins that are ids themselves; an id that is declared comes first.
    """
    ids = dict(zip(own_ids, own_ids, strict=True))
    ids |= {login: id_ for one in (declared, *others) for login, id_ in one.approver_ids}
    logins = tuple(dict.fromkeys(name for one in (declared, *others) for name in one.approvers))
    return tuple((ids[name], name) for name in logins) if all(name in ids for name in logins) else ()


def emergency_helps(
    declared: DeclaredApplication, requested_by: str, others: tuple[DeclaredApplication, ...] = ()
) -> bool:
    """Whether an emergency reason can make an answer count: under four eyes, for a requester who may approve.

    A requester who is not known may be any of the approvers.
    """
    return any(
        one.four_eyes and (requested_by == "unknown" or requested_by in one.approvers) for one in (declared, *others)
    )
