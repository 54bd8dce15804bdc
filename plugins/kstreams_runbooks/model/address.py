"""Addresses: which are valid, how to print them without credentials, and where metrics are."""

import re
from ipaddress import IPv6Address
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from kstreams_runbooks.errors import BadInput

# As both Kafka clients read it; without a port it is Kafka's 9092.
_SERVER: Final = re.compile(
    r"(?:(?:SASL_)?(?:PLAINTEXT|SSL)://)?"
    r"(?:\[(?P<v6>[^\[\]]+)\]|[^\s:/@\[\]'\"]+)"
    r"(?::(?P<port>[0-9]{1,5}))?",
    re.IGNORECASE,
)
_LAST_PORT: Final = 65_535
_LOGIN: Final = re.compile(r"(?<=//)[^/\s@]+@")
HIDDEN: Final = "(hidden)"


def kafka_servers(given: object, what: str) -> tuple[str, ...]:
    """Each of the bootstrap servers in one text, separated by commas; BadInput, by `what`, for an invalid one.

    The clients would raise a traceback, or wait for a response without an error.
    """
    servers = tuple(server for part in str(given).split(",") if (server := part.strip()))
    if not servers:
        raise BadInput(f"{what}: names no bootstrap server (expected HOST:PORT, with commas between several); give one")
    for server in servers:
        if not _is_server(server):
            raise BadInput(
                f"{what}: {server.rpartition('@')[2]!r} is not a bootstrap server (expected HOST:PORT with a port from "
                f"1 to {_LAST_PORT}, an IPv6 address as in [::1]:9092); correct it"
            )
    return servers


def _is_server(text: str) -> bool:
    found = _SERVER.fullmatch(text)
    if found is None or not 1 <= int(found["port"] or 1) <= _LAST_PORT:
        return False
    try:
        return found["v6"] is None or bool(IPv6Address(found["v6"]))
    except ValueError:
        return False


def printable(url: str) -> str:
    """`url` without user, password, query and fragment; a text that is not a URL comes back unchanged.

    A text that cannot be parsed may hold a login at any place: none of it is printed.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(a URL that cannot be read)"
    if not parts.scheme or not parts.netloc:
        return url
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def without_logins(text: str) -> str:
    """A sentence with `(hidden)` in place of the login of each address in it."""
    return _LOGIN.sub(f"{HIDDEN}@", text)


def concealed(value: str) -> str:
    """A value as a person wrote it, which may be a wrong address: `(hidden)` in place of login, query and fragment.

    Everything up to the last `@` counts as a login: a password may have a slash or a blank, and an address without
    its scheme is one too. A digest of an image is left.
    """
    scheme, slashes, rest = value.partition("//") if "//" in value else ("", "", value)
    login, at, host = rest.rpartition("@")
    if at and (slashes or ":" in login) and not host.startswith("sha256:"):
        rest = f"{HIDDEN}@{host}"
    if slashes and (more := re.search(r"[?#]", rest)):
        rest = f"{rest[: more.end()]}{HIDDEN}"
    return f"{scheme}{slashes}{rest}"


def metrics_url(host: str, port: int) -> str:
    """The URL of an instance's Jolokia agent, if it is at its usual path."""
    return f"http://[{host}]:{port}/jolokia" if ":" in host else f"http://{host}:{port}/jolokia"
