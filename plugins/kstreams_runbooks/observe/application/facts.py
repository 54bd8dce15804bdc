"""What the MBean of topology-facts.jar shows of a running instance, in a request of its own.

A document has some 15 KB and does not change while the instance runs: the readings of a gate, one every few seconds, go
without it.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.topology_facts import read_facts
from kstreams_runbooks.model.readings.readings import InstanceReading, Missing, StreamsReading, Taken
from kstreams_runbooks.model.topology.declaration import TopologyFacts
from kstreams_runbooks.model.topology.facts import FactsReading, NoFacts
from kstreams_runbooks.observe.application.agent import LIMITS, not_jolokia, of_agent, request_agent
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


def read_client_facts(
    metrics_url: str, client: StreamsReading, limits: ExchangeLimits = LIMITS
) -> FactsReading | Missing:
    """The facts of a Kafka Streams client behind a Jolokia base URL.

    Missing has the reason as `read_streams` has it, or why the facts cannot be this client's; NoFacts if the JVM has
    none of it.
    """
    answer = request_agent(metrics_url, _REQUEST, limits)
    return answer if isinstance(answer, Missing) else facts_from(answer.parts, answer.taken, client)


def read_running_facts(
    application: ObservedApplication, instances: Iterable[InstanceReading]
) -> dict[str, FactsReading | Missing]:
    """By instance, the facts of those declared ones whose Streams client answered; the others are left out."""
    urls = {one.name: one.metrics for one in application.deployer.instances}
    clients = {
        one.instance: one.streams
        for one in instances
        if isinstance(one.streams, StreamsReading) and one.instance in urls
    }
    calls = [partial(read_client_facts, urls[name], client) for name, client in clients.items()]
    found = poll_all({application.name: calls}, Missing)[application.name]
    return dict(zip(clients, found, strict=True))


def facts_from(parts: Mapping[str, Mapping[str, Any]], taken: Taken, client: StreamsReading) -> FactsReading | Missing:
    """The reading in Jolokia's answers by requested bean. Pure."""
    part = parts.get(_BEANS)
    if denied(part):
        return Missing(
            of_agent(taken.source, f"the agent gives no answer about {_BEANS}; does its access policy allow it?")
        )
    try:
        beans = pattern(part, _BEANS)
        documents = [_document(values) for name, values in beans.items() if _is_of(name, client.client_id)]
    except NotJolokia as error:
        return not_jolokia(taken.source, error)
    if not beans:
        return NoFacts(
            of_agent(
                taken.source,
                f"no MBean {_TYPE} in the JVM; start the instance with -javaagent:topology-facts.jar (docs/facts.md)",
            )
        )
    if not documents:
        return NoFacts(
            of_agent(
                taken.source,
                f"no MBean {_TYPE} of client {client.client_id}, only of {len(beans)} others; the agent reads a client "
                "within seconds of its start, read again",
            )
        )
    try:
        found = [read_facts(one, "its topology facts") for one in dict.fromkeys(documents)]
    except BadInput as error:
        return Missing(of_agent(taken.source, str(error)))
    return _of_client(found, taken, client)


def _of_client(found: list[TopologyFacts], taken: Taken, client: StreamsReading) -> FactsReading | Missing:
    """The one that describes what the client reports; a process may still have those of a client that it closed."""
    own: list[TopologyFacts] = []
    for one in _that_fit(found, client):
        own += [] if any(one.read == other.read for other in own) else [one]
    if len(own) == 1:
        [facts] = own
        if why := facts.read.not_read.get("topology"):
            return Missing(of_agent(taken.source, f"the agent read no topology facts: {why}"))
        return FactsReading(taken, client.client_id, facts.read)
    what = "are of another topology than the client reports" if not own else f"are of {len(own)} different programs"
    return Missing(
        of_agent(
            taken.source,
            f"the topology facts of client {client.client_id} {what}; give each KafkaStreams of the process a "
            "client.id of its own and restart the instance, or declare its facts",
        )
    )


def _that_fit(found: Iterable[TopologyFacts], client: StreamsReading) -> Iterator[TopologyFacts]:
    for facts in found:
        config = facts.read.config or {}
        if config.get("application.id", client.application_id) != client.application_id:
            continue
        if facts.text is None or isinstance(client.topology, Missing) or _same(facts.text, client.topology):
            yield facts


def _same(text: str, reported: str) -> bool:
    """Whether two descriptions are of one topology; the addresses of lambdas in them differ."""
    try:
        return text.strip() == reported.strip() or parse_topology(text) == parse_topology(reported)
    except BadInput:
        return False


def _is_of(name: str, client_id: str) -> bool:
    """Whether a bean is the client's, or that of a thread of it, if the agent could not reach its KafkaStreams."""
    found = object_keys(name).get("client-id", "")
    return found == client_id or found.startswith(f"{client_id}-StreamThread-")


def _document(values: Mapping[str, Any]) -> str:
    text = description(values, _DOCUMENT, longest=_LONGEST)
    if text is None:
        raise NotJolokia(f"a bean has no {_DOCUMENT}")
    return text
