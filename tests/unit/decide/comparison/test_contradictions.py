"""A declaration that cannot be one of its topology is bad input that names what contradicts what."""

import re
from dataclasses import replace

import pytest
from kstreams_runbooks.decide.comparison.compared import Side, topics_of
from kstreams_runbooks.decide.comparison.contradictions import check_declaration
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, DeclaredSuppression, DeclaredTopic
from world.pairs import compared, described

FILTERED = """Topologies:
   Sub-topology: 0
    Source: in (topics: [orders])
      --> count
    Processor: count (stores: [counts])
      --> filter
      <-- in
    Processor: filter (stores: [kept])
      --> final
      <-- count
    Processor: final (stores: [final-store])
      --> none
      <-- filter
"""
COUNT = "KSTREAM-AGGREGATE-STATE-STORE-0000000001"


@pytest.mark.parametrize(
    ("declared", "sentence"),
    [
        (Declaration(stores={"clicks": DeclaredStore()}), "stores.clicks: the topology has no store of that name"),
        (Declaration(topics={"clikcs": DeclaredTopic()}), "topics.clikcs: the topology has no topic of that name"),
        (
            Declaration(suppressions={"final": DeclaredSuppression("until_window_closes")}),
            "suppressions.final: the topology has no operator of that name",
        ),
        (
            Declaration(suppressions={"KTABLE-TOSTREAM-0000000003": DeclaredSuppression("until_window_closes")}),
            "that operator has 0 stores",
        ),
        (
            Declaration(suppressions={"KSTREAM-AGGREGATE-0000000002": DeclaredSuppression("until_window_closes")}),
            "by its generated name it is none",
        ),
        (
            Declaration(topics={"clicks": DeclaredTopic(joined_with=frozenset({"users"}))}),
            "topics.clicks.joined_with: the topology has no topic users",
        ),
        (Declaration(stores={COUNT: DeclaredStore("join")}), "by its generated name the store is"),
    ],
)
def test_what_contradicts_the_text_is_named(declared: Declaration, sentence: str) -> None:
    """The guide's clicks."""
    topology, _ = described("filter-before-unnamed-count")
    with pytest.raises(BadInput, match=re.escape(sentence)):
        check_declaration(Side(topology, declared))


def test_final_results_need_windows() -> None:
    """Kafka Streams builds no such thing, so one of the two is declared wrongly."""
    topology, _ = described("suppress-disabled")
    final = {"final-only": DeclaredSuppression("until_window_closes")}
    plain = Declaration(stores={"alerts-store": DeclaredStore("key_value")}, suppressions=final)
    with pytest.raises(BadInput, match=r"suppressions\.final-only\.mode: until_window_closes, but the store before it"):
        check_declaration(Side(topology, plain))
    check_declaration(Side(topology, replace(plain, stores={"alerts-store": DeclaredStore("window")})))


def test_a_filter_of_windows_keeps_a_key_value_store() -> None:
    """The library builds a suppression behind it if the table before the filter is windowed."""
    topology = parse_topology(FILTERED)
    final = {"final": DeclaredSuppression("until_window_closes")}
    kept = DeclaredStore("key_value", aggregate="none")
    stores = {"counts": DeclaredStore("window"), "kept": kept}
    check_declaration(Side(topology, Declaration(stores=stores, suppressions=final)))
    for wrong in ({"counts": DeclaredStore("key_value")}, {"kept": DeclaredStore("key_value", aggregate="count")}):
        with pytest.raises(BadInput, match="until_window_closes, but the store before it"):
            check_declaration(Side(topology, Declaration(stores={**stores, **wrong}, suppressions=final)))


def test_a_store_that_is_not_called_after_its_operator_is_no_buffer() -> None:
    """A count declared as a suppression would hide what becomes of its state."""
    topology, _ = described("count-store-renamed")
    declared = Declaration(suppressions={"count-clicks": DeclaredSuppression("until_time_limit", 0)})
    with pytest.raises(BadInput, match=r"its store is clicks-per-page \(a suppression's would be count-clicks-store\)"):
        check_declaration(Side(topology, declared))


def test_what_fits_passes() -> None:
    """A declaration may leave things out."""
    topology, _ = described("filter-before-unnamed-count")
    check_declaration(Side(topology, Declaration(stores={COUNT: DeclaredStore("key_value")})))
    check_declaration(Side(topology))


def _reading(pattern: str, changelog: str, *, is_global: bool | None = None) -> Side:
    topology = parse_topology(FILTERED.replace("(topics: [orders])", f"(topics: {pattern})"))
    assert any(source.pattern for sub in topology.subtopologies for source in sub.sources)
    store = DeclaredStore(changelog=changelog, is_global=is_global)
    return Side(topology, Declaration(stores={"counts": store}))


@pytest.mark.parametrize("pattern", ["foo.*", "rates-.+", "(a|b)"])
def test_a_changelog_that_no_pattern_matches_is_named(pattern: str) -> None:
    """A source with a pattern reads what matches it, and nothing else."""
    with pytest.raises(BadInput, match=r"stores\.counts\.changelog: rates, and no source .* reads "):
        check_declaration(_reading(pattern, "rates"))


@pytest.mark.parametrize("pattern", ["ra.*", "rates|other", "x[[a-c]&&[b]]"])
def test_a_changelog_that_a_pattern_may_match_passes(pattern: str) -> None:
    """Also a pattern that is not read here as Java reads it."""
    check_declaration(_reading(pattern, "rates"))


def test_a_store_that_facts_place_elsewhere_is_named() -> None:
    """The topology has it in a task; a declaration says nothing of it."""
    with pytest.raises(BadInput, match=r"stores\.counts\.global: true, and in the topology .* of tasks"):
        check_declaration(_reading("ra.*", "rates", is_global=True))
    check_declaration(_reading("ra.*", "rates", is_global=False))
    joined = compared("global-table-joiner-changed").after
    [store, *_] = sorted(name for sub in joined.topology.subtopologies if sub.is_global for name in sub.stores)
    for is_global in (True, None):
        check_declaration(replace(joined, declared=Declaration(stores={store: DeclaredStore(is_global=is_global)})))
    with pytest.raises(BadInput, match=r"global: false, and in the topology .* of global stores"):
        check_declaration(replace(joined, declared=Declaration(stores={store: DeclaredStore(is_global=False)})))


def test_a_changelog_that_contradicts_its_store_is_named() -> None:
    """Facts of a program have another topic as a changelog only if a source reads it, and only of a logged store."""
    given = compared("threads-added").after
    [store, *_] = sorted(given.topology.stores)
    source = next(topic for sub in given.topology.subtopologies for one in sub.sources for topic in topics_of(one))

    def of(changelog: str, *, logging: bool | None) -> Side:
        kept = replace(given.declared.stores.get(store, DeclaredStore()), changelog=changelog, logging=logging)
        return replace(given, declared=replace(given.declared, stores={**given.declared.stores, store: kept}))

    with pytest.raises(BadInput, match=rf"stores\.{store}\.changelog: nowhere, and no source .* reads it \(.*{source}"):
        check_declaration(of("nowhere", logging=True))
    with pytest.raises(BadInput, match=rf"stores\.{store}: logging is false, and topic {source} is its changelog"):
        check_declaration(of(source, logging=False))
    check_declaration(of(source, logging=True))
    check_declaration(of(source, logging=None))
