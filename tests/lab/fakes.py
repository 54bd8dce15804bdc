"""Fake agents, supervisors and engines: real sockets of this machine that answer with bytes of the test.

They replace what this project does not control: what is behind a Jolokia URL, a supervisord URL or Docker's socket.
"""

import gzip
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

Reply = Callable[[socket.socket], None]


class _FakeServer:
    """Listens on a port of its own, reads each request to its end and gives the socket to `reply`."""

    path = ""

    def __init__(self, reply: Reply, listening: socket.socket | None = None) -> None:
        self.reply = reply
        self.requests: list[bytes] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        self._socket = listening or socket.create_server(("127.0.0.1", 0), backlog=128)
        self._name = self._socket.getsockname()
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def port(self) -> int:
        """Of the loopback."""
        return int(self._name[1])

    @property
    def url(self) -> str:
        """As a fleet entry names it."""
        return f"http://127.0.0.1:{self.port}{self.path}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for connection in tuple(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.add(connection)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        with connection, suppress(OSError, ValueError):
            self.requests.append(_request(connection))
            self.reply(connection)
        with self._lock:
            self._open.discard(connection)
            self._at_once -= 1


class FakeAgent(_FakeServer):
    """The URL of a Jolokia agent."""

    path = "/jolokia"


class FakeSupervisor(_FakeServer):
    """The URL of supervisord's XML-RPC."""


class FakeEngine(_FakeServer):
    """The socket of a Docker Engine, in a folder; with a TLS context it listens on the loopback in its place.

    `replies` are by the end of the request's path; `/version` is that of a new engine unless it is given.
    """

    def __init__(self, folder: Path, replies: Mapping[str, Reply], tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._replies = {"/version": answer(b'{"ApiVersion": "1.44"}'), **replies}
        listening = None
        if tls is None:
            listening = socket.socket(socket.AF_UNIX)
            listening.bind(os.fspath(folder / "fake.sock"))
            listening.listen()
        super().__init__(self._by_path, listening)

    @property
    def url(self) -> str:
        """As a fleet entry names it."""
        return f"unix://{self._name}" if self._tls is None else f"tcp://127.0.0.1:{self.port}"

    def _answer(self, connection: socket.socket) -> None:
        with suppress(OSError):
            super()._answer(connection if self._tls is None else self._tls.wrap_socket(connection, server_side=True))

    def _by_path(self, connection: socket.socket) -> None:
        asked = self.requests[-1].split(b" ", 2)[1].decode().partition("?")[0]
        found = next((reply for path, reply in self._replies.items() if asked.endswith(path)), None)
        (found or answer(b'{"message": "no such object"}', "404 Not Found"))(connection)


def _request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65_536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (int(line.partition(b":")[2]) for line in head.splitlines() if line.lower().startswith(b"content-length")), 0
    )
    while len(body) < length:
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


def answer(body: bytes, status: str = "200 OK", headers: Iterable[str] = ()) -> Reply:
    """A complete answer, at once."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return sends("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def sends(data: bytes) -> Reply:
    """These bytes and then the end of the connection."""
    return lambda connection: connection.sendall(data)


def drips(data: bytes, every_s: float) -> Reply:
    """One byte after another."""

    def reply(connection: socket.socket) -> None:
        for byte in data:
            connection.sendall(bytes([byte]))
            time.sleep(every_s)

    return reply


def falls_silent(data: bytes = b"") -> Reply:
    """These bytes, then nothing, and the connection stays open."""

    def reply(connection: socket.socket) -> None:
        connection.sendall(data)
        connection.recv(1)

    return reply


def floods(head: bytes, chunk: bytes) -> Reply:
    """The same bytes without end, as fast as the client reads them."""

    def reply(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(chunk)

    return reply


def zeros(mebibytes: int) -> bytes:
    """So many MiB of zeros, packed by gzip to a thousandth."""
    return gzip.compress(bytes(2**20), 9) * mebibytes


class FakeSilentBroker:
    """A port that accepts connections and never answers, as a broker that hangs."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.accepted: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for connection in self.accepted:
            connection.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                self.accepted.append(self._socket.accept()[0])
