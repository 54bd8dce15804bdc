"""Operators around a store that changed their order, and new ones that give its records other keys."""

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.state.order import keys_selected, reordered
from kstreams_runbooks.decide.comparison.state.persistent import stores
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore
from world.pairs import compared

# The store of each operator that has one.
STORES = {"dedup": "seen", "enrich": "people", "count": "counts", "KSTREAM-AGGREGATE-0000000001": "first"}


def chain(*operators: str, declared: Declaration | None = None) -> Side:
    """Operators behind one source, each behind the one before it."""
    lines = ["Topologies:", "   Sub-topology: 0", "    Source: in (topics: [tickets])", f"      --> {operators[0]}"]
    for before, own, after in zip(("in", *operators), operators, (*operators[1:], "none"), strict=False):
        lines += [
            f"    Processor: {own} (stores: [{STORES.get(own, '')}])",
            f"      --> {after}",
            f"      <-- {before}",
        ]
    return Side(parse_topology("\n".join(lines) + "\n"), declared or Declaration())


def swapped(before: Side, after: Side) -> set[str]:
    """Stores that read the state of another."""
    return {one.name for one in stores(Compared(before, after)) if one.facts["swapped"]}


def test_an_operator_that_moves_is_named_at_each_store_that_it_passes() -> None:
    """One that stays on its side of a store is not, nor one that is new."""
    before, after = chain("count", "clean", "log"), chain("clean", "count", "log")
    assert reordered(Compared(before, after)) == {"counts": "clean in front of it now"}
    assert reordered(Compared(after, before)) == {"counts": "clean behind it now"}
    assert reordered(Compared(chain("count", "log"), after)) == {}
    assert reordered(Compared(before, before)) == {}
    both = reordered(Compared(chain("dedup", "enrich"), chain("enrich", "dedup")))
    assert both == {"seen": "enrich in front of it now", "people": "dedup behind it now"}


def test_processors_that_change_places_keep_their_stores() -> None:
    """Each store stays with its operator; operators without a chosen name may have exchanged them."""
    assert swapped(chain("dedup", "enrich"), chain("enrich", "dedup")) == set()
    other = Side(
        parse_topology(str(_text()).replace("[seen]", "[x]").replace("[people]", "[seen]").replace("[x]", "[people]"))
    )
    assert swapped(Side(parse_topology(_text())), other) == {"seen", "people"}


def _text() -> str:
    return """Topologies:
   Sub-topology: 0
    Source: in (topics: [tickets])
      --> dedup
    Processor: dedup (stores: [seen])
      --> enrich
      <-- in
    Processor: enrich (stores: [people])
      --> none
      <-- dedup
"""


def test_a_pair_that_swapped_names_is_one_sentence() -> None:
    """Its two findings have the same words."""
    pair = compared("unnamed-counts-swapped")
    assert len({one.said["exchanged"] for one in stores(pair) if one.facts["swapped"]}) == 1


def test_a_new_operator_that_selects_keys_contradicts_a_declared_key() -> None:
    """No topic is between it and the store; another new operator, and one that was there, does not."""
    select = "KSTREAM-KEY-SELECT-0000000003"
    before, after = chain("enrich"), chain(select, "dedup", "enrich")
    assert keys_selected(Compared(before, after)) == {"people": select, "seen": select}
    assert keys_selected(Compared(after, after)) == {}
    assert keys_selected(Compared(before, chain("KSTREAM-FILTER-0000000003", "enrich"))) == {}
    assert keys_selected(Compared(before, chain("enrich", select))) == {}


def test_only_a_key_that_is_declared_as_unchanged_is_contradicted() -> None:
    """One that is not declared is asked for, and another one has a finding of its own."""
    select = "KSTREAM-KEY-SELECT-0000000003"

    def contradicted(*keys: str | None) -> object:
        old, new = (Declaration(stores={"people": DeclaredStore(kind="key_value", key=key)}) for key in keys)
        sides = chain("enrich", declared=old), chain(select, "enrich", declared=new)
        return next(one.facts["key_selected"] for one in stores(Compared(*sides)) if one.name == "people")

    assert contradicted("person", "person") is True
    assert contradicted("person", "ticket") is False
    assert contradicted("person", None) is False
