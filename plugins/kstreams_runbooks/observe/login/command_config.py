"""The settings of a Java client, as a properties file has them, in librdkafka's words.

Both clients of this project speak librdkafka's names (observe/kafka/clients.py), and a team's file for Kafka's own
tools speaks Java's. Most names are the same; what differs is the login (JAAS) and where certificates are kept.
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
        "security.protocol",
        "ssl.key.password",
    }
)
_STORES = {
    "ssl.truststore.location": ("ssl.truststore.type", ("ssl.ca.location",)),
    # A PEM keystore is one file with the key and the chain.
    "ssl.keystore.location": ("ssl.keystore.type", ("ssl.certificate.location", "ssl.key.location")),
}
# What the file calls the settings that `require_files` looks at.
_JAVA_WORDS = {place: name for name, (_, places) in _STORES.items() for place in places}
_HOSTNAME = "ssl.endpoint.identification.algorithm"
_JAAS = "sasl.jaas.config"
# Read together with the settings above.
_TOLD_ELSEWHERE = frozenset({"ssl.truststore.type", "ssl.keystore.type"})
_SECURITY = ("sasl.", "ssl.", "security.")
_MODULES = ("PlainLoginModule", "ScramLoginModule")
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
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
        # What java.util.Properties reads; UTF-8 is what people write, and both agree on ASCII.
        settings = librdkafka_settings(parse(read_text(file)))
        require_files(settings, _JAVA_WORDS, where)
    except BadInput as error:
        raise BadInput(f"--command-config {file}: {error}") from None
    return settings


def librdkafka_settings(properties: Mapping[str, str]) -> dict[str, str]:
    """What concerns the connection, by librdkafka's names; the rest (timeouts, groups) is left out.

    BadInput, without the value, for a security setting that has no equal: to leave it out would be to connect in
    another way than the file asks for.
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
        elif name.startswith(_SECURITY) and name not in _TOLD_ELSEWHERE:
            raise BadInput(_no_equal(name))
    if found.get("security.protocol", "").upper().startswith("SASL"):
        _require_login(found)
    return found


def _require_login(found: Mapping[str, str]) -> None:
    # GSSAPI is Java's default.
    if (mechanism := found.get("sasl.mechanism", "GSSAPI")) not in _MECHANISMS:
        raise BadInput(f"sasl.mechanism: {mechanism} has no equal here; supported are {', '.join(_MECHANISMS)}")
    if "sasl.username" not in found:
        raise BadInput(f"{_JAAS}: is not there, but security.protocol is {found['security.protocol']}; give it")


def _pem(name: str, location: str, kind_name: str, kind: str) -> str:
    if kind.upper() != _PEM:
        raise BadInput(
            f"{name}: a store of type {kind} can be read by Java alone; export it as PEM and set {kind_name}=PEM"
        )
    return location


def _login(jaas: str) -> dict[str, str]:
    """User and password of a JAAS line; no part of it is ever shown but the module's name."""
    line = _LOGIN.fullmatch(jaas)
    if line is None:
        raise BadInput(f'{_JAAS}: is not a line such as `…PlainLoginModule required username="…" password="…";`')
    module = line["module"].rpartition(".")[2]
    if module not in _MODULES:
        raise BadInput(f"{_JAAS}: the login module {module} has no equal here; supported are {', '.join(_MODULES)}")
    options = {
        name: re.sub(r"\\(.)", r"\1", quoted) or single or bare
        for name, quoted, single, bare in _OPTION.findall(line["options"])
    }
    if missing := [name for name in ("username", "password") if name not in options]:
        raise BadInput(f"{_JAAS}: has no {' and no '.join(missing)}; give both")
    return {"sasl.username": options["username"], "sasl.password": options["password"]}


def _no_equal(name: str) -> str:
    known = sorted({*_SAME, *_STORES, *_TOLD_ELSEWHERE, _HOSTNAME, _JAAS})
    supported = ", ".join(one for one in known if one.startswith(_SECURITY))
    if "store.password" in name:
        return f"{name}: a PEM store has no password of its own (ssl.key.password is the key's); remove it"
    return f"{name}: has no equal here, and without it the connection would be another one; supported are {supported}"
