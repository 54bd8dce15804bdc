"""A run's question to a person, as Airflow's API shows it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kstreams_runbooks.decide.runs.approval import Label
from kstreams_runbooks.terminal.airflow.client import AirflowApi
from kstreams_runbooks.wording import outside, sentence, unmarked


@dataclass(frozen=True, slots=True)
class Question:
    """One open question; `may_answer` and `until` are empty if its text does not have them."""

    task: str
    subject: str
    may_answer: str
    until: str
    since: str
    link: str

    @property
    def sentence(self) -> str:
        """The question in one line."""
        parts = [f"waits for {self.task}: {self.subject}"]
        parts += [f"may answer: {self.may_answer}"] if self.may_answer else []
        parts += [f"until {self.until}"] if self.until else []
        return "; ".join([*parts, self.link])


def question_of(pending: Mapping[str, Any], api: AirflowApi) -> Question:
    """A pending question from Airflow's API."""
    task = pending["task_instance"]
    body = str(pending.get("body") or "")
    assigned = ", ".join(str(user["name"]) for user in pending.get("assigned_users") or ())
    return Question(
        task=task["task_id"],
        subject=outside(pending["subject"]),
        may_answer=assigned or _found(Label.MAY_APPROVE, body),
        until=_found(Label.EXPIRES, body),
        since=str(pending["created_at"]),
        link=api.page_of(task["dag_id"], task["dag_run_id"], task["task_id"]),
    )


def _found(label: Label, body: str) -> str:
    """The text after a label of an approval; questions of other operators have no labels."""
    found = re.search(rf"{re.escape(label.bold)} ?(.+)", body)
    return sentence(unmarked(found[1])).strip() if found else ""
