"""One more instance of the orders application next to a stack, under its own application.id."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.model.readings.readings import StreamsReading
from kstreams_runbooks.observe.application.metrics import read_streams
from kstreams_runbooks.properties import dump

from lab.settings import CHECKOUT
from lab.supervise import log_tail

_LAUNCHER = CHECKOUT / "tests" / "apps" / "orders" / "bin" / "run-instance"
_RUNNING_S = 90
_STOPPED_S = 60


class Beside:
    """An instance that was started; its Jolokia answers at `port`."""

    def __init__(self, bootstrap: str, directory: Path, application_id: str, release: str, **settings: str) -> None:
        self.application_id = application_id
        self.port = _free_port()
        self._log = directory / "log"
        directory.mkdir(parents=True, exist_ok=True)
        base = {
            "application.id": application_id,
            "bootstrap.servers": bootstrap,
            "metrics.port": str(self.port),
            "processing.guarantee": "exactly_once_v2",
            "state.dir": str(directory / "state"),
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
        (directory / "base.properties").write_text(dump(base), encoding="latin-1")
        (directory / "deployment.properties").write_text(dump({"release": release}), encoding="latin-1")
        with self._log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen([str(_LAUNCHER), str(directory)], stdout=log, stderr=log, env=os.environ)

    @property
    def pid(self) -> int:
        """The process: the launcher becomes the JVM."""
        return self._process.pid

    def wait_running(self) -> StreamsReading:
        """Return its report once it is RUNNING; Unreachable with its last lines if it never is."""
        deadline = time.monotonic() + _RUNNING_S
        while True:
            url = f"http://127.0.0.1:{self.port}/jolokia"
            reading = read_streams(url, application_id=self.application_id)
            if isinstance(reading, StreamsReading) and reading.state == "RUNNING":
                return reading
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise Unreachable(f"{self.application_id} is not RUNNING: {reading}", *log_tail(self._log).splitlines())
            time.sleep(0.3)

    def stop(self) -> None:
        """Stop it cleanly; does nothing if it is stopped."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait(_STOPPED_S)


@contextmanager
def beside(
    bootstrap: str, directory: Path, application_id: str, release: str = "4.3.1", **settings: str
) -> Iterator[Beside]:
    """The instance for as long as the body runs; a setting's dots are underscores (`group_protocol`)."""
    made = Beside(bootstrap, directory, application_id, release, **settings)
    try:
        yield made
    finally:
        made.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
