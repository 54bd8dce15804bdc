"""One librdkafka configuration opens both clients, and neither can write."""

import ast
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kstreams_runbooks
import pytest
from kafka.errors import KafkaConfigurationError
from kstreams_runbooks.errors import BadInput, WriteRefused
from kstreams_runbooks.model.address import printable
from kstreams_runbooks.observe.kafka.clients import (
    PYTHON_READS,
    connect_librdkafka,
    connect_python,
    librdkafka_config,
    open_consumer,
    python_config,
)
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.read_only import ReadOnly


def test_security_settings_are_translated() -> None:
    """SASL over TLS as people write it for librdkafka."""
    translated = python_config(
        {
            "bootstrap.servers": "one:9092, two:9092",
            "security.protocol": "sasl_ssl",
            "sasl.mechanism": "scram-sha-512",
            "sasl.username": "reader",
            "sasl.password": "secret",
            "ssl.ca.location": "/ca.pem",
            "ssl.endpoint.identification.algorithm": "none",
            "group.id": "left out",
        }
    )
    assert translated["bootstrap_servers"] == ["one:9092", "two:9092"]
    assert translated["security_protocol"] == "SASL_SSL"
    assert translated["sasl_mechanism"] == "SCRAM-SHA-512"
    assert translated["sasl_plain_username"] == "reader"
    assert translated["sasl_plain_password"] == "secret"  # noqa: S105 # a made-up one
    assert translated["ssl_cafile"] == "/ca.pem"
    assert translated["ssl_check_hostname"] is False
    assert "group_id" not in translated


def test_security_setting_without_an_equal_is_refused() -> None:
    """To leave it out would be to connect in another way than asked for; its value is not printed."""
    with pytest.raises(BadInput, match=r"ssl\.ca\.pem is not supported") as raised:
        python_config({"bootstrap.servers": "one:9092", "ssl.ca.pem": "hush"})
    assert "hush" not in str(raised.value)


def test_no_bootstrap_servers() -> None:
    """The setting to write is named."""
    with pytest.raises(BadInput, match=r"bootstrap\.servers"):
        python_config({})


def test_reading_never_creates_a_topic() -> None:
    """Whatever the connection says, asking for a topic never makes it."""
    config = librdkafka_config({"bootstrap.servers": "one:9092", "allow.auto.create.topics": True})
    assert config["allow.auto.create.topics"] is False


class _Client:
    def look(self) -> str:
        return "seen"

    def delete_topics(self) -> str:
        return "gone"


def test_read_only_face_lets_named_methods_through() -> None:
    """Anything else is refused, whatever it does."""
    face = ReadOnly(_Client(), frozenset({"look"}))
    assert face.look() == "seen"
    with pytest.raises(WriteRefused, match="delete_topics"):
        face.delete_topics()


ANYWHERE = {"bootstrap.servers": "127.0.0.1:9"}
TOKENS = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.method": "oidc",
    "sasl.oauthbearer.client.id": "us",
    "sasl.oauthbearer.client.secret": "hush",
    "sasl.oauthbearer.token.endpoint.url": "https://login.example.org/token",
}
PACKAGE = Path(kstreams_runbooks.__path__[0])


class _Admin:
    """Every method of an admin client, and no connection."""

    def __init__(self, **settings: object) -> None:
        assert settings["bootstrap_servers"] == ["127.0.0.1:9"]

    def __getattr__(self, name: str) -> Callable[[], str]:
        return lambda: name


@pytest.mark.parametrize("method", ["create_topics", "delete_groups", "remove_group_members", "_manager"])
def test_client_of_an_observer_refuses_a_write(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write planted where somebody reads; the same method is there for a writer."""
    monkeypatch.setattr("kstreams_runbooks.observe.kafka.admin_client.AdminClient", _Admin)
    with pytest.raises(WriteRefused, match=f"{method} is not among the reading methods"):
        getattr(connect_python(ANYWHERE), method)
    assert connect_python(ANYWHERE).list_topics() == "list_topics"
    assert getattr(connect_python(ANYWHERE, writable=True), method)() == method


@pytest.mark.parametrize("method", ["create_topics", "delete_records", "alter_consumer_group_offsets", "flush"])
def test_client_of_librdkafka_refuses_a_write(method: str) -> None:
    """Nobody writes through it."""
    client: Any = connect_librdkafka(ANYWHERE)
    with pytest.raises(WriteRefused, match=method):
        getattr(client, method)
    assert callable(client.list_offsets)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"no.such": "x"}, 'No such configuration property: "no.such"'),
        ({"debug": True}, 'Invalid value "True" for configuration property "debug"'),
        ({"security.protocol": "FOO"}, 'Invalid value "FOO" for configuration property "security.protocol"'),
        ({"security.protocol": "SSL", "ssl.ca.location": "/nowhere.pem"}, "/nowhere.pem does not exist"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "FOO"}, "Unsupported SASL mechanism: FOO"),
        ({"statistics.interval.ms": -5}, "value -5 is outside allowed range 0..86400000)"),
        ({"error_cb": "x"}, "expected error_cb property as a callable function"),
        ({"bootstrap.servers": "b:x"}, "'b:x' is not a bootstrap server"),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.username": "ada"},
            "sasl.username and sasl.password must be set",
        ),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512", "sasl.password": "hunter2"},
            "sasl.username and sasl.password must be set",
        ),
        (TOKENS | {"sasl.oauthbearer.client.secret": ""}, "no sasl.oauthbearer.client.secret, but sasl.mechanism is"),
        (TOKENS | {"sasl.oauthbearer.token.endpoint.url": ""}, "no sasl.oauthbearer.token.endpoint.url, but"),
    ],
)
def test_a_configuration_that_no_client_takes_is_bad_input_before_it_connects(
    wrong: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kafka-python would take some of it for a broker that does not answer, and wait."""
    asked: list[object] = []
    monkeypatch.setattr(socket.socket, "connect_ex", lambda _, address: asked.append(address))
    with (
        pytest.raises(BadInput, match=r"^(Kafka configuration|ssl.ca.location): ") as told,
        ClusterReader(ANYWHERE | wrong),
    ):
        pass
    assert said in str(told.value)
    assert asked == []


def test_what_only_a_consumer_compares_is_bad_input_too() -> None:
    """The admin client takes it."""
    wrong = ANYWHERE | {"max.poll.interval.ms": 1000}
    connect_librdkafka(wrong)
    with pytest.raises(BadInput, match=r"`max\.poll\.interval\.ms`must be >= `session\.timeout\.ms`"):
        open_consumer(wrong, {"group.id": "any"})


def test_a_secret_is_in_no_sentence_of_a_client() -> None:
    """Not even where the client's own has it, because it stands in a second place."""
    wrong = ANYWHERE | {"sasl.password": "hunter2", "security.protocol": "hunter2"}
    with pytest.raises(BadInput, match="its reason contains a secret and is not shown") as told:
        connect_librdkafka(wrong)
    assert "hunter2" not in str(told.value)


def test_what_kafka_python_does_not_take_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks at some settings only when it connects."""
    for error in (ValueError("no number"), KafkaConfigurationError("no number"), AssertionError("no number")):

        def refuse(error: Exception = error, **_: object) -> None:
            raise error

        monkeypatch.setattr("kstreams_runbooks.observe.kafka.admin_client.AdminClient", refuse)
        with pytest.raises(BadInput, match=r"kafka-python does not accept it \(.*no number\)"):
            connect_python(ANYWHERE)


def test_every_reading_method_exists() -> None:
    """A name that a later kafka-python no longer has is seen here, not at the first connection."""
    from kstreams_runbooks.observe.kafka.admin_client import AdminClient

    assert {name for name in PYTHON_READS if not hasattr(AdminClient, name)} == set()


def test_only_act_opens_a_client_that_writes() -> None:
    """`connect_python(..., writable=...)` stands nowhere else in the package."""
    found = {
        path.relative_to(PACKAGE).parts[0]
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "connect_python"
        and node.keywords
    }
    assert found == {"act"}


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://user:secret@host:9001/RPC2?token=x", "http://host:9001/RPC2"),
        ("http://host:9001", "http://host:9001"),
        ("host:9092", "host:9092"),
    ],
)
def test_printable_addresses_have_no_credentials(url: str, shown: str) -> None:
    """Neither user nor query."""
    assert printable(url) == shown
