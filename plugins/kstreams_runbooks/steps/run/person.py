"""Asks a person to do what no deployer and no client can; the task waits in Airflow, and the ledger keeps the answer.

A cleared task proves nothing: only an answer does, so a task that is cleared without one asks again. Airflow keeps the
text and the options of a task's first question as long as the run exists. That question has every request of the plan
therefore, each answer names its stage, and it counts once the run has come to that stage.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from airflow.sdk import BaseOperator, get_current_context
from airflow.sdk.exceptions import TaskAwaitingInput
from airflow.sdk.execution_time.hitl import upsert_hitl_detail

from kstreams_runbooks.decide.runs.approval import may_answer
from kstreams_runbooks.decide.runs.message import needs_you
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.times import HOUR_MS
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.steps.run.ending import reported
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
    run.say(f"PLEASE {requests[stage]}; then answer {option!r} (waits {hours:g} h, {_LIMIT})")
    run.keep("note", ASKED, {"stage": stage})
    upsert_hitl_detail(
        ti_id=get_current_context()["ti"].id,
        options=[*(done_option(number) for number in requests), CANNOT],
        subject=outside(f"[{run.first.record.application} @ {run.record.cluster}] {run.task_id} needs a person"),
        body=_body(requests),
        params={},
    )
    link, lines = page_of(run, run.task_id), [requests[stage], f"then answer {option!r}"]
    asks = f"do what stage {stage} asks"
    notify(run, needs_you, asks=asks, lines=lines, deadline_ms=deadline_ms, link=link, of=f"stage {stage}")
    raise TaskAwaitingInput(method_name=AskingTask.person_answered.__name__, timeout=timedelta(hours=hours))


def _body(requests: Mapping[int, str]) -> str:
    lines = [f"- **Stage {number}:** {markdown(request)}" for number, request in requests.items()]
    due = "The log of the task has the stage that is due now. Do what it asks, then answer that it is done."
    return "\n".join([due, "", *lines])


def _keep_answer(run: Run, event: Mapping[str, Any]) -> None:
    if "error" in event:
        raise Refused(f"{run.task_id}: no answer in time (limit {_LIMIT}); clear {run.task_id}, which asks again")
    [chosen], by = event["chosen_options"], responder(event)
    plan = run.whole_plan()
    due = run.ledger.evidence(run.key, kind="note", name=ASKED, newest=1)[-1].payload["stage"]
    entries = tuple(run.on(plan.application_of(one)).declared for one in plan.stages if one.number == due)
    verdict = run.decide(may_answer, declared=(*entries, run.declared), responder=by)
    run.say(verdict.sentence)
    if verdict.outcome is not Outcome.PROCEED or chosen not in {done_option(due), CANNOT}:
        run.say(f"stage {due} is asked again: {by} answered {sentence(chosen)!r}")
        return
    run.keep("note", ANSWERED, {"stage": due, "plan": plan.digest, "done": chosen != CANNOT, "by": by})
    if chosen == CANNOT:
        raise Refused(
            f"stage {due} cannot be done, as {by} answered; undo this run, or clear {run.task_id}, which asks again"
        )


def _answers(run: Run, since: int) -> list[Any]:
    """The answers about the plan of this run after an entry, first to last."""
    kept = [one.payload for one in run.ledger.evidence(run.key, kind="note", name=ANSWERED) if one.id > since]
    digest = run.whole_plan().digest
    return [one for one in kept if one["plan"] == digest]


def responder(event: Mapping[str, Any]) -> str:
    """The login of the person who answered."""
    user = event.get("responded_by_user")
    if isinstance(user, Mapping):
        return str(user.get("name") or user.get("id"))
    return str(getattr(user, "name", None) or getattr(user, "id", None) or user)
