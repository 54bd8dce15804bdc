"""Who may approve: a login, or a login with the id that Airflow knows that user by."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from kstreams_runbooks.fleet.values import FleetModel, Words, distinct


def _number_as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class Approver(FleetModel):
    """An approver whose id Airflow enforces: it refuses the answer of any other user where it is given."""

    login: Words = Field(description="login of the approver")
    id: Annotated[Words, BeforeValidator(_number_as_text)] = Field(
        description="id of that user in Airflow: the login under SimpleAuthManager, the number of the user under FAB"
    )


def login_of(approver: "Approver | str") -> str:
    """The login of an approver."""
    return approver if isinstance(approver, str) else approver.login


def _form(value: Any) -> str:
    return "with id" if isinstance(value, Mapping | Approver) else "login"


def _distinct_logins(values: "tuple[Approver | str, ...]") -> "tuple[Approver | str, ...]":
    distinct(tuple(map(login_of, values)))
    return values


_One = Annotated[Annotated[Words, Tag("login")] | Annotated[Approver, Tag("with id")], Discriminator(_form)]
Approvers = Annotated[tuple[_One, ...], AfterValidator(_distinct_logins)]
