"""A copier that a run has stopped: the proof of the stop, and that it holds for as long as the run relies on it."""

from kstreams_runbooks.decide.instances.copier_stopped import still_stopped, stopped_cleanly
from kstreams_runbooks.errors import Drifted, Inconclusive, Refused
from kstreams_runbooks.fleet import Copier
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.copying import CopierReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe.application.copier import read_copying
from kstreams_runbooks.steps.plan.cards import own_changes
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run

# A transaction that a killed copier left open ends by transaction.timeout.ms, 60 s by default; a member by its session
# timeout, 45 s by default.
_PACE = Pace(1.0, 120)


def read_copier(run: Run) -> CopierReading:
    """The copier of one side of a run as it is now; BadInput if that side is not a copier."""
    copier = run.application
    if not isinstance(copier, Copier):
        # The sentence names what a copier's declaration needs.
        raise Refused(f"{copier.name}: not a copier (its kind is {copier.kind}); declare it with `kind: copier`")
    with run.reader() as reader:
        return read_copying(copier, reader, run.deployer)


def prove_stopped(run: Run) -> CopierReading:
    """Wait until the copier of this side has stopped cleanly; returns the reading that proves it.

    Refused if it has not within two minutes, Inconclusive if a part cannot be read. The decision is evidence, and its
    findings are in the log.
    """
    readings = [read_copier(run)]

    def look() -> tuple[CopierReading, Verdict]:
        readings.append(read_copier(run))
        del readings[:-2]
        return readings[-1], stopped_cleanly(*readings)

    poll(run, _PACE, look, lambda verdict: verdict.outcome is Outcome.PROCEED)
    earlier, now = readings
    verdict = run.decide(stopped_cleanly, earlier=earlier, now=now)
    run.say_findings(verdict.findings)
    if verdict.outcome is Outcome.WAIT:
        raise Refused(
            f"{verdict.text} {_PACE.ceiling_s:g} s after copier {now.copier} was stopped; end that, then "
            f"clear {run.task_id} and what follows it"
        )
    run.demand(verdict)
    return now


def proven_stop(run: Run) -> CopierReading:
    """The reading of `prove_stopped` that this run kept of the copier; Refused without one."""
    for kept in reversed(run.verdicts(stopped_cleanly.__name__)):
        if kept.payload["result"]["outcome"] == Outcome.PROCEED:
            reading: CopierReading = decode(CopierReading, kept.payload["inputs"]["now"])
            return reading
    raise Refused(f"this run has not proven that copier {run.application.name} has stopped: clear pause_inputs")


def require_still_stopped(run: Run, before: CopierReading) -> CopierReading:
    """The copier of this side now; Drifted if it was started again or its control topics have moved since `before`.

    Inconclusive if a part cannot be read. `before` is the reading of `prove_stopped`. Topics that the run itself has
    grown since have new partitions, which are empty.
    """
    now = read_copier(run)
    grown = tuple(one.name for one in own_changes(run).topics if not (one.created or one.deleted))
    verdict = run.decide(still_stopped, before=before, now=now, grown=grown)
    if verdict.outcome is Outcome.REFUSE:
        raise Drifted(verdict.text)
    if verdict.outcome is not Outcome.PROCEED:
        raise Inconclusive(verdict.text)
    return now
