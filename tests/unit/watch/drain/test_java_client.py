"""A connection's settings in the names of Kafka's Java client."""

import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.observe.kafka.clients import python_config
from kstreams_runbooks.observe.login import tokens
from kstreams_runbooks.watch.drain.java_client import java_settings

HERE = {"bootstrap.servers": "b:9092"}
PEM = "-----BEGIN CERTIFICATE-----\n"
URL = "https://login.example.org/token"
KEY = "-----BEGIN PRIVATE KEY-----\n"
CA = "ssl.truststore.certificates"


def test_a_plain_connection_needs_its_brokers_alone() -> None:
    """What is about groups, offsets or speed is left out: Spark sets it, or it does not matter."""
    config = {**HERE, "group.id": "orders", "fetch.min.bytes": 5, "client.id": "us"}
    assert java_settings(config) == {**HERE, "client.id": "us", "security.protocol": "PLAINTEXT"}


@pytest.mark.parametrize(
    ("mechanism", "module"),
    [("plain", "plain.PlainLoginModule"), ("SCRAM-SHA-512", "scram.ScramLoginModule")],
)
def test_a_name_and_a_password_become_a_login_module(mechanism: str, module: str) -> None:
    """Also where they hold what JAAS would end the text at."""
    config = {**HERE, "security.protocol": "sasl_plaintext", "sasl.mechanisms": mechanism}
    settings = java_settings({**config, "sasl.username": "us", "sasl.password": 'a"b\\c;'})
    assert settings["security.protocol"] == "SASL_PLAINTEXT"
    assert settings["sasl.mechanism"] == mechanism.upper()
    assert settings["sasl.jaas.config"] == (
        f'org.apache.kafka.common.security.{module} required username="us" password="a\\"b\\\\c;";'
    )


def test_client_credentials_become_a_token_endpoint_and_a_login_module(tmp_path: Path) -> None:
    """The CA of the endpoint travels as text too; Spark's client gets its tokens itself."""
    (tmp_path / "ca.pem").write_text(PEM, encoding="utf-8")
    given = {"method": "oidc", "client.id": "us", "client.secret": 'a"b', "scope": "kafka", "token.endpoint.url": URL}
    config = {**HERE, "security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER"}
    config |= {f"sasl.oauthbearer.{name}": value for name, value in given.items()}
    settings = java_settings({**config, "https.ca.location": str(tmp_path / "ca.pem")})
    package = "org.apache.kafka.common.security.oauthbearer"
    assert settings == {
        **HERE,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": URL,
        "sasl.login.callback.handler.class": f"{package}.OAuthBearerLoginCallbackHandler",
        "sasl.jaas.config": f'{package}.OAuthBearerLoginModule required clientId="us" clientSecret="a\\"b" '
        'scope="kafka" ssl.truststore.type="PEM" ssl.truststore.certificates="-----BEGIN CERTIFICATE-----\\n";',
    }
    for name, value in (
        ("sasl.oauthbearer.method", "default"),
        ("sasl.oauthbearer.extensions", "a"),
        ("sasl.oauthbearer.extensions", "a_1=b"),
    ):
        with pytest.raises(BadInput, match=name.replace(".", r"\.")):
            java_settings({**config, name: value})
    extended = java_settings({**config, "sasl.oauthbearer.extensions": "logicalCluster=lkc-1,pool=p"})
    assert extended["sasl.jaas.config"].endswith(' extension_logicalCluster="lkc-1" extension_pool="p";')


def test_certificates_travel_as_text(tmp_path: Path) -> None:
    """The files are here, Spark's tasks are elsewhere."""
    ca, key = tmp_path / "ca.pem", tmp_path / "key.pem"
    ca.write_text(PEM, encoding="utf-8")
    (tmp_path / "client.pem").write_text(PEM, encoding="utf-8")
    key.write_text(KEY, encoding="utf-8")
    config = {**HERE, "security.protocol": "SSL", "ssl.ca.location": str(ca), "ssl.key.location": str(key)}
    config |= {"ssl.certificate.location": str(tmp_path / "client.pem"), "ssl.key.password": "hush"}
    config |= {"ssl.endpoint.identification.algorithm": "none"}
    assert java_settings(config) == {
        **HERE,
        "security.protocol": "SSL",
        CA: PEM,
        "ssl.truststore.type": "PEM",
        "ssl.keystore.certificate.chain": PEM,
        "ssl.keystore.key": KEY,
        "ssl.keystore.type": "PEM",
        "ssl.key.password": "hush",
        "ssl.endpoint.identification.algorithm": "",
    }


def test_a_ca_file_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Nothing may ever write to it."""
    os.mkfifo(tmp_path / "ca.pem")
    with pytest.raises(BadInput, match=r"ssl\.ca\.location .*ca\.pem: is a named pipe"):
        java_settings({**HERE, "security.protocol": "SSL", "ssl.ca.location": str(tmp_path / "ca.pem")})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER"}, "sasl.oauthbearer.method other than oidc"),
        ({"security.protocol": "SASL_SSL"}, "sasl.mechanism GSSAPI has no equal"),
        ({"ssl.crl.location": "/crl"}, "ssl.crl.location has no equal"),
        ({"security.protocol": "ssl", "enable.ssl.certificate.verification": "false"}, "give the broker's CA"),
        ({"security.protocol": "ssl", "ssl.ca.location": "/nowhere"}, "ssl.ca.location /nowhere: does not exist"),
        ({"security.protocol": "ssl", "ssl.certificate.location": "/c"}, "/c is set without ssl.key.location"),
        ({"security.protocol": "ssl", "ssl.key.location": "/k"}, "/k is set without ssl.certificate.location"),
        ({"bootstrap.servers": ""}, "no bootstrap.servers"),
    ],
)
def test_what_cannot_be_said_is_refused(given: dict[str, str], said: str) -> None:
    """Never a connection of another kind than the one asked for, and never the secret in the sentence."""
    with pytest.raises(BadInput) as refused:
        java_settings({**HERE, "sasl.password": "hush", **given})
    assert said in str(refused.value)
    assert "hush" not in str(refused.value)


def test_a_key_that_java_cannot_read_is_refused_with_the_command_that_makes_one(tmp_path: Path) -> None:
    """Java reads PKCS#8 alone."""
    (tmp_path / "key.pem").write_text("-----BEGIN RSA PRIVATE KEY-----\n", encoding="utf-8")
    both = dict.fromkeys(("ssl.certificate.location", "ssl.key.location"), str(tmp_path / "key.pem"))
    with pytest.raises(BadInput, match="openssl pkcs8 -topk8"):
        java_settings({**HERE, "security.protocol": "ssl", **both})


TAKEN, REFUSED = True, False
TOKENS = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.method": "oidc",
    "sasl.oauthbearer.client.id": "us",
    "sasl.oauthbearer.client.secret": "hush",
    "sasl.oauthbearer.token.endpoint.url": URL,
}


@pytest.mark.parametrize(
    ("given", "python", "java"),
    [
        ({}, TAKEN, TAKEN),
        ({"bootstrap.servers": "", "metadata.broker.list": "b:9092"}, TAKEN, TAKEN),
        ({"bootstrap.servers": ""}, REFUSED, REFUSED),
        ({"bootstrap.servers": "http://b:9092/"}, REFUSED, REFUSED),
        ({"enable.ssl.certificate.verification": "true"}, TAKEN, TAKEN),
        ({"enable.ssl.certificate.verification": True}, TAKEN, TAKEN),
        ({"enable.ssl.certificate.verification": "1"}, TAKEN, TAKEN),
        ({"enable.ssl.certificate.verification": "false"}, REFUSED, REFUSED),
        ({"enable.ssl.certificate.verification": "0"}, REFUSED, REFUSED),
        ({"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": "none"}, TAKEN, TAKEN),
        ({"security.protocol": "SSL", "ssl.ca.pem": PEM}, REFUSED, REFUSED),
        ({"security.protocol": "SSL", "ssl.certificate.pem": PEM}, REFUSED, REFUSED),
        ({"security.protocol": "SSL", "ssl.key.pem": KEY}, REFUSED, REFUSED),
        ({"security.protocol": "SSL", "ssl.cipher.suites": "ECDHE-RSA-AES128-GCM-SHA256"}, REFUSED, REFUSED),
        ({"security.protocol": "SSL", "ssl.keystore.location": "/k.p12"}, REFUSED, REFUSED),
        (TOKENS, TAKEN, TAKEN),
        (TOKENS | {"sasl.oauthbearer.extensions": "logicalCluster=lkc-1"}, TAKEN, TAKEN),
        (TOKENS | {"sasl.oauthbearer.extensions": "logicalCluster"}, REFUSED, REFUSED),
        (TOKENS | {"sasl.oauthbearer.config": "x"}, REFUSED, REFUSED),
        ({"security.protocol": "SSL", "ssl.crl.location": "/crl"}, TAKEN, REFUSED),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI"}, TAKEN, REFUSED),
    ],
)
def test_both_translations_take_the_same_settings(
    given: dict[str, Any], python: bool, java: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection needs kafka-python for everything and Java for a count; what Java lacks, the consumer counts."""
    monkeypatch.setattr(tokens.Tokens, "token", lambda _: "a-token")
    config = {**HERE, **given}
    for translate, taken in ((python_config, python), (java_settings, java)):
        with nullcontext() if taken else pytest.raises(BadInput):
            translate(config)
