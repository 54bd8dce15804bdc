"""Asks a person any question: who may answer, what the ledger keeps, and when the step asks again."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from airflow.providers.standard.exceptions import HITLTimeoutError
from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import Context, Param
from airflow.sdk.definitions.param import ParamsDict

from kstreams_runbooks.decide.runs.answers import APPROVE, assigned, emergency_helps
from kstreams_runbooks.decide.runs.approval import Asking, may_answer_text, may_approve, when
from kstreams_runbooks.decide.runs.commands import approve_command
from kstreams_runbooks.decide.runs.message import approved_alone, needs_you
from kstreams_runbooks.decide.runs.note import note_of_question
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.runs.ledger import Approval
from kstreams_runbooks.model.runs.question import QUESTION, UNCOUNTED, WITH_REASON, PresentQuestion
from kstreams_runbooks.model.times import HOUR_MS
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.steps.approval.authorize import VOIDED
from kstreams_runbooks.steps.approval.holds import hold_waits
from kstreams_runbooks.steps.approval.logins import own_ids
from kstreams_runbooks.steps.run.answer import REASON, reason_field, reason_of, responder
from kstreams_runbooks.steps.run.ending import leave, reported
from kstreams_runbooks.steps.run.note import WAITS, can_note, note, note_answer
from kstreams_runbooks.steps.run.notify import notify_all, page_of
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.run.until import cut_short, hours_left, waits_until_ms
from kstreams_runbooks.wording import outside, unmarked

EMERGENCY = "emergency_reason"
# The ledger's entry for an answer that was not enough.
ANSWERED = "answered"


def answer_fields(*, emergency: bool = True) -> dict[str, Any]:
    """The fields next to an answer; the one of an emergency only if it can make an answer count."""
    if not emergency:
        return {REASON: reason_field()}
    return {
        REASON: reason_field(),
        EMERGENCY: Param(
            None,
            type=["null", "string"],
            title="Emergency reason",
            description="Only if no other approver can answer: the reason. It lets the requester approve alone and is "
            "kept as evidence.",
        ),
    }


class AskingOperator(HITLOperator):
    """Asks a person; asks again if a person answers who may not.

    A subclass defines the question, its plan, and the meaning of an answer. The same people answer every question, by
    the same rules, and the ledger has each accepted answer as an approval of that plan.
    """

    begins = "asks a person"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(subject="(written when the task runs)", **kwargs)

    def nothing_to_ask(self, run: Run) -> str:
        """Why no answer is needed, empty if one is."""
        raise NotImplementedError

    def asks(self, run: Run) -> str:
        """The task for the person, for the subject line."""
        raise NotImplementedError

    def would_ask(self, run: Run) -> str:
        """The same for a dry run, which does not ask."""
        raise NotImplementedError

    def text(self, run: Run, asking: Asking) -> str:
        """The text of the question, in Markdown."""
        raise NotImplementedError

    def digest(self, run: Run) -> str:
        """The digest of the plan that an answer is for."""
        raise NotImplementedError

    def is_automatic(self, run: Run) -> bool:
        """Whether the fleet entry approves by itself."""
        return run.declared.automatic_approval

    def automatic(self, run: Run) -> Sequence[str]:
        """The options that the fleet entry's automatic approval chooses."""
        raise NotImplementedError

    def accepted(self, run: Run, options: Sequence[str], by: str) -> str:
        """The meaning of an accepted answer, in one sentence; keeps facts that the approval does not have."""
        raise NotImplementedError

    def others(self, run: Run) -> tuple[DeclaredApplication, ...]:  # noqa: ARG002 - for those that concern more
        """The applications that the run changes apart from its own: each needs an approver."""
        return ()

    def offer(self, run: Run) -> None:
        """Set the options of this run, if the DAG's file cannot know them."""

    def has_changed(self, run: Run) -> str:  # noqa: ARG002 - for those that look again
        """Why an answer that counts is not taken, empty if it is; Drifted if it never can be."""
        return ""

    def validate_params_input(self, params_input: Mapping[str, Any]) -> None:
        """Nothing: `_misfit` judges the fields, and asks again; an answer over the API need not have them."""

    def received(self, run: Run, context: Context, event: dict[str, Any]) -> Sequence[str]:
        """The chosen options; Refused if no answer came in time."""
        try:
            chosen: Sequence[str] = super().execute_complete(context, event)["chosen_options"]
        except HITLTimeoutError:
            last_ms = waits_until_ms(run)
            cut = cut_short(run) if last_ms is not None and now_ms() >= last_ms else ""
            raise Refused(
                f"{self.task_id}: no answer within {run.limit('approval_timeout_h'):g} h{cut}; trigger a new run"
            ) from None
        return chosen

    def execute(self, context: Context) -> Any:
        """Ask, unless no answer is needed."""
        with reported(context, self.begins) as run:
            if why := self.nothing_to_ask(run):
                run.say(f"nothing to ask: {why}")
                return None
            if run.dry_run:
                run.say(f"would ask {', '.join(run.declared.approvers)} to {self.would_ask(run)}")
                return None
            if self.is_automatic(run):
                self.accept(run, self.automatic(run), "automatic approval (fleet entry)", None)
                return None
            return self.ask(run, context)

    def execute_complete(self, context: Context, event: dict[str, Any]) -> Any:
        """Judge the answer: who answered, and about which plan."""
        with reported(context, "an answer came") as run:
            given = event.get("params_input") or {}
            by = responder(event)
            if wrong := _misfit(given):
                return self._again(run, context, f"{by}'s answer did not count: {wrong}")
            self.offer(run)
            if why := reason_of(event):
                run.keep("note", WITH_REASON, {"by": by, "chosen": event.get("chosen_options"), "reason": why})
                run.say(f"{by} answered with the reason: {why}")
            chosen = self.received(run, context, event)
            if len(chosen) != 1:
                # Airflow refuses options that the question does not have, and takes none or several.
                named, expected = " and ".join(chosen) or "no choice", " or ".join(self.options)
                return self._again(run, context, f"{by}'s answer did not count: {named} (expected: {expected})")
            emergency_reason = (given.get(EMERGENCY) or "").strip() or None
            verdict = run.decide(
                may_approve,
                declared=run.declared,
                requested_by=run.record.requested_by,
                responder=by,
                emergency_reason=emergency_reason,
                others=self.others(run),
                given=self._given(run),
            )
            run.say(verdict.sentence)
            if verdict.outcome is not Outcome.PROCEED:
                run.keep("note", ANSWERED, {"by": by, "digest": self.digest(run), "chosen": list(chosen)})
                not_enough = "is not enough yet" if self.others(run) else "did not count"
                return self._again(run, context, f"{by}'s answer {not_enough}: {verdict.text}")
            if why := self.has_changed(run):
                return self._again(run, context, f"{by}'s answer was not taken: {why}")
            self.accept(run, chosen, by, emergency_reason)
            return {"chosen_options": list(chosen), "by": by}

    def _again(self, run: Run, context: Context, why: str) -> Any:
        """Ask again; the log and the repeated message begin with the reason."""
        run.keep("note", UNCOUNTED, {"why": why})
        run.warn(f"asked again: {why}")
        return self.ask(run, context, why)

    def _given(self, run: Run) -> tuple[str, ...]:
        """Those who answered about the same plan before; an answer counts for as long as an approval."""
        since_ms = now_ms() - int(run.limit("approval_expiry_h") * HOUR_MS)
        notes = run.ledger.evidence(run.key, kind="note", name=ANSWERED, task_id=self.task_id)
        kept = [one.payload for one in notes if one.at_ms >= since_ms]
        return tuple(dict.fromkeys(one["by"] for one in kept if one["digest"] == self.digest(run)))

    def ask(self, run: Run, context: Context, why: str = "") -> Any:
        """Ask in Airflow, in the log and by notification; an earlier answer is void from here on, `why` if it was one.

        Airflow keeps the text of the first question as long as the run exists, also if the task is cleared: the log
        and the run's note have the present text. The digest that was shown first stays: the step before refuses another
        plan.
        """
        self.offer(run)
        needed = emergency_helps(run.declared, run.record.requested_by, self.others(run))
        self.params = ParamsDict(answer_fields(emergency=needed))
        people = assigned(run.declared, self.others(run), own_ids())
        self.assigned_users = [{"id": id_, "name": login} for id_, login in people] or None
        hours = hours_left(run, run.limit("approval_timeout_h"))
        self.response_timeout = timedelta(hours=hours)
        deadline_ms = now_ms() + int(hours * HOUR_MS)
        asks = self.asks(run)
        self.subject = outside(f"[{run.record.application} @ {run.record.cluster}] {asks}")
        record = run.record
        asking = Asking(
            run.declared,
            record.requested_by,
            record.reason,
            now_ms(),
            deadline_ms,
            page_of(run),
            self.others(run),
            noted=can_note(run),
        )
        self.body = self.text(run, asking)
        lines = [line for line in unmarked(self.body).splitlines() if line]
        for line in lines:
            run.say(line)
        run.ledger.remember(run.key, "digest_shown", self.digest(run))
        run.keep("note", VOIDED, {"by": "asked again"})
        hold_waits(run)
        self._show(run, context, asking, asks, lines, why)
        link = page_of(run, self.task_id)
        again = run.ledger.evidence(run.key, kind="note", name=UNCOUNTED, task_id=run.task_id) if why else ()
        of = f"again {len(again)}" if why else ""
        lines = [why, *lines] if why else lines
        notify_all(run, needs_you, asks=asks, lines=lines, deadline_ms=deadline_ms, link=link, of=of)
        return super().execute(context)

    def _show(self, run: Run, context: Context, asking: Asking, asks: str, lines: Sequence[str], why: str) -> None:
        """Leave the present text where Airflow's own question, which cannot change, does not have it.

        In the run's note for a person, and in XCom for the command `runs --open`; the task's note, which is on the page
        of the question, has why an answer did not count.
        """
        option = "" if APPROVE in self.options else self.options[0]
        note(
            run,
            WAITS,
            lambda _: note_of_question(
                asking,
                task_id=self.task_id,
                asks=asks,
                lines=lines,
                digest=self.digest(run),
                command=approve_command(run.record, option),
                why=why,
            ),
        )
        if why:
            note_answer(run, why)
        shown = PresentQuestion(
            subject=str(self.subject),
            body=str(self.body),
            may_answer=may_answer_text(asking),
            until=when(asking.expires_at_ms, asking.declared.zone),
            digest=self.digest(run),
            why=why,
        )
        leave(context, QUESTION, asdict(shown))

    def accept(self, run: Run, options: Sequence[str], by: str, emergency_reason: str | None) -> None:
        """Keep an accepted answer; an approval by the requester alone is reported at once."""
        said = self.accepted(run, options, by)
        run.ledger.approve(
            Approval(
                run_key=run.key,
                task_id=self.task_id,
                digest=self.digest(run),
                by=by,
                at_ms=now_ms(),
                expires_at_ms=now_ms() + int(run.limit("approval_expiry_h") * HOUR_MS),
                emergency_reason=emergency_reason,
            )
        )
        run.say(said)
        if emergency_reason:
            notify_all(run, approved_alone, by=by, reason=emergency_reason)


def _misfit(given: Mapping[str, Any]) -> str:
    """What is wrong with the fields of an answer, empty if nothing is; Airflow's API accepts any JSON for them."""
    if unknown := sorted(set(given) - {REASON, EMERGENCY}):
        return f"the answer has a field {unknown[0]!r}, the form has only {REASON} and {EMERGENCY}"
    for field, name in ((REASON, "reason"), (EMERGENCY, "emergency reason")):
        if (text := given.get(field)) is not None and not isinstance(text, str):
            return f"the {name} has to be text, not {text!r}"
    return ""
