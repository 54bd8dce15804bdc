"""Names in a topology description become the topics of the cluster."""

import json
from collections.abc import Collection
from pathlib import Path

import pytest
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.observe.application.application import read_topology
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.topology_topics import TopologyTopics, read_by, readable_topics, topology_topics
from world.samples import down, instance

SAMPLE = Path(__file__).parents[1] / "samples" / "jolokia_4.3.1.json"

GENERATED = """Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [orders, returns])
      --> KTABLE-SINK-0000000008, KSTREAM-SINK-0000000099
    Sink: KTABLE-SINK-0000000008 (topic: KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000006-topic)
      <-- KSTREAM-SOURCE-0000000000
    Sink: KSTREAM-SINK-0000000099 (extractor class: example.Route@1)
      <-- KSTREAM-SOURCE-0000000000
    Source: KTABLE-SOURCE-0000000014 (topics: [KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-0000000013-topic])
      --> none

  Sub-topology: 1
    Source: KTABLE-SOURCE-0000000009 (topics: [KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000006-topic])
      --> KTABLE-0000000011
    Processor: KTABLE-0000000011 (stores: [KTABLE-FK-JOIN-SUBSCRIPTION-STATE-STORE-0000000010])
      --> KTABLE-SINK-0000000012
      <-- KTABLE-SOURCE-0000000009
    Sink: KTABLE-SINK-0000000012 (topic: KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-0000000013-topic)
      <-- KTABLE-0000000011

  Sub-topology: 2
    Source: KSTREAM-SOURCE-0000000020 (topics: audit\\..*)
      --> none

  Sub-topology: 3 for global store (will not generate tasks)
    Source: rates-source (topics: [rates])
      --> rates-processor
    Processor: rates-processor (stores: [rates])
      --> none
      <-- rates-source
"""


def source_topics(text: str, application_id: str, cluster: Collection[str] = ()) -> frozenset[str]:
    """Source and repartition topics whose offsets the group commits."""
    return topology_topics(parse_topology(text), application_id, TopicNames.of(cluster)).sources(cluster)


def running() -> str:
    """Topology description of a running 4.3.1 application."""
    [client] = json.loads(SAMPLE.read_text())[0]["value"].values()
    return str(client["topology-description"])


def test_internal_topics_get_the_application_id() -> None:
    """Repartition and foreign-key topics are printed without the prefix that they have on the cluster."""
    assert topology_topics(parse_topology(running()), "orders").sources() == {
        "orders",
        "customers",
        "orders-orders-by-customer-repartition",
        "orders-per-customer-repartition",
        "orders-fk-subscription-registration-topic",
        "orders-fk-subscription-response-topic",
    }


def test_changelogs_are_named_after_stores() -> None:
    """Every store may have one; the cluster tells which do."""
    assert topology_topics(parse_topology(running()), "orders").changelogs == {
        f"orders-{store}-changelog"
        for store in ("orders-table", "customers-table", "fk-subscription-store", "running-count", "per-customer-count")
    }


def test_generated_names_and_regex_sources() -> None:
    """Generated foreign-key names are internal, too; a regex source is resolved on the cluster's names."""
    topics = topology_topics(parse_topology(GENERATED), "app")
    assert topics.external == {"orders", "returns"}
    assert topics.internal == {
        "app-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000006-topic",
        "app-KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-0000000013-topic",
    }
    assert topics.patterns == {r"audit\..*"}
    matched = topics.sources({"audit.eu", "audit.us", "auditors", "orders"})
    assert matched == topics.external | topics.internal | {"audit.eu", "audit.us"}


def test_global_stores_commit_nothing() -> None:
    """Neither the source of a global store nor a changelog for it is asked for."""
    topics = topology_topics(parse_topology(GENERATED), "app")
    assert "rates" not in topics.external
    assert topics.changelogs == {"app-KTABLE-FK-JOIN-SUBSCRIPTION-STATE-STORE-0000000010-changelog"}


def test_topic_of_the_user_with_an_internal_name() -> None:
    """Only read, `x-repartition` is the user's; written and read as well, the name on the cluster decides."""
    only_read = "Topologies:\n  Sub-topology: 0\n    Source: s (topics: [x-repartition])\n      --> none\n"
    assert source_topics(only_read, "app") == {"x-repartition"}
    both = only_read.replace("none", "k") + "    Sink: k (topic: x-repartition)\n      <-- s\n"
    assert source_topics(both, "app") == {"app-x-repartition"}
    assert source_topics(both, "app", {"x-repartition"}) == {"x-repartition"}
    assert source_topics(both, "app", {"x-repartition", "app-x-repartition"}) == {"app-x-repartition"}


def test_topic_written_and_read_by_the_user() -> None:
    """A topic between two halves of a topology that has a plain name is nobody's internal topic."""
    text = (
        "Topologies:\n  Sub-topology: 0\n    Source: s (topics: [bridge])\n      --> k\n    Sink: k (topic: bridge)\n"
        "      <-- s\n"
    )
    assert source_topics(text, "app") == {"bridge"}


def test_a_description_that_cannot_be_read_is_missing() -> None:
    """What an instance tells is never half read: nobody may plan on the topics that happened to be understood."""
    cut = GENERATED.partition("      --> KTABLE-0000000011")[0]
    found = read_topology((instance("orders-1", topology=cut),), str, "app", TopicNames.of(()))
    assert isinstance(found, Missing)
    assert found.missing.startswith("the topology description cannot be read: line 13: no `-->` of KTABLE-SOURCE-000")


def test_stopped_in_the_middle_of_a_roll_every_release_that_is_set_counts() -> None:
    """Whichever ran last, its topics are among them; a release that nobody can describe leaves nothing known."""
    stopped = (down("one", release="v2"), down("two", release="v1"), down("three", release="v2"))
    asked: list[Target] = []

    def describe(target: Target) -> str:
        asked.append(target)
        if target.release == "v3":
            raise BadInput("release v3: not declared")
        return f"Topologies:\n  Sub-topology: 0\n    Source: s (topics: [in, only-{target.release}])\n      --> none\n"

    found = read_topology(stopped, describe, "app", TopicNames.of(()))
    assert isinstance(found, TopologyTopics)
    assert found.sources() == {"in", "only-v1", "only-v2"}
    assert asked == [Target("v1"), Target("v2")]
    assert isinstance(
        read_topology((*stopped, down("four", release="v3")), describe, "app", TopicNames.of(())),
        Missing,
    )


def test_nothing_is_described_for_a_guard() -> None:
    """A description takes the start of a JVM: what runs is known, what is down stays unknown."""
    stopped = (down("one", release="v2"),)
    unknown = read_topology(stopped, None, "app", TopicNames.of(()))
    assert unknown == Missing("no running instance reports its topology")
    running = instance("two", topology="Topologies:\n  Sub-topology: 0\n    Source: s (topics: [in])\n      --> none\n")
    found = read_topology((*stopped, running), None, "app", TopicNames.of(()))
    assert isinstance(found, TopologyTopics)
    assert found.sources() == {"in"}


def test_each_topic_is_read_by_one_subtopology() -> None:
    """Internal topics with their prefix, patterns by what the cluster has; a global store's topic has no task."""
    text = (
        "Topologies:\n  Sub-topology: 0\n    Source: s (topics: [a])\n      --> k\n    Sink: k (topic: b-repartition)\n"
        "      <-- s\n  Sub-topology: 1\n    Source: t (topics: [b-repartition])\n      --> o, x\n"
        "    Source: p (topics: in-.*)\n      --> o\n    Sink: o (topic: out)\n      <-- t, p\n"
        "    Sink: x (extractor class: A$$Lambda)\n      <-- t\n"
        "  Sub-topology: 2 for global store (will not generate tasks)\n    Source: g (topics: [all])\n      --> none\n"
    )
    assert read_by(parse_topology(text), "app", TopicNames.of({"in-1", "in-2"})) == {
        "a": "0",
        "app-b-repartition": "1",
        "in-1": "1",
        "in-2": "1",
    }
    found = topology_topics(parse_topology(text), "app")
    assert found.outputs == {"out"}
    assert found.extractors == {"x"}


def test_a_pattern_that_cannot_be_read_leaves_no_topic_out_silently() -> None:
    """Nobody may plan on the rest; who only looks gets the rest, with what is to be said."""
    text = GENERATED.replace(r"audit\..*", r"\p{Lower}+-audit")
    with pytest.raises(BadInput, match=r"source pattern \\p\{Lower\}\+-audit: cannot be read here"):
        topology_topics(parse_topology(text), "app")
    with pytest.raises(BadInput, match="cannot be read here"):
        read_by(parse_topology(text), "app", TopicNames.of({"a-audit"}))
    found = read_topology((instance("orders-1", topology=text),), str, "app", TopicNames.of({"a-audit"}))
    assert isinstance(found, Missing)
    assert "source pattern" in found.missing
    topics, why = readable_topics(parse_topology(text), "app")
    assert topics.external == {"orders", "returns"}
    assert not topics.patterns
    assert why.startswith(r"source pattern \p{Lower}+-audit")
    assert readable_topics(parse_topology(GENERATED), "app") == (topology_topics(parse_topology(GENERATED), "app"), "")


@pytest.mark.parametrize(("declared", "inputs"), [((), {"orders"}), (("back",), {"orders", "back"})])
def test_a_topic_that_it_writes_and_reads_is_an_input_if_the_entry_names_it(
    declared: tuple[str, ...], inputs: set[str]
) -> None:
    """Others write it too then; else it is a loop of its own, like an internal topic, which no declaration moves."""
    text = """Topologies:
   Sub-topology: 0
    Source: a (topics: [orders, back, by-day-repartition])
      --> b, c
    Sink: b (topic: back)
      <-- a
    Sink: c (topic: by-day-repartition)
      <-- a
"""
    topics = topology_topics(parse_topology(text), "app")
    assert topics.inputs(topics.sources(), ("orders", *declared)) == inputs
    assert topics.inputs(topics.sources(), declared) == inputs, "what it does not write is one in any case"
    assert topics.inputs(topics.sources(), ("app-by-day-repartition", *declared)) == inputs


def test_a_pattern_that_matches_its_own_output_reads_no_other_input() -> None:
    """Unless the entry names the topic."""
    text = """Topologies:
   Sub-topology: 0
    Source: a (topics: back.*)
      --> b
    Sink: b (topic: back-1)
      <-- a
"""
    topics = topology_topics(parse_topology(text), "app")
    read = topics.sources(("back-1", "back-2"))
    assert topics.inputs(read, ()) == {"back-2"}
    assert topics.inputs(read, ("back-1",)) == {"back-1", "back-2"}
