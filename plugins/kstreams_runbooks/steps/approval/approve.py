"""Asking for approval of the stored plan."""

from collections.abc import Sequence
from typing import Any

from airflow.sdk import Context

from kstreams_runbooks.decide.change.without_topology import NOT_COMPARED
from kstreams_runbooks.decide.instances.guards import nothing_drifted
from kstreams_runbooks.decide.instances.members import every_member_runs
from kstreams_runbooks.decide.runs.answers import APPROVE, deleted_for_good, options_of
from kstreams_runbooks.decide.runs.approval import Asking, Label, approval_body
from kstreams_runbooks.errors import Drifted, Refused
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.runs.object_stages import DeleteRecords
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.steps.approval.asking import AskingOperator, answer_fields
from kstreams_runbooks.steps.approval.authorize import VOIDED
from kstreams_runbooks.steps.run.answer import reason_of, responder
from kstreams_runbooks.steps.run.run import Run, described
from kstreams_runbooks.watch.held_inputs import forecasts_text
from kstreams_runbooks.wording import first_of


def approve(task_id: str, *, bounce: int = 1) -> "ApprovePlan":
    """A task that asks for approval of the stored plan, before the bounce with this number and those after it."""
    return ApprovePlan(
        task_id=task_id,
        bounce=bounce,
        retries=0,
        params=answer_fields(),
    )


class ApprovePlan(AskingOperator):
    """Asks for approval of the stored plan with its digest; a reject ends the run."""

    def __init__(self, *, bounce: int, **kwargs: Any) -> None:
        super().__init__(options=list(options_of(bounce)), **kwargs)
        self.bounce = bounce

    def nothing_to_ask(self, run: Run) -> str:
        """Why no approval is needed: the plan has no such bounce."""
        if self.bounce == 1 or run.plan().bounce(self.bounce):
            return ""
        return f"bounce {self.bounce} is not needed"

    def asks(self, run: Run) -> str:
        """Names the plan by its title, or its point of no return."""
        if APPROVE in self.options:
            return f"approve {run.plan().title}"
        about = f"{run.plan().title}: " if self.bounce == 1 else ""
        return f"{Label.NO_WAY_BACK}: {about}{' or '.join(self.options)}"

    def would_ask(self, run: Run) -> str:
        """Names the plan by its digest."""
        return f"approve plan {self.digest(run)}"

    def text(self, run: Run, asking: Asking) -> str:
        """The plan, what runs now, and what a reject leaves."""
        return approval_body(
            asking,
            plan=run.whole_plan(),
            bounce=self.bounce,
            now="; ".join(line for side in run.sides for line in described(side.read())),
            fleet_limits=run.application.declared().limits,
            cards=tuple(run.ledger.cards(run.key)),
            held=forecasts_text(run.ledger, run.key),
        )

    def others(self, run: Run) -> tuple[DeclaredApplication, ...]:
        """The other sides of the plan, and the applications that read outputs whose records it deletes."""
        sides = [part.application for part in run.whole_plan().sides]
        names = dict.fromkeys((*sides, *_readers(run)))
        return tuple(run.on(name).declared for name in names)

    def offer(self, run: Run) -> None:
        """Named choices if the plan deletes for good: the DAG's file cannot know the plan."""
        self.options = list(options_of(self.bounce, deletes=bool(deleted_for_good(run.whole_plan()))))

    def is_automatic(self, run: Run) -> bool:
        """Whether the fleet entry approves by itself, and so does that of each reader; never an unread topology."""
        if any(one.id == NOT_COMPARED for one in run.whole_plan().findings):
            return False
        return super().is_automatic(run) and all(run.on(name).declared.automatic_approval for name in _readers(run))

    def digest(self, run: Run) -> str:
        """The digest of the stored plan."""
        return run.plan().digest

    def automatic(self, run: Run) -> Sequence[str]:  # noqa: ARG002 - the same for every run
        """The option that approves."""
        return self.options[:1]

    def has_changed(self, run: Run) -> str:
        """Before a point of no return: read again whether the group and every instance are as this was asked for.

        Once the run is past it, it has to go on: also if the bounce left another instance down.
        """
        deletes = {one.number for one in deleted_for_good(run.whole_plan())}
        if self.bounce == 1 and not deletes:
            return ""
        if any(card.misreads if self.bounce > 1 else card.stage in deletes for card in run.ledger.cards(run.key)):
            return ""
        found = [why for side in run.sides for why in self._read_again(side)]
        return first_of(list(dict.fromkeys(found)), 4, "; ")

    def _read_again(self, run: Run) -> list[str]:
        """Why one application, as it is now, is not what this was asked about; Drifted if it never will be again."""
        plan, reading = run.plan(), run.read(describes=False)
        run.keep("reading", "application", reading)
        for line in described(reading):
            run.say(f"now {line}")
        verdicts = [run.decide(nothing_drifted, reading=reading, plan=plan, name="", number=self.bounce)]
        if verdicts[0].outcome is Outcome.REFUSE:
            raise Drifted(f"{self.task_id}: since it was asked, {verdicts[0].text}")
        if self.bounce > 1:
            # A run that stops all instances at once may be what cures one that does not run as it should.
            verdicts.append(run.decide(every_member_runs, reading=reading, bounces=plan.rolled))
        return [why for one in verdicts if one.outcome is not Outcome.PROCEED for why in one.reasons]

    def accepted(self, run: Run, options: Sequence[str], by: str) -> str:  # noqa: ARG002 - a reject is raised before
        """How long the approval is valid."""
        return f"plan {self.digest(run)} approved by {by}, valid for {run.limit('approval_expiry_h'):g} h"

    def received(self, run: Run, context: Context, event: dict[str, Any]) -> Sequence[str]:
        """The chosen option; Refused after a reject, which also voids every earlier approval."""
        chosen, by = super().received(run, context, event), responder(event)
        if list(chosen) != self.options[-1:]:
            return chosen
        run.keep("note", VOIDED, {"by": by})
        why = f" ({reason}); settle that" if (reason := reason_of(event)) else "; ask them why"
        how = "rejected" if APPROVE in self.options else f"{self.options[-1]!r} chosen"
        raise Refused(f"{self.task_id}: {how} by {by}{why}, then trigger a new run")


def _readers(run: Run) -> tuple[str, ...]:
    """The applications that read outputs which the plan cleans."""
    stages = (one for one in run.whole_plan().stages if isinstance(one, DeleteRecords))
    return tuple(dict.fromkeys(name for one in stages for name in one.readers))
