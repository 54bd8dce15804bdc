"""supervisord's XML-RPC with timeouts, and with errors that a person can read.

supervisord documentation, "XML-RPC API Documentation": process control, fault codes.
"""

import http.client
import socket
import xmlrpc.client
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from kstreams_runbooks.errors import BadInput, Refused, Unreachable, WriteRefused
from kstreams_runbooks.model.address import printable

_READS = frozenset({"getAllProcessInfo", "getProcessInfo"})
_WRITES = frozenset({"startProcess", "stopProcess"})

# supervisor/xmlrpc.py, Faults
BAD_NAME = 10
NOT_RUNNING = 70
ALREADY_STARTED = 60


class _Timeout(xmlrpc.client.Transport):
    def __init__(self, timeout_s: float) -> None:
        super().__init__()
        self._timeout_s = timeout_s

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        connection = super().make_connection(host)
        connection.timeout = self._timeout_s
        return connection


class _SafeTimeout(xmlrpc.client.SafeTransport):
    def __init__(self, timeout_s: float) -> None:
        super().__init__()
        self._timeout_s = timeout_s

    def make_connection(self, host: Any) -> http.client.HTTPSConnection:
        connection = super().make_connection(host)
        connection.timeout = self._timeout_s
        return connection


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: str, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class _UnixTimeout(xmlrpc.client.Transport):
    def __init__(self, path: str, timeout_s: float) -> None:
        super().__init__()
        self._path = path
        self._timeout_s = timeout_s

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        del host
        return _UnixConnection(self._path, self._timeout_s)


class Supervisord:
    """One supervisord. `url` is `http(s)://host:port` or `unix:///socket`; credentials in it stay in here.

    Not `writable`, every call that changes something is WriteRefused, whoever makes it.
    """

    def __init__(self, url: str, *, writable: bool, timeout_s: float = 5.0) -> None:
        parts = urlsplit(url)
        self._socket = parts.path if parts.scheme == "unix" else ""
        if not self._socket and (parts.scheme not in {"http", "https"} or not parts.hostname):
            raise BadInput(f"supervisord url {printable(url)}: expected http://host:port or unix:///path/to/socket")
        self._url = url if parts.path.strip("/") else f"{url.rstrip('/')}/RPC2"
        if self._socket:
            self._url = "http://localhost/RPC2"
        self._timeout_s = timeout_s
        self._writable = writable
        self.host = parts.hostname or "localhost"
        self.address = printable(url)

    @property
    def local(self) -> bool:
        """Whether it runs on this machine, so that its process ids mean something here."""
        return self.host in {"localhost", "127.0.0.1", "::1"}

    def call(self, method: str, *arguments: Any) -> Any:
        """One call under `supervisor.`; Refused with supervisord's own words for a fault, Unreachable for silence."""
        if method not in _READS and not (self._writable and method in _WRITES):
            raise WriteRefused(f"supervisord at {self.address}: {method} is refused, this client only reads")
        # A proxy of its own for each call: they are used from several threads, and a connection is not.
        with xmlrpc.client.ServerProxy(self._url, transport=self._transport(), allow_none=True) as proxy:
            try:
                return getattr(proxy.supervisor, method)(*arguments)
            except xmlrpc.client.Fault as fault:
                raise SupervisordFault(self.address, method, fault) from None
            except xmlrpc.client.ProtocolError as error:
                # its text has the credentials
                raise Unreachable(
                    f"supervisord at {self.address}: HTTP {error.errcode} {error.errmsg} "
                    "(401: the credentials in the deployer's url are wrong)"
                ) from None
            except (ConnectionRefusedError, FileNotFoundError):
                raise Unreachable(f"supervisord at {self.address}: nobody listens there; is it up?") from None
            except (OSError, http.client.HTTPException) as error:
                raise Unreachable(
                    f"supervisord at {self.address}: no answer within {self._timeout_s:g} s ({type(error).__name__}); "
                    "is it up?"
                ) from None
            except xmlrpc.client.Error as error:
                raise Unreachable(f"supervisord at {self.address}: not its XML-RPC ({type(error).__name__})") from None

    def _transport(self) -> xmlrpc.client.Transport:
        if self._socket:
            return _UnixTimeout(self._socket, self._timeout_s)
        return _SafeTimeout(self._timeout_s) if self._url.startswith("https:") else _Timeout(self._timeout_s)

    def processes(self) -> dict[str, Mapping[str, Any]]:
        """Process information by program name: `group:name`, and `name` alone where both are the same."""
        found: dict[str, Mapping[str, Any]] = {}
        for info in self.call("getAllProcessInfo"):
            found[f"{info['group']}:{info['name']}"] = info
            if info["group"] == info["name"]:
                found[info["name"]] = info
        return found


class SupervisordFault(Refused):
    """supervisord answered that it could not do it; `code` is its fault code."""

    def __init__(self, address: str, method: str, fault: xmlrpc.client.Fault) -> None:
        super().__init__(f"supervisord at {address}: {method} answered {fault.faultString}")
        self.code = fault.faultCode
