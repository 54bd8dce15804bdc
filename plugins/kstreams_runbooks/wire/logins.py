"""Logins that an address names instead of having them: resolved when a request is sent, not when a file is loaded."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from kstreams_runbooks.model.web_address import WebAddress

# A changed password is taken up within this time; a poll of fifty agents asks once.
_KEPT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class WebLogin:
    """User and password of a connection (both empty if it has none), and the PEM file of the CAs to trust."""

    user: str = ""
    password: str = field(default="", repr=False)
    ca_file: str = ""


class _Logins:
    def __init__(self) -> None:
        self._one = threading.Lock()
        self._resolve: Callable[[str], WebLogin] | None = None
        self._known: dict[str, tuple[float, WebLogin]] = {}

    def resolve_with(self, resolve: Callable[[str], WebLogin]) -> None:
        self._resolve = resolve

    def of(self, connection: str) -> WebLogin:
        if self._resolve is None:
            raise LookupError("this process has no Airflow connections")
        with self._one:
            at, known = self._known.get(connection, (0.0, None))
            if known is None or time.monotonic() - at > _KEPT_S:
                known = self._resolve(connection)
                self._known[connection] = (time.monotonic(), known)
            return known


_LOGINS: Final = _Logins()


def resolve_with(resolve: Callable[[str], WebLogin]) -> None:
    """Set what finds the login of a connection by its id; `connections` does."""
    _LOGINS.resolve_with(resolve)


def with_login(address: WebAddress) -> tuple[WebAddress, str]:
    """The address with the login of its connection, and the CA file of that; unchanged if it names none.

    LookupError, or the resolver's own error, if there is no such login.
    """
    if not address.connection:
        return address, ""
    login = _LOGINS.of(address.connection)
    return replace(address, user=login.user or None, password=login.password), login.ca_file
