"""Whether a plan stops processing for so long that windows drop records: decided before anything is stopped."""

from dataclasses import replace
from functools import partial

from kstreams_runbooks.act.topic_checks import certain
from kstreams_runbooks.decide.change.without_topology import WITHOUT_TOPOLOGY
from kstreams_runbooks.decide.instances.running import running_releases
from kstreams_runbooks.decide.instances.running_facts import with_facts
from kstreams_runbooks.decide.plans.longest_stop import (
    ACCEPT,
    Orders,
    late_losses,
    late_stores,
    longest_stop,
    may_stop,
    needs_orders,
)
from kstreams_runbooks.decide.runs.commands import UNDO
from kstreams_runbooks.errors import RunbookError, Unreachable
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.disorder import LateLoss, LateStore, PartitionOrder, Stop
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, StreamsReading
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.observe.kafka.ends import ends_of
from kstreams_runbooks.observe.lag.count import count_readable
from kstreams_runbooks.steps.plan.releases import deployable, known_of, running
from kstreams_runbooks.steps.run.form import given_reason
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.held_inputs import forecast_of

# The last records of each partition, which show the disorder of the inputs, and how long reading them may take.
_LAST, _READ_S = 100_000, 120.0
_LOSSES = "late losses"


def with_late_losses(run: Run, made: Plan, taken_by: str) -> Plan:
    """The plan with a finding for each store that may drop records because the plan stops its application.

    Refused or Inconclusive for such a store, unless the form accepts the loss; an undo is asked about in any case.
    `taken_by` is the step whose reading has the instances.
    """
    findings: tuple[Finding, ...] = ()
    if run.record.dag_id == "reset_and_cleanup" and run.record.params.get("mode") != "state":
        # It reads its inputs again: its blast radius has what that catch-up drops (decide/reset/late.py).
        return made
    for part in made.parts:
        side = run.on(part.application)
        held = forecast_of(run.ledger, run.key) if made.certify is not None and not part.role else None
        stop = None if side.application.copies else longest_stop(made.of_side(part.role), held)
        if stop is not None:
            findings += require_in_time(side, side.observed(taken_by), stop, made.of_side(part.role))
    return replace(made, findings=(*made.findings, *findings))


def require_in_time(run: Run, reading: ApplicationReading, stop: Stop, made: Plan | None = None) -> tuple[Finding, ...]:
    """The findings about stores that may drop records after a stop; Refused or Inconclusive as above.

    `made` is the plan that brings another version, None if what runs stays.
    """
    versions, unread = versions_of(run, reading, made)
    late = late_stores(versions, known_of(run, reading))
    orders = _orders(run, needs_orders(late, stop))
    verdict = run.decide(
        may_stop,
        late=late,
        stop=stop,
        orders=orders,
        # A topology that is accepted unread is accepted with what its windows may drop.
        accepted=given_reason(run.record.params, ACCEPT) or given_reason(run.record.params, WITHOUT_TOPOLOGY),
        asks=run.record.dag_id == UNDO,
        unread=unread,
    )
    run.say_findings(verdict.findings)
    run.demand(verdict)
    run.keep(
        "note",
        _LOSSES,
        {"application": run.record.application, "losses": encode(tuple(late_losses(late, stop, orders)))},
    )
    return verdict.findings


def say_dropped(run: Run, after: ApplicationReading) -> None:
    """Show what the tasks of the stores at risk have dropped since their instances started, next to the forecast."""
    kept = [
        one.payload["losses"]
        for one in run.ledger.evidence(run.key, kind="note", name=_LOSSES)
        if one.payload["application"] == run.record.application
    ]
    for loss in decode(tuple[LateLoss, ...], kept[-1]) if kept else ():
        at_most = "a number that is not known" if isinstance(loss.records, Missing) else f"{loss.records:,}"
        dropped = _dropped(after, loss.late)
        what = f"store {loss.late.store}: records that its tasks have dropped since the start"
        if isinstance(dropped, Missing):
            run.warn(f"{what}: not known ({dropped.missing}); forecast: at most {at_most}")
        else:
            (run.warn if dropped else run.say)(f"{what}: {dropped:,}; forecast: at most {at_most}")


def _dropped(after: ApplicationReading, late: LateStore) -> int | Missing:
    total = 0
    for one in after.instances:
        streams = one.streams
        if not isinstance(streams, StreamsReading):
            return Missing(f"{one.instance}: {streams.missing}")
        if isinstance(streams.dropped, Missing):
            return Missing(f"{one.instance}: {streams.dropped.missing}")
        total += sum(number for task, number in streams.dropped if task.rpartition("_")[0] == late.subtopology)
    return total


def versions_of(
    run: Run, reading: ApplicationReading, made: Plan | None
) -> tuple[tuple[Described, ...], tuple[str, ...]]:
    """The versions that run and the one that a plan brings, and why one of them is not described.

    Unreachable if a topology command does not end: it may at the next try. An undo does not wait for it.
    """
    found = run.running_facts(reading)
    looks = [
        (one.release, partial(running, run, one))
        for version in running_releases(reading)
        for one in with_facts(version, found)
    ]
    brought = made.bounces[-1] if made is not None and made.bounces else None
    if made is not None and brought is not None and any(one.target != brought.target for one in made.facts.at_start):
        looks.append((brought.release, partial(deployable, run, brought.target)))
    described: list[Described] = []
    unread: list[str] = []
    for release, look in looks:
        try:
            described.append(look())
        except RunbookError as error:
            if isinstance(error, Unreachable) and run.record.dag_id != UNDO:
                raise
            unread.append(f"release {release} is not described: {error}")
    return tuple(described), tuple(dict.fromkeys(unread))


def _orders(run: Run, topics: tuple[str, ...]) -> Orders | Missing:
    """The last records of each partition of these topics, or why they could not be read."""
    if not topics:
        return ()
    run.say(f"reads the last {_LAST:,} records of each partition of {', '.join(topics)}: how far they are out of order")
    try:
        with run.reader() as reader:
            ends = certain(ends_of(reader, reader.topics(set(topics))))
        ranges = {place: (max(start, end - _LAST), end) for place, (start, end) in ends.items()}
        counted = count_readable(run.kafka, ranges, _READ_S, "read_uncommitted")
    except RunbookError as error:
        return Missing(str(error))
    return tuple(
        PartitionOrder(*place, one.records, (one.newest_ms or 0) - (one.oldest_ms or 0), one.step_back_ms or 0)
        for place, one in sorted(counted.items())
    )
