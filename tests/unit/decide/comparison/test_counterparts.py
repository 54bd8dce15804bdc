"""Which store is which, over changes that developers make; every text is what the real library printed."""

import pytest
from kstreams_runbooks.decide.comparison.counterparts import Counterparts, Tie, counterparts
from kstreams_runbooks.decide.topology.graph import Role, store_roles, topic_roles
from kstreams_runbooks.decide.topology.text import parse_topology
from world.pairs import PAIRS, described


def stores(pair: str) -> Counterparts:
    before, after = described(pair)
    return counterparts(store_roles(before), store_roles(after))


def topics(pair: str) -> Counterparts:
    before, after = described(pair)
    return counterparts(topic_roles(before), topic_roles(after))


def count(number: int) -> str:
    return f"KSTREAM-AGGREGATE-STATE-STORE-{number:010}"


@pytest.mark.parametrize(
    ("pair", "renamed"),
    [
        ("filter-before-unnamed-count", ((count(1), count(2)),)),
        ("filter-moved-from-first-to-second-unnamed-count", ((count(2), count(1)),)),
        ("unnamed-counts-swapped", ((count(1), count(6)), (count(6), count(1)))),
        ("names-of-two-stores-exchanged", (("clicks-per-user", "shop-clicks"), ("shop-clicks", "clicks-per-user"))),
        ("store-name-added-to-unnamed-count", ((count(1), "clicks-per-user"),)),
        ("count-store-renamed", (("clicks-per-page", "page-clicks"),)),
        ("suppress-renamed", (("final-only-store", "closed-windows-store"),)),
    ],
)
def test_a_store_is_found_again_by_what_it_does(pair: str, renamed: tuple[tuple[str, str], ...]) -> None:
    """Whatever it is called now, and whoever has its old name."""
    found = stores(pair)
    assert found.renamed == renamed
    assert (found.removed, found.added, found.ties) == ((), (), ())


@pytest.mark.parametrize(
    ("pair", "removed", "renamed"),
    [
        ("first-of-two-unnamed-counts-removed", (count(1),), ((count(6), count(1)),)),
        ("one-of-two-unnamed-counts-with-outputs-removed", (count(1),), ((count(5), count(1)),)),
        ("named-suppress-removed", ("final-only-store",), ()),
    ],
)
def test_what_is_gone_is_not_what_has_its_name_now(
    pair: str, removed: tuple[str, ...], renamed: tuple[tuple[str, str], ...]
) -> None:
    """The second count moves up to the number of the first: its name is another store's data."""
    found = stores(pair)
    assert (found.removed, found.renamed) == (removed, renamed)


@pytest.mark.parametrize(
    ("pair", "tie"),
    [
        ("one-of-two-identical-unnamed-counts-removed", Tie((count(1), count(3)), (count(1),))),
        ("one-of-two-identical-filtered-counts-removed", Tie((count(2), count(5)), (count(2),))),
    ],
)
def test_two_that_do_the_same_cannot_be_told_apart(pair: str, tie: Tie) -> None:
    """Which of them was removed nobody can say: never the first, because it has the name."""
    found = stores(pair)
    assert found.ties == (tie,)
    assert found.pairs == ()


@pytest.mark.parametrize(
    ("pair", "renamed", "removed", "added"),
    [
        ("daily-orders-grouped-by-cleaned-key", (), (), ("GroupOrders-repartition",)),
        ("group-by-to-group-by-key", (), ("by-user-repartition",), ()),
        ("grouping-renamed", (("by-page-repartition", "by-url-repartition"),), (), ()),
        (
            "filter-before-unnamed-group-by",
            ((f"{count(2)}-repartition", f"{count(3)}-repartition"),),
            (),
            (),
        ),
    ],
)
def test_internal_topics_are_found_again_too(
    pair: str, renamed: tuple[tuple[str, str], ...], removed: tuple[str, ...], added: tuple[str, ...]
) -> None:
    """Added, removed and renamed are three different things for what lies in them."""
    found = topics(pair)
    assert (found.renamed, found.removed, found.added) == (renamed, removed, added)


_COUNT = """Topologies:
   Sub-topology: 0
    Source: clicks-source (topics: [{topic}])
      --> {operator}
    Processor: {operator} (stores: [{store}])
      --> none
      <-- clicks-source
"""


def _moved_to_another_topic(operator: str) -> Counterparts:
    """A count of another topic in place of one with a named store; nothing but the operator's name is alike."""
    before, after = (
        parse_topology(_COUNT.format(topic=topic, operator=operator, store=store))
        for topic, store in (("clicks", "clicks-store"), ("taps", count(1)))
    )
    return counterparts(store_roles(before), store_roles(after))


def test_the_store_of_an_operator_with_a_chosen_name_is_found_again() -> None:
    """Although it reads another topic and its store has lost its name."""
    assert _moved_to_another_topic("count-clicks").pairs == (("clicks-store", count(1)),)


def test_an_operator_with_a_generated_name_shows_nothing() -> None:
    found = _moved_to_another_topic("KSTREAM-AGGREGATE-0000000002")
    assert (found.pairs, found.removed, found.added) == ((), ("clicks-store",), (count(1),))


def _unnamed(topic: str, place: int) -> dict[str, Role]:
    """The role of the store of a count without any name."""
    text = _COUNT.format(topic=topic, operator=f"KSTREAM-AGGREGATE-{place + 1:010}", store=count(place))
    return {**store_roles(parse_topology(text))}


def test_a_count_of_another_topic_may_be_the_one_that_goes() -> None:
    """The topic may be replaced, or one count goes and another one comes: the text does not show it."""
    found = counterparts(_unnamed("clicks", 1), _unnamed("taps", 4))
    assert (found.ties, found.removed, found.added) == ((Tie((count(1),), (count(4),)),), (), ())


def test_a_count_of_another_topic_is_new_while_the_old_topic_is_read() -> None:
    before = _unnamed("clicks", 1)
    found = counterparts(before, {**before, **_unnamed("taps", 4)})
    assert (found.ties, found.added) == ((), (count(4),))


@pytest.mark.parametrize("pair", sorted(path.name for path in PAIRS.iterdir()))
def test_a_topology_is_its_own_counterpart(pair: str) -> None:
    """Nothing changed, nothing renamed; in every text that there is."""
    for roles in (of(topology) for topology in described(pair) for of in (store_roles, topic_roles)):
        found = counterparts(roles, roles)
        assert found.pairs == tuple((name, name) for name in sorted(roles))
        assert (found.removed, found.added, found.ties) == ((), (), ())
