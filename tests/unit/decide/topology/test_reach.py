"""What leads to an operator and what follows it: the same as a graph library finds, added up instead of listed."""

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st
from kstreams_runbooks.decide.topology.digraph import Digraph, Key
from kstreams_runbooks.decide.topology.reach import Around, Reach

_NODES = st.integers(0, 19)


def _key(number: int) -> Key:
    return "", f"n{number}"


@given(st.lists(st.tuples(_NODES, _NODES), max_size=60), st.lists(_NODES, min_size=1, max_size=3, unique=True))
def test_before_and_behind_are_the_ancestors_and_descendants(edges: list[tuple[int, int]], of: list[int]) -> None:
    """Circles and owners that lead to each other included."""
    keys, arrows = [*map(_key, range(20))], [(_key(one), _key(other)) for one, other in edges]
    made: nx.DiGraph[Key] = nx.DiGraph(arrows)
    made.add_nodes_from(keys)
    reach, owners = Reach(Digraph.of(keys, arrows), {key: key[1] for key in keys}), {_key(one) for one in of}
    before = {key for owner in owners for key in nx.ancestors(made, owner)} - owners
    behind = {key for owner in owners for key in nx.descendants(made, owner)} - owners
    assert reach.keys(reach.before(owners)) == before
    assert reach.keys(reach.behind(owners)) == behind
    assert reach.around(reach.before(owners)).size == len(before)


def test_sets_are_equal_where_their_labels_are_as_often_the_same() -> None:
    """The names do not matter, only what each is known by."""
    made = Digraph.of((), ((_key(one), _key(one + 1)) for one in range(5)))
    reach = Reach(made, dict(zip(map(_key, range(6)), "ababbc", strict=True)))

    def around(*numbers: int) -> Around:
        return reach.around(reach.bits(map(_key, numbers)))

    assert around(0, 1) == around(2, 3)
    assert around(0, 1) != around(0, 2)
    assert around(0, 1, 3) != around(0, 1, 2)
    assert around(0, 1, 3) == around(2, 1, 4)
    assert around() == Around(0, 0)


def test_large_sets_are_equal_where_their_labels_are_as_often_the_same() -> None:
    """They are added up eight keys at a time."""
    keys = [_key(number) for number in range(80)]
    reach = Reach(Digraph.of(keys, ()), {key: "ab"[number % 2] for number, key in enumerate(keys)})
    first, second = reach.bits(keys[:40]), reach.bits(keys[40:])
    assert reach.around(first) == reach.around(second)
    assert reach.keys(first) == {*keys[:40]}
    assert reach.around(first) != reach.around(reach.bits([*keys[:39], keys[40]]))
