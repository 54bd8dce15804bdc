"""Environment of a team's commands: a short list that is always there, and the declared variables."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from kstreams_runbooks.fleet.values import FleetModel, distinct
from kstreams_runbooks.model.releases.settings import is_secret

# Paths of programs and of their files, locale, time zone.
ALWAYS = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
# Airflow's connections, keys and logins, our own address of the ledger and login, and Spark's token.
_OURS = re.compile(r"_{0,2}AIRFLOW.*|KSTREAMS_RUNBOOKS.*|SPARK_REMOTE.*|SPARK_CONNECT.*", re.IGNORECASE)


def is_ours(name: str) -> bool:
    """Whether a variable is Airflow's, this project's or Spark Connect's: no other program gets it."""
    return _OURS.fullmatch(name) is not None


def _not_ours(name: str) -> str:
    if is_ours(name):
        raise ValueError("belongs to Airflow or to this project, whose logins no command of a team gets; leave it out")
    return name


def _no_secret(values: dict[str, str]) -> dict[str, str]:
    if secret := next((name for name in sorted(values) if is_secret(name)), None):
        raise ValueError(
            f"gives {secret} a value, which is a secret by its name; set it in the worker's environment "
            "and name it under `inherit`"
        )
    return values


VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$"), AfterValidator(_not_ours)]
Value = Annotated[str, Field(max_length=4_096, pattern=r"^[^\x00\r\n]*$")]


class CommandEnvironment(FleetModel):
    """Variables that the commands of this application get in addition to those that are always there."""

    inherit: Annotated[tuple[VariableName, ...], Field(max_length=100), AfterValidator(distinct)] = Field(
        default=(), description="names of variables of the worker that are passed on, such as KUBECONFIG or JAVA_HOME"
    )
    values: Annotated[dict[VariableName, Value], Field(max_length=100), AfterValidator(_no_secret)] = Field(
        default_factory=dict, description="variables with their values; no secrets"
    )
