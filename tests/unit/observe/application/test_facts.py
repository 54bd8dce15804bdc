"""What an agent answers about topology facts becomes a reading of one client, or the reason why there is none."""

from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.model.readings.facts import FactsReading, NoFacts
from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.observe.application.facts import facts_from, read_running_facts
from kstreams_runbooks.wire.limits import MIB
from world.samples import down, instance

TAKEN = Taken(1_795_234_925_000, "jolokia http://127.0.0.1:1/jolokia")
BEAN = "kstreams.runbooks:type=topology-facts"
CLIENT = "orders-7e10de36-3229-4e3e-8e55-faa1d4e3340b"
ONE, OTHER = "facts: 1\nlibrary: 4.3.1\n", "facts: 1\nlibrary: 3.4.1\n"


def answered(value: Any, status: int = 200) -> dict[str, Any]:
    """The part of the only request."""
    return {f"{BEAN},*": {"request": {"mbean": f"{BEAN},*", "type": "read"}, "status": status, "value": value}}


def beans(**documents: str) -> dict[str, Any]:
    """MBeans by the keys of their names, as Jolokia orders them."""
    return {f"kstreams.runbooks:{keys},type=topology-facts": {"Facts": one} for keys, one in documents.items()}


def read(value: Any, client_id: str = CLIENT) -> FactsReading | Missing:
    return facts_from(answered(value), TAKEN, client_id)


def test_the_document_of_the_client_is_read() -> None:
    """Not that of another client in the JVM; the order of the keys does not matter."""
    found = read(beans(**{f"client-id={CLIENT}": ONE, "client-id=billing": OTHER}))
    assert found == FactsReading(TAKEN, CLIENT, (ONE,))


def test_a_quoted_client_id_is_the_same_client() -> None:
    """The agent quotes what an object name may not have."""
    found = read(beans(**{'client-id="orders:1"': ONE}), "orders:1")
    assert isinstance(found, FactsReading)


def test_a_thread_whose_client_the_agent_could_not_reach_is_its_own() -> None:
    """Its document has the reason, and is not taken for that of a client with a longer name."""
    found = read(beans(**{f"client-id={CLIENT}-StreamThread-1": ONE, f"client-id={CLIENT}-b": OTHER}))
    assert found == FactsReading(TAKEN, CLIENT, (ONE,))


def test_two_clients_of_one_name_are_two_documents_if_they_differ() -> None:
    """As of a closed KafkaStreams that the garbage collector has not removed yet."""
    twice = {f"client-id={CLIENT}": ONE, f"client-id={CLIENT},instance=2": ONE}
    assert read(beans(**twice)) == FactsReading(TAKEN, CLIENT, (ONE,))
    differ = read(beans(**{**twice, f"client-id={CLIENT},instance=2": OTHER}))
    assert differ == FactsReading(TAKEN, CLIENT, (ONE, OTHER))


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
    ],
)
def test_what_is_not_a_document_is_one_sentence(part: dict[str, Any], sentence: str, without_jar: bool) -> None:
    """It begins with the agent's address; an instance without the jar is told apart from an agent that is not read."""
    found = facts_from(part, TAKEN, CLIENT)
    assert isinstance(found, Missing)
    assert found.missing.startswith(TAKEN.source)
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
