"""Airflow connections as librdkafka configuration, and as logins of agents and supervisors."""

from typing import Any

from airflow.sdk.bases.hook import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException, AirflowRuntimeError

from kstreams_runbooks.documents.json_document import json_document
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.address import kafka_servers
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

    BadInput if the connection is absent, of another type, or names no valid bootstrap servers.
    """
    connection = _connection(connection_id, "create it (type kafka) or correct the cluster entry")
    if connection.conn_type != "kafka":
        raise BadInput(f"Airflow connection {connection_id}: type {connection.conn_type} (expected kafka)")
    config = _extra(connection)
    if not config.get("bootstrap.servers"):
        raise BadInput(f"Airflow connection {connection_id}: no bootstrap.servers in its extra field; set it")
    kafka_servers(config["bootstrap.servers"], f"Airflow connection {connection_id}: bootstrap.servers")
    return config


def _connection(connection_id: str, remedy: str) -> Any:
    try:
        return BaseHook.get_connection(connection_id)
    except (AirflowNotFoundException, AirflowRuntimeError) as error:
        raise BadInput(f"Airflow connection {connection_id}: not found; {remedy}") from error


def _extra(connection: Any) -> dict[str, Any]:
    try:
        found = json_document(connection.extra or "{}")
    except BadInput as error:
        raise BadInput(f"Airflow connection {connection.conn_id}: its extra field {error}") from None
    if not isinstance(found, dict):
        raise BadInput(f"Airflow connection {connection.conn_id}: its extra field is not a JSON object; correct it")
    return found
