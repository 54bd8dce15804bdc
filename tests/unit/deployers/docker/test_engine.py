"""An engine over TLS that cannot be used: one sentence with the file or the clock that is wrong."""

import os
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.deployers.docker.engine import Engine
from kstreams_runbooks.errors import BadInput, Unreachable
from kstreams_runbooks.fleet.deployers.docker import EngineTls
from lab.certificates import make_certificates


@contextmanager
def listening(keystore: Path) -> Iterator[str]:
    """A port that greets each connection with this certificate and answers nothing; its address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(keystore)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                    context.wrap_socket(connection, server_side=True).close()
                except ssl.SSLError:
                    continue
                except OSError:
                    return

        threading.Thread(target=greet, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("which", "reason"),
    [
        ("early", "certificate is not yet valid, or this machine's clock is wrong"),
        ("expired", "certificate has expired, or this machine's clock is wrong"),
        ("elsewhere", "IP address mismatch, certificate is not valid for '127.0.0.1'."),
    ],
)
def test_a_certificate_that_is_refused_is_named_with_its_reason(tmp_path: Path, which: str, reason: str) -> None:
    """A wrong clock looks like a wrong certificate."""
    made = make_certificates(tmp_path / "certificates")
    tls = EngineTls(ca=made.ca, certificate=made.server, key=made.server)
    with listening(getattr(made, which)) as url, pytest.raises(Unreachable) as error:
        Engine(url, tls, writable=False).containers()
    assert f"its certificate or ours is not accepted ({reason}); correct deployer.tls" in str(error.value)


def test_a_key_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine over the network has no socket, and no group that may use it."""
    files = {name: tmp_path / name for name in ("ca", "certificate", "key")}
    monkeypatch.setattr(os, "access", lambda path, _: path != files["key"])
    engine = Engine("tcp://127.0.0.1:1", EngineTls(**files), writable=False)
    engine._made = SimpleNamespace()

    def denied(_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    with pytest.raises(Unreachable) as error:
        engine.asked("", denied)
    assert f"may not read {files['key']} of deployer.tls; give the user the right to read it" in str(error.value)


def test_a_key_with_a_password_is_named(tmp_path: Path) -> None:
    """The engine has nothing to do with it."""
    made = make_certificates(tmp_path / "certificates")
    tls = EngineTls(ca=made.ca, certificate=made.client, key=made.client_key)
    with listening(made.server) as url, pytest.raises(Unreachable) as error:
        Engine(url, tls, writable=False).containers()
    said = (
        f"our key {made.client_key} is encrypted, and no runbook has its password; declare one without in deployer.tls"
    )
    assert said in str(error.value)


@pytest.mark.parametrize("which", ["ca", "certificate", "key"])
def test_a_file_that_does_not_exist_is_named(which: str, tmp_path: Path) -> None:
    """In place of the library's own words about its parameters."""
    made = make_certificates(tmp_path / "certificates")
    files = {"ca": made.ca, "certificate": made.client, "key": made.server} | {which: tmp_path / "none"}
    with pytest.raises(BadInput) as error:
        Engine("tcp://127.0.0.1:1", EngineTls(**files), writable=False).containers()
    assert f"{tmp_path / 'none'} is not a file; correct deployer.tls (tcp" in str(error.value)
