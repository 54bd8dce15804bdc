"""A Docker Engine for the tests: of their own, in a temporary folder, gone afterwards with everything in it.

It is in a network namespace of its own: an engine that shares the machine's would remove the bridge of another engine
there. Its images are made here, of one static program. A networked one is in the machine's, for images that are built
and ports that are published, where no other engine answers.
"""

import io
import os
import shutil
import signal
import socket
import subprocess
import tarfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import docker
import docker.errors
import requests.exceptions

_LIMIT_S = 60
_PLACES = ("/bin/busybox", "/usr/bin/busybox")
_WITHOUT_A_NETWORK = ("--bridge=none", "--iptables=false", "--ip-forward=false", "--ip-masq=false")
_FIRST_PASSED = 3
# What each of the containers runs: it writes down each start with what a runbook set, and ends when it is asked to.
_PROGRAM = """#!/bin/sh
grep -qsx "$RELEASE" /state/broken && { echo "no such release: $RELEASE" >&2; exit 2; }
once=
if [ -e /conf/once.properties ] && [ ! -e /state/leaves ]; then
    once=" then $(cat /conf/once.properties | grep -v '^#' | tr '\\n' ' ')"
    rm /conf/once.properties
fi
file=$(cat /conf/deployment.properties 2>/dev/null | grep -v '^#' | tr '\\n' ' ')
echo "$RELEASE $(env | grep ^STREAMS_ | sort | tr '\\n' ' ')$file$once" >> /state/starts
[ -e /state/stubborn ] && trap '' TERM || trap 'sleep 0.2; exit 143' TERM
while :; do sleep 0.1; done
"""
_DESCRIBE = """#!/bin/sh
echo starting >&2
[ "$1" = fail ] && { echo "no database here" >&2; exit 3; }
[ "$1" = wait ] && sleep 600
echo a line of a log
echo Topologies:
echo "   Sub-topology: 0 of $RELEASE $STREAMS_UPGRADE_FROM $(grep -v '^#' "$1" 2>/dev/null)"
"""
_APPLETS = ("sh", "sleep", "cat", "grep", "env", "sort", "tr", "rm", "mkdir", "ls", "touch", "echo")


class NoDocker(AssertionError):
    """The tests need an engine of their own; without one they fail."""


def _program(name: str, package: str) -> str:
    found = shutil.which(name) or next((one for one in (f"/usr/sbin/{name}",) if Path(one).exists()), None)
    if found is None:
        raise NoDocker(f"docker: no {name} at PATH; install it (Debian: apt-get install {package})")
    return found


class OwnEngine:
    """One engine; `url` is that of its socket, `api` a client for it. It listens to a socket of the test as well."""

    def __init__(
        self, folder: Path, *arguments: str, listening: socket.socket | None = None, networked: bool = False
    ) -> None:
        self.folder, self._listening = folder, listening
        self._arguments = arguments if networked else (*_WITHOUT_A_NETWORK, *arguments)
        self._apart = () if networked else ("unshare", "--net")
        self.socket = folder / "docker.sock"
        self.url = f"unix://{self.socket}"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def api(self) -> Any:
        """A client whose answers are those that `docker inspect` prints."""
        return docker.APIClient(self.url, version="auto", timeout=_LIMIT_S)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = (
            *(*self._apart, _program("dockerd", "docker.io"), "--host", self.url),
            *("--data-root", str(self.folder / "data")),
            *("--exec-root", str(self.folder / "run"), "--pidfile", str(self.folder / "pid")),
            *self._arguments,
        )
        with (self.folder / "log").open("ab") as log:
            if self._listening is not None:
                # As systemd passes a socket: with its number, and the id of the process that may use it.
                passed = f'exec {_FIRST_PASSED}<&{self._listening.fileno()}; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
                command = ("bash", "-c", passed, "dockerd", *command, "--host", "fd://")
            fds = () if self._listening is None else (self._listening.fileno(),)
            self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, pass_fds=fds)
        until = time.monotonic() + _LIMIT_S
        while True:
            try:
                self.api.ping()
            except (docker.errors.DockerException, requests.exceptions.RequestException):
                end = (self.folder / "log").read_text(errors="replace").splitlines()[-3:]
                assert self._process.poll() is None, f"dockerd ended: {end}"
                assert time.monotonic() < until, f"dockerd does not answer: {end}"
                time.sleep(0.1)
            else:
                return

    def stop(self) -> None:
        """Ask it to end, which stops its containers; their policies are what starts them again."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(_LIMIT_S)
            self._process = None
            if not self._apart:
                # The engine leaves what containers of the host's network share mounted in its folder.
                subprocess.run(["umount", str(self.folder / "run" / "netns" / "default")], check=False)

    def restart(self) -> None:
        """As after an update of the engine, or of the machine."""
        self.stop()
        self.start()

    def image(self, release: str, *changes: str, name: str = "orders") -> str:
        """An image of the test's program, `orders:RELEASE`; `changes` are lines of a Dockerfile."""
        lines = [f"ENV RELEASE={release}", "ENV PATH=/bin", 'CMD ["/bin/orders"]', *changes]
        self.api.import_image_from_data(_root(), repository=name, tag=release, changes=lines)
        return f"{name}:{release}"

    def clean(self) -> None:
        """Remove every container, network and volume."""
        api = self.api
        for one in api.containers(all=True):
            api.remove_container(one["Id"], v=True, force=True)
        for one in api.networks():
            if one["Name"] not in {"bridge", "host", "none"}:
                api.remove_network(one["Id"])
        for one in api.volumes()["Volumes"] or []:
            api.remove_volume(one["Name"], force=True)

    def names(self) -> list[str]:
        """Names of all containers, as `docker ps -a` lists them."""
        return sorted(one["Names"][0].lstrip("/") for one in self.api.containers(all=True))


@contextmanager
def own_engine(arguments: Sequence[str] = (), *, networked: bool = False) -> Iterator[OwnEngine]:
    """A running engine. NoDocker if this machine has none, or if it does not run as root."""
    if os.geteuid() != 0:
        raise NoDocker("docker: the tests start an engine of their own, which needs root; run them as root")
    with TemporaryDirectory(prefix="docker-") as made:
        engine = OwnEngine(Path(made), *arguments, networked=networked)
        try:
            engine.start()
            yield engine
            engine.clean()
        finally:
            engine.stop()


def _root() -> bytes:
    """The root of an image: a static shell, the test's program, and what prints a description."""
    busybox = next((one for one in _PLACES if Path(one).exists()), None)
    if busybox is None:
        raise NoDocker("docker: no static busybox for an image; install it (Debian: apt-get install busybox-static)")
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for folder in ("bin", "state", "conf", "tmp"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        archive.add(busybox, "bin/busybox")
        for name in _APPLETS:
            entry = tarfile.TarInfo(f"bin/{name}")
            entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(entry)
        for name, text in (("orders", _PROGRAM), ("describe", _DESCRIBE)):
            entry = tarfile.TarInfo(f"bin/{name}")
            entry.size, entry.mode = len(text), 0o755
            archive.addfile(entry, io.BytesIO(text.encode()))
    return written.getvalue()
