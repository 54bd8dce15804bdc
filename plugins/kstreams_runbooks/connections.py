"""Airflow connections: librdkafka configuration, logins of agents and supervisors, the address of Airflow's API."""

import os
from dataclasses import replace
from typing import Any

from airflow.sdk.bases.hook import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException, AirflowRuntimeError

from kstreams_runbooks.documents.json_document import json_document
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.address import concealed, kafka_servers
from kstreams_runbooks.model.web_address import WebAddress, web_address
from kstreams_runbooks.wire.logins import WebLogin, resolve_with


def web_login(connection_id: str) -> WebLogin:
    """User and password of an Airflow connection of any type, for an agent or a supervisor; `ca` of its extra field.

    BadInput if the connection is absent, or if its extra field is not a JSON object.
    """
    connection = _connection(connection_id, "create it, or correct the address in the fleet entry")
    return WebLogin(connection.login or "", connection.password or "", str(_extra(connection).get("ca") or ""))


# Addresses of agents and supervisors name a connection (connection=ID@host).
resolve_with(web_login)


def kafka_config(connection_id: str) -> dict[str, Any]:
    """Librdkafka settings of an Airflow connection of type kafka (its extra field, as the provider's form writes it).

    A setting that is null is not set. BadInput if the connection is absent, of another type, or names no valid
    bootstrap servers.
    """
    connection = _connection(connection_id, "create it (type kafka) or correct the cluster entry")
    if connection.conn_type != "kafka":
        raise BadInput(f"Airflow connection {connection_id}: type {connection.conn_type} (expected kafka)")
    # As a text it would be a file or a password of the name None.
    config = {name: value for name, value in _extra(connection).items() if value is not None}
    if not config.get("bootstrap.servers"):
        raise BadInput(f"Airflow connection {connection_id}: no bootstrap.servers in its extra field; set it")
    kafka_servers(config["bootstrap.servers"], f"Airflow connection {connection_id}: bootstrap.servers")
    return config


def airflow_address(connection_id: str) -> WebAddress:
    """Address and login of Airflow's API, of an Airflow connection of type http or https.

    BadInput if the connection is absent, of another type, or lacks host, login or password.
    """
    named = f"Airflow connection {connection_id}"
    connection = _connection(
        connection_id, "create it (type http; host, port, login, password: docs/setup.md, The run's note)"
    )
    if connection.conn_type not in {"http", "https"}:
        raise BadInput(f"{named}: type {connection.conn_type} (expected http or https)")
    if lacking := [name for name in ("host", "login", "password") if not getattr(connection, name)]:
        raise BadInput(f"{named}: has no {' and no '.join(lacking)}; set {'it' if len(lacking) == 1 else 'them'}")
    host = str(connection.host)
    # The host may be a whole address, and the form of type http has the protocol in the field Schema.
    https = "https" in {connection.conn_type, connection.schema}
    url = host if "://" in host else f"{'https' if https else 'http'}://{host}"
    try:
        address = web_address(url)
    except ValueError as error:
        # The message does not repeat the address: it may contain a login.
        raise BadInput(f"{named}: its host {error}; correct it") from None
    if address.user is not None or address.connection:
        raise BadInput(f"{named}: its host contains a login; set the fields login and password instead")
    return replace(
        address, port=connection.port or address.port, user=connection.login, password=str(connection.password)
    )


def _connection(connection_id: str, remedy: str) -> Any:
    try:
        return BaseHook.get_connection(connection_id)
    except (AirflowNotFoundException, AirflowRuntimeError):
        # A URI of a connection that was given in place of its id has a password.
        home = os.environ.get("AIRFLOW_HOME", "~/airflow")
        raise BadInput(
            f"Airflow connection {concealed(connection_id)}: not found in the environment (AIRFLOW_CONN_…), in "
            f"secrets backends and in the database of Airflow (AIRFLOW_HOME {home}); {remedy}"
        ) from None


def _extra(connection: Any) -> dict[str, Any]:
    try:
        found = json_document(connection.extra or "{}")
    except BadInput as error:
        raise BadInput(f"Airflow connection {connection.conn_id}: its extra field {error}") from None
    if not isinstance(found, dict):
        raise BadInput(f"Airflow connection {connection.conn_id}: its extra field is not a JSON object; correct it")
    return found
