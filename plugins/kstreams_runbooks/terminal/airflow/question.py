"""A run's question to a person, as Airflow's API shows it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kstreams_runbooks.decide.runs.approval import Label
from kstreams_runbooks.model.runs.question import QUESTION
from kstreams_runbooks.model.times import utc
from kstreams_runbooks.terminal.airflow.client import AirflowApi
from kstreams_runbooks.terminal.airflow.shapes import AskedNow, require
from kstreams_runbooks.wording import outside, sentence, unmarked

_LINK = re.compile(r"\[([^\]]+)\]\(https?://[^)\s]+\)")


@dataclass(frozen=True, slots=True)
class Question:
    """One open question; `may_answer` and `until` are empty if its text does not have them.

    `text` is its present text, one line each; `why` is why an earlier answer did not count, empty if none was given.
    """

    task: str
    subject: str
    may_answer: str
    until: str
    since: str
    link: str
    why: str = ""
    text: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The question in one line."""
        parts = [self.why] if self.why else []
        parts += [f"waits for {self.task}: {self.subject}"]
        parts += [f"may answer: {self.may_answer}"] if self.may_answer else []
        parts += [f"until {self.until}"] if self.until else []
        return "; ".join([*parts, self.link])


def open_questions(api: AirflowApi, dag_id: str, run_id: str, tasks: Mapping[str, Any]) -> Iterator[Question]:
    """What a run with these tasks asks of a person: what waits for an answer, and what is only observed once done."""
    yield from (question_of(one, api) for one in api.pending(dag_id, run_id))
    for name, task in tasks.items():
        if task["state"] != "deferred":
            continue
        now = _left_by(api, dag_id, run_id, name)
        # Without a time it was a question that has an answer now.
        if asked_at_ms := now.get("asked_at_ms"):
            yield _question(name, now, since=utc(asked_at_ms).isoformat(), link=api.page_of(dag_id, run_id))


def _left_by(api: AirflowApi, dag_id: str, run_id: str, task_id: str) -> Mapping[str, Any]:
    """The present text that a task left, empty if it asks nothing."""
    left = api.xcom(dag_id, run_id, task_id, QUESTION)
    if left is not None:
        require(AskedNow, left, api.url)
    return left or {}


def question_of(pending: Mapping[str, Any], api: AirflowApi) -> Question:
    """A pending question from Airflow's API, as it is now.

    Airflow's own question keeps its first text; the task leaves the present one each time it asks.
    """
    task = pending["task_instance"]
    now = _left_by(api, task["dag_id"], task["dag_run_id"], task["task_id"])
    assigned = ", ".join(str(user["name"]) for user in pending.get("assigned_users") or ())
    first = {"subject": pending["subject"], "body": pending.get("body") or "", "may_answer": assigned}
    return _question(
        task["task_id"],
        first | {name: value for name, value in now.items() if value},
        since=str(pending["created_at"]),
        link=api.page_of(task["dag_id"], task["dag_run_id"], task["task_id"]),
    )


def _question(task_id: str, asked: Mapping[str, Any], *, since: str, link: str) -> Question:
    body = str(asked.get("body", ""))
    return Question(
        task=task_id,
        subject=outside(asked.get("subject", "")),
        may_answer=sentence(asked.get("may_answer", "")) or _found(Label.MAY_APPROVE, body),
        until=sentence(asked.get("until", "")) or _found(Label.EXPIRES, body),
        since=since,
        link=link,
        why=sentence(asked.get("why", "")),
        text=tuple(line for line in map(sentence, unmarked(body).splitlines()) if line.strip()),
    )


def without_addresses(line: str) -> str:
    """A line of a question without the addresses of its links."""
    return _LINK.sub(r"\1", line)


def _found(label: Label, body: str) -> str:
    """The text between a label of an approval and the next one; questions of other operators have no labels."""
    found = re.search(rf"{re.escape(label.bold)} ?(.+?)(?=; \*\*|$)", body, re.MULTILINE)
    return sentence(unmarked(found[1])).strip() if found else ""
