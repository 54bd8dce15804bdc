"""Whether a plan stops processing for so long that windows drop records: decided before anything is stopped."""

from dataclasses import replace
from functools import partial

from kstreams_runbooks.act.topic_checks import certain
from kstreams_runbooks.decide.change.without_topology import WITHOUT_TOPOLOGY
from kstreams_runbooks.decide.lag import total_lag
from kstreams_runbooks.decide.plans.cutover import CUTOVER, NOT_EXACT, stands_s
from kstreams_runbooks.decide.plans.longest_stop import (
    ACCEPT,
    LATE,
    Orders,
    dropping_stores,
    expected_drops,
    is_short_roll,
    late_losses,
    late_stores,
    longest_stop,
    may_stop,
    moves_tasks,
    needs_orders,
    pace_of,
    with_moved_tasks,
)
from kstreams_runbooks.decide.plans.only_copy import task_topics
from kstreams_runbooks.decide.runbooks import GREEN
from kstreams_runbooks.decide.runs.commands import UNDO
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.frames.compare_rows import MOST_SECONDS
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.copying import BY_TIME, ORDER, PACE, TOPIC_COPIER
from kstreams_runbooks.model.readings.disorder import LateLoss, LateStore, PartitionOrder, Stop
from kstreams_runbooks.model.readings.hold import seconds_text
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, StreamsReading
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.observe.kafka.ends import ends_of
from kstreams_runbooks.observe.lag.count import count_readable
from kstreams_runbooks.steps.plan.cards import bytes_of_topics
from kstreams_runbooks.steps.plan.releases import deployable, described_or_missing, known_of, running_or_missing
from kstreams_runbooks.steps.run.form import given_reason
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.held_inputs import longest_forecast
from kstreams_runbooks.wording import first_of, pasted

# The last records of each partition, which show the disorder of the inputs, and how long reading them may take.
_LAST, _READ_S = 100_000, 120.0
# Before a short roll, the commonest run: so many of all partitions together, but of each at least some.
_OF_ALL, _AT_LEAST, _SHORT_S = 200_000, 1_000, 30.0
_LOSSES = "late losses"
_STANDS = "it is down from the seam until every group has moved"
# How many times as fast as live: six minutes of backlog take one.
_PACE = 6


def with_late_losses(run: Run, made: Plan, taken_by: str) -> Plan:
    """The plan with a finding for each store that may drop records because the plan stops its application.

    Refused or Inconclusive for such a store, unless the form accepts the loss; an undo is asked about in any case.
    `taken_by` is the step whose reading has the instances.
    """
    findings: tuple[Finding, ...] = ()
    if (run.record.dag_id == "reset_and_cleanup" and run.record.params.get("mode") != "state") or (
        made.runbook == GREEN and made.start is not None
    ):
        # It reads its inputs again: its blast radius has what that catch-up drops (decide/reset/late.py).
        _expect_any(run, run.observed(taken_by), made)
        return made
    for part in made.parts:
        side = run.on(part.application)
        behind = any(part.role in one.certify.behind for one in made.input_holds)
        held = longest_forecast(run.ledger, run.key) if behind else None
        pace = pace_of(made, part.role)
        stop = None if side.application.as_deployed else longest_stop(made.of_side(part.role), held, pace)
        if stop is not None and made.runbook == CUTOVER and not part.role:
            stop = replace(stop, seconds=stop.seconds + stands_s(made, MOST_SECONDS), what=_STANDS)
        if stop is not None:
            merges = behind and pace is None and not made.of_side(part.role).bounces
            stop = replace(stop, cure=_merges(run, made) if merges else "")
            found = require_in_time(side, side.observed(taken_by), stop, made.of_side(part.role))
            findings += (*found, *_way_back(part.application, stop, found) * (stop.what == _STANDS))
    return replace(made, findings=(*made.findings, *findings))


def _way_back(old: str, stop: Stop, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """That a cutover has no exact way back, if the old side may drop records when it starts again."""
    stores = tuple(one.object for one in found if one.id == LATE)
    if not stores:
        return ()
    about = f"may be down for up to {seconds_text(stop.seconds)}: {NOT_EXACT.format(old=old)} ({first_of(stores)})"
    return (Finding("way-back-not-exact", "warning", old, about, "docs/blue_green.md"),)


def _merges(run: Run, made: Plan) -> str:
    """How the shipped copier that holds the inputs gets to merge what it held; empty if there is none."""
    for part in made.parts:
        # Several instances do not see each other's partitions: the copier refuses to merge them.
        alone = len(part.facts.instances) == 1
        if alone and getattr(run.on(part.application).application, "program", "") == TOPIC_COPIER:
            words = ("kstreams-runbooks", "trigger", "rolling_bounce", "--application", part.application)
            setting = f'settings={{"{ORDER}": "{BY_TIME}", "{PACE}": "{_PACE}"}}'
            return f"let {part.application} merge what it held by time ({pasted((*words, '--param', setting))})"
    return ""


def require_in_time(run: Run, reading: ApplicationReading, stop: Stop, made: Plan | None = None) -> tuple[Finding, ...]:
    """The findings about stores that may drop records after a stop; Refused or Inconclusive as above.

    `made` is the plan that brings another version, None if what runs stays.
    """
    versions, unread = versions_of(run, reading, made)
    known = known_of(run, reading)
    late = late_stores(versions, known)
    if late and made is not None and moves_tasks(made):
        restored = bytes_of_topics(run, reading, tuple(sorted(task_topics(versions, known))))
        stop = with_moved_tasks(stop, versions, restored)
    stop = replace(stop, unread=_unread(run, reading))
    short = all(is_short_roll(one, stop) for one in late)
    orders = _orders(run, needs_orders(late), short=short)
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
    _keep(run, expected_drops(dropping_stores(versions, known), late_losses(late, stop, orders)))
    return verdict.findings


def _expect_any(run: Run, reading: ApplicationReading, made: Plan) -> None:
    """Keep every store that drops late records: a catch-up from history has no bound."""
    versions, _ = versions_of(run, reading, made)
    no_bound = Missing("the inputs are read again")
    every = dropping_stores(versions, known_of(run, reading))
    _keep(run, tuple(LateLoss(one, no_bound, no_bound, no_bound) for one in every))


def _keep(run: Run, expected: tuple[LateLoss, ...]) -> None:
    run.keep("note", _LOSSES, {"application": run.record.application, "losses": encode(expected)})


def _unread(run: Run, reading: ApplicationReading) -> int | Missing:
    """The records that may be unread when a stop begins: those of now, or as many as a gate lets pass."""
    if isinstance(reading.partitions, Missing):
        return reading.partitions
    lag = total_lag(reading.partitions)
    return Missing(lag.unknown[0]) if lag.unknown else max(lag.records, int(run.limit("max_lag")))


def say_dropped(run: Run, after: ApplicationReading) -> None:
    """Show what the tasks with stores that drop late records have dropped since their start, next to the forecast."""
    kept = [
        one.payload["losses"]
        for one in run.ledger.evidence(run.key, kind="note", name=_LOSSES)
        if one.payload["application"] == run.record.application
    ]
    for loss in decode(tuple[LateLoss, ...], kept[-1]) if kept else ():
        unknown = isinstance(loss.records, Missing)
        at_most = f"a number that is not known ({loss.records.missing})" if unknown else f"{loss.records:,}"
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
    found = list(running_or_missing(run, reading))
    brought = made.bounces[-1] if made is not None and made.bounces else None
    if made is not None and brought is not None and any(one.target != brought.target for one in made.facts.at_start):
        found.append(described_or_missing(run, brought.release, partial(deployable, run, brought.target)))
    described = tuple(one for one in found if not isinstance(one, Missing))
    unread = dict.fromkeys(one.missing for one in found if isinstance(one, Missing))
    return described, tuple(unread)


def _orders(run: Run, topics: tuple[str, ...], *, short: bool) -> Orders | Missing:
    """The last records of each partition of these topics, or why they could not be read; fewer before a short roll."""
    if not topics:
        return ()
    try:
        with run.reader() as reader:
            ends = certain(ends_of(reader, reader.topics(set(topics))))
        last = min(_LAST, max(_AT_LEAST, _OF_ALL // max(1, len(ends)))) if short else _LAST
        run.say(f"reads the last {last:,} records of each partition of {', '.join(topics)}: are they out of order?")
        ranges = {place: (max(start, end - last), end) for place, (start, end) in ends.items()}
        counted = count_readable(run.kafka, ranges, _SHORT_S if short else _READ_S, "read_uncommitted")
    except RunbookError as error:
        return Missing(str(error))
    return tuple(
        PartitionOrder(*place, one.records, (one.newest_ms or 0) - (one.oldest_ms or 0), one.step_back_ms or 0)
        for place, one in sorted(counted.items())
    )
