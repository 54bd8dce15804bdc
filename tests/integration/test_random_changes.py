"""`make fuzz-plan` in small: the real library builds programs before and after, and no answer is unsafe.

The seed draws none of the changes that `make fuzz-plan` reports today.
"""

import pytest
from fuzz.__main__ import graded
from fuzz.changes import build, drawn
from fuzz.grading import Truth
from fuzz.table import markdown, passed

SEED, ONE = 8, 12
MANY = 600


@pytest.mark.parametrize("count", [15, pytest.param(30, marks=pytest.mark.long)])
def test_random_changes(count: int) -> None:
    """The same seed draws the same change, alone or among others."""
    build()
    changes = list(drawn(SEED, 0, count))
    rows = [row for one in changes for row in graded(one)]
    # Some with their way back right behind them.
    assert sorted({one.number for one in changes}) == list(range(count))
    assert len(changes) > count
    assert {one.truth.answer for one in changes} == {"roll", "stop", "state"}
    assert [one.truth for one in drawn(SEED, ONE, 1)] == [one.truth for one in changes if one.number == ONE]
    assert passed(rows), markdown(SEED, rows)


def test_the_truth_of_changes_that_a_person_knows() -> None:
    """The consequences of a new output, another window, a suppression and another function are beyond doubt."""
    build()
    truths: dict[str, list[Truth]] = {}
    for one in drawn(SEED, 0, MANY):
        stores = [store for declaration in one.declared for store in declaration.stores.values()]
        # What becomes of other copies depends on each store.
        if len(one.kinds) == 1 and all(store.logging is not False and store.changelog is None for store in stores):
            truths.setdefault(one.kinds[0], []).append(one.truth)
    assert {truth.answer for truth in truths["output topic replaced"]} == {"roll"}
    # The pieces of a window store on the disk have another length: its directories are deleted while all are down.
    assert {truth.answer for truth in truths["window resized"]} == {"stop"}
    assert any(truth.warned for truth in truths["window resized"])
    assert {truth.answer for truth in truths["suppress inserted"]} <= {"stop", "state"}
    assert all(truth.needs & {"suppress"} for truth in truths["suppress removed"] if truth.answer == "state")
    # Without a name the store of a count is another than that of a reduce, which begins empty as it has to.
    assert {truth.answer for truth in truths["function changed"]} == {"stop", "state"}
