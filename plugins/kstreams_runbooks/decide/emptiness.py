"""Whether a group has no member left: only then is a new assignment made at the next start."""

from kstreams_runbooks.model.readings import GroupReading, Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict

_NOBODY = frozenset({"EMPTY", "DEAD"})


def group_is_empty(group: GroupReading | Missing, group_id: str) -> Verdict:
    """Proceed where the coordinator says that the group has no member.

    A static member that comes back within its session timeout gets its old assignment, whatever its topology asks for
    now (KIP-345); a classic application leaves its members behind when it stops.
    """
    if isinstance(group, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (f"group {group_id}: {group.missing}",))
    if group.members or group.state.upper() not in _NOBODY:
        clients = ", ".join(sorted(member.client_id for member in group.members)[:3]) or "none listed"
        return Verdict(
            Outcome.WAIT, (f"group {group_id}: {group.state}, {len(group.members)} members (limit 0): {clients}",)
        )
    return Verdict(Outcome.PROCEED, (f"group {group_id} is {group.state}: no member is left",))
