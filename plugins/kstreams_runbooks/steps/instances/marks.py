"""Waits until the records in the repartition topics have been read, before an older release may start."""

from collections.abc import Callable

from kstreams_runbooks.decide.drain.marks import read_up_to
from kstreams_runbooks.decide.instances.rolling import has_ended
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.readings import ApplicationReading, InstanceReading, Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.plan.cards import instance_cards, instance_facts
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.until import Until


def read_to_marks(
    run: Run, number: int, reading: ApplicationReading, restarts: str, *, past: Callable[[InstanceReading], bool]
) -> None:
    """Return when all records that were in the repartition topics before stage `number` are read and committed.

    Until the stage before had reached every instance, records that an older release misreads were written there. The
    ends at the first look are kept: a rerun waits for the same. Refused if an instance ends that is not `past` the
    stage (no other reads its partitions; the task `restarts` starts it), and after gate_ceiling_s; Inconclusive if an
    offset cannot be read.
    """
    if isinstance(reading.partitions, Missing):
        raise Inconclusive(*reading.lacking("offsets"))
    prefix = f"{run.application.application_id}-"
    inputs = set(run.application.inputs)
    internal = [one for one in reading.partitions if one.topic.startswith(prefix) and one.topic not in inputs]
    for one in internal:
        if one.log_end_offset is None:
            raise Inconclusive(f"{one.name}: {one.why}")
    ends = [(one.name, one.log_end_offset) for one in internal]
    # The last write of an earlier stage began a new period: marks from before it prove nothing.
    since = max((card.seq for card in instance_cards(run) if instance_facts(card).bounce < number), default=0)
    kept = run.ledger.remember(run.key, f"drain/{number}/{since}", ends)
    marks = decode(tuple[tuple[str, int], ...], kept)
    left: list[ApplicationReading] = [reading]
    before: set[str] = set()

    def look() -> tuple[ApplicationReading, Verdict]:
        nonlocal before
        reading = left.pop() if left else run.read()
        verdict = read_up_to(reading.partitions, marks, reading.application)
        if verdict.outcome is Outcome.PROCEED:
            return reading, verdict
        down = {one.instance for one in reading.instances if has_ended(one) and not past(one)}
        if certain := sorted(down & before):
            raise Refused(
                f"{'; '.join(verdict.reasons)}, and {', '.join(certain)} does not run any more (expected RUNNING), so "
                f"no instance reads its partitions; clear {restarts}, which starts it first"
            )
        before = down
        return reading, verdict

    pace = Pace(run.plan().limit("gate_interval_s"), run.plan().limit("gate_ceiling_s"))
    until = Until(run, f"drain/{number}/{since}", pace.ceiling_s)
    reading = poll(run, pace, look, lambda verdict: verdict.outcome is Outcome.PROCEED, until)
    verdict = run.decide(read_up_to, partitions=reading.partitions, marks=marks, application=reading.application)
    if verdict.outcome is Outcome.WAIT:
        raise Refused(f"{'; '.join(verdict.reasons)} after {run.plan().limit('gate_ceiling_s'):.0f} s (gate_ceiling_s)")
    run.demand(verdict)
