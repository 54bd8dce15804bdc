"""Whether a runbook would accept a planned change: its own plan is made from the same reading, and not kept."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from kstreams_runbooks.decide.runbooks import runbook
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused, RunbookError
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.steps.plan.plan import PlanMaker, at_once_plan, library_bump, rolling_bounce, stop_and_restart
from kstreams_runbooks.steps.run.run import Run

# The last two also plan from fields of their own forms, which the form of `plan_change` does not have: of them the part
# that does not depend on these.
_MAKERS: Mapping[str, PlanMaker] = {
    "library_bump": library_bump,
    "rolling_bounce": rolling_bounce,
    "stop_and_restart": stop_and_restart,
    "control_topic_flush": partial(stop_and_restart, flushed=True),
    "reset_and_cleanup": at_once_plan,
}


class _Trial(Run):
    """The run while it makes the plan of another runbook, whose lines belong into that one's log."""

    def say(self, message: str) -> None:
        """Nothing: the outcome alone is shown."""

    @property
    def _again(self) -> Callable[[str], None] | None:
        """As any step: a reading that is missed once is no refusal of the runbook."""
        return super().say if self.patient else None


def refused_by(
    run: Run, names: Iterable[str], reading: ApplicationReading, release: str
) -> dict[str, BadInput | Inconclusive | Refused]:
    """Why each of these runbooks would not take its application to a release; those that would are left out.

    A system that cannot be reached is an error of this run, not an answer.
    """
    found: dict[str, BadInput | Inconclusive | Refused] = {}
    for name in names:
        if (make := _MAKERS.get(name)) is None:
            continue
        # The fields of that runbook's form in place of this one's.
        params = {**run.record.params, "release": None, runbook(name).field: release}
        trial = _Trial(replace(run.record, params=params), run.task_id, run.try_number, run.ledger, run.patient)
        try:
            make(trial, reading, ())
        except (BadInput, Inconclusive, Refused) as error:
            found[name] = error
    return found


def demand_accepted(refused: Mapping[str, RunbookError], offered: tuple[str, ...]) -> None:
    """Refused or Inconclusive, as the runbook itself would be, if no runbook is left to choose because of that."""
    if not refused or offered:
        return
    reasons = "; ".join(f"{name} would end with: {error}" for name, error in refused.items())
    sentence = f"no runbook accepts this change: {reasons}"
    if all(isinstance(error, Inconclusive) for error in refused.values()):
        raise Inconclusive(sentence)
    raise Refused(sentence)
