"""Asking for approval of the stored plan."""

from collections.abc import Sequence
from typing import Any

from airflow.providers.standard.exceptions import HITLRejectException
from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import Context

from kstreams_runbooks.decide.runs.approval import Asking, approval_body
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.runs.object_stages import DeleteRecords
from kstreams_runbooks.steps.approval.asking import AskingOperator, emergency_field
from kstreams_runbooks.steps.approval.authorize import VOIDED
from kstreams_runbooks.steps.run.person import responder
from kstreams_runbooks.steps.run.run import Run, described
from kstreams_runbooks.watch.held_inputs import forecast_of


def approve(task_id: str, *, bounce: int = 1) -> "ApprovePlan":
    """A task that asks for approval of the stored plan, before the bounce with this number and those after it."""
    return ApprovePlan(
        task_id=task_id,
        bounce=bounce,
        retries=0,
        params=emergency_field(),
    )


class ApprovePlan(AskingOperator, ApprovalOperator):
    """Asks for approval of the stored plan with its digest; a reject ends the run."""

    def __init__(self, *, bounce: int, **kwargs: Any) -> None:
        super().__init__(fail_on_reject=True, **kwargs)
        self.bounce = bounce

    def nothing_to_ask(self, run: Run) -> str:
        """Why no approval is needed: the plan has no such bounce."""
        if self.bounce == 1 or run.plan().bounce(self.bounce):
            return ""
        return f"bounce {self.bounce} is not needed"

    def asks(self, run: Run) -> str:
        """Names the plan by its title, or its point of no return."""
        return "approve " + (f"bounce {self.bounce}, the point of no return" if self.bounce > 1 else run.plan().title)

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
            held="" if (hold := forecast_of(run.ledger, run.key)) is None else hold.sentence,
        )

    def others(self, run: Run) -> tuple[DeclaredApplication, ...]:
        """The other sides of the plan, and the applications that read outputs whose records it deletes."""
        sides = [part.application for part in run.whole_plan().sides]
        names = dict.fromkeys((*sides, *_readers(run)))
        return tuple(run.on(name).declared for name in names)

    def is_automatic(self, run: Run) -> bool:
        """Whether the fleet entry approves by itself, and so does that of each reader."""
        return super().is_automatic(run) and all(run.on(name).declared.automatic_approval for name in _readers(run))

    def digest(self, run: Run) -> str:
        """The digest of the stored plan."""
        return run.plan().digest

    def automatic(self, run: Run) -> Sequence[str]:  # noqa: ARG002 - the same for every run
        """The option that approves."""
        return [self.APPROVE]

    def accepted(self, run: Run, options: Sequence[str], by: str) -> str:  # noqa: ARG002 - a reject is raised before
        """How long the approval is valid."""
        return f"plan {self.digest(run)} approved by {by}, valid for {run.limit('approval_expiry_h'):g} h"

    def received(self, run: Run, context: Context, event: dict[str, Any]) -> Sequence[str]:
        """The chosen option; Refused after a reject, which also voids every earlier approval."""
        try:
            return super().received(run, context, event)
        except HITLRejectException:
            run.keep("note", VOIDED, {"by": responder(event)})
            raise Refused(
                f"{self.task_id}: rejected by {responder(event)}; ask them why, then trigger a new run"
            ) from None


def _readers(run: Run) -> tuple[str, ...]:
    """The applications that read outputs which the plan cleans."""
    stages = (one for one in run.whole_plan().stages if isinstance(one, DeleteRecords))
    return tuple(dict.fromkeys(name for one in stages for name in one.readers))
