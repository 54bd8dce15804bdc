"""Agents and supervisors behind https with a login: the address names an Airflow connection that has it.

Both are fakes behind a certificate of the test's CA; connection and fleet are real.
"""

import base64
import json
import secrets
import ssl
import threading
import xmlrpc.client
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from kstreams_runbooks.deployers.supervisord.xmlrpc import Supervisord
from kstreams_runbooks.errors import LoginRefused, Unreachable
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.readings.readings import Lasting, Missing, StreamsReading
from kstreams_runbooks.observe import read_streams
from kstreams_runbooks.wire import logins
from lab.certificates import Certificates, make_certificates
from lab.fake_streams import FakeStreams

TOPOLOGY = "Topologies:\n  Sub-topology: 0\n    Source: a (topics: [in])\n      --> none\n"
NO_PROCESS = xmlrpc.client.dumps(([],), methodresponse=True).encode()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A login is kept for a minute: not from one test to the next."""
    import kstreams_runbooks.connections  # noqa: F401 - it says how a login is found

    monkeypatch.setattr(logins._LOGINS, "_known", {})


@contextmanager
def guarded(certificates: Certificates, body: bytes, password: str, keystore: Path | None = None) -> Iterator[str]:
    """A fake behind https that answers only to `watch` with this password; gives host and port."""
    wanted = "Basic " + base64.b64encode(f"watch:{password}".encode()).decode()

    class FakeHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            allowed = self.headers.get("Authorization") == wanted
            self.send_response(200 if allowed else 401)
            self.send_header("Content-Type", "text/xml")
            self.send_header("Content-Length", str(len(body) if allowed else 0))
            self.end_headers()
            self.wfile.write(body if allowed else b"")

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the library's name
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), FakeHandler) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(keystore or certificates.server)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def connection(monkeypatch: pytest.MonkeyPatch, password: str, ca: Path) -> None:
    given = {"conn_type": "http", "login": "watch", "password": password, "extra": {"ca": str(ca)}}
    monkeypatch.setenv("AIRFLOW_CONN_WATCHED", json.dumps(given))


def test_an_agent_and_a_supervisor_get_the_login_of_a_connection(
    certificates: Certificates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = secrets.token_urlsafe(12)
    connection(monkeypatch, password, certificates.ca)
    answer = json.dumps(FakeStreams(tmp_path, "app", TOPOLOGY)._answer(1_790_000_000_000)).encode()
    with guarded(certificates, answer, password) as agent:
        found = read_streams(f"https://connection=watched@{agent}/jolokia", application_id="app")
        assert isinstance(found, StreamsReading)
        assert found.taken.source == f"jolokia https://{agent}/jolokia"
    with guarded(certificates, NO_PROCESS, password) as supervisor:
        assert Supervisord(f"https://connection=watched@{supervisor}", writable=False).processes() == {}


def test_each_cause_is_one_sentence_without_the_password(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A login that is refused, a CA that is not theirs, a connection that is not there."""
    with guarded(certificates, b"[]", secrets.token_urlsafe(12)) as host:
        url = f"https://connection=watched@{host}"
        cases = []
        for ca in (certificates.ca, certificates.other_ca, Path("/nowhere/ca.pem"), None):
            logins._LOGINS._known.clear()
            if ca is None:
                monkeypatch.delenv("AIRFLOW_CONN_WATCHED")
            else:
                connection(monkeypatch, "hunter2", ca)
            agent = read_streams(url)
            with pytest.raises(Unreachable) as supervisor:
                Supervisord(url, writable=False).processes()
            assert isinstance(agent, Lasting)
            assert isinstance(supervisor.value, LoginRefused)
            cases.append((agent.missing, str(supervisor.value)))
    expected = (
        "HTTP 401 (expected 200); the login of the Airflow connection watched is not accepted; correct it",
        "no TLS connection: its certificate is not accepted",
        "its CA file /nowhere/ca.pem cannot be used (No such file or directory)",
        "its login is not known: Airflow connection watched: not found in the environment (AIRFLOW_CONN_",
    )
    for said, words in zip(cases, expected, strict=True):
        for one in said:
            assert words in one
            assert "hunter2" not in one
            assert "\n" not in one


@pytest.mark.parametrize(("which", "reason"), [("early", "is not yet valid"), ("expired", "has expired")])
def test_a_certificate_that_is_refused_by_the_clock_names_the_clock(
    certificates: Certificates, which: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be the machine of the worker that is wrong."""
    connection(monkeypatch, "hunter2", certificates.ca)
    with guarded(certificates, b"[]", "hunter2", getattr(certificates, which)) as host:
        agent = read_streams(f"https://connection=watched@{host}")
    assert isinstance(agent, Missing)
    assert f"its certificate is not accepted (certificate {reason}, or this machine's clock is wrong)" in agent.missing


@pytest.mark.parametrize("login", ["connection=watched@", "me:hunter2@"])
def test_a_login_over_plain_http_is_refused_unless_the_entry_allows_it(
    login: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On another machine; the file is named, the login is not shown, and the other applications stay."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    made = FakeStreams(tmp_path, "app", TOPOLOGY)
    for host, allowed in (("127.0.0.1:8778", True), ("agents.example.org:8778", False)):
        made.declare(f"http://{login}{host}/jolokia")
        assert ("app" in load_fleet().applications) is allowed, host
    [problem] = load_fleet().problems
    assert "has a login in metrics of one that http sends in clear text; give an https address, or" in str(problem)
    assert "hunter2" not in str(problem)
    file = tmp_path / "applications" / "app.yaml"
    entry = json.loads(file.read_text(encoding="utf-8"))
    entry["deployer"]["plain_http"] = True
    file.write_text(json.dumps(entry), encoding="utf-8")
    assert "app" in load_fleet().applications
