"""Asks a person to do what no deployer and no client can; the task waits in Airflow, and the ledger keeps the answer.

A cleared task proves nothing: only an answer does, so a task that is cleared without one asks again. Airflow keeps the
text and the options of a task's first question as long as the run exists. That question has every request of the plan
therefore, each answer names its stage, and it counts once the run has come to that stage.
"""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from airflow.sdk import BaseOperator, get_current_context
from airflow.sdk.exceptions import TaskAwaitingInput
from airflow.sdk.execution_time.hitl import upsert_hitl_detail

from kstreams_runbooks.decide.runs.approval import may_answer, when
from kstreams_runbooks.decide.runs.commands import approve_command
from kstreams_runbooks.decide.runs.message import needs_you
from kstreams_runbooks.decide.runs.note import waiting
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.runs.question import QUESTION, UNCOUNTED, WITH_REASON, PresentQuestion
from kstreams_runbooks.model.times import HOUR_MS
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.steps.run.answer import REASON, reason_field, reason_of, responder
from kstreams_runbooks.steps.run.ending import leave, reported
from kstreams_runbooks.steps.run.note import WAITS, can_note, note, note_answer
from kstreams_runbooks.steps.run.notify import notify, page_of
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.run.until import hours_left
from kstreams_runbooks.wording import markdown, outside, sentence

# The ledger's entries for a request that is due, and for an answer that counts.
ASKED = "a person was asked about a stage"
ANSWERED = "a person answered"
CANNOT = "It cannot be done"
_LIMIT = "deploy_wait_h"


def done_option(stage: int) -> str:
    """The answer that the request of a stage is done."""
    return f"Stage {stage} is done"


class AskingTask(BaseOperator):
    """A task that may wait for a person (`require_done`). After an answer it begins again, and finds it."""

    def person_answered(self, context: Mapping[str, Any], event: Mapping[str, Any]) -> Any:
        """Keep the answer; Refused if none came in time, or if it is that the request cannot be done."""
        with reported(context, "a person answered") as run:
            _keep_answer(run, event)
        return self.execute(context)  # type: ignore[arg-type] # Airflow's Context is such a mapping


def require_done(run: Run, stage: int, requests: Mapping[int, str], *, since: int = 0) -> None:
    """Return once a person has answered that the request of a stage is done; ask otherwise, which parks the task.

    `requests` are those of every stage of the plan that asks a person, by its number. An answer counts if it came after
    the entry `since` of the journal.
    """
    for answer in reversed(_answers(run, since)):
        if answer["stage"] == stage and answer["done"]:
            run.say(f"stage {stage} is done, as {answer['by']} answered: {requests[stage]}")
            return
    hours = hours_left(run, run.limit(_LIMIT))
    option, deadline_ms = done_option(stage), now_ms() + int(hours * HOUR_MS)
    why, number = _did_not_count(run)
    run.say(f"PLEASE {requests[stage]}; then answer {option!r} (waits {hours:g} h, {_LIMIT})")
    run.keep("note", ASKED, {"stage": stage})
    context = get_current_context()
    subject = outside(f"[{run.first.record.application} @ {run.record.cluster}] {run.task_id} needs a person")
    upsert_hitl_detail(
        ti_id=context["ti"].id,
        options=[*(done_option(one) for one in requests), CANNOT],
        subject=subject,
        body=_body(requests, "the run's note" if can_note(run) else "the log of the task"),
        params={REASON: reason_field().serialize()},
    )
    link, lines = page_of(run, run.task_id), [requests[stage], f"then answer {option!r}"]
    asks, until = f"do what stage {stage} asks", when(deadline_ms, run.declared.zone)
    facts = f"may answer: {_people(run, stage)}; expires {until}"
    command = approve_command(run.record, option)
    note(run, WAITS, lambda _: waiting(run.task_id, asks, facts, lines, command, why))
    if why:
        note_answer(run, why)
    shown = PresentQuestion(subject, "\n\n".join(map(markdown, lines)), _people(run, stage), until, "", why)
    leave(context, QUESTION, asdict(shown))
    of = f"stage {stage}/again {number}" if why else f"stage {stage}"
    lines = [why, *lines] if why else lines
    notify(run, needs_you, asks=asks, lines=lines, deadline_ms=deadline_ms, link=link, of=of)
    raise TaskAwaitingInput(method_name=AskingTask.person_answered.__name__, timeout=timedelta(hours=hours))


def _did_not_count(run: Run) -> tuple[str, int]:
    """Why the answer to the last request did not count, empty if none came, and how many have not so far."""
    asked = run.ledger.evidence(run.key, kind="note", name=ASKED, task_id=run.task_id, newest=1)
    wrong = run.ledger.evidence(run.key, kind="note", name=UNCOUNTED, task_id=run.task_id)
    is_new = bool(asked and wrong) and wrong[-1].id > asked[-1].id
    return (wrong[-1].payload["why"] if is_new else ""), len(wrong)


def _people(run: Run, stage: int) -> str:
    """Who may answer about a stage."""
    people = dict.fromkeys(name for one in _entries(run, stage) for name in (*one.operators, *one.approvers))
    return ", ".join(people) or "any login that Airflow lets answer"


def _entries(run: Run, stage: int) -> tuple[DeclaredApplication, ...]:
    """The entries of the applications that a stage is about, and the run's own."""
    plan = run.whole_plan()
    return (
        *(run.on(plan.application_of(one)).declared for one in plan.stages if one.number == stage),
        run.declared,
    )


def _body(requests: Mapping[int, str], where: str) -> str:
    lines = [f"- **Stage {number}:** {markdown(request)}" for number, request in requests.items()]
    due = (
        f"The stage that is due now is in {where}: Airflow cannot change this text. Do what it asks, then answer that "
        "it is done."
    )
    return "\n".join([due, "", *lines])


def _keep_answer(run: Run, event: Mapping[str, Any]) -> None:
    if "error" in event:
        raise Refused(f"{run.task_id}: no answer in time (limit {_LIMIT}); clear {run.task_id}, which asks again")
    options, by = event["chosen_options"], responder(event)
    # Airflow refuses options that the question does not have, and takes none or several.
    chosen = " and ".join(options) or "no choice"
    plan, why = run.whole_plan(), reason_of(event)
    due = run.ledger.evidence(run.key, kind="note", name=ASKED, newest=1)[-1].payload["stage"]
    if why:
        run.keep("note", WITH_REASON, {"by": by, "chosen": chosen, "reason": why})
        run.say(f"{by} answered with the reason: {why}")
    verdict = run.decide(may_answer, declared=_entries(run, due), responder=by)
    run.say(verdict.sentence)
    wrong = list(verdict.reasons) if verdict.outcome is not Outcome.PROCEED else []
    if options not in ([done_option(due)], [CANNOT]):
        wrong.append(f"{sentence(chosen)!r} is not about stage {due}, which is due")
    if wrong:
        uncounted = f"{by}'s answer did not count: {'; '.join(wrong)}"
        run.keep("note", UNCOUNTED, {"why": uncounted})
        run.warn(f"stage {due} is asked again: {uncounted}")
        return
    run.keep("note", ANSWERED, {"stage": due, "plan": plan.digest, "done": chosen != CANNOT, "by": by})
    if chosen == CANNOT:
        because = f" ({why})" if why else ""
        raise Refused(
            f"stage {due} cannot be done, as {by} answered{because}; undo this run, or clear {run.task_id}, which asks "
            "again"
        )


def _answers(run: Run, since: int) -> list[Any]:
    """The answers about the plan of this run after an entry, first to last."""
    kept = [one.payload for one in run.ledger.evidence(run.key, kind="note", name=ANSWERED) if one.id > since]
    digest = run.whole_plan().digest
    return [one for one in kept if one["plan"] == digest]
