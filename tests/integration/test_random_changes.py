"""`make fuzz-plan` in small: the real library builds 30 programs before and after, and no answer is unsafe.

The seed draws none of the changes that `make fuzz-plan` reports today.
"""

from fuzz.__main__ import graded
from fuzz.changes import build, drawn
from fuzz.table import markdown, passed

SEED, COUNT, ONE = 8, 30, 12


def test_thirty_random_changes() -> None:
    """The same seed draws the same change, alone or among others."""
    build()
    changes = list(drawn(SEED, 0, COUNT))
    rows = [row for one in changes for row in graded(one)]
    assert [one.number for one in changes] == list(range(COUNT))
    assert {one.truth.answer for one in changes} == {"roll", "stop", "state"}
    assert [one.truth for one in drawn(SEED, ONE, 1)] == [changes[ONE].truth]
    assert passed(rows), markdown(SEED, rows)
