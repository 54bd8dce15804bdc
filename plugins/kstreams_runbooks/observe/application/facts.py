"""What the MBean of topology-facts.jar shows of a running instance, in a request of its own.

A document has some 15 KB and does not change while the instance runs: the readings of a gate, one every few seconds, go
without it.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from kstreams_runbooks.model.readings.facts import FactsReading, NoFacts
from kstreams_runbooks.model.readings.readings import InstanceReading, Missing, StreamsReading, Taken
from kstreams_runbooks.observe.application.agent import LIMITS, not_jolokia, request_agent
from kstreams_runbooks.observe.application.application import ObservedApplication
from kstreams_runbooks.observe.application.jolokia import NotJolokia, denied, description, object_keys, pattern
from kstreams_runbooks.observe.application.polling import poll_all
from kstreams_runbooks.wire.limits import MIB, ExchangeLimits

_TYPE = "kstreams.runbooks:type=topology-facts"
_BEANS = f"{_TYPE},*"
_DOCUMENT = "Facts"
_REQUEST = [{"type": "read", "mbean": _BEANS, "attribute": [_DOCUMENT]}]
# Three times as long as the description of the same topology, which is limited to 1 MiB.
_LONGEST = 4 * MIB


def read_facts(metrics_url: str, client_id: str, limits: ExchangeLimits = LIMITS) -> FactsReading | Missing:
    """The facts of a Kafka Streams client behind a Jolokia base URL.

    Missing has the reason as `read_streams` has it; NoFacts if the JVM has no facts of this client.
    """
    answer = request_agent(metrics_url, _REQUEST, limits)
    return answer if isinstance(answer, Missing) else facts_from(answer.parts, answer.taken, client_id)


def facts_from(parts: Mapping[str, Mapping[str, Any]], taken: Taken, client_id: str) -> FactsReading | Missing:
    """The reading in Jolokia's answers by requested bean. Pure."""
    part = parts.get(_BEANS)
    if denied(part):
        return Missing(f"{taken.source}: the agent gives no answer about {_BEANS}; does its access policy allow it?")
    try:
        beans = pattern(part, _BEANS)
        documents = [_document(values) for name, values in beans.items() if _is_of(name, client_id)]
    except NotJolokia as error:
        return not_jolokia(taken.source, error)
    if not beans:
        return NoFacts(
            f"{taken.source}: no MBean {_TYPE} in the JVM; start the instance with -javaagent:topology-facts.jar "
            "(docs/facts.md)"
        )
    if not documents:
        return NoFacts(
            f"{taken.source}: no MBean {_TYPE} of client {client_id}, only of {len(beans)} others; the agent reads a "
            "client within seconds of its start, read again"
        )
    return FactsReading(taken, client_id, tuple(dict.fromkeys(documents)))


def read_running_facts(
    application: ObservedApplication, instances: Iterable[InstanceReading]
) -> dict[str, FactsReading | Missing]:
    """By instance, the facts of those whose Streams client answered in this reading; the others are left out."""
    urls = {one.name: one.metrics for one in application.deployer.instances}
    clients = {one.instance: one.streams.client_id for one in instances if isinstance(one.streams, StreamsReading)}
    calls = [partial(read_facts, urls[name], client_id) for name, client_id in clients.items()]
    found = poll_all({application.name: calls}, Missing)[application.name]
    return dict(zip(clients, found, strict=True))


def _is_of(name: str, client_id: str) -> bool:
    """Whether a bean is the client's, or that of a thread of it, if the agent could not reach its KafkaStreams."""
    found = object_keys(name).get("client-id", "")
    return found == client_id or found.startswith(f"{client_id}-StreamThread-")


def _document(values: Mapping[str, Any]) -> str:
    text = description(values, _DOCUMENT, longest=_LONGEST)
    if text is None:
        raise NotJolokia(f"a bean has no {_DOCUMENT}")
    return text
