"""Translates the properties file of a Java client to librdkafka's settings.

This project configures both clients by librdkafka's names (observe/kafka/clients.py); a team's file for Kafka's own
tools has Java's names. Most names are the same; the login (JAAS) and the files of certificates differ.
Source: Apache Kafka documentation, "Security", and KIP-651 (PEM); librdkafka's CONFIGURATION.md.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from kstreams_runbooks.documents.text import read_text
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.observe.login.tls import require_files
from kstreams_runbooks.properties import parse

# The same name and the same meaning in both.
_SAME = frozenset(
    {
        "bootstrap.servers",
        "client.id",
        "sasl.kerberos.service.name",
        "sasl.mechanism",
        "sasl.oauthbearer.token.endpoint.url",
        "security.protocol",
        "ssl.key.password",
    }
)
_STORES = {
    "ssl.truststore.location": ("ssl.truststore.type", ("ssl.ca.location",)),
    # A PEM keystore is one file with the key and the chain.
    "ssl.keystore.location": ("ssl.keystore.type", ("ssl.certificate.location", "ssl.key.location")),
}
# The file's names of the settings that `require_files` checks.
_JAVA_WORDS = {place: name for name, (_, places) in _STORES.items() for place in places}
_HOSTNAME = "ssl.endpoint.identification.algorithm"
_JAAS = "sasl.jaas.config"
# Read together with the settings above.
_HANDLER = "sasl.login.callback.handler.class"
_TOLD_ELSEWHERE = frozenset({"ssl.truststore.type", "ssl.keystore.type", _HANDLER})
_SECURITY = ("sasl.", "ssl.", "security.")
_BEARER_MODULE = "OAuthBearerLoginModule"
_MODULES = ("PlainLoginModule", "ScramLoginModule", _BEARER_MODULE)
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
# Of client credentials (KIP-768), with librdkafka's names.
_BEARER = {"clientId": "client.id", "clientSecret": "client.secret", "scope": "scope"}
_LOGIN = re.compile(
    r"\s*(?P<module>[\w.$]+)\s+(?:required|requisite|sufficient|optional)\b(?P<options>.*);\s*", re.DOTALL
)
_OPTION = re.compile(r"""\s*([\w.]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"';]+))""")
_PEM = "PEM"


def read_command_config(file: Path) -> dict[str, str]:
    """Librdkafka settings of a file for --command-config.

    BadInput for a file that cannot be read or translated, and for a truststore or keystore in it that cannot be used.
    """
    where = f"in {file}"
    try:
        # java.util.Properties reads this encoding, editors write UTF-8, and both agree on ASCII.
        settings = librdkafka_settings(parse(read_text(file)))
        require_files(settings, _JAVA_WORDS, where)
    except BadInput as error:
        raise BadInput(f"--command-config {file}: {error}") from None
    return settings


def librdkafka_settings(properties: Mapping[str, str]) -> dict[str, str]:
    """The settings of the connection, by librdkafka's names; leaves out the rest (timeouts, groups).

    BadInput, without the value, for a security setting without an equivalent: without it the
    connection would not be the one that the file describes.
    """
    found: dict[str, str] = {}
    for name, value in properties.items():
        if name in _SAME:
            found[name] = value
        elif name in _STORES:
            kind, places = _STORES[name]
            found |= dict.fromkeys(places, _pem(name, value, kind, properties.get(kind, "JKS")))
        elif name == _HOSTNAME:
            found[name] = value or "none"
        elif name == _JAAS:
            found |= _login(value)
        elif name == _HANDLER:
            _require_handler(value)
        elif name.startswith(_SECURITY) and name not in _TOLD_ELSEWHERE:
            raise BadInput(_no_equal(name))
    if found.get("security.protocol", "").upper().startswith("SASL"):
        _require_login(found)
    return found


def _require_login(found: Mapping[str, str]) -> None:
    # GSSAPI is Java's default.
    if (mechanism := found.get("sasl.mechanism", "GSSAPI")) not in _MECHANISMS:
        raise BadInput(f"sasl.mechanism: {mechanism} is not supported here; supported are {', '.join(_MECHANISMS)}")
    if "sasl.username" not in found and "sasl.oauthbearer.client.id" not in found:
        raise BadInput(f"{_JAAS}: is missing, but security.protocol is {found['security.protocol']}; give it")


def _pem(name: str, location: str, kind_name: str, kind: str) -> str:
    if kind.upper() != _PEM:
        raise BadInput(
            f"{name}: a store of type {kind} can be read by Java alone; export it as PEM and set {kind_name}=PEM"
        )
    return location


def _login(jaas: str) -> dict[str, str]:
    """User and password of a JAAS line; errors show no part of it except the module's name."""
    line = _LOGIN.fullmatch(jaas)
    if line is None:
        raise BadInput(f'{_JAAS}: is not a line such as `…PlainLoginModule required username="…" password="…";`')
    module = line["module"].rpartition(".")[2]
    if module not in _MODULES:
        raise BadInput(f"{_JAAS}: the login module {module} is not supported here; supported are {', '.join(_MODULES)}")
    options = {
        name: re.sub(r"\\(.)", r"\1", quoted) or single or bare
        for name, quoted, single, bare in _OPTION.findall(line["options"])
    }
    needed = ("clientId", "clientSecret") if module == _BEARER_MODULE else ("username", "password")
    if missing := [name for name in needed if name not in options]:
        raise BadInput(f"{_JAAS}: has no {' and no '.join(missing)}; give both")
    if module == _BEARER_MODULE:
        if other := sorted(options.keys() - _BEARER.keys()):
            raise BadInput(f"{_JAAS}: {other[0]} is not supported here; supported are {', '.join(_BEARER)}")
        given = {f"sasl.oauthbearer.{_BEARER[name]}": value for name, value in options.items()}
        return {"sasl.oauthbearer.method": "oidc", **given}
    return {"sasl.username": options["username"], "sasl.password": options["password"]}


def _require_handler(name: str) -> None:
    if name.rpartition(".")[2] != "OAuthBearerLoginCallbackHandler":
        raise BadInput(
            f"{_HANDLER}: is not supported here, apart from Kafka's OAuthBearerLoginCallbackHandler; remove it"
        )


def _no_equal(name: str) -> str:
    known = sorted({*_SAME, *_STORES, *_TOLD_ELSEWHERE, _HOSTNAME, _JAAS})
    supported = ", ".join(one for one in known if one.startswith(_SECURITY))
    if "store.password" in name:
        return f"{name}: a PEM store has no password of its own (ssl.key.password is the key's); remove it"
    return f"{name}: is not supported here; without it the connection would be another one; supported are {supported}"
