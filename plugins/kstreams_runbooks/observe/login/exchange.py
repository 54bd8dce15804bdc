"""Requests one after another on one connection, with one deadline for all of them.

`way_in` finds causes with it: the clients retry in the background and keep the reason in their logs.
"""

import socket
import ssl
import struct
import time
from collections.abc import Mapping
from typing import Any, Self

from kstreams_runbooks.errors import Unreachable

# Far above every answer to the requests of this module.
_MOST_BYTES = 1 << 20


class NotKafka(Unreachable):
    """The server that answers, or ends the connection, is not a Kafka listener of the expected kind."""


class Exchange:
    """A connected socket for requests; a context manager that closes it.

    Times are seconds of time.monotonic(). Every call raises TimeoutError at `until`, OSError (ssl.SSLError for TLS) as
    the socket does, and NotKafka for an answer that is not Kafka's.
    """

    def __init__(self, connected: socket.socket, until: float) -> None:
        from kafka.protocol.parser import KafkaProtocol

        self._socket = connected
        self._until = until
        self._parser: Any = KafkaProtocol(client_id="kstreams-runbooks", receive_message_max_bytes=_MOST_BYTES)

    @classmethod
    def open(cls, host: str, port: int, until: float, tls: ssl.SSLContext | None = None) -> Self:
        """Connect, and finish the TLS handshake if a context is given."""
        plain = socket.create_connection((host, port), timeout=_left(until))
        try:
            plain.settimeout(_left(until))
            return cls(plain if tls is None else tls.wrap_socket(plain, server_hostname=host.rstrip(".")), until)
        except BaseException:
            plain.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def names(self) -> tuple[str, ...]:
        """Host names and addresses in the broker's certificate; empty without TLS."""
        if not isinstance(self._socket, ssl.SSLSocket):
            return ()
        certificate: Mapping[str, Any] = self._socket.getpeercert() or {}
        return tuple(str(value) for _, value in certificate.get("subjectAltName", ()))

    def ask(self, request: Any, version: int) -> Any:
        """The answer to one request of kafka-python's, sent in this version."""
        from kafka.errors import KafkaError

        request.API_VERSION = version
        self._parser.send_request(request)
        self._socket.settimeout(_left(self._until))
        self._socket.sendall(self._parser.send_bytes())
        first = b""
        while True:
            self._socket.settimeout(_left(self._until))
            data = self._socket.recv(65_536)
            if not data:
                raise NotKafka("ends the connection without an answer")
            first = first or data
            try:
                answers = self._parser.receive_bytes(data)
            except (KafkaError, ValueError, IndexError, KeyError, TypeError, struct.error):
                raise NotKafka(f"answers what no Kafka broker does (it begins with {first[:16]!r})") from None
            if answers:
                return answers[0][1]


def _left(until: float) -> float:
    if (left := until - time.monotonic()) <= 0:
        raise TimeoutError
    return left
