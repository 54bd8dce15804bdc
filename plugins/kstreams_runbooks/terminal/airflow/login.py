"""The login for Airflow from environment variables: a secret must not be an argument of a command."""

from dataclasses import dataclass, field

URL = "KSTREAMS_RUNBOOKS_AIRFLOW_URL"
USER = "KSTREAMS_RUNBOOKS_AIRFLOW_USER"
PASSWORD = "KSTREAMS_RUNBOOKS_AIRFLOW_PASSWORD"  # noqa: S105 - the name of a variable
TOKEN = "KSTREAMS_RUNBOOKS_AIRFLOW_TOKEN"  # noqa: S105 - the name of a variable


@dataclass(frozen=True, slots=True)
class Login:
    """A user with a password, or a token from elsewhere."""

    user: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)

    def __str__(self) -> str:
        return self.user or "the token's login"
