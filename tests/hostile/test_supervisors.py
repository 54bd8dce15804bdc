"""Whatever answers in the place of supervisord is one sentence, within a stated time and size; nothing is made of it.

The supervisors are fakes.
"""

import base64
import tracemalloc
import xmlrpc.client
from typing import Any

import pytest
from kstreams_runbooks.deployers.supervisord.xmlrpc import Supervisord, SupervisordFault
from kstreams_runbooks.errors import BadInput, Unreachable, WriteRefused
from kstreams_runbooks.wire.limits import MIB, ExchangeLimits
from lab.fakes import FakeSupervisor, Reply, answer, drips, falls_silent, floods, sends, zeros

QUICK = ExchangeLimits(connect_s=0.3, silence_s=0.3, answer_s=0.6)
OK_HEAD = b"HTTP/1.1 200 OK\r\n"
WELL: dict[str, Any] = {
    "group": "orders-1",
    "name": "orders-1",
    "state": 20,
    "statename": "RUNNING",
    "start": 1_795_234_658,
    "stop": 0,
    "now": 1_795_234_925,
    "pid": 4711,
    "spawnerr": "",
    "description": "pid 4711, uptime 0:04:27",
}


def response(value: object) -> bytes:
    """As supervisord would send it."""
    return xmlrpc.client.dumps((value,), methodresponse=True, allow_none=True).encode()  # type: ignore[arg-type]


def changed(**members: object) -> bytes:
    """One process with other members."""
    return response([WELL | members])


def without(name: str) -> bytes:
    """One process without a member."""
    return response([{key: value for key, value in WELL.items() if key != name}])


def raw(xml: str) -> bytes:
    """The text of the one value."""
    return f"<?xml version='1.0'?><methodResponse><params><param>{xml}</param></params></methodResponse>".encode()


ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
NOT_SUPERVISORDS: dict[str, bytes] = {
    "nothing": b"",
    "a page": b"<html><body>login</body></html>",
    "a page that is not closed": b"<html><br>login",
    "JSON": b'{"state": 20}',
    "a request": xmlrpc.client.dumps((1,), "supervisor.x").encode(),
    "half a response": response([WELL])[:200],
    "two responses": response([WELL]) * 2,
    "not UTF-8": response([WELL]).replace(b"RUNNING", b"RUN\xff\xfe"),
    "an encoding that is none": b"<?xml version='1.0' encoding='x-none'?><methodResponse/>",
    "NUL bytes": b"\0" * 1_000,
    "a billion laughs": f'<!DOCTYPE r [<!ENTITY e0 "ha">{ENTITIES}]><methodResponse><params><param>'
    "<value>&e9;</value></param></params></methodResponse>".encode(),
    "one long entity": f'<!DOCTYPE r [<!ENTITY a "{"a" * 100_000}">]><methodResponse><params><param><value>'
    f"{'&a;' * 10_000}</value></param></params></methodResponse>".encode(),
    "a file as an entity": b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><methodResponse><params><param>'
    b"<value>&x;</value></param></params></methodResponse>",
    "a URL as an entity": b'<!DOCTYPE r [<!ENTITY x SYSTEM "http://169.254.169.254/">]><methodResponse><params><param>'
    b"<value>&x;</value></param></params></methodResponse>",
    "a document type of elsewhere": b'<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd"><methodResponse/>',
    "a parameter entity": b'<!DOCTYPE r [<!ENTITY % x SYSTEM "file:///dev/zero"> %x;]><methodResponse/>',
    "deep arrays": raw("<value><array><data>" * 20_000 + "</data></array></value>" * 20_000),
    "deep elements": b"<a>" * 100_000,
    "many values": raw(f"<value><array><data>{'<value><i4>1</i4></value>' * 150_000}</data></array></value>"),
    "no value": b"<methodResponse><params></params></methodResponse>",
    "two values": b"<methodResponse><params><param><value><i4>1</i4></value></param><param><value><i4>2</i4></value>"
    b"</param></params></methodResponse>",
    "a number": response(7),
    "a text": response("RUNNING"),
    "nil": response(None),
    "a struct": response(WELL),
    "a list of numbers": response([1, 2]),
    "a list of lists": response([[WELL]]),
    "an unknown type": raw("<value><object>x</object></value>"),
    "a number of letters": raw("<value><int>x</int></value>"),
    "a number of 100,000 digits": raw(f"<value><int>{'9' * 100_000}</int></value>"),
    "a decimal of letters": raw("<value><bigdecimal>x</bigdecimal></value>"),
    "a flag of 7": raw("<value><boolean>7</boolean></value>"),
    "not base64": raw("<value><base64>&#1;</base64></value>"),
    "a struct without values": raw("<value><struct><member><name>a</name></member></struct></value>"),
    "a struct with a struct as name": raw(
        "<value><struct><member><name>a</name><value><struct></struct></value></member>"
        "<member><value><array><data></data></array></value><value>b</value></member></struct></value>"
    ),
    "ends without begins": b"<methodResponse><params><param></value></param></params></methodResponse>",
    "no group": without("group"),
    "no name": without("name"),
    "no state": without("state"),
    "no pid": without("pid"),
    "no start": without("start"),
    "a state that is a text": changed(state="20"),
    "a state that is a flag": changed(state=True),
    "a state below zero": changed(state=-1),
    "a pid that is a text": changed(pid="4711"),
    "a pid below zero": changed(pid=-1),
    "a pid that no system has": raw(
        response([WELL])
        .decode()
        .partition("<param>")[2]
        .partition("</param>")[0]
        .replace("4711</int>", f"{2**40}</int>")
    ),
    "a start that is a date": changed(start=xmlrpc.client.DateTime("20261122T00:00:00")),
    "a start that is a fraction": changed(start=1.5),
    "a start that is no number": raw(
        response([WELL])
        .decode()
        .partition("<param>")[2]
        .partition("</param>")[0]
        .replace("<int>1795234658</int>", "<double>NaN</double>")
    ),
    "a name that is bytes": changed(name=xmlrpc.client.Binary(b"orders-1")),
    "a name that is a list": changed(name=["orders-1"]),
    "a description of 1 MB": changed(description="a" * 1_000_000),
    "a program twice": response([WELL, WELL]),
    "a fault without a code": b"<methodResponse><fault><value><struct></struct></value></fault></methodResponse>",
    "a fault that is a text": b"<methodResponse><fault><value>no</value></fault></methodResponse>",
    "a fault whose code is a text": b"<methodResponse><fault><value><struct><member><name>faultCode</name><value>x"
    b"</value></member><member><name>faultString</name><value>y</value></member></struct></value></fault></methodResponse>",
}


@pytest.mark.parametrize("case", NOT_SUPERVISORDS)
def test_an_answer_that_is_not_supervisords_is_unreachable_and_names_it(case: str) -> None:
    """No traceback, no process made of it; no file and no address in it is opened."""
    with FakeSupervisor(answer(NOT_SUPERVISORDS[case])) as supervisor, pytest.raises(Unreachable) as raised:
        Supervisord(supervisor.url, writable=False).processes()
    said = str(raised.value)
    assert said.startswith("supervisord: the answer is not supervisord's: ")
    assert len(said) < 500
    assert said.isprintable()
    assert "root:" not in said


def test_text_that_supervisord_repeats_is_one_short_line() -> None:
    """A program's own words may be anything: they steer no terminal and make no line of their own."""
    odd = changed(spawnerr="no\nDRAINED \u202egnp.exe", description="[x](http://y) " * 100)
    with FakeSupervisor(answer(odd)) as supervisor:
        found = Supervisord(supervisor.url, writable=False).processes()
    assert set(found) == {"orders-1", "orders-1:orders-1"}
    info = found["orders-1"]
    assert info.spawnerr == "no DRAINED \\u202egnp.exe"
    assert len(info.description) <= 300
    fault = xmlrpc.client.dumps(xmlrpc.client.Fault(10, "BAD_NAME:\x0a" + "x" * 5_000)).encode()
    with FakeSupervisor(answer(fault)) as supervisor, pytest.raises(SupervisordFault) as raised:
        Supervisord(supervisor.url, writable=True).call("stopProcess", "orders-1", False)
    assert raised.value.code == 10
    assert len(str(raised.value)) < 500
    assert "\n" not in str(raised.value)


PACKED = zeros(2_048)
ENDLESS: dict[str, tuple[Reply, str]] = {
    "accepts and says nothing": (falls_silent(), "no answer within 0.3 s"),
    "a body that drips": (drips(OK_HEAD + b"\r\n" + b" " * 10_000, 0.01), "did not end within 0.6 s"),
    "headers that drip": (drips(OK_HEAD + b"X-A: b\r\n" * 1_000, 0.02), "did not end within 0.6 s"),
    "a body without end": (floods(OK_HEAD + b"\r\n", b"<a>" * 20_000), "larger than 16 MiB"),
    "headers without end": (floods(OK_HEAD, b"X-A: b\r\n" * 100), "connection lost"),
    "2 GB in 2 MB of gzip": (answer(PACKED, headers=["Content-Encoding: gzip"]), "compressed"),
    "half a body": (falls_silent(OK_HEAD + b"Content-Length: 100\r\n\r\n<?xml"), "broke off"),
    "the end at once": (sends(b""), "connection lost"),
    "a redirect": (answer(b"", "302 Found", ["Location: http://127.0.0.1:9/"]), "HTTP 302 (expected 200)"),
    "a login is asked for": (answer(b"", "401 Unauthorized"), "the login in the fleet entry's address is not accepted"),
    "an error": (answer(b"", "500 \x1b[31mNo"), "HTTP 500 (expected 200)"),
}


@pytest.mark.parametrize("case", ENDLESS)
def test_a_supervisor_that_drips_floods_or_never_ends_costs_a_stated_time_and_size(case: str) -> None:
    """One deadline for all of it; a write is said once."""
    reply, why = ENDLESS[case]
    with FakeSupervisor(reply) as supervisor:
        login = supervisor.url.replace("http://", "http://me:hunter2@")
        tracemalloc.start()
        try:
            with pytest.raises(Unreachable, match=r"^supervisord: .* \(http://127") as raised:
                Supervisord(login, writable=True, limits=QUICK).call("stopProcess", "orders-1", False)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert len(supervisor.requests) == 1
        assert base64.b64encode(b"me:hunter2") in supervisor.requests[0]
    assert why in str(raised.value)
    assert "hunter2" not in str(raised.value)
    assert peak < 4 * QUICK.body_bytes, f"{case}: {peak / MIB:.0f} MiB"


@pytest.mark.parametrize(
    "url",
    [
        "http://",
        "ftp://127.0.0.1:9001",
        "file:///etc/passwd",
        "http://127.0.0.1:99999",
        "http://me:hunter2@127.0.0.1:port",
        "http://[::1:9001",
        "http://me:hunter2@host name:9001",
        "http://h\u00f6st:9001",
        "http://127.0.0.1:9001\r\nX: y",
        "unix://",
        "unix://host/socket",
        "",
    ],
    ids=ascii,
)
def test_a_url_that_is_none_is_bad_input_before_anything_is_asked(url: str) -> None:
    """One sentence, without the login that may be in it."""
    with pytest.raises(BadInput, match="correct the deployer's url") as raised:
        Supervisord(url, writable=False)
    assert "hunter2" not in str(raised.value)
    assert str(raised.value).isprintable()


def test_a_reader_writes_nothing_whatever_it_is_asked() -> None:
    """Refused before a connection is made."""
    with FakeSupervisor(answer(response(True))) as supervisor:
        for method in ("stopProcess", "startProcess", "shutdown", "system.multicall", "readLog"):
            with pytest.raises(WriteRefused):
                Supervisord(supervisor.url, writable=False).call(method, "orders-1")
        assert supervisor.requests == []
