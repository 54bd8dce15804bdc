"""The drain certificate of a run, as later stages need it."""

from kstreams_runbooks.decide.drain.certificate import certified
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.drain import DrainReading
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.steps.run.run import Run


def certified_reading(run: Run) -> DrainReading | None:
    """The reading with which this run's newest certificate was given; None without one."""
    for kept in reversed(run.verdicts(certified.__name__)):
        if kept.payload["result"]["outcome"] == Outcome.PROCEED:
            reading: DrainReading = decode(DrainReading, kept.payload["inputs"]["now"])
            return reading
    return None
