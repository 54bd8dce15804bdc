"""The graph of a topology: the same arrows and circles as a graph library finds."""

from itertools import pairwise

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st
from kstreams_runbooks.decide.topology.digraph import Digraph, Key

_KEYS = [("", f"n{number}") for number in range(12)]


@given(st.lists(st.tuples(st.sampled_from(_KEYS), st.sampled_from(_KEYS)), max_size=40))
def test_circles_are_the_strongly_connected_components_in_a_topological_order(arrows: list[tuple[Key, Key]]) -> None:
    """A key that leads to itself, and keys without an arrow, are circles of one."""
    made = Digraph.of(_KEYS, arrows)
    peer: nx.DiGraph[Key] = nx.DiGraph(arrows)
    peer.add_nodes_from(_KEYS)
    assert sorted(map(sorted, made.circles())) == sorted(map(sorted, nx.strongly_connected_components(peer)))
    place = {key: number for number, circle in enumerate(made.circles()) for key in circle}
    assert all(place[one] <= place[other] for one, other in arrows)


@given(st.lists(st.tuples(st.sampled_from(_KEYS), st.sampled_from(_KEYS)), max_size=40))
def test_arrows_lead_both_ways_and_count_once(arrows: list[tuple[Key, Key]]) -> None:
    """Keys of arrows that were not given come behind those that were."""
    made = Digraph.of(_KEYS[:3], arrows)
    assert [*made.successors][:3] == _KEYS[:3]
    assert made.successors.keys() == made.predecessors.keys() == {*_KEYS[:3], *(key for each in arrows for key in each)}
    for found, wanted in ((made.successors, arrows), (made.predecessors, [(other, one) for one, other in arrows])):
        assert {key: [*others] for key, others in found.items()} == {
            key: [*dict.fromkeys(other for one, other in wanted if one == key)] for key in found
        }


def test_a_long_chain_needs_no_recursion() -> None:
    """As long as a topology may be."""
    keys = [("", str(number)) for number in range(20_000)]
    circles = Digraph.of((), pairwise(keys)).circles()
    assert circles == [[key] for key in keys]
