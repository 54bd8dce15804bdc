"""Runs that wait for a drain, from their evidence in a real ledger."""

from kstreams_runbooks.decide.drain import drained
from kstreams_runbooks.ledger.codec import encode_call
from kstreams_runbooks.model.drain import DrainQuestion, DrainReading, Pause
from kstreams_runbooks.model.lag import PartitionLag
from kstreams_runbooks.model.readings import Taken
from kstreams_runbooks.steps.draining import runs_in_a_drain
from kstreams_runbooks.steps.run import Run

ASKED = DrainQuestion(readings=1, pause=Pause("declared", "oncall", "ticket 7"))


def reading(at_ms: int, records: int) -> DrainReading:
    """One partition with so much left."""
    row = PartitionLag("orders", 0, "source", "ok", committed=0, records=records)
    return DrainReading(Taken(at_ms, "test"), (row,), {"orders-0": 9}, {"orders-0": 9}, {})


def decide(run: Run, at_ms: int, *left: int) -> None:
    """What the sensor keeps after a poll."""
    inputs = {"readings": tuple(reading(1_000 * number, one) for number, one in enumerate(left)), "question": ASKED}
    payload = encode_call(drained, inputs, drained(**inputs))  # type: ignore[arg-type]  # by name, as above
    run.ledger.record(run.key, "drain_inputs", 1, "verdict", "drained", payload, at_ms)


def test_a_run_that_waits_is_listed_with_what_is_left_and_how_long_it_takes(run: Run) -> None:
    """Since its first verdict in a row that says wait."""
    assert runs_in_a_drain(run.ledger) == ()
    decide(run, 1_000, 0)
    for at_ms, left in ((5_000, (90,)), (6_000, (90, 60)), (9_000, (90, 60, 30))):
        decide(run, at_ms, *left)
    (found,) = runs_in_a_drain(run.ledger)
    assert (found.run_key, found.task_id, found.since_ms, found.at_ms) == (run.key, "drain_inputs", 5_000, 9_000)
    assert found.sentence == (
        "[orders @ demo] library_bump/r waits for a drain for 4 s: 30 records left to read on source topics (limit 0): "
        "orders-0 (30); about 1 s more at this pace"
    )


def test_a_run_that_is_drained_or_has_ended_waits_no_more(run: Run) -> None:
    """Its newest verdict counts."""
    decide(run, 5_000, 90)
    decide(run, 6_000, 90, 0)
    assert runs_in_a_drain(run.ledger) == ()
    decide(run, 7_000, 90)
    assert len(runs_in_a_drain(run.ledger)) == 1
    run.ledger.conclude(run.key, "completed", "done", 8_000)
    assert runs_in_a_drain(run.ledger) == ()
