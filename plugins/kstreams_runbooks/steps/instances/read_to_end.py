"""Waits until the repartition topics are read to the end that they had, before an older release may start."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace

from kstreams_runbooks.decide.drain.marks import read_up_to, up_to_marks
from kstreams_runbooks.decide.instances.lag_trend import lag_trend
from kstreams_runbooks.decide.instances.rolling import has_ended
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.ledger.card_facts import instance_facts
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import ApplicationReading, InstanceReading, Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.plan.cards import instance_cards
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.until import Until
from kstreams_runbooks.watch.drain.unread import UnreadRecords

# Readings over which the pace is measured.
_TREND = 4

_Marks = tuple[tuple[str, int], ...]


def read_to_end(
    run: Run, number: int, reading: ApplicationReading, mends: str, *, past: Callable[[InstanceReading], bool]
) -> None:
    """Return when all records that were in the repartition topics before stage `number` are read and committed.

    Until the stage before had reached every instance, records that an older release misreads were written there. The
    ends at the first look are kept: a rerun waits for the same. Refused if an instance ends that is not `past` the
    stage (no other reads its partitions; `mends` is what starts it), and after gate_ceiling_s; Inconclusive if an
    offset cannot be read.
    """
    # The last write of an earlier stage began a new period: marks from before it prove nothing.
    since = max((card.seq for card in instance_cards(run) if instance_facts(card).bounce < number), default=0)
    name = f"drain/{number}/{since}"
    marks: _Marks = decode(_Marks, run.ledger.remember(run.key, name, _ends(run, reading)))
    left: list[ApplicationReading] = [reading]
    samples: deque[ApplicationReading] = deque(maxlen=_TREND)
    unread = UnreadRecords(run.application, run.kafka)
    before: set[str] = set()

    def look() -> tuple[tuple[PartitionLag, ...] | Missing, Verdict]:
        nonlocal before
        reading = left.pop() if left else run.read()
        rows = reading.partitions
        if not isinstance(rows, Missing):
            rows = unread.of(up_to_marks(rows, marks))
            samples.append(replace(reading, partitions=rows))
        verdict = read_up_to(rows, marks, reading.application)
        if verdict.outcome is Outcome.PROCEED:
            return rows, verdict
        down = {one.instance: one.down for one in reading.instances if has_ended(one) and not past(one)}
        if certain := sorted(down.keys() & before):
            words = ", ".join(down[name] or f"{name} does not run any more" for name in certain)
            raise Refused(
                f"{verdict.text}, and {words} (expected RUNNING), so no instance reads its partitions; {mends}"
            )
        before = set(down)
        return rows, verdict

    limit_s = run.plan().limit("gate_ceiling_s")
    pace = Pace(run.plan().limit("gate_interval_s"), limit_s)
    until = Until(run, name, limit_s)
    rows = poll(
        run,
        pace,
        look,
        lambda verdict: verdict.outcome is Outcome.PROCEED,
        until,
        trend=lambda: lag_trend(samples, 0),
    )
    verdict = run.decide(read_up_to, partitions=rows, marks=marks, application=run.record.application)
    if verdict.outcome is Outcome.WAIT and unread.why:
        raise Inconclusive(f"{verdict.text}; {unread.why}")
    if verdict.outcome is Outcome.WAIT:
        raise Refused(f"{verdict.text} after {limit_s:.0f} s (gate_ceiling_s)")
    run.demand(verdict)


def _ends(run: Run, reading: ApplicationReading) -> list[tuple[str, int]]:
    """The end of each partition of the internal topics; Inconclusive if one is not known."""
    if isinstance(reading.partitions, Missing):
        raise Inconclusive(*reading.lacking("offsets"))
    prefix = f"{run.application.application_id}-"
    inputs = set(run.application.inputs)
    ends = []
    for one in reading.partitions:
        if not one.topic.startswith(prefix) or one.topic in inputs:
            continue
        if one.log_end_offset is None:
            raise Inconclusive(f"{one.name}: {one.why}")
        ends.append((one.name, one.log_end_offset))
    return ends
