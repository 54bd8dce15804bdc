"""The library's client of an engine, with limits of time and size for a whole answer.

The library's own limit of time is one for each read of the socket: an engine that sends a byte each second would hold a
call without end. It has none of size.
"""

import http.client
import io
import socket
import time
from pathlib import Path
from typing import Any

import docker
import docker.tls
import docker.transport
import requests.adapters
import urllib3
import urllib3.connection

from kstreams_runbooks.wire.http import NoAnswer
from kstreams_runbooks.wire.limits import MIB

# The list of an engine with 5,000 containers has some 10 MB.
MOST_ANSWER = 16 * MIB


def client(url: str, tls: "docker.tls.TLSConfig | None", version: str, limit_s: int) -> Any:
    """A client of the engine at `unix://` or `tcp://`; each answer has `limit_s` seconds, or the limit of its call.

    NoAnswer out of a call whose answer is larger than MOST_ANSWER, or compressed.
    """
    api = docker.APIClient(base_url=url, tls=tls or False, timeout=limit_s, version=version)
    # No proxy and no certificate of the environment.
    api.trust_env = False
    api.headers["Accept-Encoding"] = "identity"
    path = url.removeprefix("unix://")
    if path != url:
        api.mount("http+docker://", _SocketAdapter(f"http+unix://{Path('/') / path}", limit_s))
    else:
        api.mount("https://", _TlsAdapter())
    return api


class _Limited(io.RawIOBase):
    """What is read from a socket for one answer. The socket's own limit, from now on, is that of the whole answer."""

    def __init__(self, sock: socket.socket, raw: io.RawIOBase) -> None:
        # The library takes the socket of a stream from this attribute.
        self._sock = sock
        self._raw = raw
        self._limit_s = sock.gettimeout() or 0.0
        self._until = time.monotonic() + self._limit_s
        self._left = MOST_ANSWER

    def readable(self) -> bool:
        """It is read alone."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """The next bytes; TimeoutError past the limit of time, NoAnswer past that of size."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(left)
        try:
            size = self._raw.readinto(buffer)
        finally:
            # The next request on this connection is written with it.
            self._sock.settimeout(self._limit_s)
        self._left -= size or 0
        if self._left < 0:
            raise NoAnswer(f"the answer is larger than {MOST_ANSWER / MIB:g} MiB")
        return size

    def close(self) -> None:
        """Release the socket; the connection closes it."""
        self._raw.close()
        super().close()


class _Answer(http.client.HTTPResponse):
    """An answer that is read within the limits, from its first byte on."""

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_Limited(sock, self.fp.detach()))

    def begin(self) -> None:
        """Read the head; NoAnswer for a body that would have to be unpacked, to any size."""
        super().begin()
        if (self.getheader("Content-Encoding") or "identity").strip().lower() != "identity":
            raise NoAnswer("the answer is compressed although it was asked for uncompressed; it is not unpacked")


class _SocketPool(docker.transport.unixconn.UnixHTTPConnectionPool):  # type: ignore[misc]
    def _new_conn(self) -> Any:
        made = super()._new_conn()
        made.response_class = _Answer
        return made


class _SocketAdapter(docker.transport.UnixHTTPAdapter):  # type: ignore[misc]
    def get_connection(self, url: str, proxies: object = None) -> Any:
        del proxies
        with self.pools.lock:
            if (pool := self.pools.get(url)) is None:
                pool = self.pools[url] = _SocketPool(url, self.socket_path, self.timeout, maxsize=self.max_pool_size)
        return pool


class _TlsConnection(urllib3.connection.HTTPSConnection):
    response_class = _Answer


class _TlsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


class _TlsAdapter(requests.adapters.HTTPAdapter):
    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"https": _TlsPool}
