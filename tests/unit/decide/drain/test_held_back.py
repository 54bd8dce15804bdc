"""What only stream time lets go."""

import pytest
from kstreams_runbooks.decide.drain.held_back import held_back
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.readings.drain import HeldBack
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, DeclaredSuppression, Window

TEXT = """Topologies:
   Sub-topology: 0
    Source: orders-source (topics: [orders])
      --> count
    Processor: count (stores: [counts])
      --> final-only
      <-- orders-source
    Processor: final-only (stores: [final-only-store])
      --> out-sink
      <-- count
    Sink: out-sink (topic: out)
      <-- final-only
"""
TOPOLOGY = parse_topology(TEXT)


def declared(window: Window | None, one: DeclaredSuppression | None) -> Declaration:
    return Declaration(
        stores={"counts": DeclaredStore(window=window)}, suppressions={} if one is None else {"final-only": one}
    )


@pytest.mark.parametrize(
    ("window", "until"),
    [
        (Window("tumbling", 10_000, 2_000), 112_000),
        (Window("hopping", 10_000, 2_000, advance_ms=3_000), 117_000),
        (Window("session", 10_000, 2_000), 118_000),
    ],
)
def test_a_final_result_waits_until_the_newest_window_is_closed(window: Window, until: int) -> None:
    """Its end, by when it began, and its grace."""
    found = held_back(TOPOLOGY, declared(window, DeclaredSuppression("until_window_closes")), {"0": 106_000})
    assert found == (
        HeldBack("suppress operator final-only", until, 106_000),
        HeldBack("the open windows of counts", until, 106_000),
    )


def test_a_time_limit_counts_from_now() -> None:
    """By stream time."""
    limited = DeclaredSuppression("until_time_limit", time_limit_ms=7_000)
    assert held_back(TOPOLOGY, declared(None, limited), {"0": 105_000}) == (
        HeldBack("suppress operator final-only", 112_000, 105_000),
    )


def test_without_stream_time_or_a_declaration_it_is_not_known_until_when() -> None:
    """Told all the same; an operator of a chosen name that nobody declares is not known to be one."""
    final = DeclaredSuppression("until_window_closes")
    assert held_back(TOPOLOGY, declared(None, final), {"0": 1}) == (HeldBack("suppress operator final-only", None, 1),)
    assert held_back(TOPOLOGY, declared(None, final), {}) == (HeldBack("suppress operator final-only", None, None),)
    assert held_back(TOPOLOGY, Declaration(), {"0": 1}) == ()
    generated = parse_topology(TEXT.replace("final-only", "KTABLE-SUPPRESS-0000000004"))
    assert held_back(generated, Declaration(), {"0": 1}) == (
        HeldBack("suppress operator KTABLE-SUPPRESS-0000000004", None, 1),
    )


def test_without_any_declaration_there_may_be_more_than_is_told() -> None:
    """An operator of a chosen name, a window: no line of the description says what they are."""
    undeclared = HeldBack("suppressions and windows, of which the release declares nothing", None, None)
    assert held_back(TOPOLOGY, None, {"0": 1}) == (undeclared,)
    generated = parse_topology(TEXT.replace("final-only", "KTABLE-SUPPRESS-0000000004"))
    assert held_back(generated, None, {"0": 1}) == (
        HeldBack("suppress operator KTABLE-SUPPRESS-0000000004", None, 1),
        undeclared,
    )
