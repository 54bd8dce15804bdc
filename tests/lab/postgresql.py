"""A PostgreSQL server for the tests: in a temporary folder, on the loopback, gone afterwards."""

import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_USERS = ("postgres", "nobody")
_PLACES = "/usr/lib/postgresql"
_LIMIT_S = 60


class NoPostgreSQL(AssertionError):
    """The tests need a server; without one they fail."""


def program(name: str) -> str:
    """The path of one of PostgreSQL's programs; NoPostgreSQL names the package that has it."""
    beside = sorted(Path(_PLACES).glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    found = str(beside[-1]) if beside else shutil.which(name)
    if found is None:
        raise NoPostgreSQL(
            f"PostgreSQL: no {name} at PATH or under {_PLACES}; install it (Debian: apt-get install postgresql)"
        )
    return found


class Server:
    """One server; if the tests run as root, which initdb refuses, it runs as another user."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port, self._user = folder, port, _another_user()
        self.own(folder)

    def database(self, name: str, on: Path | None = None) -> str:
        """Create an empty database, on a separate disk if one is given; returns its address as a ledger's."""
        place = []
        if on is not None:
            self.own(on)
            self._run(*self._to("psql"), "-c", f"CREATE TABLESPACE {name} LOCATION '{on}'", "postgres")
            place = ["-D", name]
        self._run(*self._to("createdb"), *place, name)
        return f"postgresql+psycopg://ledger@127.0.0.1:{self.port}/{name}"

    def own(self, folder: Path) -> None:
        """Give a folder to the server's user."""
        if self._user is not None:
            os.chown(folder, self._user.pw_uid, self._user.pw_gid)

    def _to(self, name: str) -> tuple[str, ...]:
        return (name, "-h", "127.0.0.1", "-p", str(self.port), "-U", "ledger")

    def make(self) -> None:
        """Create its files."""
        self._run("initdb", "-D", str(self.folder / "data"), "-U", "ledger", "-A", "trust", "--no-sync", "-E", "UTF8")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-h 127.0.0.1 -p {self.port} -k {self.folder} -c fsync=off -c max_connections=200"
        self._run(
            *("pg_ctl", "-D", str(self.folder / "data"), "-l", str(self.folder / "log"), "-w", "-t", str(_LIMIT_S)),
            *("-o", options, "start"),
        )

    def stop(self) -> None:
        """End it at once, also with open connections."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "stop", check=False)

    def _run(self, name: str, *arguments: str, check: bool = True) -> None:
        user = self._user
        drop = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"] if user else []
        command = [*(["setpriv", *drop] if drop else []), program(name), *arguments]
        # Its output goes to a file: a server that keeps running would keep a pipe open.
        with (self.folder / "said").open("w+") as said:
            ended = subprocess.run(
                command, stdout=said, stderr=said, cwd=self.folder, timeout=2 * _LIMIT_S, check=False
            )
            said.seek(0)
            assert ended.returncode == 0 or not check, f"{name}: {said.read()}"


@contextmanager
def postgresql() -> Iterator[Server]:
    """A separate running server, in a folder that other users may enter."""
    with TemporaryDirectory(prefix="ledger-postgresql-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        server = Server(folder, _free_port())
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def small_disk(megabytes: int) -> Iterator[Path]:
    """An empty disk of that size in memory; AssertionError if the tests do not run as root."""
    assert os.getuid() == 0, "full disk: a small one is mounted for this test; run it as root"
    with TemporaryDirectory(prefix="ledger-disk-") as made:
        Path(made).chmod(0o755)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", made], check=True)
        try:
            inside = Path(made) / "full"
            inside.mkdir()
            yield inside
        finally:
            subprocess.run(["umount", "--lazy", made], check=True)


def _another_user() -> pwd.struct_passwd | None:
    if os.getuid() != 0:
        return None
    known = {one.pw_name: one for one in pwd.getpwall()}
    return next(known[name] for name in _USERS if name in known)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
