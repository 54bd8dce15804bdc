"""What a write did to each object is evidence, also if it failed in part; on a real ledger."""

import pytest
from kstreams_runbooks.act.kafka_writer import PartlyWritten, demand_written
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.writes import ObjectWritten
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.written import written

DONE = ObjectWritten("topic a", "done", "id-1")
FAILED = ObjectWritten("topic b", "failed", error="topic b: the broker answered PolicyViolation")


def kept(run: Run) -> list[tuple[str, object]]:
    """Name and payload of the writes that the ledger has."""
    return [(one.name, one.payload) for one in run.ledger.evidence(run.key, kind="write")]


@pytest.mark.parametrize("results", [(DONE, FAILED), (FAILED,)], ids=["some", "none"])
def test_a_write_that_failed_in_part_is_kept(run: Run, results: tuple[ObjectWritten, ...]) -> None:
    """With the result for each object, before its error ends the step."""
    with pytest.raises(PartlyWritten, match="PolicyViolation"):
        written(run, "create_topics", lambda: demand_written("create topics", results))
    assert kept(run) == [("create_topics", {"written": encode(results)})]


def test_a_write_that_succeeded_is_kept(run: Run) -> None:
    """As a write of its kind."""
    written(run, "create_topics", lambda: demand_written("create topics", (DONE,)))
    assert kept(run) == [("create_topics", {"written": encode((DONE,))})]
