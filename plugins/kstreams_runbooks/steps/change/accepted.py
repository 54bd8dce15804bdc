"""Whether a runbook would accept a planned change: its own check and plan, from the same reading, and nothing held."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from kstreams_runbooks.decide.runbooks import runbook
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused, RunbookError
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.steps.plan.before import may_begin, stopped_for_good
from kstreams_runbooks.steps.plan.expected_gaps import with_gaps
from kstreams_runbooks.steps.plan.late_losses import with_late_losses
from kstreams_runbooks.steps.plan.looking import refuse_held, require_ready
from kstreams_runbooks.steps.plan.only_copy import with_losses
from kstreams_runbooks.steps.plan.plan import PlanMaker, at_once_plan, library_bump, rolling_bounce, stop_and_restart
from kstreams_runbooks.steps.plan.recreated import require_state_kept
from kstreams_runbooks.steps.plan.startable import require_startable
from kstreams_runbooks.steps.run.run import Run


@dataclass(frozen=True, slots=True)
class Trial:
    """What decides at `check` and `plan` of a runbook; the first two flags are those of `check` in its DAG.

    `parks` is whether its instances stay down while other stages follow, `restores` whether the state that it restores
    is the one that `make` plans.
    """

    make: PlanMaker
    at_once: bool = False
    streams_group: bool = False
    parks: bool = False
    restores: bool = True


# The last two also plan from fields of their own forms, which the form of `plan_change` does not have: of them the part
# that does not depend on these.
TRIALS: Mapping[str, Trial] = {
    "library_bump": Trial(library_bump),
    "rolling_bounce": Trial(rolling_bounce),
    "stop_and_restart": Trial(stop_and_restart, at_once=True),
    "control_topic_flush": Trial(partial(stop_and_restart, flushed=True), parks=True),
    # It deletes the changelogs from which a restart alone would restore.
    "reset_and_cleanup": Trial(at_once_plan, at_once=True, streams_group=True, parks=True, restores=False),
}


class _Tried(Run):
    """The run while it makes the plan of another runbook, whose lines belong into that one's log."""

    def say(self, message: str) -> None:
        """Nothing: the outcome alone is shown."""

    @property
    def _again(self) -> Callable[[str], None] | None:
        """As any step: a reading that is missed once does not refuse the runbook."""
        return super().say if self.patient else None


def refused_by(
    run: Run, names: Iterable[str], reading: ApplicationReading, release: str
) -> dict[str, BadInput | Inconclusive | Refused]:
    """Why each of these runbooks would not take its application to a release; those that would are left out.

    A system that cannot be reached is an error of this run, not an answer.
    """
    found: dict[str, BadInput | Inconclusive | Refused] = {}
    for name in names:
        if (trial := TRIALS.get(name)) is None:
            continue
        # The fields of that runbook's form in place of this one's.
        params = {**run.record.params, "release": None, runbook(name).field: release}
        tried = _Tried(replace(run.record, params=params), run.task_id, run.try_number, run.ledger, run.patient)
        try:
            _try(tried, trial, reading)
        except (BadInput, Inconclusive, Refused) as error:
            found[name] = error
    return found


def _try(run: Run, trial: Trial, reading: ApplicationReading) -> None:
    """What the steps `check` and `plan` of a runbook demand, in their order; nothing is held, and no plan is kept."""
    refuse_held(run, [run])
    # The runbook takes a reading of its own: the age of this one is none of its reasons.
    findings = require_ready(run, reading, 0, at_once=trial.at_once, streams_group=trial.streams_group)
    made = trial.make(run, reading, findings)
    require_startable(run, made, reading)
    if trial.restores:
        require_state_kept(run, made)
        made = with_gaps(run, made, "observe")
        with_losses(run, made, reading)
        with_late_losses(run, made, "observe")
    may_begin(run, made, reading)
    if trial.parks:
        stopped_for_good(run, reading, required=True)


def demand_accepted(refused: Mapping[str, RunbookError], offered: tuple[str, ...]) -> None:
    """Refused or Inconclusive, as the runbook itself would be, if no runbook is left to choose because of that."""
    if not refused or offered:
        return
    reasons = "; ".join(f"{name} would end with: {error}" for name, error in refused.items())
    sentence = f"no runbook accepts this change: {reasons}"
    if all(isinstance(error, Inconclusive) for error in refused.values()):
        raise Inconclusive(sentence)
    raise Refused(sentence)
