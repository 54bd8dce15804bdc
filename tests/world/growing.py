"""Small applications that get more partitions, and forecasts of their keys, for tests of pure decisions."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kstreams_runbooks.decide.growth.closure import closure
from kstreams_runbooks.decide.internal_topics.numbers import numbers
from kstreams_runbooks.decide.plans.growth import growth_plan
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.decide.plans.switches import CopierSwitch
from kstreams_runbooks.decide.topology.partitions import repartition_topics
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.readings.growth import ForecastReading, ForecastTopic, KeyShare, TopicForecast
from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.model.runs.plan import Plan, SidePart
from kstreams_runbooks.model.topology.declaration import (
    DEFAULT,
    Declaration,
    DeclaredOperator,
    DeclaredStore,
    DeclaredTopic,
    Described,
)
from kstreams_runbooks.model.topology.growth import GrowthSeen, WriterSeen
from kstreams_runbooks.model.topology.topology import Sink

from world.samples import declared, reading
from world.sides import COUNTS

# A stream without state, and one that keeps a count of what another topic has.
STATELESS = """Topologies:
   Sub-topology: 0
    Source: in (topics: [orders])
      --> out
    Sink: out (topic: routed)
      <-- in
"""
# Two streams that are joined within a window.
JOINED = """Topologies:
   Sub-topology: 0
    Source: left (topics: [orders])
      --> KSTREAM-WINDOWED-0000000002
    Source: right (topics: [payments])
      --> KSTREAM-WINDOWED-0000000003
    Processor: KSTREAM-WINDOWED-0000000002 (stores: [KSTREAM-JOINTHIS-0000000004-store])
      --> KSTREAM-JOINTHIS-0000000004
      <-- left
    Processor: KSTREAM-WINDOWED-0000000003 (stores: [KSTREAM-JOINOTHER-0000000005-store])
      --> KSTREAM-JOINOTHER-0000000005
      <-- right
    Processor: KSTREAM-JOINOTHER-0000000005 (stores: [KSTREAM-JOINTHIS-0000000004-store])
      --> out
      <-- KSTREAM-WINDOWED-0000000003
    Processor: KSTREAM-JOINTHIS-0000000004 (stores: [KSTREAM-JOINOTHER-0000000005-store])
      --> out
      <-- KSTREAM-WINDOWED-0000000002
    Sink: out (topic: paid)
      <-- KSTREAM-JOINTHIS-0000000004, KSTREAM-JOINOTHER-0000000005
"""
# Two streams merged into one count: no join, and nothing that the library checks.
MERGED = """Topologies:
   Sub-topology: 0
    Source: web (topics: [orders])
      --> merge
    Source: app (topics: [app-orders])
      --> merge
    Processor: merge (stores: [])
      --> count
      <-- web, app
    Processor: count (stores: [counts])
      --> none
      <-- merge
"""
# Two streams merged without a store.
MERGED_STATELESS = MERGED.replace("[counts]", "[]")
# Two that have nothing in common.
APART = """Topologies:
   Sub-topology: 0
    Source: in (topics: [orders])
      --> count
    Processor: count (stores: [counts])
      --> none
      <-- in

  Sub-topology: 1
    Source: other-in (topics: [payments])
      --> sum
    Processor: sum (stores: [sums])
      --> none
      <-- other-in
"""
# A stream that is repartitioned and joined with a table.
REPARTITIONED_JOIN = """Topologies:
   Sub-topology: 0
    Source: in (topics: [orders])
      --> by-user-sink
    Sink: by-user-sink (topic: by-user-repartition)
      <-- in

  Sub-topology: 1
    Source: by-user-source (topics: [by-user-repartition])
      --> KSTREAM-JOIN-0000000009
    Source: users-source (topics: [users])
      --> KTABLE-SOURCE-0000000007
    Processor: KSTREAM-JOIN-0000000009 (stores: [users-store])
      --> none
      <-- by-user-source
    Processor: KTABLE-SOURCE-0000000007 (stores: [users-store])
      --> none
      <-- users-source
"""
# A stream that looks into a global table.
GLOBAL = """Topologies:
   Sub-topology: 0
    Source: in (topics: [orders])
      --> count
    Processor: count (stores: [counts])
      --> none
      <-- in

  Sub-topology: 1 for global store (will not generate tasks)
    Source: rates-source (topics: [rates])
      --> rates-processor
    Processor: rates-processor (stores: [rates-store])
      --> none
      <-- rates-source
"""
# A table that is counted by another key: each update takes its earlier value back.
TABLE_COUNTED = """Topologies:
   Sub-topology: 0
    Source: in (topics: [orders])
      --> KTABLE-SOURCE-0000000001
    Processor: KTABLE-SOURCE-0000000001 (stores: [orders-store])
      --> by-user-sink
      <-- in
    Sink: by-user-sink (topic: by-user-repartition)
      <-- KTABLE-SOURCE-0000000001

  Sub-topology: 1
    Source: by-user-source (topics: [by-user-repartition])
      --> count
    Processor: count (stores: [counts])
      --> none
      <-- by-user-source
"""
FED_BY_COPIER: Mapping[str, tuple[WriterSeen, ...]] = {"orders": (WriterSeen("copier", (("orders-sent", "orders"),)),)}


def facts(text: str, **changes: object) -> Declaration:
    """Facts of a program that gives no number and no partitioner; every store is a key-value store with a changelog."""
    topology = parse_topology(text)
    sinks = {node.name: DeclaredOperator(partitioner=DEFAULT) for _, node in topology.nodes() if isinstance(node, Sink)}
    topics = {name: DeclaredTopic(joined_with=frozenset()) for name in repartition_topics(topology)}
    stores = {name: DeclaredStore(kind="key_value", logging=True, source_table=False) for name in topology.stores}
    return Declaration(
        **{  # type: ignore[arg-type]
            "stores": stores,
            "topics": topics,
            "operators": sinks,
            "config": {},
            "not_read": {"config.x": "a password"},
            **changes,
        }
    )


def accepting(text: str) -> Declaration:
    """The same with every loss accepted."""
    found = facts(text)
    return replace(found, stores={name: replace(one, loss_acceptable=True) for name, one in found.stores.items()})


def growing(text: str = COUNTS, wanted: int = 12, declares: Declaration | None = None, **changes: object) -> GrowthSeen:
    """An application whose inputs have four partitions each, and whose internal topics fit."""
    declares = facts(text) if declares is None else declares
    topology = parse_topology(text)
    own = repartition_topics(topology)
    names = {name for sub in topology.subtopologies for source in sub.sources for name in source.topics} - own
    given: Any = changes.pop("inputs", {})
    inputs: dict[str, tuple[tuple[str, int], ...]] = {name: ((name, 4),) for name in names}
    inputs |= given
    known = numbers(topology, declares, inputs).known
    return GrowthSeen(
        **{
            "application": "orders",
            "application_id": "orders",
            "wanted": wanted,
            "described": Described("4.3.1", "4.3.1", "release 4.3.1 as it runs", text, declares),
            "group_type": "classic",
            "inputs": inputs,
            "there": {f"orders-{name}": count for name, count in known.items()},
            "control": ("orders",),
            "writers": FED_BY_COPIER,
            **changes,
        }  # type: ignore[arg-type]
    )


def forecast(seen: GrowthSeen, **changes: object) -> ForecastReading:
    """A thousand keys in each grown topic, two thirds of which move; `changes` are those of the first one."""
    closed = closure(seen)
    read = {one.changelog for one in closed.stores if one.kind}
    asked = [one for one in closed.grown if one.role == "input" or one.name in read]
    topics = [
        TopicForecast(
            one.name,
            "input" if one.role == "input" else "key_value",
            one.before,
            one.after,
            kept=KeyShare(347, 1_000, 10_000),
            moved=KeyShare(653, 3_000, 10_000),
            null_keys=KeyShare(),
        )
        for one in asked
    ]
    topics[0] = replace(topics[0], **changes)  # type: ignore[arg-type]
    offsets = tuple(ForecastTopic(one.topic, one.kind, one.before, one.after, 4_000, 0, 0) for one in topics)
    return ForecastReading(Taken(1_000, "test"), offsets, tuple(topics))


def growth_in_place() -> Plan:
    """The plan of an application whose copier has a setting of its own."""
    restart = restart_plan(reading(), declared(), None, {}, (), (), "code", at_once=True)
    [first, *others] = restart.facts.at_start
    facts = replace(restart.facts, at_start=(replace(first, settings=(("a", "b"),)), *others))
    switch = CopierSwitch(("orders",), SidePart("copier", "copy", restart.cluster, facts), ("orders-sent",))
    seen = growing(declares=accepting(COUNTS))
    found = forecast(seen).topics
    assert not isinstance(found, Missing)
    return growth_plan(restart, switch, closure(seen), found, (), "orders-id")
