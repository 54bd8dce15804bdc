"""A pause by a person: only the ends of the inputs show that their producers are stopped."""

from kstreams_runbooks.decide.drain.inputs import inputs_stand_still, still_held
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.inputs import InputsReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe.lag.inputs import read_inputs
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run


def wait_until_still(run: Run, inputs: tuple[str, ...]) -> None:
    """Return once the ends of the inputs rest; Refused after gate_ceiling_s, Inconclusive if one cannot be read."""
    needed, limit_s = int(run.limit("gate_good_readings")), run.limit("gate_ceiling_s")
    readings: list[InputsReading] = []

    def look() -> tuple[None, Verdict]:
        readings.append(_read(run, inputs))
        return None, inputs_stand_still(tuple(readings[-needed:]), needed)

    poll(run, Pace(run.limit("gate_interval_s"), limit_s), look, lambda found: found.outcome is not Outcome.WAIT)
    verdict = run.decide(inputs_stand_still, readings=tuple(readings[-needed:]), needed=needed)
    if verdict.outcome is Outcome.WAIT:
        raise Refused(
            f"{verdict.text} after {limit_s:.0f} s (gate_ceiling_s): producers of {', '.join(inputs)} "
            f"still write; stop them, then clear {run.task_id} and what follows it"
        )
    run.demand(verdict)


def require_still(run: Run, inputs: tuple[str, ...]) -> None:
    """Refused or Inconclusive unless nothing has come since the inputs rested."""
    for kept in reversed(run.verdicts(inputs_stand_still.__name__)):
        if kept.payload["result"]["outcome"] == Outcome.PROCEED:
            *_, then = decode(tuple[InputsReading, ...], kept.payload["inputs"]["readings"])
            run.demand(run.decide(still_held, then=then, now=_read(run, inputs)))
            return
    raise Refused("this run has not seen the inputs rest: clear pause_inputs and what follows it")


def _read(run: Run, inputs: tuple[str, ...]) -> InputsReading:
    with run.reader() as reader:
        return read_inputs(reader, inputs)
