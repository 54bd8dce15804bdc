"""Addresses of agents, supervisors and Airflow, parsed once and checked before use."""

import re
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

_LONGEST: Final = 2_000
_LAST_PORT: Final = 65_535
_PORTS: Final = {"http": 80, "https": 443}
_LABEL: Final = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOST: Final = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*\.?")
# Printable ASCII without characters that a URL has to escape: none of it can end a header, a line or a quotation.
_TEXT: Final = re.compile(r"[!#-;=?-\[\]_a-z~%]+")
REFUSED_LOGIN: Final = frozenset({401, 403})
_CONNECTION: Final = "connection="
_CONNECTION_ID: Final = re.compile(r"[A-Za-z0-9_.-]{1,250}")
_HERE: Final = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An http or https address; `socket` is the path of a unix socket, empty for TCP. The login is never printed.

    `connection` is the Airflow connection that has the login, empty for an address that has its own or none.
    """

    scheme: str
    host: str
    port: int
    path: str
    socket: str = ""
    user: str | None = field(default=None, repr=False)
    password: str = field(default="", repr=False)
    connection: str = ""

    @property
    def sends_login_openly(self) -> bool:
        """Whether a login would travel to another machine in clear text."""
        has_login = self.user is not None or bool(self.connection)
        return has_login and self.scheme == "http" and not self.socket and self.host not in _HERE


def web_address(url: str, *, unix: bool = False) -> WebAddress:
    """The parts of `http(s)://[user:password@]host[:port][/path]`, and of `unix:///path` if `unix` allows it.

    `connection=ID@` in place of a login names the Airflow connection that has it.
    ValueError, with a reason that does not repeat the text (it may hold a password), for anything else.
    """
    parts, port = _split(url)
    if parts.scheme == "unix" and unix:
        if parts.netloc or not parts.path.strip("/"):
            raise ValueError("names no socket; expected unix:///path/to/socket")
        return WebAddress("http", "localhost", 80, "", socket=parts.path)
    if parts.scheme not in _PORTS:
        raise ValueError(f"must begin with http:// or https://{' or unix://' if unix else ''}")
    if parts.query or parts.fragment:
        raise ValueError("must not have a query or a fragment")
    host = parts.hostname or ""
    if not _is_host(host):
        raise ValueError("names no host" if not host else "has a host that is neither a name nor an address")
    if port == 0:
        raise ValueError(f"has port 0 (ports are 1 to {_LAST_PORT})")
    user = None if parts.username is None else unquote(parts.username)
    named, connection = (user or "").startswith(_CONNECTION), (user or "").removeprefix(_CONNECTION)
    if named and (parts.password is not None or not _CONNECTION_ID.fullmatch(connection)):
        raise ValueError("has a login that is not connection=ID, the id of an Airflow connection, alone")
    return WebAddress(
        parts.scheme,
        host,
        port or _PORTS[parts.scheme],
        parts.path,
        user=None if named else user,
        password=unquote(parts.password or ""),
        connection=connection if named else "",
    )


def login_words(address: WebAddress) -> str:
    """The place of the login of an address, for a sentence about a system that does not accept it."""
    if address.connection:
        return f"the login of the Airflow connection {address.connection}"
    return "the login in the fleet entry's address" if address.user is not None else "a request without a login"


def _split(url: str) -> tuple[SplitResult, int | None]:
    if len(url) > _LONGEST:
        raise ValueError(f"is longer than {_LONGEST:,} characters")
    if not url.isascii():
        raise ValueError("has characters outside ASCII; write an international host name in its xn-- form")
    if not _TEXT.fullmatch(url):
        raise ValueError("has a space, a control character or another character that no URL holds")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError(f"has a host or a port that cannot be read (ports are 1 to {_LAST_PORT})") from None
    return parts, port


def _is_host(host: str) -> bool:
    if ":" not in host:
        return _HOST.fullmatch(host) is not None
    try:
        return bool(IPv6Address(host)) and "%" not in host
    except ValueError:
        return False
