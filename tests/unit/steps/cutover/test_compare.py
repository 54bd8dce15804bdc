"""The next write asks for a comparison that has ended well for the plan of this run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from kstreams_runbooks.errors import Inconclusive, RunbookError, WriteRefused
from kstreams_runbooks.steps.cutover import compare
from kstreams_runbooks.steps.cutover.compare import CompareSides, require_compared
from kstreams_runbooks.steps.run.run import Run


def test_a_task_that_was_marked_successful_has_compared_nothing(run: Run) -> None:
    """Nor has one of another plan, or another comparison of this run."""
    digest = run.whole_plan().digest
    for name, plan in ((None, ""), ("compare_outputs", "other"), ("compare_at_seam", digest)):
        if name is not None:
            run.keep("note", name, {"plan": plan})
        with pytest.raises(WriteRefused, match="clear compare_outputs and what follows it"):
            require_compared(run, "compare_outputs")
    run.keep("note", "compare_outputs", {"plan": digest})
    require_compared(run, "compare_outputs")


def test_an_error_of_another_library_leaves_no_side_down(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What starts the old side again is asked in its case too, and the error stays as it is."""
    asked: list[tuple[type[RunbookError], str]] = []

    @contextmanager
    def steps(*_: Any) -> Iterator[Run]:
        yield run

    def broken(_: Run) -> None:
        raise KeyError("spark")

    monkeypatch.setattr(compare, "reported", steps)
    made = CompareSides(
        sides=broken, otherwise=lambda _, error: asked.append((type(error), str(error))), task_id="compare_at_seam"
    )
    with pytest.raises(KeyError):
        made.execute({})
    assert asked == [(Inconclusive, "KeyError: 'spark'")]
