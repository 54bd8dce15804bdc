"""What an agent answers about topology facts becomes a reading of one client, or the reason why there is none."""

from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.model.readings.readings import Missing, StreamsReading, Taken
from kstreams_runbooks.model.topology.facts import FactsReading, NoFacts
from kstreams_runbooks.observe.application.facts import facts_from, read_running_facts
from kstreams_runbooks.wire.limits import MIB
from world.samples import down, instance
from world.sides import AUDITED, COUNTS

TAKEN = Taken(1_795_234_925_000, "jolokia http://127.0.0.1:1/jolokia")
BEAN = "kstreams.runbooks:type=topology-facts"
CLIENT = "orders-7e10de36-3229-4e3e-8e55-faa1d4e3340b"


def document(
    *, application_id: str = "orders", library: str = "4.3.1", topology: str = COUNTS, not_read: str = "[]"
) -> str:
    """Facts as the jar prints them, without any of a store."""
    text = topology.replace("\n", "\n  ")
    config = f'config:\n  "application.id": "{application_id}"\n'
    return f'facts: 1\nlibrary: "{library}"\ntopology: |2\n  {text}\n{config}not_read: {not_read}\n'


ONE, OTHER = document(), document(library="3.4.1")


def answered(value: Any, status: int = 200) -> dict[str, Any]:
    """The part of the only request."""
    return {f"{BEAN},*": {"request": {"mbean": f"{BEAN},*", "type": "read"}, "status": status, "value": value}}


def beans(**documents: str) -> dict[str, Any]:
    """MBeans by the keys of their names, as Jolokia orders them."""
    return {f"kstreams.runbooks:{keys},type=topology-facts": {"Facts": one} for keys, one in documents.items()}


def client(client_id: str = CLIENT, topology: str | Missing = COUNTS) -> StreamsReading:
    """What the Streams client of the same JVM reports."""
    streams = instance("orders-1", client_id=client_id, topology=topology).streams
    assert isinstance(streams, StreamsReading)
    return streams


def read(value: Any, client_id: str = CLIENT, topology: str | Missing = COUNTS) -> FactsReading | Missing:
    return facts_from(answered(value), TAKEN, client(client_id, topology))


def library(found: FactsReading | Missing) -> str:
    """The release in facts that are there."""
    assert isinstance(found, FactsReading), found
    return str(found.read.library)


def test_the_facts_of_the_client_are_read() -> None:
    """Not those of another client in the JVM; the order of the keys does not matter."""
    assert library(read(beans(**{f"client-id={CLIENT}": ONE, "client-id=billing": OTHER}))) == "4.3.1"


def test_a_quoted_client_id_is_the_same_client() -> None:
    """The agent quotes what an object name may not have."""
    assert library(read(beans(**{'client-id="orders:1"': ONE}), "orders:1")) == "4.3.1"


def test_a_client_that_the_agent_could_not_reach_has_the_reason() -> None:
    """Its bean has the name of a thread, and is not taken for that of a client with a longer name."""
    reason = '[{fact: ["topology"], reason: "the class has no field streams"}]'
    hidden = f"facts: 1\nnot_read: {reason}\n"
    found = read(beans(**{f"client-id={CLIENT}-StreamThread-1": hidden, f"client-id={CLIENT}-b": OTHER}))
    why = "the agent read no topology facts: the class has no field streams"
    assert found == Missing(f"jolokia: {why} (http://127.0.0.1:1/jolokia)")


def test_two_clients_of_one_name_are_told_apart_by_application_and_topology() -> None:
    """As of a closed KafkaStreams that the garbage collector has not removed; two that differ are not used."""
    first, second = f"client-id={CLIENT}", f"client-id={CLIENT},instance=2"
    assert library(read(beans(**{first: ONE, second: f"{ONE}# again"}))) == "4.3.1"
    assert library(read(beans(**{first: ONE, second: document(application_id="billing", library="3.4.1")}))) == "4.3.1"
    assert library(read(beans(**{first: ONE, second: document(topology=AUDITED, library="3.4.1")}))) == "4.3.1"
    differ = read(beans(**{first: ONE, second: OTHER}))
    assert isinstance(differ, Missing)
    assert f"the topology facts of client {CLIENT} are of 2 different programs; give each" in differ.missing


def test_facts_of_another_topology_are_not_the_clients() -> None:
    """A client that reports no topology has those of its name."""
    found = read(beans(**{f"client-id={CLIENT}": ONE}), topology=AUDITED)
    assert isinstance(found, Missing)
    assert "are of another topology than the client reports" in found.missing
    assert library(read(beans(**{f"client-id={CLIENT}": ONE}), topology=Missing("no such metric"))) == "4.3.1"


@pytest.mark.parametrize(
    ("part", "sentence", "without_jar"),
    [
        (
            answered(None, 404),
            "no MBean kstreams.runbooks:type=topology-facts in the JVM; start the instance with",
            True,
        ),
        (answered({}), "no MBean kstreams.runbooks:type=topology-facts in the JVM", True),
        (answered(beans(**{"client-id=billing": ONE})), f"of client {CLIENT}, only of 1 others", True),
        (answered(None, 403), "the agent gives no answer about kstreams.runbooks:type=topology-facts", False),
        ({}, "the agent gives no answer about", False),
        (answered(beans(**{f"client-id={CLIENT}": ""})), "a bean has no Facts", False),
        (answered(beans(**{f"client-id={CLIENT}": "a\tb"})), "Facts has control characters", False),
        (answered(beans(**{f"client-id={CLIENT}": "a" * (4 * MIB + 1)})), "limit 4,194,304", False),
        (answered({f"{BEAN},client-id={CLIENT}": {"Facts": 3}}), "Facts is not a text", False),
        (answered([ONE]), "its value has another type", False),
        (answered(beans(**{f"client-id={CLIENT}": "facts: 2\nnot_read: []\n"})), "facts: 2 is a format that is", False),
        (answered(beans(**{f"client-id={CLIENT}": "facts: [\n"})), "its topology facts: ", False),
    ],
)
def test_what_is_not_a_document_is_one_sentence(part: dict[str, Any], sentence: str, without_jar: bool) -> None:
    """It begins with the agent's address; an instance without the jar is told apart from an agent that is not read."""
    found = facts_from(part, TAKEN, client())
    assert isinstance(found, Missing)
    assert found.missing.startswith("jolokia: ")
    assert found.missing.endswith("(http://127.0.0.1:1/jolokia)")
    assert sentence in found.missing
    assert isinstance(found, NoFacts) is without_jar


def test_instances_that_do_not_answer_are_not_asked(declared_orders: Any) -> None:
    """One that answered before and does not now has its reason."""
    found = read_running_facts(declared_orders, (instance("orders-1"), down("orders-2")))
    assert list(found) == ["orders-1"]
    missing = found["orders-1"]
    assert isinstance(missing, Missing)
    assert "127.0.0.1:9" in missing.missing


@pytest.fixture
def declared_orders() -> Any:
    """Two instances at an address where nothing listens."""
    one, two = (
        SimpleNamespace(name=f"orders-{number}", metrics="http://127.0.0.1:9/jolokia", group_instance_id=None)
        for number in (1, 2)
    )
    return SimpleNamespace(name="orders", deployer=SimpleNamespace(instances=(one, two)))
