"""A run's question to a person, as Airflow's API shows it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kstreams_runbooks.decide.runs.approval import Label
from kstreams_runbooks.model.runs.question import QUESTION
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


def question_of(pending: Mapping[str, Any], api: AirflowApi) -> Question:
    """A pending question from Airflow's API, as it is now.

    Airflow's own question keeps its first text; the task leaves the present one each time it asks.
    """
    task = pending["task_instance"]
    left = api.xcom(task["dag_id"], task["dag_run_id"], task["task_id"], QUESTION)
    if left is not None:
        require(AskedNow, left, api.url)
    now = left or {}
    body = str(now.get("body") or pending.get("body") or "")
    assigned = ", ".join(str(user["name"]) for user in pending.get("assigned_users") or ())
    return Question(
        task=task["task_id"],
        subject=outside(now.get("subject") or pending["subject"]),
        may_answer=sentence(now.get("may_answer") or "") or assigned or _found(Label.MAY_APPROVE, body),
        until=sentence(now.get("until") or "") or _found(Label.EXPIRES, body),
        since=str(pending["created_at"]),
        link=api.page_of(task["dag_id"], task["dag_run_id"], task["task_id"]),
        why=sentence(now.get("why") or ""),
        text=tuple(line for line in map(sentence, unmarked(body).splitlines()) if line.strip()),
    )


def without_addresses(line: str) -> str:
    """A line of a question without the addresses of its links."""
    return _LINK.sub(r"\1", line)


def _found(label: Label, body: str) -> str:
    """The text between a label of an approval and the next one; questions of other operators have no labels."""
    found = re.search(rf"{re.escape(label.bold)} ?(.+?)(?=; \*\*|$)", body, re.MULTILINE)
    return sentence(unmarked(found[1])).strip() if found else ""
