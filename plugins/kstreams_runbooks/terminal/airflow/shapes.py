"""The fields that are read from Airflow's answers, with their types.

The reader of a field reports it if it is missing (client.py); this module first reports fields of another type.
"""

from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from kstreams_runbooks.errors import EXIT_CODES, BadInput
from kstreams_runbooks.terminal.airflow.login import URL
from kstreams_runbooks.wording import outside

# The last millisecond that a time of Python has.
_LAST_MS = 253_402_300_799_000


def _time(text: str) -> str:
    try:
        datetime.fromisoformat(text).astimezone(UTC)
    except OverflowError as error:
        raise ValueError(str(error)) from None
    return text


_Time = Annotated[str, AfterValidator(_time)]


class _Shape(BaseModel):
    """Each field may be absent, and others may be present."""

    model_config = ConfigDict(strict=True)


class Dag(_Shape):
    """A DAG in a list."""

    dag_id: str = ""
    is_paused: bool = False


class _Schema(_Shape):
    type: str | list[str] = ""
    title: str = ""
    examples: list[Any] | None = None


class _Param(_Shape):
    form: _Schema = Field(default_factory=_Schema, alias="schema")
    description: str | None = None


class Details(_Shape):
    """A DAG with its form."""

    is_paused: bool = False
    params: dict[str, _Param] = Field(default_factory=dict)


class AirflowRun(_Shape):
    """A run in a list."""

    dag_id: str = ""
    dag_run_id: str = ""
    state: str = ""
    conf: dict[str, Any] | None = None
    triggering_user_name: str | None = None
    start_date: _Time | None = None
    end_date: _Time | None = None
    queued_at: _Time | None = None


class Task(_Shape):
    """A task instance."""

    dag_id: str = ""
    dag_run_id: str = ""
    task_id: str = ""
    state: str | None = None


class _User(_Shape):
    name: str = ""


class Pending(_Shape):
    """An open question."""

    task_instance: Task = Field(default_factory=Task)
    subject: str = ""
    body: str | None = None
    assigned_users: list[_User] | None = None
    created_at: _Time = ""
    options: list[str] = Field(default_factory=list)
    params: dict[str, Any] | None = None


class AskedNow(_Shape):
    """The present text that a task leaves when it asks; of one that asks nothing any more every field is empty."""

    subject: str = ""
    body: str = ""
    may_answer: str = ""
    until: str = ""
    digest: str = ""
    why: str = ""
    asked_at_ms: Annotated[int, Field(ge=0, le=_LAST_MS)] = 0


class Left(_Shape):
    """Why a task failed; of `conclude` with the outcome."""

    exit_code: Annotated[int, Field(ge=min(EXIT_CODES), le=max(EXIT_CODES))]
    outcome: str | None = None
    sentence: str = ""
    plan: list[str] = Field(default_factory=list)
    next: list[str] = Field(default_factory=list)
    manually: list[str] = Field(default_factory=list)
    changed: bool = False


class Concluded(Left):
    """The answer that `conclude` leaves at the end of a run; `plan` in a dry run alone."""

    outcome: str
    sentence: str
    next: list[str]
    manually: list[str]
    changed: bool


def require(shape: Any, value: Any, url: str) -> None:
    """BadInput if a value of an answer has another shape."""
    try:
        _adapter(shape).validate_python(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = outside(".".join(map(str, first["loc"])) or "a value", 100)
        raise BadInput(
            f"Airflow: {place} of its answer is not in the format of Airflow 3 "
            f"({outside(first['msg'], 200)}); correct {URL} if it is not the address of an Airflow 3 ({url})"
        ) from None


@cache
def _adapter(shape: Any) -> "TypeAdapter[Any]":
    return TypeAdapter(shape)
