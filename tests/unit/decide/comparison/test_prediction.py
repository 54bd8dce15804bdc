"""Names on the cluster and on the disks after a change; every text is what the real library printed."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.prediction import InternalTopic, Prediction, Restore, predicted
from kstreams_runbooks.decide.topology.partitions import partition_counts, task_counts
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.declaration import DeclaredTopic
from kstreams_runbooks.model.topology.topology import Topology
from world.pairs import compared, described

_JOIN_BEHIND_REPARTITION = """Topologies:
   Sub-topology: 0
    Source: orders (topics: [orders])
      --> orders-sink
    Sink: orders-sink (topic: by-customer-repartition)
      <-- orders

  Sub-topology: 1
    Source: by-customer (topics: [by-customer-repartition])
      --> with-customer
    Source: customers (topics: [customers])
      --> customers-table
    Processor: customers-table (stores: [customers-store])
      --> none
      <-- customers
    Processor: with-customer (stores: [customers-store])
      --> by-country-sink
      <-- by-customer
    Sink: by-country-sink (topic: by-country-repartition)
      <-- with-customer

  Sub-topology: 2
    Source: by-country (topics: [by-country-repartition])
      --> count
    Processor: count (stores: [count-store])
      --> none
      <-- by-country
"""


def prediction(case: str, **partitions: int) -> Prediction:
    """What is predicted with these numbers of partitions declared beside the case's declarations."""
    both = compared(case)
    return predicted(Compared(with_partitions(both.before, partitions), with_partitions(both.after, partitions)))


def with_partitions(side: Side, partitions: dict[str, int]) -> Side:
    there = {**side.declared.topics}
    for name in partitions.keys() & (side.read() | side.internal):
        there[name] = replace(there.get(name, DeclaredTopic()), partitions=partitions[name])
    return replace(side, declared=replace(side.declared, topics=there))


def internal(topology: Topology, partitions: dict[str, int]) -> dict[str, int]:
    """The numbers that are told, but for those given."""
    counts = partition_counts(topology, partitions)
    return {name: number for name, number in counts.items() if name not in partitions}


def test_a_shifted_number_creates_one_changelog_and_leaves_one_behind() -> None:
    """The guide's first example."""
    store = "app-KSTREAM-AGGREGATE-STATE-STORE-{:010}-changelog"
    assert prediction("filter-before-unnamed-count", clicks=6) == Prediction(
        created=(InternalTopic(store.format(2), 6),),
        orphaned=(InternalTopic(store.format(1), 6),),
        kept=(),
        restores=(),
        stale_directories=(),
    )


def test_a_new_repartition_topic_moves_the_store_behind_it() -> None:
    """The guide's second example: the changelog stays, and is restored in another task directory."""
    assert prediction("daily-orders-grouped-by-cleaned-key") == Prediction(
        created=(InternalTopic("app-GroupOrders-repartition", None),),
        orphaned=(),
        kept=(InternalTopic("app-orders-changelog", None),),
        restores=(Restore("orders", "app-orders-changelog", "0", "1", "moves from subtopology 0 to 1"),),
        stale_directories=(),
    )


def test_a_subtopology_less_leaves_its_directories() -> None:
    """And the topic between the two."""
    found = prediction("group-by-to-group-by-key", payments=3)
    assert found.orphaned == (InternalTopic("app-by-user-repartition", 3),)
    assert [(one.store, one.before, one.after) for one in found.restores] == [("payments-store", "1", "0")]
    assert found.stale_directories == ("1_",)


def test_a_subtopology_with_fewer_tasks_leaves_those_directories() -> None:
    """Two subtopologies change numbers; where partitions are not declared, none of it is known."""
    found = prediction("named-subtopologies-swapped", payments=3, refunds=6)
    assert found.stale_directories == ("1_3", "1_4", "1_5")
    assert [one.store for one in found.restores] == ["payments-store", "refunds-store"]
    assert prediction("named-subtopologies-swapped", payments=3).stale_directories == ()


def test_without_a_store_there_are_no_directories() -> None:
    """Subtopologies that change numbers, one of them with fewer tasks than the other."""
    assert prediction("stateless-subtopologies-swapped", payments=3, refunds=6).stale_directories == ()


def test_a_global_store_has_neither_changelog_nor_tasks() -> None:
    """It takes the number 0, so that everything else moves."""
    found = prediction("global-table-added-before-stream")
    assert found.created == ()
    assert [one.store for one in found.restores] == ["payments-store"]
    assert found.stale_directories == ("0_",)


def test_a_topic_of_ones_own_between_two_parts_is_no_internal_topic() -> None:
    """It has no prefix, and nobody is to delete it."""
    found = prediction("own-topic-replaced-by-repartition", **{"events": 3, "events-spread": 8})
    assert found.orphaned == ()
    assert found.created == (InternalTopic("app-spread-repartition", 8),)


def test_a_changelog_that_stays_is_refused_with_another_number_of_partitions() -> None:
    """More tasks in front of a store that has a changelog already: the new version does not start."""
    found = prediction("repartition-added", events=3)
    assert found.kept == (InternalTopic("app-events-store-changelog", 3),)
    assert found.refused == (InternalTopic("app-events-store-changelog", 8),)
    assert prediction("repartition-added", events=8).refused == ()


def test_a_table_whose_topic_becomes_its_changelog_is_read_back_from_it() -> None:
    """The other way round its new changelog is empty: there is nothing to read back."""
    found = prediction("optimization-enabled-for-named-table", users=3)
    assert found.orphaned == (InternalTopic("app-users-store-changelog", 3),)
    assert found.restores == (Restore("users-store", "users", "0", "0", "is read back from another topic than before"),)
    back = prediction("optimization-disabled-for-named-table", users=3)
    assert back.created == found.orphaned
    assert back.restores == ()


def test_a_table_that_reads_another_topic_has_nothing_to_be_read_back() -> None:
    """The group has read none of it."""
    assert prediction("table-topic-replaced-with-source-as-changelog").restores == ()


def test_another_application_id_has_nothing_to_restore() -> None:
    """Its changelogs are new ones, wherever a store is now."""
    both = compared("named-subtopologies-swapped")
    config = {**(both.after.declared.config or {}), "application.id": "other"}
    found = predicted(Compared(both.before, replace(both.after, declared=replace(both.after.declared, config=config))))
    assert found.restores == ()
    assert [topic.name for topic in found.created] == [
        "other-payments-store-changelog",
        "other-refunds-store-changelog",
    ]


def test_another_state_directory_restores_what_is_kept() -> None:
    """Nothing is found there."""
    both = compared("count-processor-renamed")
    config = {**(both.after.declared.config or {}), "state.dir": "/data/other"}
    found = predicted(Compared(both.before, replace(both.after, declared=replace(both.after.declared, config=config))))
    assert {one.why for one in found.restores} == {"state.dir is another one"}


def test_a_store_that_becomes_versioned_is_read_back() -> None:
    """In full, where it is; a table that stays as it is keeps its files."""
    found = prediction("store-of-joined-table-becomes-versioned")
    why = "its task directories are deleted"
    assert found.restores == (Restore("prices-table", "app-prices-table-changelog", "0", "0", why),)
    assert prediction("table-joiner-changed").restores == ()


def test_each_topic_of_a_foreign_key_join_has_as_many_partitions_as_the_table_that_it_is_read_beside() -> None:
    """The two hang on each other."""
    topology, _ = described("foreign-key-join-renamed")
    assert internal(topology, {"trades": 3, "traders": 6}) == {
        "trade-trader-subscription-registration-topic": 6,
        "trade-trader-subscription-response-topic": 3,
        "trade-trader-subscription-store-changelog": 6,
        "traders-table-changelog": 6,
        "trades-table-changelog": 3,
        "joined-changelog": 3,
    }


def test_what_is_joined_with_a_topic_that_is_not_declared_is_not_told() -> None:
    """The other side is."""
    topology, _ = described("foreign-key-join-renamed")
    assert internal(topology, {"traders": 6}) == {
        "trade-trader-subscription-registration-topic": 6,
        "trade-trader-subscription-store-changelog": 6,
        "traders-table-changelog": 6,
    }


def test_a_repartition_topic_takes_the_number_of_what_it_is_joined_with() -> None:
    """Not the one of what is written to it."""
    _, topology = described("select-key-added-on-one-side-of-join")
    counts = partition_counts(topology, {"views": 3, "purchases": 6})
    assert counts["view-purchase-right-repartition"] == 3
    assert task_counts(topology, counts) == {"0": 3, "1": 6}


@pytest.mark.parametrize(("orders", "customers", "by_country"), [(4, 4, 4), (9, 4, None), (4, 9, 9)])
def test_a_number_that_hangs_on_an_order_of_hashes_is_not_told(
    orders: int, customers: int, by_country: int | None
) -> None:
    """Behind the join the library takes the first number of the repartition topic, if it has counted it by then."""
    counts = internal(parse_topology(_JOIN_BEHIND_REPARTITION), {"orders": orders, "customers": customers})
    assert counts["by-customer-repartition"] == customers
    assert counts.get("by-country-repartition") == counts.get("count-store-changelog") == by_country


@pytest.mark.parametrize(
    ("case", "restores"),
    [
        ("global-table-store-renamed", [("exchange-rates", "rates", None, "1")]),
        ("global-table-topic-changed", [("rates-store", "rates-v2", "1", "1")]),
        ("one-of-two-global-tables-removed", [("rates-store", "rates", "2", "1")]),
        ("second-global-table-added", []),
        ("global-store-in-memory-renamed", []),
        ("only-global-table-removed", []),
    ],
)
def test_global_stores_are_read_in_full_once_their_directory_is_deleted(
    case: str, restores: list[tuple[str, str, str | None, str]]
) -> None:
    """Those that the new version has on the disk; the near misses keep the directory."""
    found = prediction(case).restores
    assert [(one.store, one.changelog, one.before, one.after) for one in found] == restores
    assert {one.why for one in found} <= {"the directory `global` is deleted"}
