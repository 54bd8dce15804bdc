"""Which elements of a sequence are out of order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kstreams_runbooks.demo.judge.ordering import displaced


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([], []),
        ([1, 2, 3], []),
        ([2, 1, 3], [0, 1]),
        ([1, 9, 3, 4, 5, 6, 7, 8, 2], [1, 8]),
        ([2, 1, 3, 5, 4], [0, 1, 3, 4]),
        ([1, 3, 4, 5, 6, 2], [5]),
        ([6, 1, 2, 3, 4, 5], [0]),
    ],
)
def test_swapped_elements_are_two_and_a_moved_one_is_one(ranks: list[int], expected: list[int]) -> None:
    """A swap displaces both; what a moved element passed stays in order."""
    assert displaced(ranks) == expected


@given(st.lists(st.integers(), unique=True))
def test_nothing_is_displaced_if_and_only_if_the_sequence_ascends(ranks: list[int]) -> None:
    """And what is left without the displaced ones ascends."""
    out = set(displaced(ranks))
    assert (not out) == (ranks == sorted(ranks))
    rest = [rank for index, rank in enumerate(ranks) if index not in out]
    assert rest == sorted(rest)
