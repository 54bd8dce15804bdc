"""Finds the elements of a sequence that are out of order."""

from bisect import bisect_left
from collections.abc import Sequence


def displaced(ranks: Sequence[int]) -> list[int]:
    """Return the indices of the elements out of order; ranks are distinct, ascending is in order.

    Two swapped elements are both displaced. One element that moved far is displaced alone, without the elements
    that it passed: if more than twice as many positions differ from the sorted ones as elements have to be removed to
    leave the rest in order, the removed elements are the answer.
    """
    apart = [index for index, (rank, wanted) in enumerate(zip(ranks, sorted(ranks), strict=True)) if rank != wanted]
    if not apart:
        return []
    first, end = apart[0], apart[-1] + 1
    kept = _longest_ascending(ranks[first:end])
    moved = [first + index for index in range(end - first) if index not in kept]
    return apart if len(apart) <= 2 * len(moved) else moved


def _longest_ascending(ranks: Sequence[int]) -> set[int]:
    """Return the indices of one longest ascending subsequence (patience sorting, n log n)."""
    tops: list[int] = []
    top_index: list[int] = []
    before: list[int] = []
    for index, rank in enumerate(ranks):
        pile = bisect_left(tops, rank)
        before.append(top_index[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(rank)
            top_index.append(index)
        else:
            tops[pile] = rank
            top_index[pile] = index
    kept: set[int] = set()
    index = top_index[-1] if top_index else -1
    while index >= 0:
        kept.add(index)
        index = before[index]
    return kept
