"""Operators around a store that changed their order, and new ones that give its records other keys."""

from dataclasses import replace
from typing import Any

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.state.order import (
    Reordered,
    filtered_before_join,
    keys_selected,
    moved_across,
    reordered,
    replaced_across,
    rows_held,
    rows_led_otherwise,
)
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
    assert _moved(before, after) == {"counts": "clean in front of it now"}
    assert _moved(after, before) == {"counts": "clean behind it now"}
    assert _moved(chain("count", "log"), after) == {}
    assert _moved(before, before) == {}
    both = _moved(chain("dedup", "enrich"), chain("enrich", "dedup"))
    assert both == {"seen": "enrich in front of it now", "people": "dedup behind it now"}


def _moved(before: Side, after: Side) -> dict[str, str]:
    return {store: moved.words for store, moved in reordered(Compared(before, after)).items()}


def test_an_operator_without_a_name_is_known_by_its_kind() -> None:
    """What only looks at a record changes none."""
    [moved] = reordered(compared("unnamed-map-values-moved-behind-sum")).values()
    assert moved == Reordered("KSTREAM-MAPVALUES-0000000003 behind it now", harmless=False)
    [moved] = reordered(compared("unnamed-peek-moved-in-front-of-sum")).values()
    assert moved == Reordered("KSTREAM-PEEK-0000000001 in front of it now", harmless=True)


def test_operators_that_change_on_both_sides_of_a_topic_may_be_one() -> None:
    """By a chosen name; generated names show their kinds."""
    topics, case = {"spread-repartition"}, compared("map-values-renamed-and-moved-behind-repartition")
    words = "trimmed went in front of it, and ended came behind it"
    assert replaced_across(case, topics) == {"spread-repartition": words}
    back = replaced_across(Compared(case.after, case.before), topics)
    assert back == {"spread-repartition": "ended went behind it, and trimmed came in front of it"}
    assert replaced_across(case, set()) == moved_across(case, topics) == {}
    assert replaced_across(compared("map-values-moved-behind-repartition"), topics) == {}
    assert replaced_across(compared("filter-before-named-repartition"), topics) == {}


def test_an_operator_that_crosses_a_topic_is_named_with_the_side_that_it_is_on() -> None:
    """One without a name is known by its kind; what only looks, and a filter that is passed twice, does no harm."""
    topics = {"spread-repartition"}
    behind = compared("map-values-moved-behind-repartition")
    front = compared("map-values-moved-in-front-of-repartition")
    assert moved_across(behind, topics) == {"spread-repartition": "trimmed behind it now"}
    assert moved_across(front, topics) == {"spread-repartition": "trimmed in front of it now"}
    assert moved_across(behind, set()) == moved_across(behind, {"another"}) == {}
    assert moved_across(Compared(behind.before, behind.before), topics) == {}
    unnamed = compared("unnamed-map-values-moved-behind-repartition")
    assert moved_across(unnamed, topics) == {"spread-repartition": "KSTREAM-MAPVALUES-0000000004 behind it now"}
    twice = compared("unnamed-filter-moved-behind-repartition")
    assert moved_across(twice, topics) == {}
    assert moved_across(Compared(twice.after, twice.before), topics) != {}
    assert moved_across(compared("filter-before-named-repartition"), topics) == {}


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


def _led(versions: Compared) -> tuple[dict[str, str], dict[str, str]]:
    groups, subscriptions = rows_led_otherwise(versions)
    return dict(groups.changed), dict(subscriptions.changed)


def test_the_left_table_of_a_foreign_key_join_takes_its_old_row_from_what_is_in_front() -> None:
    """An operator that comes or goes there is named at the store of the subscriptions, and nowhere else."""
    subscriptions = "parcel-van-subscription-store"
    assert _led(compared("filter-removed-before-left-table")) == ({}, {subscriptions: "large"})
    assert _led(compared("filter-added-before-right-table")) == ({}, {})


def test_a_store_of_both_versions_has_the_old_row() -> None:
    """What is in front of it makes new rows; whether an operator fills a store its facts show, or a generated name."""
    case = compared("filter-added-before-store-of-left-table")
    assert _led(case) == ({}, {})
    without = Compared(*(_with_stores(side, filled_by=None) for side in (case.before, case.after)))
    assert _led(without)[1] == {"parcel-van-subscription-store": "large"}


def test_code_in_front_of_the_count_of_a_table_is_asked_for() -> None:
    """Both versions were read, and no fact shows a condition; a person answers for it, or one build does."""
    case = compared("filter-becomes-filter-not-before-table-count")
    same = Compared(case.after, case.after)
    assert rows_led_otherwise(same)[0].fact("parcels-of-vans") is False
    open_ = replace(case.after, declared=replace(case.after.declared, unchanged=frozenset()))
    groups, subscriptions = rows_led_otherwise(Compared(open_, open_))
    assert groups.fact("parcels-of-vans") is None
    [asked] = groups.asked("parcels-of-vans")
    assert (asked.where, asked.field) == ("the program", "other_code")
    assert asked.reason.startswith("the code of operator large is not readable")
    assert (subscriptions.changed, subscriptions.unread) == ({}, {})
    one_build = replace(open_, declared=replace(open_.declared, same_program="by its digest"))
    assert rows_led_otherwise(Compared(open_, one_build))[0].fact("parcels-of-vans") is False


def test_a_filter_in_front_of_a_join_of_tables_leaves_rows_out() -> None:
    """An operator that is known to keep each row leaves none out; one that is not known may."""
    case = compared("filter-added-before-joined-table")
    assert filtered_before_join(case) == {"parcel-van-join-this": "large"}
    kept = compared("map-values-added-before-joined-table")
    assert filtered_before_join(kept) == {}
    unread = replace(kept.after, declared=replace(kept.after.declared, operators={}))
    assert filtered_before_join(Compared(kept.before, unread)) == {"parcel-van-join-this": "trimmed"}


def _with_stores(side: Side, **fields: Any) -> Side:
    stores = {name: replace(one, **fields) for name, one in side.declared.stores.items()}
    return replace(side, declared=replace(side.declared, stores=stores))


def test_a_row_that_goes_in_front_of_a_suppression() -> None:
    """A store there has no old row yet; an operator that leaves no row out forwards each of them."""
    case = compared("filter-before-suppress-materialized")
    assert rows_held(case, {"fewer"}).stored == {"fewer": "more-than-one"}
    assert rows_held(case, set()).stored == {}
    assert rows_held(Compared(case.after, case.after), {"fewer"}).stored == {}
    assert rows_held(compared("map-values-before-suppress-materialized"), {"fewer"}).stored == {}
    added = compared("filter-added-before-named-suppress")
    assert rows_held(added, {"fewer"}).filtered == {"fewer": "more-than-one"}
    # nothing in front of the table's own store counts
    assert rows_held(compared("suppress-disabled"), {"final-only"}).filtered == {}
