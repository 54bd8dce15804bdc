"""Runs that wait for a drain, from what the sensor keeps in a real ledger."""

from kstreams_runbooks.decide.drain.certificate import drained
from kstreams_runbooks.ledger.codec import encode, encode_call
from kstreams_runbooks.model.readings.drain import DrainQuestion, DrainReading, Pause
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.steps.drain.progress import runs_in_a_drain
from kstreams_runbooks.steps.drain.trigger import PROGRESS
from kstreams_runbooks.steps.run.run import Run

ASKED = DrainQuestion(readings=1, pause=Pause("declared", "oncall", "ticket 7"))


def reading(at_ms: int, records: int | None) -> DrainReading:
    """One partition with so much left."""
    row = PartitionLag("orders", 0, "source", "ok", committed=0, records=records)
    return DrainReading(Taken(at_ms, "test"), (row,), {"orders-0": 9}, {"orders-0": 9}, {})


def keep(run: Run, at_ms: int, left: int | None, *, try_number: int = 1) -> None:
    """What the sensor keeps while it waits."""
    run.ledger.record(run.key, "certify", try_number, "reading", PROGRESS, encode(reading(at_ms, left)), at_ms)


def decide(run: Run, at_ms: int) -> None:
    """What it keeps when it no longer waits."""
    inputs = {"readings": (reading(at_ms, 0),), "question": ASKED}
    payload = encode_call(drained, inputs, drained(**inputs))  # type: ignore[arg-type]  # by name, as above
    run.ledger.record(run.key, "certify", 1, "verdict", drained.__name__, payload, at_ms)


def test_a_run_that_waits_is_listed_with_what_is_left_and_how_long_it_takes(run: Run) -> None:
    """At the pace since it began to wait in this try."""
    assert runs_in_a_drain(run.ledger) == ()
    keep(run, 1_000, 9_000)
    for at_ms, left in ((5_000, 90), (6_000, 60), (7_000, 30)):
        keep(run, at_ms, left, try_number=2)
    (found,) = runs_in_a_drain(run.ledger)
    assert (found.left, found.rest_ms) == (30, 1_000)
    assert found.sentence(9_000) == (
        "[orders @ demo] library_bump/r waits in certify for 4 s: 30 records left, about 1 s more (read 2 s ago)"
    )


def test_what_is_not_known_is_said(run: Run) -> None:
    """Neither zero nor soon."""
    keep(run, 5_000, 90)
    keep(run, 6_000, None)
    (found,) = runs_in_a_drain(run.ledger)
    assert ": the number of records left is not known (read 0 s ago)" in found.sentence(6_000)


def test_a_pace_takes_two_readings(run: Run) -> None:
    """One says nothing of it; of two that are alike the second does."""
    keep(run, 5_000, 12)
    assert "12 records left, pace unknown until the next reading" in sentence(run)
    keep(run, 6_000, 12)
    assert "12 records left, with no decrease" in sentence(run)
    keep(run, 7_000, 0)
    assert ": nothing left to read, more readings have to show it (" in sentence(run)


def sentence(run: Run) -> str:
    """What is said of the only run that waits."""
    (found,) = runs_in_a_drain(run.ledger)
    return found.sentence(8_000)


def test_a_run_that_has_decided_or_ended_waits_no_more(run: Run) -> None:
    """Until it waits again."""
    keep(run, 5_000, 90)
    decide(run, 6_000)
    assert runs_in_a_drain(run.ledger) == ()
    keep(run, 7_000, 90)
    assert len(runs_in_a_drain(run.ledger)) == 1
    run.ledger.conclude(run.key, "completed", "done", 8_000)
    assert runs_in_a_drain(run.ledger) == ()
