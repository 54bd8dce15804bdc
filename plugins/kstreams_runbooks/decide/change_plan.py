"""From findings to what has to be run: one runbook that covers all of them where there is one."""

from dataclasses import dataclass

from kstreams_runbooks.decide.change_rules import Fired
from kstreams_runbooks.model.topology_change import ChangeRunbook
from kstreams_runbooks.model.verdicts import Outcome

# What every runbook behind them does as well: instances come up on the new version, one after another or all at once.
_MILD: tuple[ChangeRunbook, ...] = ("rolling_bounce", "stop_and_restart")
# From the least to the most that is given up; a library bump rolls, with its own rules.
MILDEST_FIRST: tuple[ChangeRunbook, ...] = (
    "rolling_bounce",
    "library_bump",
    "stop_and_restart",
    "suppress_removal",
    "control_topic_flush",
    "store_migration",
    "partition_increase",
    "reset_and_cleanup",
    "blue_green_cutover",
)


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """What to run, in this order, or why nothing may be run yet.

    `alternatives` are runbooks that would cover everything as well, from the mildest.
    """

    verdict: Outcome
    reasons: tuple[str, ...]
    runbooks: tuple[ChangeRunbook, ...]
    alternatives: tuple[ChangeRunbook, ...] = ()


def change_plan(fired: Fired) -> ChangePlan:
    """Inconclusive where a rule is undecided, else the mildest runbook that answers every finding, or several.

    A finding that another covers asks for nothing of its own. Without any finding a rolling bounce brings the change.
    """
    if fired.undecided:
        reasons = tuple(
            f"{one.object}: {one.id} hangs on {' and '.join(one.unknown)}, which nobody declares"
            + (f"; it may have been {one.candidates}" if one.candidates else "")
            for one in fired.undecided
        )
        return ChangePlan(Outcome.INCONCLUSIVE, reasons, ())
    asked = [finding.runbooks for finding in fired.findings if finding.runbooks and finding.covered_by is None]
    covering = tuple(one for one in MILDEST_FIRST if all(_covers(one, answers) for answers in asked))
    if covering:
        first, *others = covering
        return ChangePlan(Outcome.PROCEED, (), (first,), tuple(one for one in others if asked and one not in _MILD))
    every = {answers[0] for answers in asked}
    return ChangePlan(Outcome.PROCEED, (), tuple(one for one in MILDEST_FIRST if one in every and one not in _MILD))


def _covers(runbook: ChangeRunbook, answers: tuple[ChangeRunbook, ...]) -> bool:
    if runbook in answers:
        return True
    if answers[0] not in _MILD:
        return False
    return MILDEST_FIRST.index(runbook) >= MILDEST_FIRST.index(answers[0])
