"""Whatever answers in the place of a Docker Engine is one sentence, within a stated time and size.

The engines are fakes.
"""

import base64
import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from kstreams_runbooks.deployers.docker import client, engine
from kstreams_runbooks.deployers.docker.deployer import DockerDeployer
from kstreams_runbooks.deployers.docker.engine import Engine
from kstreams_runbooks.deployers.docker.places import require_same
from kstreams_runbooks.errors import Unreachable, WriteRefused
from kstreams_runbooks.fleet.deployers.docker import DockerSettings, EngineTls
from kstreams_runbooks.wire.limits import MIB
from lab.certificates import make_certificates
from lab.fakes import FakeEngine, Reply, answer, drips, falls_silent, floods, sends, zeros

CLOSED = ("Connection: close",)
ID = "a" * 64
IMAGE = {"Id": "sha256:b", "Config": {"Env": ["A=1"], "Volumes": None}}
CONTAINER: dict[str, Any] = {
    "Id": ID,
    "Name": "/o1",
    "Image": "sha256:b",
    "State": {"Status": "running", "StartedAt": "2026-11-24T05:46:42.334142591Z", "ExitCode": 0},
    "Config": {"Image": "orders:1", "Env": []},
    "HostConfig": {"NetworkMode": "none", "RestartPolicy": {"Name": "no"}, "Binds": ["state:/state"]},
    "Mounts": [{"Type": "volume", "Name": "state", "Source": "/v/state", "Destination": "/state"}],
    "NetworkSettings": {"Networks": {"none": {"Aliases": None}}},
}
LISTED = {"Id": ID, "Names": ["/o1"], "HostConfig": {"NetworkMode": "none"}}
DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000


def well(**changed: object) -> dict[str, Reply]:
    """What an engine with one container answers, by the end of the path; some of it changed."""
    documents = {"version": {"ApiVersion": "1.44"}, "list": [LISTED], "container": CONTAINER, "image": IMAGE} | changed
    paths = {"version": "/version", "list": "/containers/json", "container": "/containers/o1/json"}
    replies = {paths[key]: _reply(documents[key]) for key in paths}
    image = _reply(documents["image"])
    return replies | {"/images/orders:1/json": image, "/images/sha256:b/json": image}


def _reply(document: object) -> Reply:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return answer(body, headers=CLOSED)


@contextmanager
def fake(replies: Mapping[str, Reply]) -> Iterator[FakeEngine]:
    """An engine at a socket; its path has to be short."""
    with TemporaryDirectory(prefix="fake-") as folder, FakeEngine(Path(folder), replies) as made:
        yield made


def deployer(url: str) -> DockerDeployer:
    """Of one instance."""
    entry = {
        "kind": "docker",
        "url": url,
        "instances": [{"name": "o1", "metrics": "http://127.0.0.1:1"}],
        "releases": {"4.3.1": "1"},
        "image": "orders:{artifact}",
        "state": "/state",
        "variable_prefix": "STREAMS_",
    }
    return DockerDeployer(DockerSettings.model_validate(entry), application_id="orders")


def test_an_engine_that_answers_well() -> None:
    """The fake is one."""
    with fake(well()) as well_made:
        [one] = deployer(well_made.url).instances()
    assert (one.process, one.release, one.obstacles) == ("running", "4.3.1", ())


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"version": []}, "it has another shape"),
        ({"version": None}, "it has another shape"),
        ({"version": {"ApiVersion": [1]}}, ""),
        ({"version": b"<html>"}, "Expecting value"),
        ({"version": DEEP}, "nested too deeply"),
        ({"list": {}}, "its list of containers: Input should be a valid list"),
        ({"list": [5]}, "0: Input should be"),
        ({"list": [LISTED | {"Names": 5}]}, "0.Names: Input should be a valid list"),
        ({"list": [LISTED | {"Names": [5]}]}, "0.Names.0: Input should be a valid string"),
        ({"list": [LISTED | {"HostConfig": [1]}]}, "0.HostConfig: Input should be"),
        ({"list": DEEP}, "nested too deeply"),
        ({"container": [1]}, "the container: Input should be"),
        ({"container": CONTAINER | {"NetworkSettings": {"Networks": {"x": {"Aliases": [[1]]}}}}}, "Networks.x"),
        ({"container": CONTAINER | {"HostConfig": {"Links": 5}}}, "HostConfig.Links: Input should be a valid list"),
        ({"container": CONTAINER | {"Config": {"Image": "x", "Volumes": 5}}}, "Config.Volumes: Input should be"),
        ({"image": [1]}, "image sha256:b: the image: Input should be"),
        ({"image": IMAGE | {"Id": None}}, "Id: Input should be a valid string"),
        ({"image": IMAGE | {"Config": [1]}}, "Config: Input should be"),
        ({"image": IMAGE | {"Config": {"Env": [1]}}}, "Config.Env.0: Input should be a valid string"),
        ({"image": IMAGE | {"Config": {"Volumes": 5}}}, "Config.Volumes: Input should be a valid dictionary"),
        ({"image": IMAGE | {"Config": {"Labels": [1]}}}, "Config.Labels: Input should be a valid dictionary"),
    ],
)
def test_an_answer_of_another_shape(changed: dict[str, object], why: str) -> None:
    """One sentence with the place, no value, and what to correct; never a traceback."""
    with fake(well(**changed)) as strange, pytest.raises(Unreachable) as no:
        deployer(strange.url).instances()
    assert str(no.value).startswith("docker engine: the answer is not a docker engine's: ")
    assert why in str(no.value)
    assert "; correct deployer.url (unix[:]//" in str(no.value)
    assert "\n" not in str(no.value)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        ("500 Oops", b"[]"),
        ("500 Oops", b"5"),
        ("500 Oops", b'{"message": [1]}'),
        ("404 No", b"null"),
        ("500 Oops", DEEP),
    ],
)
def test_an_error_of_another_shape(status: str, body: bytes) -> None:
    """Also for what an engine says if it cannot."""
    with (
        fake(well() | {"/containers/json": answer(body, status, CLOSED)}) as strange,
        pytest.raises(Exception, match=r"^docker engine: ") as no,
    ):
        deployer(strange.url).instances()
    assert type(no.value).__module__.startswith("kstreams_runbooks.")


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "status", [[1], None, 5, {"mtime": "yesterday"}, {"mtime": "0001-01-01T00:00:00"}, {"mtime": [1]}, {}]
)
def test_a_status_of_another_shape(status: object, tmp_path: Path) -> None:
    """The folder is another one, or not known to be the same: it is not cleared."""
    header = base64.b64encode(json.dumps(status).encode()).decode()
    head = sends(HEAD + f"X-Docker-Container-Path-Stat: {header}\r\nConnection: close\r\n\r\n".encode())
    with fake(well() | {"/archive": head}) as strange:
        asked = Engine(strange.url, None, writable=False)
        container = asked.container("o1")
        assert container is not None
        with pytest.raises((Unreachable, WriteRefused)) as no:
            require_same(asked, container, PurePosixPath("/state"), tmp_path)
    assert "\n" not in str(no.value)


LONG_S = 1
BODY = json.dumps([LISTED]).encode()
SLOW: dict[str, Reply] = {
    "nothing": falls_silent(),
    "a head by bytes": drips(HEAD + b"X: " + b"x" * 1_000, 0.05),
    "a body by bytes": drips(HEAD + b"Content-Length: 1000\r\n\r\n" + b" " * 1_000, 0.05),
    "chunks by bytes": drips(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 200, 0.05),
    "half a body": falls_silent(HEAD + b"Content-Length: 1000\r\n\r\n["),
}


@pytest.mark.parametrize("how", SLOW)
def test_an_answer_has_one_limit_of_time(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its parts do not extend it."""
    monkeypatch.setattr(engine, "_READ_S", LONG_S)
    with (
        fake(well() | {"/containers/json": SLOW[how]}) as slow,
        pytest.raises(Unreachable, match=f"no answer within {LONG_S} s; look at the engine"),
    ):
        deployer(slow.url).instances()


LARGE: dict[str, tuple[Reply, str]] = {
    "a body without end": (floods(HEAD + b"\r\n", b"[" + b" " * 65_535), "larger than 16 MiB"),
    "a head without end": (floods(HEAD, b"X: " + b"x" * 60_000 + b"\r\n"), "more than 100 headers"),
    "a body that is declared": (floods(HEAD + b"Content-Length: 99999999999\r\n\r\n", b" " * 65_536), "larger than"),
    "packed": (answer(zeros(32), headers=("Content-Encoding: gzip",)), "the answer is compressed although"),
}


@pytest.mark.parametrize("how", LARGE)
def test_an_answer_has_a_limit_of_size(how: str) -> None:
    """Nothing larger is kept, and nothing is unpacked."""
    reply, why = LARGE[how]
    with fake(well() | {"/containers/json": reply}) as large, pytest.raises(Unreachable, match=why):
        deployer(large.url).instances()
    assert client.MOST_ANSWER == 16 * MIB


def test_one_limit_over_tls_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another connection, the same limits."""
    monkeypatch.setattr(engine, "_READ_S", LONG_S)
    made = make_certificates(tmp_path / "certificates")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.server)
    tls = EngineTls(ca=made.ca, certificate=made.server, key=made.server)
    replies = {"/containers/json": _reply([LISTED])}
    with FakeEngine(tmp_path, replies, context) as quick:
        assert Engine(quick.url, tls, writable=False).containers()[0].names == ("o1",)
    for how, why in (("a body by bytes", "no answer within 1 s"), ("a head by bytes", "no answer within 1 s")):
        with (
            FakeEngine(tmp_path, {"/containers/json": SLOW[how]}, context) as slow,
            pytest.raises(Unreachable, match=why),
        ):
            Engine(slow.url, tls, writable=False).containers()
    large, why = LARGE["a body without end"]
    with (
        FakeEngine(tmp_path, {"/containers/json": large}, context) as flooding,
        pytest.raises(Unreachable, match=why),
    ):
        Engine(flooding.url, tls, writable=False).containers()


def _frame(text: bytes) -> bytes:
    return b"\x01\0\0\0" + len(text).to_bytes(4, "big") + text


@pytest.mark.parametrize(
    ("log", "said"),
    [(sends(HEAD + b"\r\n" + _frame(b"ready") + _frame(b"!")), "ready!"), (sends(HEAD + b"\r\n\x01\0"), None)],
)
def test_a_log_that_is_streamed(log: Reply, said: str | None) -> None:
    """The library takes the socket itself, and no limit of its own holds then; half a frame is one sentence."""
    replies = well() | {"/logs": log, "/containers/o1/json": _reply({"Config": {"Tty": False}})}

    def read(api: Any) -> str:
        return b"".join(api.logs("o1", stdout=True, stderr=False, stream=True)).decode()

    with fake(replies) as made:
        asked = Engine(made.url, None, writable=False)
        if said is not None:
            assert asked.asked("", read) == said
        else:
            with pytest.raises(Unreachable, match="docker engine: "):
                asked.asked("", read)


def test_a_log_that_drips_has_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library lifts its own limit of a stream: ours holds."""
    monkeypatch.setattr(engine, "_WRITE_S", LONG_S)
    replies = well() | {
        "/logs": drips(HEAD + b"\r\n" + _frame(b"x") * 200, 0.02),
        "/containers/o1/json": _reply({"Config": {"Tty": False}}),
    }
    with fake(replies) as made, pytest.raises(Unreachable, match="no answer within 1 s"):
        Engine(made.url, None, writable=False).asked("", lambda api: list(api.logs("o1", stream=True)))
