"""Local state is seen gone on every instance, or nothing starts."""

import pytest
from kstreams_runbooks.decide.reset.cleared import state_is_gone
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import LocalSize
from kstreams_runbooks.model.verdicts import Outcome

GONE, LEFT = LocalSize("orders-1", {}), LocalSize("orders-2", {"0_1": 5, "1_0": 0})
UNSEEN = LocalSize("orders-3", Missing("no state_sizes command is declared"))


@pytest.mark.parametrize(
    ("local", "directories", "outcome", "said"),
    [
        ((GONE,), (), Outcome.PROCEED, "local state is gone on orders-1"),
        ((GONE, LEFT), (), Outcome.REFUSE, "orders-2: still has 0_1, 1_0 (expected: deleted)"),
        # An empty directory is one on which a task starts.
        ((GONE, LEFT), ("1_",), Outcome.REFUSE, "orders-2: still has 1_0 (expected"),
        ((LEFT,), ("2_",), Outcome.PROCEED, "gone on orders-2"),
        ((GONE, UNSEEN), (), Outcome.INCONCLUSIVE, "orders-3: whether its local state is gone is not known: no state"),
        ((UNSEEN, LEFT), (), Outcome.REFUSE, "orders-2: still has 0_1"),
        ((), (), Outcome.INCONCLUSIVE, "no instance was looked at"),
    ],
)
def test_each_instance(local: tuple[LocalSize, ...], directories: tuple[str, ...], outcome: Outcome, said: str) -> None:
    verdict = state_is_gone(local, directories)
    assert verdict.outcome is outcome
    assert said in verdict.sentence
