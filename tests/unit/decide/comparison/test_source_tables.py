"""Which topics are tables: an operator whose name hides it leaves it unknown, in whatever order operators are read."""

import pytest
from kstreams_runbooks.decide.comparison.compared import Compared, Side, source_tables
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.declaration import Declaration

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
