"""Airflow connections as librdkafka configuration."""

from typing import Any

from airflow.sdk.bases.hook import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException, AirflowRuntimeError

from kstreams_runbooks.documents.json_document import json_document
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.address import kafka_servers


def kafka_config(connection_id: str) -> dict[str, Any]:
    """Librdkafka settings of an Airflow connection of type kafka (its extra field, as the provider's form writes it).

    BadInput if the connection is absent, of another type, or names no valid bootstrap servers.
    """
    try:
        connection = BaseHook.get_connection(connection_id)
    except (AirflowNotFoundException, AirflowRuntimeError) as error:
        raise BadInput(
            f"Airflow connection {connection_id}: not found; create it (type kafka) or correct the cluster entry"
        ) from error
    if connection.conn_type != "kafka":
        raise BadInput(f"Airflow connection {connection_id}: type {connection.conn_type} (expected kafka)")
    try:
        config = json_document(connection.extra or "{}")
    except BadInput as error:
        raise BadInput(f"Airflow connection {connection_id}: its extra field {error}") from None
    if not isinstance(config, dict):
        raise BadInput(f"Airflow connection {connection_id}: its extra field is not a JSON object; correct it")
    if not config.get("bootstrap.servers"):
        raise BadInput(f"Airflow connection {connection_id}: no bootstrap.servers in its extra field; set it")
    kafka_servers(config["bootstrap.servers"], f"Airflow connection {connection_id}: bootstrap.servers")
    return config
