"""Airflow's API for a command: its address and login from options and the environment."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.free_text import is_whole
from kstreams_runbooks.model.web_address import web_address
from kstreams_runbooks.terminal.airflow.login import PASSWORD, TOKEN, URL, USER, Login

if TYPE_CHECKING:
    from kstreams_runbooks.terminal.airflow.client import AirflowApi

_C = TypeVar("_C", bound=Callable[..., Any])


def airflow_options(command: _C) -> _C:
    """The options for Airflow's address and login; the password or token is only in the environment."""
    address = click.option("--airflow-url", envvar=URL, default="", help=f"Address of Airflow (or {URL}).")
    user = click.option("--airflow-user", envvar=USER, default="", help=f"Login (or {USER}; with {PASSWORD}).")
    return address(user(command))


def airflow_at(url: str, user: str, environ: Mapping[str, str] = os.environ) -> "AirflowApi":
    """The API at `url` as `user` or by the environment's token; BadInput if one of them is not given."""
    from kstreams_runbooks.terminal.airflow.client import AirflowApi

    if not url:
        raise BadInput(
            f"no address of Airflow: set {URL}, or give --airflow-url (while a demo is up neither is needed)"
        )
    try:
        address = web_address(url)
    except ValueError as error:
        # The message does not repeat the address: it may contain a login.
        raise BadInput(f"address of Airflow: {error}; correct {URL} or --airflow-url") from None
    if address.user is not None or address.connection:
        raise BadInput(f"address of Airflow: contains a login; set {USER} and {PASSWORD} instead ({address.host})")
    token, password = environ.get(TOKEN, ""), environ.get(PASSWORD, "")
    if token:
        return AirflowApi(url, Login(token=token))
    if not user or not password:
        raise BadInput(f"no login for Airflow: set {USER} and {PASSWORD}, or {TOKEN} ({url})")
    if not is_whole([user, password]):
        raise BadInput(f"login for Airflow: {USER} or {PASSWORD} has bytes that are not UTF-8; set it again ({url})")
    return AirflowApi(url, Login(user, password))
