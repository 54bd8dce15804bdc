"""Asking a person which runbook is started for a planned change."""

from datetime import timedelta
from typing import Any

from airflow.providers.standard.exceptions import HITLTimeoutError
from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import Context

from kstreams_runbooks.decide.runs.approval import may_approve
from kstreams_runbooks.decide.runs.choice import NONE, question
from kstreams_runbooks.decide.runs.message import approved_alone, needs_you
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.runs.ledger import Approval
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.present.change_text import headline, told
from kstreams_runbooks.steps.approval.approve import EMERGENCY, emergency_field, misfit, responder
from kstreams_runbooks.steps.approval.authorize import VOIDED
from kstreams_runbooks.steps.change.plan import CHOOSE, CHOSEN, offered_by, sides_of, stored_change
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.notify import notify, page_of
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.wording import outside, unmarked

_HOUR_MS = 3_600_000
_MOST = 5


def choose_runbook() -> "ChooseRunbook":
    """The task `choose_runbook`."""
    return ChooseRunbook(task_id=CHOOSE, retries=0, params=emergency_field())


class ChooseRunbook(HITLOperator):
    """Asks which runbook is started, as an approval asks: of the same people, by the same rules, kept in the ledger."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(subject="(written when the task runs)", options=[NONE], **kwargs)

    def execute(self, context: Context) -> Any:
        """Ask, unless there is nothing to choose."""
        with reported(context, "asks a person which runbook is started") as run:
            _, stored = stored_change(run)
            offered = offered_by(stored)
            if not offered.runbooks:
                run.say(f"nothing to ask: {'; '.join(offered.left_out)}")
                return None
            if run.dry_run:
                who = ", ".join(run.declared.approvers)
                run.say(f"would ask {who} to choose {', '.join(offered.runbooks)} or {NONE}")
                return None
            if run.declared.automatic_approval:
                self._chosen(run, offered.runbooks[0], "automatic approval (fleet entry)", None)
                return None
            return self._ask(run, context)

    def execute_complete(self, context: Context, event: dict[str, Any]) -> Any:
        """Judge the answer: who gave it, and what it is."""
        with reported(context, "an answer came") as run:
            given = event.get("params_input") or {}
            if wrong := misfit(given):
                run.say(f"asked again: {wrong}")
                return self._ask(run, context)
            self._offer(run)
            try:
                answer = super().execute_complete(context, event)
            except HITLTimeoutError:
                raise Refused(
                    f"{self.task_id}: no answer within {run.limit('approval_timeout_h'):g} h; trigger a new run"
                ) from None
            emergency_reason = (given.get(EMERGENCY) or "").strip() or None
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
            (runbook,) = answer["chosen_options"]
            self._chosen(run, runbook, responder(event), emergency_reason)
            return {"chosen_options": [runbook], "by": responder(event)}

    def _offer(self, run: Run) -> None:
        """The options of this run: the file of a DAG cannot know them."""
        _, stored = stored_change(run)
        self.options = [*offered_by(stored).runbooks, NONE]

    def _ask(self, run: Run, context: Context) -> Any:
        digest, stored = stored_change(run)
        before, after = sides_of(run)
        self._offer(run)
        hours = run.limit("approval_timeout_h")
        self.response_timeout = timedelta(hours=hours)
        deadline_ms = now_ms() + int(hours * _HOUR_MS)
        asks = f"choose how {after.release} is brought"
        self.subject = outside(f"[{run.record.application} @ {run.record.cluster}] {asks}")
        worst = [f"{one['severity']}: {one['message']}" for one in told(stored) if one["severity"] != "info"]
        more = [f"{len(worst) - _MOST} more"] if len(worst) > _MOST else []
        self.body = question(
            run.declared,
            before=before,
            after=after,
            headline=headline(stored),
            findings=(*worst[:_MOST], *more),
            options=tuple(self.options),
            left_out=offered_by(stored).left_out,
            dry_run=bool(run.record.params.get("start_dry_run", True)),
            requested_by=run.record.requested_by,
            reason=run.record.reason,
            expires_at_ms=deadline_ms,
            digest=digest,
            link=page_of(run),
        )
        lines = [line for line in unmarked(self.body).splitlines() if line]
        for line in lines:
            run.say(line)
        run.ledger.remember(run.key, "digest_shown", digest)
        run.keep("note", VOIDED, {"by": "asked again"})
        notify(run, needs_you, asks=asks, lines=lines, deadline_ms=deadline_ms, link=page_of(run, self.task_id))
        return super().execute(context)

    def _chosen(self, run: Run, runbook: str, by: str, emergency_reason: str | None) -> None:
        digest, _ = stored_change(run)
        run.keep("note", CHOSEN, {"runbook": runbook, "by": by, "digest": digest})
        run.ledger.approve(
            Approval(
                run_key=run.key,
                task_id=self.task_id,
                digest=digest,
                by=by,
                at_ms=now_ms(),
                expires_at_ms=now_ms() + int(run.limit("approval_expiry_h") * _HOUR_MS),
                emergency_reason=emergency_reason,
            )
        )
        run.say(f"{runbook} chosen by {by} for plan {digest}")
        if emergency_reason:
            notify(run, approved_alone, by=by, reason=emergency_reason)
