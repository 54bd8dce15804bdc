"""Translates librdkafka's settings to those of Kafka's Java client, with which Spark reads Kafka.

It takes what the other clients take (observe/kafka/clients.py), as far as Java has it: not Kerberos, which needs files
where Spark's tasks run, and no revocation list. Texts of certificates (`ssl.ca.pem`) and cipher suites, whose names
differ in Java, are taken by none.

Sources: librdkafka, CONFIGURATION.md; Apache Kafka documentation, "Consumer Configs" and "Security: SSL, SASL";
KIP-651 (PEM keys and certificates as text: the files need not be where Spark's tasks run).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from kstreams_runbooks.documents.text import read_text
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.observe.kafka.clients import bootstrap, require_verification
from kstreams_runbooks.observe.login.tls import require_certificate_with_key
from kstreams_runbooks.observe.login.tokens import extensions
from kstreams_runbooks.wording import outside

_LOGIN_MODULES: Final = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_BEARER: Final = "OAUTHBEARER"
# Kafka 3.1 and later. From 4.0 on a JVM needs -Dorg.apache.kafka.sasl.oauthbearer.allowed.urls with the address too.
_BEARER_MODULE: Final = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
_BEARER_OPTIONS: Final = {"client.id": "clientId", "client.secret": "clientSecret", "scope": "scope"}
_BEARER_HANDLER: Final = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
_SAME: Final = frozenset({"client.id", "ssl.key.password"})
_SECURITY: Final = ("sasl.", "ssl.", "security.", "enable.ssl.", "enable.sasl.", "https.")
# librdkafka's setting for each file, and the setting for its text in Java.
_PEM: Final = {
    "ssl.ca.location": "ssl.truststore.certificates",
    "ssl.certificate.location": "ssl.keystore.certificate.chain",
    "ssl.key.location": "ssl.keystore.key",
}
_HANDLED: Final = frozenset(
    {
        "security.protocol",
        "sasl.mechanism",
        "sasl.mechanisms",
        "sasl.username",
        "sasl.password",
        "ssl.endpoint.identification.algorithm",
        "enable.ssl.certificate.verification",
        "https.ca.location",
        *(f"sasl.oauthbearer.{name}" for name in ("client.id", "client.secret", "extensions", "method", "scope")),
        "sasl.oauthbearer.token.endpoint.url",
        *_PEM,
    }
)


def java_settings(config: Mapping[str, Any]) -> dict[str, str]:
    """The Java client's settings; leaves out settings that do not concern the connection.

    BadInput for a security setting that Java's client does not have: without it the connection would not be the one
    that the operator configured. The values contain secrets.
    """
    other = sorted(name for name in config if name.startswith(_SECURITY) and name not in _SAME | _HANDLED)
    if other:
        raise _no_equal(other[0], f"supported are {', '.join(sorted(_SAME | _HANDLED))}")
    require_verification(config)
    settings = {"bootstrap.servers": bootstrap(config)}
    settings |= {name: str(config[name]) for name in sorted(_SAME) if config.get(name)}
    protocol = str(config.get("security.protocol") or "PLAINTEXT").upper()
    settings["security.protocol"] = protocol
    if protocol.startswith("SASL_"):
        settings |= _sasl(config)
    if protocol.endswith("SSL"):
        settings |= _tls(config)
    return settings


def _sasl(config: Mapping[str, Any]) -> dict[str, str]:
    mechanism = str(config.get("sasl.mechanism") or config.get("sasl.mechanisms") or "GSSAPI").upper()
    if mechanism == _BEARER:
        return _by_token(config)
    module = _LOGIN_MODULES.get(mechanism)
    if module is None:
        raise _no_equal(f"sasl.mechanism {mechanism}", f"supported are {', '.join((*_LOGIN_MODULES, _BEARER))}")
    user, password = (_quoted(str(config.get(f"sasl.{name}") or "")) for name in ("username", "password"))
    return {
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f"{module} required username={user} password={password};",
    }


def _by_token(config: Mapping[str, Any]) -> dict[str, str]:
    """Client credentials: the endpoint is a setting, the client and the endpoint's CA are in the JAAS line."""
    if str(config.get("sasl.oauthbearer.method") or "").lower() != "oidc":
        raise _no_equal("sasl.oauthbearer.method other than oidc", "set it to oidc, with a token endpoint")
    options = {name: str(config.get(f"sasl.oauthbearer.{key}") or "") for key, name in _BEARER_OPTIONS.items()}
    for name, value in extensions(str(config.get("sasl.oauthbearer.extensions") or "")):
        # The handler's name of each; Java takes letters alone.
        if not (name.isascii() and name.isalpha()):
            raise _no_equal(f"sasl.oauthbearer.extensions with the key {outside(name, 40)}", "use letters alone")
        options[f"extension_{name}"] = value
    if ca := _text(config, "https.ca.location"):
        options |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": ca}
    given = " ".join(f"{name}={_quoted(value)}" for name, value in options.items() if value)
    return {
        "sasl.mechanism": _BEARER,
        "sasl.oauthbearer.token.endpoint.url": str(config.get("sasl.oauthbearer.token.endpoint.url") or ""),
        "sasl.login.callback.handler.class": _BEARER_HANDLER,
        "sasl.jaas.config": f"{_BEARER_MODULE} required {given};",
    }


def _quoted(text: str) -> str:
    """A value, quoted for JAAS."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _tls(config: Mapping[str, Any]) -> dict[str, str]:
    require_certificate_with_key(config)
    texts = {java: _text(config, file) for file, java in _PEM.items()}
    settings = {java: text for java, text in texts.items() if text}
    if "ssl.truststore.certificates" in settings:
        settings["ssl.truststore.type"] = "PEM"
    if "ssl.keystore.key" in settings:
        settings["ssl.keystore.type"] = "PEM"
        if "PRIVATE KEY" not in settings["ssl.keystore.key"] or " RSA " in settings["ssl.keystore.key"]:
            raise _no_equal(
                "the key of ssl.key.location",
                "Java reads PKCS#8 alone; make one with openssl pkcs8 -topk8",
            )
    if str(config.get("ssl.endpoint.identification.algorithm", "https")).lower() == "none":
        settings["ssl.endpoint.identification.algorithm"] = ""
    return settings


def _text(config: Mapping[str, Any], file: str) -> str:
    if not config.get(file):
        return ""
    try:
        return read_text(Path(str(config[file])))
    except BadInput as error:
        raise BadInput(f"Kafka configuration: {file} {outside(config[file], 200)}: {error}") from None


def _no_equal(what: str, way_out: str) -> BadInput:
    return BadInput(
        f"Kafka configuration: {what} has no equal in Kafka's Java client, which Spark reads with; {way_out}"
    )
