"""Which topics are tables: an operator whose name hides it leaves it unknown, in whatever order operators are read."""

import pytest
from kstreams_runbooks.decide.comparison.compared import Compared, Side, fillers, source_tables
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredOperator, DeclaredStore

_AGGREGATES = [f"KSTREAM-AGGREGATE-{number:010}" for number in range(1, 7)]


@pytest.mark.parametrize(("hidden", "answer"), [([], False), (["joined"], None), (["joined", "KTABLE-SOURCE-0"], True)])
def test_one_reader_that_may_be_a_table_is_enough(hidden: list[str], answer: bool | None) -> None:
    """The other readers of the topic are aggregates, which no table is."""
    readers = [*_AGGREGATES, *hidden]
    lines = ["Topologies:", "Sub-topology: 0", "Source: read (topics: [in])", f"--> {', '.join(readers)}"]
    for name in readers:
        lines += [f"Processor: {name} (stores: [{name}-store])", "--> none", "<-- read"]
    assert source_tables(Side(parse_topology("\n".join(lines)))) == {"in": answer}


def _looked_into(by: str, read: str = "prices") -> Side:
    """A table of a topic, and a stream that looks into it; the other topics are written elsewhere."""
    sinks = ("sales", "fees", "prices", "costs")
    written = "".join(f"    Sink: to-{one} (topic: {one})\n      <-- raw\n" for one in sinks)
    text = f"""Topologies:
   Sub-topology: 0
    Source: in-{by} (topics: [{by}])
      --> lookup
    Source: KSTREAM-SOURCE-0000000001 (topics: [{read}])
      --> KTABLE-SOURCE-0000000002
    Processor: lookup (stores: [prices-store])
      --> out
      <-- in-{by}
    Sink: out (topic: priced)
      <-- lookup
    Processor: KTABLE-SOURCE-0000000002 (stores: [prices-store])
      --> none
      <-- KSTREAM-SOURCE-0000000001
  Sub-topology: 1
    Source: raw (topics: [raw])
      --> {", ".join(f"to-{one}" for one in sinks)}
{written}"""
    return Side(parse_topology(text), Declaration())


def test_what_looks_into_a_table_does_not_fill_it() -> None:
    """The store of a table has the records of its topic: another stream that looks into it changes nothing there."""
    assert Compared(_looked_into("sales"), _looked_into("fees")).fed_by_other == frozenset()
    assert Compared(_looked_into("sales"), _looked_into("fees", "costs")).fed_by_other == {"prices-store"}


def _shared(table: str, source: str, lookup: str, declared: Declaration | None = None) -> Side:
    """A table of `sensors`, and an operator behind `readings` that shares its store."""
    text = f"""Topologies:
   Sub-topology: 0
    Source: in-readings (topics: [readings])
      --> {lookup}
    Processor: {lookup} (stores: [sensor-store])
      --> none
      <-- in-readings
    Source: {source} (topics: [sensors])
      --> {table}
    Processor: {table} (stores: [sensor-store])
      --> none
      <-- {source}"""
    return Side(parse_topology(text), declared or Declaration())


_TABLE = Declaration({"sensor-store": DeclaredStore("key_value", source_table=True)})


@pytest.mark.parametrize(
    ("table", "source", "lookup", "declared", "sensors"),
    [
        ("KTABLE-SOURCE-0000000001", "KSTREAM-SOURCE-0000000000", "with-site", None, True),
        ("KTABLE-SOURCE-0000000001", "KSTREAM-SOURCE-0000000000", "KSTREAM-JOIN-0000000003", _TABLE, True),
        ("sensors", "sensors-source", "with-site", _TABLE, True),
        ("sensors", "sensors-source", "with-site", None, None),
        ("sensors", "sensors-source", "KSTREAM-LEFTJOIN-0000000003", _TABLE, True),
    ],
)
def test_a_join_right_behind_its_source_is_no_table(
    table: str, source: str, lookup: str, declared: Declaration | None, sensors: bool | None
) -> None:
    """Names of the library distinguish the two; without a declaration a table under a chosen name stays unknown."""
    side = _shared(table, source, lookup, declared)
    assert source_tables(side) == {"readings": False, "sensors": sensors}


def test_a_declared_join_is_no_table() -> None:
    """If no name distinguishes them, the kind of the join does; without it neither is known."""
    operators = {"with-site": DeclaredOperator(join="inner")}
    joined = Declaration(_TABLE.stores, operators=operators)
    assert source_tables(_shared("load", "in-sensors", "with-site", joined)) == {"readings": False, "sensors": True}
    assert source_tables(_shared("load", "in-sensors", "with-site", _TABLE)) == {"readings": None, "sensors": None}


def test_the_topic_that_restores_a_store_fills_it() -> None:
    """A read-only store has the topic of its own processor for a changelog, whatever else uses the store."""
    kept = Declaration({"sensor-store": DeclaredStore("key_value", source_table=False, changelog="sensors")})
    side = _shared("load", "in-sensors", "with-site", kept)
    assert fillers(side) == {"sensor-store": {"readings": False, "sensors": True}}
