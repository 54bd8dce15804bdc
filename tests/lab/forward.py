"""A port in front of a server that comes and goes while the server stays."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_CHUNK = 65_536


class Forward:
    """Every connection to `port` goes on to `target` of the loopback, until `cut`."""

    def __init__(self, target: int, port: int = 0) -> None:
        self._target = target
        self._listening = socket.create_server(("127.0.0.1", port))
        self._open: list[socket.socket] = []
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Nothing listens any more, and what was open is gone."""
        for one in (self._listening, *self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._listening.accept()
                there = socket.create_connection(("127.0.0.1", self._target))
                self._open += [here, there]
                for pair in ((here, there), (there, here)):
                    threading.Thread(target=_copy, args=pair, daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while chunk := source.recv(_CHUNK):
            target.sendall(chunk)


@contextmanager
def forward(target: int) -> Iterator[Forward]:
    """One for as long as the body runs."""
    made = Forward(target)
    try:
        yield made
    finally:
        made.cut()
