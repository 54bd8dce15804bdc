"""The two Kafka clients behind one configuration: operators write librdkafka's names."""

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from kstreams_runbooks.errors import BadInput, Unreachable
from kstreams_runbooks.model.address import kafka_servers
from kstreams_runbooks.observe.kafka.moving import MOVED_WITHIN_S
from kstreams_runbooks.observe.kafka.read_only import ReadOnly
from kstreams_runbooks.observe.login import tokens
from kstreams_runbooks.observe.login.kafka_python import import_kafka_python
from kstreams_runbooks.wording import outside

# Long enough for a broker that has just become leader, short enough for a waiting operator.
CONNECT_TIMEOUT_MS = 8_000
REQUEST_TIMEOUT_MS = 8_000

_PYTHON_NAMES = {
    "client.id": "client_id",
    "security.protocol": "security_protocol",
    "sasl.mechanism": "sasl_mechanism",
    "sasl.mechanisms": "sasl_mechanism",
    "sasl.username": "sasl_plain_username",
    "sasl.password": "sasl_plain_password",
    "sasl.kerberos.service.name": "sasl_kerberos_service_name",
    "ssl.ca.location": "ssl_cafile",
    "ssl.certificate.location": "ssl_certfile",
    "ssl.key.location": "ssl_keyfile",
    "ssl.key.password": "ssl_password",
    "ssl.crl.location": "ssl_crlfile",
}

# The methods of a client that is not opened for writing; `close` only ends the connection.
PYTHON_READS = frozenset(
    {
        "check_create_partitions",
        "check_create_topics",
        "close",
        "describe_acls",
        "describe_cluster",
        "describe_configs",
        "describe_every_log_dir",
        "describe_features",
        "describe_group_operations",
        "describe_groups",
        "describe_log_dirs",
        "describe_producers",
        "describe_streams_groups",
        "describe_topics",
        "describe_topics_of_each",
        "describe_transactions",
        "known_brokers",
        "list_group_offsets",
        "list_groups",
        "list_partition_offsets",
        "list_partition_reassignments",
        "list_stable_offsets",
        "list_topics",
        "list_transactions",
        "look_again",
        "releases",
        "requests",
    }
)
LIBRDKAFKA_READS = frozenset({"describe_consumer_groups", "list_offsets", "list_topics", "poll"})

# way_in.py reports in one sentence why a login fails, and a failed request raises its error. kafka-python logs
# twenty more lines for one wrong password, which help no operator.
logging.getLogger("kafka").setLevel(logging.CRITICAL)

_VERIFY = "enable.ssl.certificate.verification"
# As librdkafka reads a setting that is on or off.
_ON = frozenset({"true", "t", "1"})
_SECURITY = ("sasl.", "ssl.", "security.", "enable.ssl.", "https.")
# No message may contain the values of these settings, not even a message of a client.
_SECRET = re.compile(r"password|secret|token|jaas|oauthbearer|\.pem$")


def bootstrap(config: Mapping[str, Any]) -> str:
    """Bootstrap servers of a librdkafka configuration; BadInput if there are none, or one is not an address."""
    servers = config.get("bootstrap.servers") or config.get("metadata.broker.list")
    if not servers:
        raise BadInput("Kafka configuration: no bootstrap.servers; set it in the cluster's connection")
    return ",".join(kafka_servers(servers, "Kafka configuration: bootstrap.servers"))


def require_verification(config: Mapping[str, Any]) -> None:
    """BadInput if a librdkafka configuration switches off the check of certificates; no client here connects so."""
    given = str(config.get(_VERIFY, "true"))
    if given.lower() not in _ON:
        raise BadInput(
            f"Kafka configuration: {_VERIFY} is {outside(given, 40)} (expected true): a certificate is always checked; "
            "give the broker's CA as ssl.ca.location, and remove it"
        )


def python_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """kafka-python's configuration for a librdkafka one.

    Settings that do not concern the connection are left out. BadInput for a security setting that kafka-python does not
    have: without it the connection would not be the one that the operator configured. With OAUTHBEARER it has the first
    token: Unreachable if the token endpoint gives none.
    """
    translated: dict[str, Any] = {
        "bootstrap_servers": bootstrap(config).split(","),
        "bootstrap_timeout_ms": CONNECT_TIMEOUT_MS,
        "request_timeout_ms": REQUEST_TIMEOUT_MS,
    }
    for name, value in config.items():
        if name == "ssl.endpoint.identification.algorithm":
            translated["ssl_check_hostname"] = str(value).lower() != "none"
        elif name == _VERIFY:
            require_verification(config)
        elif name in tokens.SETTINGS:
            continue
        elif name in _PYTHON_NAMES:
            translated[_PYTHON_NAMES[name]] = str(value)
        elif name.startswith(_SECURITY):
            raise BadInput(
                f"Kafka configuration: {name} is not supported; supported are ssl.endpoint.identification.algorithm, "
                f"{', '.join(sorted({*_PYTHON_NAMES, *tokens.SETTINGS, _VERIFY}))}"
            )
    for name in ("security_protocol", "sasl_mechanism"):
        if name in translated:
            translated[name] = translated[name].upper()
    if translated.get("sasl_mechanism") == tokens.MECHANISM:
        translated["sasl_oauth_token_provider"] = tokens.token_provider(config)
    return translated


def librdkafka_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The given configuration, made safe for reading.

    librdkafka's admin client is a producer inside, and a producer's request can create a topic
    (allow.auto.create.topics). A trial on a broker that allows it created none. But reading the offsets of a deleted
    topic must never create it again, empty, so this sets the option explicitly.
    """
    return {
        # librdkafka prints every failed connection on stderr; a level in the connection overrides this one.
        "log_level": 0,
        **config,
        "bootstrap.servers": bootstrap(config),
        "allow.auto.create.topics": False,
        "socket.timeout.ms": REQUEST_TIMEOUT_MS,
    }


def import_clients() -> None:
    """Import the modules of a first connection in a process that forks others; opens no connection."""
    import_module("confluent_kafka.admin")
    import_module("kstreams_runbooks.wire.http")
    import_kafka_python()


def let_in(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration with the one bootstrap server that accepted this login; kafka-python tries only one.

    Unreachable with the exact reason why the login fails (way_in.py), BadInput for a configuration that kafka-python
    does not accept.
    """
    from kstreams_runbooks.observe.login.way_in import find_way_in

    return {**config, "bootstrap.servers": find_way_in(python_config(config), CONNECT_TIMEOUT_MS / 1000)}


def connect_python(config: Mapping[str, Any], *, writable: bool = False) -> Any:
    """A connected kafka-python admin client that only reads; `writable`, for `act` alone, gives the whole client.

    Unreachable if no broker answers within CONNECT_TIMEOUT_MS; BadInput for a configuration that it does not accept.
    It reports a failed login as a broker that does not answer: call `let_in` first.
    """
    import_kafka_python()
    from kafka.errors import KafkaConfigurationError, KafkaError

    from kstreams_runbooks.observe.kafka.admin_client import AdminClient

    settings = python_config(config)
    try:
        client = AdminClient(**settings)
    except (KafkaConfigurationError, AssertionError, TypeError, ValueError) as error:
        raise _refused(config, "kafka-python", str(error) or type(error).__name__) from None
    except (KafkaError, OSError) as error:
        raise unreachable(config, error) from None
    return client if writable else ReadOnly(client, PYTHON_READS)


def connect_librdkafka(config: Mapping[str, Any], **settings: Any) -> ReadOnly:
    """A librdkafka admin client that only reads; it connects on first use.

    `settings` override `config`. BadInput at once for a configuration that it does not accept.
    """
    from confluent_kafka.admin import AdminClient

    made = librdkafka_config(config) | settings
    with _taken_by_librdkafka(config):
        client = AdminClient(made)
    return ReadOnly(client, LIBRDKAFKA_READS)


def open_consumer(config: Mapping[str, Any], settings: Mapping[str, Any]) -> Any:
    """A librdkafka consumer; `settings` override `config`; BadInput for a configuration that it does not accept.

    It checks settings that the admin client ignores, such as max.poll.interval.ms and session.timeout.ms.
    """
    from confluent_kafka import Consumer

    with _taken_by_librdkafka(config):
        return Consumer(librdkafka_config(config) | dict(settings))


@contextmanager
def _taken_by_librdkafka(config: Mapping[str, Any]) -> Iterator[None]:
    from confluent_kafka import KafkaException

    from kstreams_runbooks.observe.login.tls import require_files

    require_files(config)
    if str(config.get("sasl.mechanism") or config.get("sasl.mechanisms") or "").upper() == tokens.MECHANISM:
        # librdkafka's own sentence about what is missing has values of these settings in it, and is not shown.
        tokens.client_credentials(config)
    try:
        yield
    except KafkaException as error:
        raise _refused(config, "librdkafka", error.args[0].str()) from None
    except (TypeError, ValueError) as error:
        raise _refused(config, "librdkafka", str(error)) from None


def _refused(config: Mapping[str, Any], client: str, reason: str) -> BadInput:
    """BadInput with a client's reason for rejecting its configuration, without the reason if it contains a secret."""
    secrets = (str(value) for name, value in config.items() if value and _SECRET.search(name))
    why = "its reason contains a secret and is not shown" if any(one in reason for one in secrets) else reason.strip()
    return BadInput(
        f"Kafka configuration: {client} does not accept it ({why}); correct it in the cluster's connection, or in the "
        "file of --command-config"
    )


def unreachable(config: Mapping[str, Any], error: object) -> Unreachable:
    """One sentence for a broker that does not answer: its addresses, never a credential."""
    return Unreachable(
        f"Kafka at {bootstrap(config)}: no answer ({type(error).__name__}, tried for up to "
        f"{CONNECT_TIMEOUT_MS // 1000} s); is the broker up and reachable from here?"
    )


def one_unreachable(config: Mapping[str, Any], error: object, what: str) -> Unreachable:
    """The same for one broker of several; `what` names the call that it did not answer."""
    return Unreachable(
        f"Kafka at {bootstrap(config)}: {what}: one of the brokers does not answer ({type(error).__name__}, tried for "
        f"{MOVED_WITHIN_S:.0f} s), and no other one has taken over from it; is each broker up and reachable from here?"
    )
