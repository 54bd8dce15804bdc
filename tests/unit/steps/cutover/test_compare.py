"""The next write asks for a comparison that has ended well for the plan of this run."""

import pytest
from kstreams_runbooks.errors import WriteRefused
from kstreams_runbooks.steps.cutover.compare import require_compared
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
