"""A person's answer: who gave it, and the reason for it."""

from collections.abc import Mapping
from typing import Any

from airflow.sdk import Param

from kstreams_runbooks.wording import outside

REASON = "reason"


def reason_field() -> Param:
    """The field for a reason next to any answer."""
    return Param(
        None,
        type=["null", "string"],
        title="Reason",
        description="Why you answer this, or a ticket. It is kept as evidence, and the outcome has it.",
    )


def reason_of(event: Mapping[str, Any]) -> str:
    """The reason that came with an answer, in one line; empty without one."""
    given = event.get("params_input")
    text = given.get(REASON) if isinstance(given, Mapping) else None
    return outside(text.strip()) if isinstance(text, str) and text.strip() else ""


def responder(event: Mapping[str, Any]) -> str:
    """The login of the person who answered."""
    user = event.get("responded_by_user")
    if isinstance(user, Mapping):
        return str(user.get("name") or user.get("id"))
    return str(getattr(user, "name", None) or getattr(user, "id", None) or user)
