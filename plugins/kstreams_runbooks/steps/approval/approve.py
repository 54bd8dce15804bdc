"""Asking a person: a plan with its digest, who may answer, and a ledger entry that later writes rely on."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from airflow.providers.standard.exceptions import HITLRejectException, HITLTimeoutError
from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import Context, Param

from kstreams_runbooks.decide.runs.approval import approval_body, may_approve
from kstreams_runbooks.decide.runs.message import approved_alone, needs_you
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.runs.ledger import Approval
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.steps.approval.authorize import VOIDED
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.notify import notify, page_of
from kstreams_runbooks.steps.run.run import Run, described, now_ms
from kstreams_runbooks.wording import outside, unmarked

_HOUR_MS = 3_600_000
EMERGENCY = "emergency_reason"


def approve(task_id: str, *, bounce: int = 1) -> "ApprovePlan":
    """A task that asks for approval of the stored plan, before its numbered bounce and those after it."""
    return ApprovePlan(
        task_id=task_id,
        bounce=bounce,
        retries=0,
        params=emergency_field(),
    )


def emergency_field() -> dict[str, Any]:
    """The one field beside an answer."""
    return {
        EMERGENCY: Param(
            None,
            type=["null", "string"],
            title="Emergency reason",
            description="Only if nobody else can approve: why, in words. Lets the requester approve alone; it is kept.",
        )
    }


class ApprovePlan(ApprovalOperator):
    """Asks for approval of the stored plan; asks again where the answer came from somebody who may not give it."""

    def __init__(self, *, bounce: int, **kwargs: Any) -> None:
        super().__init__(
            subject="(written when the task runs)",
            fail_on_reject=True,
            **kwargs,
        )
        self.bounce = bounce

    def execute(self, context: Context) -> Any:
        """Ask, unless there is nothing to ask."""
        with reported(context, "asks a person") as run:
            plan = run.plan()
            if plan.bounce(self.bounce) is None:
                run.say(f"nothing to ask: bounce {self.bounce} is not needed")
                return None
            if run.dry_run:
                run.say(f"would ask {', '.join(run.declared.approvers)} to approve plan {plan.digest}")
                return None
            if run.declared.automatic_approval:
                self._approved(run, "automatic approval (fleet entry)", None)
                return None
            return self._ask(run, context)

    def execute_complete(self, context: Context, event: dict[str, Any]) -> Any:
        """Judge the answer: who gave it, and to which plan."""
        with reported(context, "an answer came") as run:
            given = event.get("params_input") or {}
            if wrong := misfit(given):
                run.say(f"asked again: {wrong}")
                return self._ask(run, context)
            emergency_reason = (given.get(EMERGENCY) or "").strip() or None
            try:
                answer = super().execute_complete(context, event)
            except HITLTimeoutError:
                raise Refused(
                    f"{self.task_id}: no answer within {run.limit('approval_timeout_h'):g} h; trigger a new run"
                ) from None
            except HITLRejectException:
                run.keep("note", VOIDED, {"by": responder(event)})
                raise Refused(
                    f"{self.task_id}: rejected by {responder(event)}; ask them why, then trigger a new run"
                ) from None
            verdict = run.decide(
                may_approve,
                declared=run.declared,
                requested_by=run.record.requested_by,
                responder=responder(event),
                emergency_reason=emergency_reason,
            )
            run.say(verdict.sentence)
            if verdict.outcome is not Outcome.PROCEED:
                run.say("asked again")
                return self._ask(run, context)
            self._approved(run, responder(event), emergency_reason)
            return {"chosen_options": answer["chosen_options"], "by": responder(event)}

    def _ask(self, run: Run, context: Context) -> Any:
        # Airflow keeps the text of the first question for as long as the run lives, also when the task is cleared: the
        # text says so, and the log has it as it is now. A plan that changed after it was shown is refused by the step
        # before.
        plan = run.plan()
        hours = run.limit("approval_timeout_h")
        self.response_timeout = timedelta(hours=hours)
        deadline_ms = now_ms() + int(hours * _HOUR_MS)
        asks = "approve " + (f"bounce {self.bounce}, the point of no return" if self.bounce > 1 else plan.title)
        self.subject = outside(f"[{run.record.application} @ {run.record.cluster}] {asks}")
        self.body = approval_body(
            plan=plan,
            declared=run.declared,
            bounce=self.bounce,
            now="; ".join(described(run.read())),
            requested_by=run.record.requested_by,
            reason=run.record.reason,
            asked_at_ms=now_ms(),
            expires_at_ms=deadline_ms,
            fleet_limits=run.application.declared().limits,
            cards=tuple(run.ledger.cards(run.key)),
            link=page_of(run),
        )
        lines = [line for line in unmarked(self.body).splitlines() if line]
        for line in lines:
            run.say(line)
        run.ledger.remember(run.key, "digest_shown", plan.digest)
        run.keep("note", VOIDED, {"by": "asked again"})
        notify(run, needs_you, asks=asks, lines=lines, deadline_ms=deadline_ms, link=page_of(run, self.task_id))
        return super().execute(context)

    def _approved(self, run: Run, by: str, emergency_reason: str | None) -> None:
        run.ledger.approve(
            Approval(
                run_key=run.key,
                task_id=self.task_id,
                digest=run.plan().digest,
                by=by,
                at_ms=now_ms(),
                expires_at_ms=now_ms() + int(run.limit("approval_expiry_h") * _HOUR_MS),
                emergency_reason=emergency_reason,
            )
        )
        run.say(f"plan {run.plan().digest} approved by {by}, valid for {run.limit('approval_expiry_h'):g} h")
        if emergency_reason:
            notify(run, approved_alone, by=by, reason=emergency_reason)


def misfit(given: Mapping[str, Any]) -> str:
    """What is wrong with the fields of an answer, empty where nothing is; Airflow's API takes any JSON for them."""
    if unknown := sorted(set(given) - {EMERGENCY}):
        return f"the answer has a field {unknown[0]!r}, the form has only {EMERGENCY}"
    reason = given.get(EMERGENCY)
    if reason is not None and not isinstance(reason, str):
        return f"the emergency reason has to be text, not {reason!r}"
    return ""


def responder(event: Mapping[str, Any]) -> str:
    """The login that answered."""
    user = event.get("responded_by_user")
    if isinstance(user, Mapping):
        return str(user.get("name") or user.get("id"))
    return str(getattr(user, "name", None) or getattr(user, "id", None) or user)
