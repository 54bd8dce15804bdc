"""What keeps a client out, one sentence per cause; the other programs are fakes, real sockets that are no broker."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from kafka.errors import KafkaTimeoutError
from kstreams_runbooks.errors import BadInput, Unreachable
from kstreams_runbooks.observe.kafka import admin_client
from kstreams_runbooks.observe.kafka.clients import connect_python, let_in, python_config
from kstreams_runbooks.observe.login import way_in
from kstreams_runbooks.observe.login.attempt import Server
from kstreams_runbooks.observe.login.command_config import read_command_config
from kstreams_runbooks.observe.login.tls import refused_certificate, require_files
from kstreams_runbooks.observe.login.way_in import find_way_in
from lab.certificates import KEY_PASSWORD, Certificates, make_certificates


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


Program = Callable[[socket.socket], None]


def fake_silent(client: socket.socket) -> None:
    client.recv(1)
    time.sleep(3)


def fake_http_server(client: socket.socket) -> None:
    client.recv(1_000)
    client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def fake_ssh_server(client: socket.socket) -> None:
    client.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
    client.recv(1_000)


def fake_of_empty_frames(client: socket.socket) -> None:
    client.recv(1_000)
    client.sendall(bytes(4))
    client.recv(1_000)


def fake_that_offers_null(client: socket.socket) -> None:
    client.recv(1_000)
    # The answer to the first request: no error, and no list of requests that it knows.
    client.sendall(b"\0\0\0\x0a\0\0\0\1\0\0\xff\xff\xff\xff")
    client.recv(1_000)


def fake_that_hangs_up(client: socket.socket) -> None:
    client.recv(1_000)


@pytest.fixture
def listen() -> Iterator[Callable[[Program], str]]:
    """Starts a fake program; returns its address."""
    with ExitStack() as closed:

        def start(program: Program) -> str:
            listening = closed.enter_context(closing(socket.create_server(("127.0.0.1", 0))))

            def serve() -> None:
                while True:
                    try:
                        client, _ = listening.accept()
                    except OSError:
                        return
                    threading.Thread(target=answer, args=(client,), daemon=True).start()

            def answer(client: socket.socket) -> None:
                with client:
                    try:
                        program(client)
                    except OSError:
                        return

            threading.Thread(target=serve, daemon=True).start()
            return f"127.0.0.1:{listening.getsockname()[1]}"

        yield start


def _sentence(servers: str, limit_s: float = 2, settings: Mapping[str, str] | None = None) -> str:
    with pytest.raises(Unreachable) as told:
        find_way_in(python_config({"bootstrap.servers": servers, **(settings or {})}), limit_s)
    return str(told.value)


@pytest.mark.parametrize(
    ("program", "tls", "said"),
    [
        (fake_http_server, False, "another program listens there, it answers what no Kafka broker does (it begins"),
        (fake_http_server, True, "no TLS connection (wrong version number); is this the port of a Kafka broker with"),
        (fake_of_empty_frames, False, "another program listens there, it answers what no Kafka broker does (it begins"),
        (fake_that_offers_null, False, "this is the port of a controller, which serves no clients"),
        (fake_ssh_server, False, "begins with b'SSH-2.0-OpenSSH_'"),
        (fake_that_hangs_up, False, "another program listens there, it ends the connection without an answer"),
        (fake_that_hangs_up, True, "no TLS connection"),
        (fake_silent, False, "no answer within 1 s; is the broker up and reachable from here?"),
        (fake_silent, True, "no answer within 1 s; is the broker up and reachable from here?"),
    ],
)
def test_another_program_is_told_from_a_broker(
    listen: Callable[[Program], str], program: Program, tls: bool, said: str
) -> None:
    address = listen(program)
    sentence = _sentence(address, 1, {"security.protocol": "SSL"} if tls else {})
    assert sentence.startswith(f"Kafka at {address}: ")
    assert said in sentence


def test_a_connection_that_fails_leaves_no_thread(
    listen: Callable[[Program], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """kafka-python starts one before it connects; a wait of hours for a broker would collect them."""
    monkeypatch.setattr("kstreams_runbooks.observe.kafka.clients.CONNECT_TIMEOUT_MS", 300)
    with pytest.raises(Unreachable):
        connect_python({"bootstrap.servers": listen(fake_that_hangs_up)})
    assert [one.name for one in threading.enumerate() if one.name.startswith("kafka-io")] == []


def test_a_port_on_which_nothing_listens_and_a_name_that_nobody_has(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "nothing listens on this port" in _sentence("127.0.0.1:9")
    monkeypatch.setattr(way_in, "_AGAIN_S", 0.3)
    assert "'a..b' is not a host name" in _sentence("a..b:9092")


def test_of_several_addresses_the_refusal_counts_and_not_the_silence(
    listen: Callable[[Program], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(way_in, "_AGAIN_S", 0.3)
    monkeypatch.setattr(way_in, "_HEAD_START_S", 0.1)
    sentence = _sentence(f"127.0.0.1:9,{listen(fake_silent)},{listen(fake_http_server)}", 1)
    assert "another program listens there" in sentence


def test_addresses_as_people_write_them() -> None:
    for text, server in {
        "b": ("b", 9092),
        "b:1": ("b", 1),
        "[::1]:9": ("::1", 9),
        "[::1]": ("::1", 9092),
        "SASL_SSL://b:1": ("b", 1),
    }.items():
        assert Server.of(text) == server
    assert str(Server("::1", 9)) == "[::1]:9"


@pytest.mark.parametrize(
    ("keystore", "ca", "said"),
    [
        ("server", "other_ca", "is not signed by the CA of ssl.ca.location ("),
        ("server", "", "is not signed by a CA that this machine trusts; set ssl.ca.location"),
        ("expired", "ca", "the broker's certificate has expired; renew it"),
        ("elsewhere", "ca", "certificate is for broker.example.org, not for 127.0.0.1"),
    ],
)
def test_a_certificate_that_is_refused(
    listen: Callable[[Program], str], certificates: Certificates, keystore: str, ca: str, said: str
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(getattr(certificates, keystore))

    def fake_tls(client: socket.socket) -> None:
        with context.wrap_socket(client, server_side=True) as wrapped:
            wrapped.recv(1)

    trusted = {"ssl.ca.location": str(getattr(certificates, ca))} if ca else {}
    assert said in _sentence(listen(fake_tls), settings={"security.protocol": "SSL", **trusted})


@pytest.mark.parametrize(
    ("code", "said"),
    [(9, "not valid yet"), (23, "is revoked"), (7, "is refused (the reason of OpenSSL)")],
)
def test_rarer_reasons_against_a_certificate(code: int, said: str) -> None:
    error = ssl.SSLCertVerificationError("no")
    error.verify_code, error.verify_message = code, "the reason of OpenSSL"
    assert said in refused_certificate(error, "b", None, lambda: "")


def _unreadable(directory: Path) -> Path:
    # Also root cannot open it.
    path = directory / "socket"
    socket.socket(socket.AF_UNIX).bind(str(path))
    return path


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"ssl.ca.location": "/nowhere/ca.pem"}, "ssl.ca.location: /nowhere/ca.pem does not exist"),
        ({"ssl.ca.location": "{dir}"}, "is not a file"),
        ({"ssl.ca.location": "{socket}"}, "socket is not a file"),
        ({"ssl.ca.location": "{client_key}"}, "has no certificate in PEM"),
        ({"ssl.crl.location": "{client_key}"}, "ssl.crl.location: "),
        (
            {"ssl.certificate.location": "{client_key}", "ssl.key.location": "{client_key}"},
            "client-key.pem has no certificate in PEM",
        ),
        (
            {"ssl.certificate.location": "{server}"},
            "server.pem is set without ssl.key.location; set ssl.key.location too, it may be the same file, in the "
            "cluster's connection",
        ),
        (
            {"ssl.certificate.location": "", "ssl.key.location": "{server}"},
            "server.pem is set without ssl.certificate.location; set ssl.certificate.location too",
        ),
        (
            {"ssl.certificate.location": "{client}", "ssl.key.location": "{client_key}"},
            "cannot be read as a key in PEM (ssl.key.password is not set)",
        ),
        (
            {"ssl.certificate.location": "{client}", "ssl.key.location": "{client_key}", "ssl.key.password": "hunter2"},
            "ssl.key.password is not its password, or the file has no key",
        ),
        (
            {"ssl.certificate.location": "{ca}", "ssl.key.location": "{server}"},
            "server.pem is not the key of ssl.certificate.location",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_named(
    certificates: Certificates, tmp_path: Path, settings: dict[str, str], said: str
) -> None:
    places = {name: str(getattr(certificates, name)) for name in ("ca", "client", "client_key", "server")}
    places |= {"dir": str(tmp_path), "socket": str(_unreadable(tmp_path))}
    given = {name: value.format(**places) for name, value in settings.items()}
    with pytest.raises(BadInput) as told:
        require_files(given)
    assert said in str(told.value)
    assert "hunter2" not in str(told.value)


def test_files_that_can_be_used_are_taken(certificates: Certificates) -> None:
    given = {"ssl.ca.location": certificates.ca, "ssl.certificate.location": certificates.client}
    require_files({**given, "ssl.key.location": certificates.client_key, "ssl.key.password": KEY_PASSWORD})
    # One file with both.
    require_files({"ssl.certificate.location": certificates.server, "ssl.key.location": certificates.server})


def test_a_file_of_a_command_config_is_named_in_its_own_words(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=/nowhere.pem\n")
    with pytest.raises(BadInput, match=r"client.properties: ssl.truststore.location: /nowhere.pem does not exist"):
        read_command_config(file)
    with pytest.raises(BadInput, match=r"absent.properties: does not exist"):
        read_command_config(tmp_path / "absent.properties")


def test_a_handshake_that_never_ends_is_given_up(
    listen: Callable[[Program], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """kafka-python alone waits for ever; so it would in the middle of a reading, for a broker that is frozen."""
    monkeypatch.setattr(admin_client, "HANDSHAKE_TIMEOUT_S", 0.3)
    settings = python_config({"bootstrap.servers": listen(fake_silent), "security.protocol": "SSL"})
    with pytest.raises(KafkaTimeoutError):
        admin_client.AdminClient(**settings | {"bootstrap_timeout_ms": 500})


def test_what_let_the_login_in_is_what_kafka_python_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kstreams_runbooks.observe.login.way_in.attempt", lambda *_: None)
    assert let_in({"bootstrap.servers": "b:1", "x": 1}) == {"bootstrap.servers": "b:1", "x": 1}
