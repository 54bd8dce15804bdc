"""Whatever answers in the place of an instance's agent costs its own application a stated time and size, and no other.

The agents are fakes; one next to each answers what a real one answered.
"""

import copy
import json
import resource
import socket
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.model.readings.readings import Missing, NoClient, StreamsReading, Taken
from kstreams_runbooks.observe.application.jolokia import parts_of
from kstreams_runbooks.observe.application.metrics import read_streams, streams_from
from kstreams_runbooks.observe.application.topics_read import poll_instances, topics_to_read
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.topology_topics import readable_topics
from kstreams_runbooks.wire.limits import MIB, ExchangeLimits
from kstreams_runbooks.wire.strict_json import parsed
from lab.fakes import FakeAgent, Reply, answer, drips, falls_silent, floods, sends, zeros
from world.called import counted_calls

SAMPLE = Path(__file__).parents[1] / "unit" / "observe" / "samples" / "jolokia_4.3.1.json"
WELL: list[dict[str, Any]] = json.loads(SAMPLE.read_text())
NAMES = TopicNames.of({"orders", "customers"})
# The same as the real ones in everything but the time, so that the cases are quick.
QUICK = ExchangeLimits(connect_s=0.3, silence_s=0.3, answer_s=0.6)
# A short one has a fixed part too.
CALLS_A_CHARACTER = 5
CLIENT, RUNTIME, UPDATER, TASKS = range(4)
OK_HEAD = b"HTTP/1.1 200 OK\r\n"


def sent(document: object) -> bytes:
    """As an agent would send it; Python writes NaN and lone surrogates as well."""
    return json.dumps(document).encode()


def with_part(number: int, **changed: Any) -> bytes:
    """The recorded answer with other members in one of its parts."""
    document = copy.deepcopy(WELL)
    document[number].update(changed)
    return sent(document)


def with_value(number: int, **changed: Any) -> bytes:
    """The recorded answer with other attributes in every bean of one part."""
    document = copy.deepcopy(WELL)
    value = document[number]["value"]
    for attributes in [value] if number == RUNTIME else value.values():
        attributes.update({name.replace("_", "-"): given for name, given in changed.items()})
    return sent(document)


def without(number: int) -> bytes:
    """The recorded answer without one of its parts."""
    return sent([part for place, part in enumerate(WELL) if place != number])


def replaced(old: str, new: str) -> bytes:
    """The recorded answer with another text in it."""
    text = json.dumps(WELL)
    assert old in text
    return text.replace(old, new, 1).encode()


NOT_JOLOKIA: dict[str, bytes] = {
    "nothing": b"",
    "a page": b"<html>login</html>",
    "null": b"null",
    "a number": b"7",
    "a text": b'"orders"',
    "an object": b"{}",
    "an error of Jolokia": b'{"status": 403, "error": "denied"}',
    "an empty list": b"[]",
    "a list of nulls": b"[null, null]",
    "a list of numbers": b"[1, 2, 3]",
    "a list of lists": b"[[], []]",
    "two documents": json.dumps(WELL).encode() * 2,
    "half a document": json.dumps(WELL).encode()[:4_000],
    "not UTF-8": replaced("RUNNING", "RUNNINX").replace(b"RUNNINX", b"RUNN\xff\xfeG"),
    "UTF-16": json.dumps(WELL).encode("utf-16"),
    "NUL bytes": b"\0" * 1_000,
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "deep lists, few enough": b"[" * 900 + b"]" * 900,
    "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "deep in a value": with_part(CLIENT, value=json.loads("[" * 60 + "]" * 60)),
    "many empty lists": b"[" + b"[]," * 1_000_000 + b"[]]",
    "a name twice": replaced('"status": 200', '"status": 500, "status": 200'),
    "NaN": with_value(CLIENT, alive_stream_threads=float("nan")),
    "Infinity": with_value(CLIENT, alive_stream_threads=float("inf")),
    "1e400": replaced('"alive-stream-threads": 2', '"alive-stream-threads": 1e400'),
    "5,000 digits": replaced('"alive-stream-threads": 2', f'"alive-stream-threads": {"9" * 5_000}'),
    "half a surrogate pair": with_value(CLIENT, state="\ud800"),
    "half a pair in a name": sent([{**WELL[0], "value": {"\udfff": {}}}, *WELL[1:]]),
    "no request": with_part(CLIENT, request=None),
    "a request that is a text": with_part(CLIENT, request="read"),
    "a bean that is a number": with_part(CLIENT, request={"mbean": 7}),
    "a bean that is a list": with_part(CLIENT, request={"mbean": ["a"]}),
    "the same bean twice": sent([*WELL, WELL[0]]),
    "no answer about the client": without(CLIENT),
    "no answer about the updater": without(UPDATER),
    "no answer about the tasks": without(TASKS),
    "no status": with_part(CLIENT, status=None),
    "a status that is a text": with_part(CLIENT, status="200"),
    "a status that is true": with_part(CLIENT, status=True),
    "the client's bean denied": with_part(CLIENT, status=403, value=None),
    "the client's bean failed": with_part(CLIENT, status=500, value=None),
    "a value that is a text": with_part(CLIENT, value="RUNNING"),
    "a value that is a list": with_part(CLIENT, value=[1]),
    "a value that is null": with_part(CLIENT, value=None),
    "a bean that is null": with_part(CLIENT, value={"kafka.streams:client-id=a": None}),
    "a bean that is a text": with_part(CLIENT, value={"kafka.streams:client-id=a": "x"}),
    "a bean without a client id": with_part(CLIENT, value={"kafka.streams": {"application-id": "orders"}}),
    "a state that is a number": with_value(CLIENT, state=1),
    "a state of two lines": with_value(CLIENT, state="RUNNING\nDRAINED"),
    "a state of 1 MB": with_value(CLIENT, state="R" * 1_000_000),
    "no state": with_value(CLIENT, state=None),
    "a version that steers a terminal": with_value(CLIENT, version="4.3.1\x1b[2J"),
    "a version that is a list": with_value(CLIENT, version=["4.3.1"]),
    "no version": with_value(CLIENT, version=None),
    "an application id that is a list": with_value(CLIENT, application_id=["orders"]),
    "an application id with a link": with_value(CLIENT, application_id="[orders](http://x)"),
    "threads as a text": with_value(CLIENT, alive_stream_threads="2"),
    "threads as true": with_value(CLIENT, alive_stream_threads=True),
    "threads below zero": with_value(CLIENT, alive_stream_threads=-1),
    "half a thread": with_value(CLIENT, failed_stream_threads=0.5),
    "more threads than a long": with_value(CLIENT, failed_stream_threads=10**30),
    "a description that is a number": with_value(CLIENT, topology_description=4),
    "a description with escapes": with_value(CLIENT, topology_description="Topologies:\x1b]0;x\x07"),
    "a description of 2 MB": with_value(CLIENT, topology_description="Topologies:\n" * 170_000),
    "a start that is a text": with_value(RUNTIME, StartTime="1795234658925"),
    "a start that is null": with_value(RUNTIME, StartTime=None),
    "a start that is true": with_value(RUNTIME, StartTime=True),
    "a start before 1970": with_value(RUNTIME, StartTime=-5),
    "a start in a million years": with_value(RUNTIME, StartTime=10**17),
    "no answer about the runtime": without(RUNTIME),
    "restoring as a text": with_value(UPDATER, active_restoring_tasks="0"),
    "restoring as a list": with_value(UPDATER, active_restoring_tasks=[0]),
    "restoring below zero": with_value(UPDATER, active_restoring_tasks=-3),
    "restoring as NaN": with_value(UPDATER, active_restoring_tasks=float("nan")),
}
# What says less, and is read all the same: nothing of it is made up.
WITH_LESS: dict[str, tuple[bytes, Callable[[StreamsReading], object]]] = {
    "restoring is not there": (with_value(UPDATER, active_restoring_tasks=None), lambda one: one.restoring),
    "no thread count": (with_value(CLIENT, alive_stream_threads=None), lambda one: one.alive_threads),
    "no description": (with_value(CLIENT, topology_description=""), lambda one: one.topology),
    "no count of failed threads": (
        with_value(CLIENT, failed_stream_threads=None),
        lambda one: one.failed_threads,
    ),
}


@pytest.fixture(scope="module")
def healthy() -> Iterator[FakeAgent]:
    """Answers what a real agent answered."""
    with FakeAgent(answer(json.dumps(WELL).encode())) as agent:
        yield agent


def entry(name: str, *metrics: str) -> Any:
    """A declared application with instances at these addresses."""
    instances = [SimpleNamespace(name=f"{name}-{number}", metrics=url) for number, url in enumerate(metrics, start=1)]
    return SimpleNamespace(
        name=name,
        application_id="orders",
        inputs=("orders", "customers"),
        processing_guarantee="at_least_once",
        as_deployed=False,
        reads_committed=False,
        deployer=SimpleNamespace(instances=instances),
    )


@pytest.mark.parametrize("case", NOT_JOLOKIA)
def test_an_answer_that_is_not_jolokias_is_missing_and_names_the_instance(case: str, healthy: FakeAgent) -> None:
    """No traceback, no reading, no failed instance made of it; the application next to it is read."""
    with FakeAgent(answer(NOT_JOLOKIA[case])) as agent:
        reading = read_streams(agent.url, application_id="orders")
        told = poll_instances([entry("odd", agent.url), entry("well", healthy.url)], NAMES)
        assert len(agent.requests) == 2, "each of the two asks once"
    assert isinstance(reading, Missing), reading
    assert not isinstance(reading, NoClient), "a JVM without a client is a finding; this is none"
    assert str(agent.port) in reading.missing
    assert len(reading.missing) < 500
    assert "\n" not in reading.missing
    assert "\x1b" not in reading.missing
    assert (told["odd"].reads, told["odd"].failed, told["odd"].silent) == (None, (), ("odd-1",))
    lacking = topics_to_read(entry("odd"), told["odd"]).lacking
    assert "odd-1: jolokia: " in lacking
    assert f"({agent.url})" in lacking
    assert told["well"].reads is not None


@pytest.mark.parametrize("case", WITH_LESS)
def test_what_is_not_there_is_missing_in_its_place(case: str) -> None:
    """The rest of a sound answer is read."""
    body, field = WITH_LESS[case]
    with FakeAgent(answer(body)) as agent:
        reading = read_streams(agent.url, application_id="orders")
    assert isinstance(reading, StreamsReading), reading
    assert isinstance(field(reading), Missing)


PACKED = zeros(2_048)
ENDLESS: dict[str, tuple[Reply, str]] = {
    "accepts and says nothing": (falls_silent(), "no answer within 0.3 s"),
    "half a status line": (falls_silent(b"HTTP/1.1 2"), "broke off"),
    "half a header": (falls_silent(OK_HEAD + b"Content-"), "broke off"),
    "half a body": (falls_silent(OK_HEAD + b"Content-Length: 100\r\n\r\n[{"), "broke off"),
    "a status line that drips": (drips(OK_HEAD * 100, 0.05), "did not end within 0.6 s"),
    "headers that drip": (drips(OK_HEAD + b"X-A: b\r\n" * 1_000, 0.02), "did not end within 0.6 s"),
    "a body that drips": (drips(OK_HEAD + b"\r\n" + b" " * 10_000, 0.01), "did not end within 0.6 s"),
    "chunks that drip": (
        drips(OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 2_000, 0.01),
        "did not end within 0.6 s",
    ),
    "headers without end": (floods(OK_HEAD, b"X-A: b\r\n" * 100), "connection lost"),
    "one header without end": (floods(OK_HEAD + b"X-A: ", b"b" * 1_000), "connection lost"),
    "a status line without end": (floods(b"HTTP/1.1 200 ", b"O" * 1_000), "connection lost"),
    "early hints without end": (floods(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100), "of the answer"),
    "a body without end": (floods(OK_HEAD + b"\r\n", b"[" * 65_536), "larger than 16 MiB"),
    "chunks without end": (
        floods(OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"[" * 65_536 + b"\r\n"),
        "larger than 16 MiB",
    ),
    "a length of 1 TB": (falls_silent(OK_HEAD + b"Content-Length: 1099511627776\r\n\r\n["), "larger than 16 MiB"),
    "a length of 10,000 digits": (
        sends(OK_HEAD + b"Content-Length: " + b"9" * 10_000 + b"\r\n\r\n"),
        "connection lost",
    ),
    "a length below zero": (sends(OK_HEAD + b"Content-Length: -5\r\n\r\n[]"), "connection lost"),
    "two lengths": (sends(OK_HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n[]"), "connection lost"),
    "2 GB in 2 MB of gzip": (answer(PACKED, headers=["Content-Encoding: gzip"]), "compressed"),
    "deflate": (answer(b"x", headers=["Content-Encoding: deflate"]), "compressed"),
    "another protocol": (sends(b"SSH-2.0-OpenSSH_9.6\r\n"), "connection lost"),
    "TLS in place of HTTP": (sends(b"\x15\x03\x03\x00\x02\x02\x46"), "connection lost"),
    "the end at once": (sends(b""), "connection lost"),
    "the end in the middle": (sends(OK_HEAD + b"Content-Length: 100\r\n\r\n[{"), "connection lost"),
    "a redirect elsewhere": (
        answer(b"", "302 Found", ["Location: http://169.254.169.254/latest/meta-data"]),
        "HTTP 302 (expected 200)",
    ),
    "a redirect to a file": (answer(b"", "301 Moved", ["Location: file:///etc/passwd"]), "HTTP 301 (expected 200)"),
    "a server error": (answer(b"[]", "500 Oops\x1b[31m"), "HTTP 500 (expected 200)"),
    "a login is asked for": (answer(b"", "401 No", ['WWW-Authenticate: Basic realm="x"']), "HTTP 401 (expected 200)"),
}


@pytest.mark.parametrize("case", ENDLESS)
def test_an_agent_that_drips_floods_or_never_ends_costs_a_stated_time_and_size(case: str) -> None:
    """By one deadline for connecting, headers and body; nothing is unpacked, nothing followed."""
    reply, why = ENDLESS[case]
    with FakeAgent(reply) as agent:
        tracemalloc.start()
        try:
            reading = read_streams(agent.url, application_id="orders", limits=QUICK)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert len(agent.requests) == 1, "one question, whatever came"
    assert isinstance(reading, Missing), reading
    assert why in reading.missing or case == "early hints without end", reading.missing
    assert str(agent.port) in reading.missing
    assert peak < 4 * QUICK.body_bytes, f"{case}: {peak / MIB:.0f} MiB"


@pytest.mark.long
def test_the_limits_that_are_in_effect_hold() -> None:
    """The same with the real figures: 10 s for a drip, 16 MiB for a flood, and the process stays small."""
    with FakeAgent(drips(OK_HEAD + b"\r\n" + b" " * 10_000, 0.1)) as agent:
        reading = read_streams(agent.url)
    assert isinstance(reading, Missing)
    assert "did not end within 10 s" in reading.missing
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with FakeAgent(floods(OK_HEAD + b"\r\n", b"[" * 65_536)) as agent:
        assert "larger than 16 MiB" in getattr(read_streams(agent.url), "missing", "")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


def test_fifty_hanging_instances_leave_their_neighbours_their_turn(healthy: FakeAgent) -> None:
    """Of one application 8 are asked at a time; another's instance is answered while they hang."""
    asked_before: list[int] = []

    def counted(connection: socket.socket) -> None:
        asked_before.append(len(dead.requests))
        healthy.reply(connection)

    with FakeAgent(falls_silent()) as dead, FakeAgent(counted) as other:
        told = poll_instances([entry("dead", *[dead.url] * 50), entry("well", other.url)], NAMES, QUICK)
    assert told["well"].reads is not None
    assert asked_before[0] <= 25, "it does not wait behind the instances of another"
    assert told["dead"].silent == tuple(f"dead-{number}" for number in range(1, 51))
    assert "more instances" in topics_to_read(entry("dead"), told["dead"]).lacking


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document."""
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


PLACES = sorted(places(WELL), key=str)


@settings(max_examples=200, deadline=None)
@given(place=st.sampled_from(PLACES[1:]), value=ANYTHING)
def test_any_value_at_any_place_is_a_reading_or_missing(place: tuple[Any, ...], value: Any) -> None:
    """Never an error, whatever a single value of the answer is."""
    document = copy.deepcopy(WELL)
    inner: Any = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    try:
        parts = parts_of(parsed(sent(document)))
    except ValueError:
        return
    found = streams_from(parts, Taken(1, "jolokia"), "orders")
    assert isinstance(found, StreamsReading | Missing)
    if isinstance(found, StreamsReading) and isinstance(found.topology, str):
        found.topology.encode()


LINES = st.lists(
    st.sampled_from(
        [line.strip() for line in WELL[0]["value"][next(iter(WELL[0]["value"]))]["topology-description"].splitlines()]
        + ["Sub-topology: 99999999999", "Source: a (topics: [])", "--> a", "<-- none", "(((((", "Sub-topology: -1"]
    ),
    max_size=40,
)


@settings(max_examples=200, deadline=None)
@given(lines=LINES)
def test_any_description_is_topics_or_a_reason(lines: list[str]) -> None:
    """Lines of a real one in any order: topics, or why there are none."""
    text = "\n".join(["Topologies:", *lines])
    body = with_value(CLIENT, topology_description=text)
    parts = {part["request"]["mbean"]: part for part in json.loads(body)}
    found = streams_from(parts, Taken(1, "jolokia"), "orders")
    assert isinstance(found, StreamsReading)
    topics: object
    try:
        topics = readable_topics(parse_topology(text), "orders", NAMES)
    except RunbookError as error:
        topics = str(error)
    assert topics


HEAD = "Topologies:\n Sub-topology: 0\n"
COMMAS = HEAD + " Source: a (topics: [x])\n --> {}x\n Source: a, a (topics: [x])\n --> none\n"
SLOW = {
    "20,000 nodes": HEAD + "".join(f" Source: s{n} (topics: [orders])\n --> none\n" for n in range(20_000)),
    "15,000 subtopologies": "Topologies:\n"
    + "".join(f" Sub-topology: {n}\n Source: s{n} (topics: [a])\n --> none\n" for n in range(15_000)),
    "brackets that open and do not close": f"{HEAD} Source: {'a (topics: [b' * 70_000}",
    "stores that open and do not close": f"{HEAD} Processor: {'x (stores: [' * 70_000})",
    "names with commas that lead nowhere": COMMAS.format("a, " * 29),
    "names with commas, many": COMMAS.format("a, " * 2_000),
    "more than 1 MiB": HEAD + " " * 2**20,
}


@pytest.mark.parametrize("case", SLOW)
def test_a_description_that_was_made_to_be_slow_is_not(case: str) -> None:
    """Each of these took minutes, or ended the command: the work grows with the length of the text alone."""
    answered: object
    with counted_calls() as calls:
        try:
            answered = readable_topics(parse_topology(SLOW[case]), "orders", NAMES)
        except RunbookError as error:
            answered = str(error)
    assert answered
    assert calls.number < 2_000 + CALLS_A_CHARACTER * len(SLOW[case])
