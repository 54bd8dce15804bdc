"""Facts that a CI keeps, next to those of the same program on another release of the library."""

import pytest
from kstreams_runbooks.decide.topology.kept_facts import kept_facts
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.declaration import TopologyFacts
from lab.facts_alone import pair_facts

# Descriptions that two releases print alike, at least.
_LEAST = 500


def _alike(one: TopologyFacts, other: TopologyFacts) -> bool:
    return parse_topology(one.text or "") == parse_topology(other.text or "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("3.4.1", "4.3.1"),
        pytest.param("3.9.1", "4.3.1", marks=pytest.mark.long),
        pytest.param("2.8.2", "3.4.1", marks=pytest.mark.long),
        pytest.param("2.8.2", "4.3.1", marks=pytest.mark.long),
    ],
)
def test_a_program_that_stays_has_no_difference(old: str, new: str) -> None:
    """Every program behind tests/apps/topologies that both releases build."""
    before, after = pair_facts(old), pair_facts(new)
    both = [name for name in before.keys() & after.keys() if _alike(before[name], after[name])]
    assert len(both) >= _LEAST
    differing = []
    for name in both:
        found = kept_facts(before[name], after[name])
        assert "library" in found.not_compared
        differing += [(name, line) for line in set(found.old) ^ set(found.new)]
    assert differing == []


@pytest.mark.parametrize(
    ("pair", "line"),
    [
        ("tumbling-window-made-smaller", "stores.readings-store.window.size_ms: 600000"),
        ("grace-made-longer", "window.grace_ms: "),
        ("join-window-made-larger", "window.size_ms: "),
        ("emit-on-window-close", 'stores.trades-store.window.emit: "on_window_close"'),
        ("logging-of-count-disabled", "stores.totals.logging: false"),
        ("suppress-time-limit-to-window-closes", 'mode: "until_window_closes"'),
        ("window-store-keeps-duplicates", "stores.invoices-by-time.retain_duplicates: true"),
    ],
)
def test_a_change_of_the_program_is_a_difference_across_releases(pair: str, line: str) -> None:
    """On the way from 3.4.1 to 4.3.1 as on one release."""
    found = kept_facts(pair_facts("3.4.1")[pair, "before"], pair_facts("4.3.1")[pair, "after"])
    assert any(line in one for one in set(found.new) - set(found.old))


def test_on_one_release_every_fact_is_compared() -> None:
    """Also those that a release may change."""
    pair = "tumbling-window-made-smaller"
    old, new = (pair_facts("4.3.1")[pair, side] for side in ("before", "after"))
    found = kept_facts(old, new)
    assert (found.old, found.new, found.not_compared) == (old.lines, new.lines, ())
