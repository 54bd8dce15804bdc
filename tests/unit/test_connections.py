"""What an Airflow connection of type kafka is to the clients."""

import json

import pytest
from kstreams_runbooks.connections import kafka_config
from kstreams_runbooks.observe.kafka.clients import python_config


def test_a_setting_that_is_null_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was the text None: a file, a password, and a certificate whose host is not compared."""
    given = {"bootstrap.servers": "127.0.0.1:1", "security.protocol": "SSL"}
    nulls = ("ssl.ca.location", "ssl.key.password", "sasl.username", "ssl.endpoint.identification.algorithm")
    extra = given | dict.fromkeys(nulls)
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEMO", json.dumps({"conn_type": "kafka", "extra": extra}))
    config = kafka_config("kafka_demo")
    assert config == given
    assert not {"ssl_cafile", "ssl_password", "sasl_plain_username", "ssl_check_hostname"} & {*python_config(config)}
