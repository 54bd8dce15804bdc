"""The topics that grow together, with inputs that look alike and do not."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.growth.closure import Closure, closure
from kstreams_runbooks.model.topology.declaration import DeclaredStore, DeclaredTopic
from kstreams_runbooks.model.topology.growth import GrowthSeen
from lab.settings import CHECKOUT
from world.growing import (
    APART,
    GLOBAL,
    JOINED,
    MERGED,
    MERGED_STATELESS,
    REPARTITIONED_JOIN,
    STATELESS,
    facts,
    growing,
)
from world.sides import COUNTS

_ORDERS = CHECKOUT / "tests" / "apps" / "orders" / "src" / "test" / "resources" / "topology-4.3.1.1.txt"


def grown(seen: GrowthSeen) -> dict[str, int]:
    """The new number of each grown topic; nothing is refused or unknown."""
    closed = closure(seen)
    assert (closed.refused, closed.unknown) == ((), ())
    return {one.name: one.after for one in closed.grown}


def refused(seen: GrowthSeen) -> str:
    """The only refusal, without topics."""
    closed = closure(seen)
    assert (closed.grown, closed.unknown) == ((), ())
    [reason] = closed.refused
    return reason


def unknown(seen: GrowthSeen) -> str:
    """The only missing fact, without topics."""
    closed = closure(seen)
    assert (closed.grown, closed.refused) == ((), ())
    [reason] = closed.unknown
    return reason


def test_an_input_takes_its_repartition_topic_and_the_changelog_behind_along() -> None:
    """Their numbers follow from the input."""
    closed = closure(growing())
    assert {one.name: (one.before, one.after, one.role) for one in closed.grown} == {
        "orders": (4, 12, "input"),
        "orders-by-customer-repartition": (4, 12, "repartition"),
        "orders-counts-changelog": (4, 12, "changelog"),
    }
    assert closed.tasks == (8, 24)
    assert [(one.name, one.kind, one.changelog) for one in closed.stores] == [
        ("counts", "key_value", "orders-counts-changelog")
    ]


@pytest.mark.parametrize(("text", "other"), [(JOINED, "payments"), (MERGED, "app-orders")])
def test_an_input_that_shares_a_store_grows_too(text: str, other: str) -> None:
    """A join and a merge in front of one store: a key needs both of its topics in one partition."""
    found = grown(growing(text, topics=("orders",)))
    assert found[other] == found["orders"] == 12


@pytest.mark.parametrize(("text", "other"), [(APART, "payments"), (MERGED_STATELESS, "app-orders")])
def test_an_input_without_a_common_store_stays(text: str, other: str) -> None:
    """Another subtopology, and a merge that keeps nothing by key."""
    seen = growing(text, topics=("orders",))
    assert other not in grown(seen)
    assert (other, 4) in {(one.name, one.partitions) for one in closure(seen).kept}


def test_a_table_that_a_repartitioned_stream_is_joined_with_decides_alone() -> None:
    """The library gives the repartition topic the number of the table: only that makes it grow."""
    joined = {"by-user-repartition": DeclaredTopic(joined_with=frozenset({"users"}))}
    seen = growing(REPARTITIONED_JOIN, declares=facts(REPARTITIONED_JOIN, topics=joined))
    assert set(grown(replace(seen, topics=("orders",)))) == {"orders"}
    assert set(grown(replace(seen, topics=("users",)))) == {
        "users",
        "orders-by-user-repartition",
        "orders-users-store-changelog",
    }


def test_both_sides_of_a_foreign_key_join_take_their_topics_along() -> None:
    """The orders application has 16 topics; of one side alone the library's own order decides a number."""
    text = _ORDERS.read_text(encoding="utf-8")
    own = facts(text)
    joined = {
        "orders-enriched-subscription-registration-topic": frozenset({"customers"}),
        "orders-enriched-subscription-response-topic": frozenset({"orders"}),
    }
    topics = {name: DeclaredTopic(joined_with=joined.get(name, frozenset())) for name in own.topics}
    seen = growing(text, declares=replace(own, topics=topics))
    found = grown(seen)
    assert {f"orders-{name}" for name in joined} < found.keys()
    assert (len(found), set(found.values()), closure(seen).tasks) == (16, {12}, (20, 60))
    alone = closure(replace(seen, topics=("orders",)))
    assert alone.grown == ()
    assert "the library's own order decides" in alone.unknown[0]


def test_a_global_table_never_grows_with_the_tasks() -> None:
    """Every instance reads it whole; its name is refused as an input that grows."""
    assert "rates" not in grown(growing(GLOBAL))
    assert "every instance reads whole" in refused(growing(GLOBAL, topics=("rates",)))


def test_outputs_keep_their_number_and_their_readers_are_named() -> None:
    """And so does an output that nobody declares to read."""
    seen = growing(STATELESS, there={"routed": 4}, readers={"routed": ("billing",)})
    [kept] = closure(seen).kept
    assert (kept.name, kept.partitions) == ("routed", 4)
    assert kept.why.endswith("no reader has to grow; read by billing")


def test_a_number_that_the_program_gives_stays() -> None:
    """Behind it nothing grows: only a release changes it."""
    own = facts(COUNTS, topics={"by-customer-repartition": DeclaredTopic(partitions=4, joined_with=frozenset())})
    closed = closure(growing(declares=own))
    assert {one.name for one in closed.grown} == {"orders"}
    assert ("orders-by-customer-repartition", 4) in {(one.name, one.partitions) for one in closed.kept}
    assert closed.stores == ()


def test_a_number_that_the_program_gives_to_a_joined_topic_is_a_release_first() -> None:
    """The table would have twelve and the repartition topic four."""
    topics = {"by-user-repartition": DeclaredTopic(partitions=4, joined_with=frozenset({"users"}))}
    own = facts(REPARTITIONED_JOIN, topics=topics)
    reason = refused(growing(REPARTITIONED_JOIN, declares=own, topics=("users",)))
    assert "its program gives it 4 partitions (Repartitioned)" in reason
    assert "a release with 12 comes first" in reason


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (growing(wanted=4), "no input has fewer than 4 partitions"),
        (growing(wanted=3), "input orders: has 4 partitions (expected fewer than 3): Kafka cannot remove partitions"),
        (growing(topics=("orders",), wanted=4), "input orders: has 4 partitions already"),
        (growing(topics=("no-such",)), "topic no-such: is not an input of orders (expected one of orders)"),
        (growing(topics=("by-customer-repartition",)), "is not an input of orders"),
        (
            growing(JOINED, inputs={"payments": (("payments", 24),)}, topics=("orders",)),
            "input payments: has 24 partitions, and goes with orders",
        ),
        (
            growing(COUNTS.replace("(topics: [orders])", "(topics: orders-.*)"), inputs={"orders-.*": ()}),
            "source pattern orders-.*: the application reads by a pattern",
        ),
        (
            growing(there={"orders-by-customer-repartition": 6, "orders-counts-changelog": 4}),
            "internal topic orders-by-customer-repartition: has 6 partitions, and the topology demands 4",
        ),
    ],
)
def test_what_cannot_grow_is_refused_with_the_observed_number(seen: GrowthSeen, reason: str) -> None:
    assert reason in " ".join(closure(seen).refused)
    assert closure(seen).grown == ()


def test_equal_numbers_are_no_growth_but_for_the_others() -> None:
    """An input that has the number already is left out, and joins nothing."""
    seen = growing(APART, inputs={"payments": (("payments", 12),)})
    assert {one.name for one in closure(seen).inputs} == {"orders"}


@pytest.mark.parametrize("how", ["read_only", "setting"])
def test_an_input_that_is_the_changelog_of_its_table_is_refused(how: str) -> None:
    """`reuse.ktable.source.topics`, and a store that is read only: its rows stay where nothing reads them."""
    text = TABLE
    if how == "setting":
        own = facts(text, config={"topology.optimization": "all"}, not_read={})
        own = replace(
            own,
            stores={"users-store": DeclaredStore(kind="key_value", logging=True, source_table=True)},
        )
    else:
        own = replace(
            facts(text), stores={"users-store": DeclaredStore(kind="key_value", logging=True, changelog="users")}
        )
    assert "it is the changelog of its own table users-store" in refused(growing(text, declares=own))


def test_a_table_with_a_changelog_of_its_own_grows() -> None:
    """The same program without the optimization."""
    assert "orders-users-store-changelog" in grown(growing(TABLE))


TABLE = """Topologies:
   Sub-topology: 0
    Source: users-source (topics: [users])
      --> KTABLE-SOURCE-0000000001
    Processor: KTABLE-SOURCE-0000000001 (stores: [users-store])
      --> none
      <-- users-source
"""


def test_facts_that_are_missing_are_not_known() -> None:
    """Never the default: the program may give a number, an input may be hidden, a store may reuse its topic."""
    bare = replace(facts(COUNTS), topics={}, not_read={})
    assert "topics.by-customer-repartition.partitions: is not known" in unknown(growing(declares=bare))
    hidden = growing(inputs={}, hidden={"orders": "topic orders is not visible to this login"})
    hidden = replace(hidden, inputs={})
    assert unknown(hidden) == "topic orders is not visible to this login"
    gone = growing(there={})
    assert "internal topic orders-by-customer-repartition: does not exist" in closure(gone).unknown[0]
    text = TABLE.replace("KTABLE-SOURCE-0000000001", "users-table")
    reuses = facts(text, config={"topology.optimization": "all"}, not_read={}, stores={})
    assert "whether the store reuses its input as changelog is not known" in " ".join(
        closure(growing(text, declares=reuses)).unknown
    )


def test_a_hidden_internal_topic_is_not_taken_for_a_missing_one() -> None:
    seen = growing(
        there={"orders-by-customer-repartition": 4},
        hidden={"orders-counts-changelog": "topic orders-counts-changelog is not visible to this login"},
    )
    assert unknown(seen) == "topic orders-counts-changelog is not visible to this login"


@pytest.mark.parametrize(("wanted", "merges"), [(12, False), (8, False), (6, True), (5, True)])
def test_another_number_than_a_multiple_merges_partitions(wanted: int, merges: bool) -> None:
    assert bool(closure(growing(wanted=wanted)).merged) is merges


def test_a_store_whose_keys_have_another_form_is_not_forecast() -> None:
    """A join of streams keeps records under keys of its own."""
    closed: Closure = closure(growing(JOINED))
    assert [one.kind for one in closed.stores] == [None, None]
