"""Which run an undo takes back: the one that was found first, whatever its id is used for afterwards."""

from dataclasses import replace

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.steps.instances.undone import topics_of_cards, undone_record
from kstreams_runbooks.steps.run.run import Run
from world.samples import card


def test_an_undo_keeps_to_the_run_that_it_was_planned_for(run: Run) -> None:
    """The id is used again between the plan and the end of the undo; a new undo means the newer run."""

    def undo(run_id: str) -> Run:
        asked = replace(run.record, dag_id="undo", run_id=run_id, params={"run": " r "})
        return replace(run, record=run.ledger.start_run(asked))

    begun = undo("u1")
    assert undone_record(begun).run_key == run.key
    second = run.ledger.start_run(replace(run.record, run_after="2026-11-23T10:00:00+00:00"))
    assert undone_record(begun).run_key == run.key
    assert undone_record(undo("u2")).run_key == second.run_key
    other = replace(begun, record=replace(begun.record, run_key=undo("u3").key, application="payments"))
    with pytest.raises(BadInput, match="is one of orders \\(asked for: payments\\)"):
        undone_record(other)
    assert run.ledger.recalled(other.key) == {}


def test_an_undo_reads_the_topics_that_the_run_created(run: Run) -> None:
    """The application does not read them: they would look as if they did not exist."""
    created = {"kind": "topic_created", "topic": {"name": "control", "partitions": 1, "replication": 1}}
    run.ledger.write_card(card(run_key=run.key))
    run.ledger.write_card(card(run_key=run.key, seq=2, object="control", kind="topic_created", facts=created))
    asked = replace(run.record, dag_id="undo", run_id="u", params={"run": "r"})
    begun = replace(run, record=run.ledger.start_run(asked))
    assert topics_of_cards(begun) == ("control",)
