"""Who of an application has failed, by what its instances serve over HTTP; and that a dead one is only not told."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.observe.lag_asked import NOBODY_TELLS, ask_instances, lag_asked

SAMPLES = Path(__file__).parent / "samples"
_UNREADABLE = "_unreadable"
NAMES = frozenset({"orders", "customers", "orders-by-customer-repartition"})


class _Agent(BaseHTTPRequestHandler):
    """Serves the answer of a real Jolokia agent that was kept as the file that the path names, or no topology."""

    def do_POST(self) -> None:
        """Any question."""
        self.rfile.read(int(self.headers["Content-Length"]))
        name = self.path.strip("/")
        body = (SAMPLES / f"{name.removesuffix(_UNREADABLE)}.json").read_bytes()
        if name.endswith(_UNREADABLE):
            assert b"Sub-topology: 0" in body
            body = body.replace(b"Sub-topology: 0", b"Sub-topology: none of them")
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the library's name
        """Nothing."""


@pytest.fixture(scope="module")
def agents() -> Iterator[str]:
    """Base address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Agent) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def entry(name: str, *metrics: str) -> Any:
    """An application with instances that serve there."""
    instances = [SimpleNamespace(name=f"{name}-{number}", metrics=url) for number, url in enumerate(metrics, start=1)]
    return SimpleNamespace(name=name, application_id="orders", deployer=SimpleNamespace(instances=instances))


def test_an_instance_without_a_streams_client_for_a_minute_has_failed(agents: str) -> None:
    """Its JVM lives and tells when it was started; what the other one tells is taken."""
    found = ask_instances([entry("orders", f"{agents}/jolokia_4.3.1", f"{agents}/jolokia_4.3.1_after_error")], NAMES)
    told = found["orders"]
    assert len(told.failed) == 1
    assert told.failed[0].startswith("orders-2 (no Kafka Streams client in its JVM, which is up for ")
    assert told.reads is not None
    assert told.reads["orders"] == "source"
    assert told.keeps
    assert all(name.startswith("orders-") and name.endswith("-changelog") for name in told.keeps)


def test_an_instance_that_nobody_reaches_is_not_told_and_has_not_failed() -> None:
    """It may be stopped, or restarting: nobody can say."""
    gone = entry("orders", "http://127.0.0.1:1/jolokia")
    told = ask_instances([gone], NAMES)["orders"]
    assert (told.reads, told.keeps, told.failed) == (None, (), ())
    [asked] = lag_asked([gone], NAMES)
    assert (asked.reads, asked.lacking) == (None, NOBODY_TELLS)


def test_a_description_that_cannot_be_read_hides_no_other_application(agents: str) -> None:
    """As if nobody had told it."""
    well = entry("orders", f"{agents}/jolokia_4.3.1")
    found = ask_instances([well, entry("odd", f"{agents}/jolokia_4.3.1{_UNREADABLE}")], NAMES)
    assert found["orders"].reads is not None
    assert (found["odd"].reads, found["odd"].failed) == (None, ())
