"""Whose instances answer on the hosts of several applications: recorded answers over real HTTP."""

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from kstreams_runbooks.model.discovery.discovery import Signs
from kstreams_runbooks.model.readings.readings import GroupReading, MemberReading, Missing, Taken
from kstreams_runbooks.observe.application.discovered import found_topology, jolokia_answers
from kstreams_runbooks.observe.kafka.topic_names import TopicNames

SAMPLE = Path(__file__).parents[1] / "samples" / "jolokia_4.3.1.json"
HOST = "127.0.0.1"


class Agent(http.server.ThreadingHTTPServer):
    """A JVM that answers the one bulk request; with each client of `applications` in it."""

    def __init__(self, *applications: str) -> None:
        super().__init__((HOST, 0), _Answers)
        self.asked = 0
        parts = json.loads(SAMPLE.read_text(encoding="utf-8"))
        for part in parts:
            if "stream-metrics" in part["request"]["mbean"]:
                [values] = part["value"].values()
                part["value"] = {
                    f"kafka.streams:client-id={name}-client,type=stream-metrics": {**values, "application-id": name}
                    for name in applications
                }
        self.body = json.dumps(parts).encode()
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def port(self) -> int:
        """Where it listens."""
        port: int = self.server_address[1]
        return port


class _Answers(http.server.BaseHTTPRequestHandler):
    server: Agent

    def do_POST(self) -> None:
        """The recorded answer."""
        self.server.asked += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def agents() -> Iterator[tuple[Agent, Agent]]:
    """A JVM with two applications in it, and one with one."""
    both, one = Agent("orders", "billing"), Agent("clicks")
    yield both, one
    for agent in (both, one):
        agent.shutdown()
        agent.server_close()


def signs(group_id: str, host: str = HOST) -> Signs:
    """An application with one member on a host."""
    member = MemberReading("m", f"{group_id}-client-StreamThread-1-consumer", host)
    group = GroupReading(Taken(1, "test"), group_id, "classic", "Stable", (member,), "stream")
    return Signs(group_id, "classic", "Stable", "consumer", group, {}, 0, ())


def test_every_application_has_its_own_clients(agents: tuple[Agent, Agent]) -> None:
    """Also two in one JVM; a port on which nobody listens is nobody's, and a JVM of one application is asked once."""
    both, one = agents
    answers = jolokia_answers([signs("orders"), signs("billing"), signs("clicks")], [both.port, one.port, 9])
    urls = {agent: f"http://{HOST}:{agent.port}/jolokia" for agent in agents}
    assert {name: {place: reading.client_id for place, reading in said.items()} for name, said in answers.items()} == {
        "orders": {(HOST, urls[both]): "orders-client"},
        "billing": {(HOST, urls[both]): "billing-client"},
        "clicks": {(HOST, urls[one]): "clicks-client"},
    }
    assert one.asked == 1


def test_a_host_is_asked_only_where_a_member_is(agents: tuple[Agent, Agent]) -> None:
    """A stopped application has none."""
    stopped = Signs("clicks", "classic", "Empty", "consumer", Missing("none"), {}, 1, ())
    assert jolokia_answers([stopped], [agents[1].port]) == {}
    assert agents[1].asked == 0


def test_what_a_topology_tells() -> None:
    """Topics by full name, internal ones left out, patterns by what is there, and sinks that choose as they go."""
    text = """Topologies:
   Sub-topology: 0
    Source: in (topics: [clicks, by-key-repartition])
      --> again, any, out
    Source: more (topics: eu-.*)
      --> out
    Sink: again (topic: by-key-repartition)
      <-- in
    Sink: out (topic: counts)
      <-- in, more
    Sink: any (extractor class: Chooses)
      <-- in
"""
    names = TopicNames.of({"clicks", "eu-1", "eu-2", "us-1", "counts", "orders-by-key-repartition"})
    found = found_topology(text, "orders", names)
    assert found is not None
    assert (found.inputs, found.outputs, found.open_sinks) == (("clicks", "eu-1", "eu-2"), ("counts",), ("any",))
    assert (found.table_aggregations, found.foreign_key_joins) == ("unknown", "no")
    assert found_topology("no description", "orders", names) is None


def test_a_pattern_that_cannot_be_read_is_said_of_a_topology() -> None:
    """What it matches is not among the inputs, and the rest of the topology is there."""
    text = (
        "Topologies:\n  Sub-topology: 0\n    Source: s (topics: [clicks])\n      --> k\n"
        "    Source: p (topics: \\p{Lower}+-in)\n      --> k\n    Sink: k (topic: out)\n      <-- s, p\n"
    )
    found = found_topology(text, "orders", TopicNames.of({"clicks", "a-in"}))
    assert found is not None
    assert (found.inputs, found.outputs) == (("clicks",), ("out",))
    assert found.unreadable.startswith(r"source pattern \p{Lower}+-in: cannot be read here")
