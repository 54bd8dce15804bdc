"""What a team has for Kafka's own tools, as the clients of this project need it."""

from pathlib import Path

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.observe.kafka.clients import python_config
from kstreams_runbooks.observe.login.command_config import librdkafka_settings, read_command_config
from kstreams_runbooks.properties import parse
from kstreams_runbooks.watch.drain.java_client import java_settings

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("security.protocol=PLAINTEXT\nrequest.timeout.ms=5000\n", {"security.protocol": "PLAINTEXT"}),
        (
            "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n"
            f'sasl.jaas.config={PLAIN} required \\\n  username="me" \\\n'
            '  password="a \\\\"b; c=d";\n',
            {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "PLAIN",
                "sasl.username": "me",
                "sasl.password": 'a "b; c=d',
            },
        ),
        (
            f"security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n"
            f"sasl.jaas.config={SCRAM} required password='x' username=me;\n"
            "ssl.truststore.type=PEM\nssl.truststore.location=/etc/ca.pem\nssl.endpoint.identification.algorithm=\n",
            {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "SCRAM-SHA-512",
                "sasl.username": "me",
                "sasl.password": "x",
                "ssl.ca.location": "/etc/ca.pem",
                "ssl.endpoint.identification.algorithm": "none",
            },
        ),
        (
            "security.protocol=SSL\nssl.keystore.type=pem\nssl.keystore.location=/etc/me.pem\nssl.key.password=x\n",
            {
                "security.protocol": "SSL",
                "ssl.certificate.location": "/etc/me.pem",
                "ssl.key.location": "/etc/me.pem",
                "ssl.key.password": "x",
            },
        ),
    ],
)
def test_the_ways_to_log_in(text: str, settings: dict[str, str]) -> None:
    """Java's words become librdkafka's, what is about something else is left out, and the other client takes them."""
    assert librdkafka_settings(parse(text)) == settings
    assert python_config({**settings, "bootstrap.servers": "b:9"})["security_protocol"] == settings["security.protocol"]


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        ({"ssl.truststore.location": "/etc/ca.jks"}, "a store of type JKS can be read by Java alone; export it as PEM"),
        (
            {"ssl.keystore.location": "x", "ssl.keystore.type": "PKCS12"},
            "ssl.keystore.location: a store of type PKCS12",
        ),
        ({"ssl.truststore.password": "hunter2"}, "ssl.truststore.password: a PEM store has no password of its own"),
        ({"ssl.cipher.suites": "hunter2"}, "ssl.cipher.suites: is not supported here"),
        ({"ssl.truststore.certificates": "hunter2"}, "ssl.truststore.certificates: is not supported here"),
        ({"sasl.jaas.config": "hunter2"}, "sasl.jaas.config: is not a line such as"),
        ({"sasl.jaas.config": f"{PLAIN} required username=hunter2;"}, "has no password; give both"),
        (
            {"sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required keyTab=hunter2;"},
            "the login module Krb5LoginModule is not supported here",
        ),
        ({"security.protocol": "SASL_SSL"}, "sasl.mechanism: GSSAPI is not supported here"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}, "sasl.jaas.config: is missing"),
        ({"sasl.client.callback.handler.class": "hunter2"}, "sasl.client.callback.handler.class: is not supported"),
    ],
)
def test_what_cannot_be_translated_is_refused(properties: dict[str, str], sentence: str) -> None:
    """In one sentence that names the setting and never its value."""
    with pytest.raises(BadInput) as raised:
        librdkafka_settings(properties)
    assert sentence in str(raised.value)
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("password", ["x", 'a "b\\; c=d', "ü '"])
def test_a_login_that_goes_to_java_and_back_is_the_same(password: str) -> None:
    """Spark is given what the file of a Java client said."""
    settings = {
        "bootstrap.servers": "b:9",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": "me",
        "sasl.password": password,
    }
    there = {name: str(value) for name, value in java_settings(settings).items()}
    assert settings.items() <= librdkafka_settings(there).items()


def test_client_credentials_are_a_token_endpoint_and_a_client() -> None:
    """As Kafka's own tools read them (KIP-768); librdkafka and kafka-python get their tokens there."""
    package = "org.apache.kafka.common.security.oauthbearer"
    given = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": "https://login.example.org/token",
        "sasl.login.callback.handler.class": f"{package}.OAuthBearerLoginCallbackHandler",
        "sasl.jaas.config": f'{package}.OAuthBearerLoginModule required clientId="us" '
        'clientSecret="a\\"b" scope=kafka;',
    }
    assert librdkafka_settings(given) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": "https://login.example.org/token",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.client.id": "us",
        "sasl.oauthbearer.client.secret": 'a"b',
        "sasl.oauthbearer.scope": "kafka",
    }
    for changes, message in (
        ({"sasl.jaas.config": f"{package}.OAuthBearerLoginModule required clientId=us;"}, "has no clientSecret"),
        ({"sasl.jaas.config": given["sasl.jaas.config"].replace("scope", "ssl.protocol")}, r"ssl\.protocol is not"),
        ({"sasl.login.callback.handler.class": "team.Own"}, r"handler\.class: is not supported here"),
    ):
        with pytest.raises(BadInput, match=message):
            librdkafka_settings({**given, **changes})


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Named, with the option that it was given to."""
    with pytest.raises(BadInput, match=r"--command-config .*nowhere: does not exist"):
        read_command_config(tmp_path / "nowhere")
