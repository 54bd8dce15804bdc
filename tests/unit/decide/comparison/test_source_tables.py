"""Which topics are tables: an operator whose name hides it leaves it unknown, in whatever order operators are read."""

import pytest
from kstreams_runbooks.decide.comparison.compared import Side, source_tables
from kstreams_runbooks.decide.topology.text import parse_topology

_AGGREGATES = [f"KSTREAM-AGGREGATE-{number:010}" for number in range(1, 7)]


@pytest.mark.parametrize(("hidden", "answer"), [([], False), (["joined"], None), (["joined", "KTABLE-SOURCE-0"], True)])
def test_one_reader_that_may_be_a_table_is_enough(hidden: list[str], answer: bool | None) -> None:
    """The other readers of the topic are aggregates, which no table is."""
    readers = [*_AGGREGATES, *hidden]
    lines = ["Topologies:", "Sub-topology: 0", "Source: read (topics: [in])", f"--> {', '.join(readers)}"]
    for name in readers:
        lines += [f"Processor: {name} (stores: [{name}-store])", "--> none", "<-- read"]
    assert source_tables(Side(parse_topology("\n".join(lines)))) == {"in": answer}
