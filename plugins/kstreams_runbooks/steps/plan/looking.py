"""The steps that read and judge, the same in every runbook: observe, check, prove_every_member, verify."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kstreams_runbooks.decide.drain.marks import dropped_topics, nothing_left
from kstreams_runbooks.decide.instances.check import ready_for_change
from kstreams_runbooks.decide.instances.lag_trend import lag_trend
from kstreams_runbooks.decide.instances.members import every_member_runs
from kstreams_runbooks.decide.instances.missed import moving
from kstreams_runbooks.decide.instances.verification import brought_by, change_verified
from kstreams_runbooks.decide.lag import rows_standing_still
from kstreams_runbooks.decide.plans.basis import require_declared
from kstreams_runbooks.decide.runs.approval import may_request
from kstreams_runbooks.decide.runs.commands import undo_command
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.observe.application.application import read_dropped
from kstreams_runbooks.patience import pause
from kstreams_runbooks.steps.approval.authorize import keep_newest, take_hold
from kstreams_runbooks.steps.approval.holds import resources
from kstreams_runbooks.steps.plan.cards import has_stopped, own_changes
from kstreams_runbooks.steps.plan.defects import planned_defects
from kstreams_runbooks.steps.plan.late_losses import say_dropped
from kstreams_runbooks.steps.plan.orphans import keep_orphans
from kstreams_runbooks.steps.plan.plan import planned_from
from kstreams_runbooks.steps.plan.restarts import say_restarts
from kstreams_runbooks.steps.plan.rights import require_rights
from kstreams_runbooks.steps.run.contact import keep_contact
from kstreams_runbooks.steps.run.form import given_unchanged
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run, described, now_ms
from kstreams_runbooks.steps.run.step import step
from kstreams_runbooks.watch.drain.unread import UnreadRecords, count_once
from kstreams_runbooks.watch.held_inputs import held_inputs, may_hold_inputs

# Lag has been under its limit at the last gate; lag above it for longer than this is not a peak.
_LAG_CEILING_S = 120
# Readings over which the pace of a lag is measured.
_TREND = 4
_REHEARSED = "nothing was changed; trigger again without dry run to do it"


# The names of further applications of a run, which no field of its form names.
Further = Callable[[Run], tuple[str, ...]]


def _none(_: Run) -> tuple[str, ...]:
    return ()


def observe(*roles: str, also: Further = _none) -> Any:
    """The task `observe`; `roles` are fields of the form that name the other applications of the run.

    `also` finds further ones.
    """

    @step("reads broker, group, offsets, topics and every instance; changes nothing")
    def observe(run: Run) -> None:
        """Read everything and keep it, if the requester may request the runbook and the form names what it can."""
        given_unchanged(run.record.params)
        for field in ("target", "release"):
            if release := run.record.params.get(field):
                require_declared(run.declared, str(release))
        for side in _sides(run, roles, also):
            look(side)

    return observe()


def look(run: Run, also: tuple[str, ...] = ()) -> None:
    """Read the application of one side and `also` these topics; again for a while if its group rebalances.

    Some seconds after a start Kafka Streams moves tasks once more: what is read then is refused by `check`.
    Refused if the requester may not request a runbook, or if the connection's login lacks a right that it needs.
    """
    run.demand(run.decide(may_request, declared=run.declared, requested_by=run.record.requested_by))
    keep_contact(run)
    keep_newest(run)
    # The topics of a copier are in its entry: no JVM has to start for them while it is down.
    reading = run.patiently(lambda: run.read(also, describes=not run.application.copies), moving)
    run.keep("reading", "application", reading)
    for line in described(reading):
        run.say(line)
    require_rights(run, reading)


def check(
    *roles: str,
    at_once: bool = False,
    out_of_use: Callable[[Run], bool] = lambda _: False,
    streams_group: bool = False,
    also: Further = _none,
) -> Any:
    """The task `check` of the same applications; with `at_once` it also accepts one with unhealthy instances.

    `out_of_use` is whether a side of a run is an application that no instance runs, any more or yet. With
    `streams_group` a streams group (KIP-1071) is accepted.
    """

    @step("judges the reading; changes nothing")
    def check(run: Run) -> None:
        """Refuse or be inconclusive before anything is planned, and reserve the applications."""
        if run.record.wrote_at_ms:
            run.say("this run has already changed something: each step reads the present state itself")
            return
        sides = _sides(run, roles, also)
        refuse_held(run, sides)
        for side in sides:
            reading = side.observed()
            age_ms = now_ms() - reading.taken.at_ms
            require_ready(
                side, reading, age_ms, at_once=at_once, out_of_use=out_of_use(side), streams_group=streams_group
            )
            if not (side.application.as_deployed or out_of_use(side)):
                planned_defects(side, reading)
        if not run.dry_run:
            take_hold(run, sorted({one for side in sides for one in resources(side)}), changes=False)

    return check()


def refuse_held(run: Run, sides: list[Run]) -> None:
    """Refused if another run holds the inputs of an application: what runs now is not what it should go on from."""
    about = {side.about for side in sides}
    for record in may_hold_inputs(run.ledger):
        if record.run_key == run.key or record.cluster != run.record.cluster:
            continue
        try:
            found = held_inputs(run.ledger, record.run_key)
        except ValueError:
            raise Inconclusive(
                f"whether run {record.run_key} holds inputs is not known: its plan or cards do not have the format of "
                "this release; look at that run (`kstreams-runbooks evidence`)"
            ) from None
        for held in found:
            if about & {(held.cluster, name) for name in (held.application, *held.others)}:
                raise Refused(
                    f"inputs {', '.join(held.inputs)} of {held.application} are held by run {record.run_key} "
                    "(expected: by none); let it go on, or bring them back: " + undo_command(record)
                )


def _sides(run: Run, roles: tuple[str, ...], also: Further) -> list[Run]:
    """The run's own application, those that the form names in the fields of these roles, and further ones."""
    named = [run.side(role) for role in ("", *(role for role in roles if run.record.params.get(role)))]
    return [*named, *(run.on(name) for name in also(run))]


def require_ready(
    run: Run,
    reading: ApplicationReading,
    age_ms: int,
    *,
    at_once: bool = False,
    out_of_use: bool = False,
    streams_group: bool = False,
) -> tuple[Finding, ...]:
    """The findings about one side's reading of that age; Refused or Inconclusive if it is not ready for a change."""
    verdict = run.decide(
        ready_for_change,
        reading=reading,
        declared=run.declared,
        age_ms=age_ms,
        max_age_ms=int(run.limit("max_reading_age_s") * 1000),
        at_once=at_once,
        out_of_use=out_of_use,
        streams_group=streams_group,
    )
    run.say_findings(verdict.findings)
    run.demand(verdict)
    return verdict.findings


@step("reads the group and every instance; changes nothing")
def prove_every_member(run: Run) -> None:
    """Prove that every member of the group runs what the bounces before brought, declared or not."""
    plan = run.plan()
    if not plan.rolled:
        run.say("not needed: no bounce before this")
        return
    if run.dry_run:
        run.say(f"would show that every member of the group runs {plan.rolled[-1].release}")
        return
    if has_stopped(run):
        run.say("every instance has been stopped since: nothing to prove")
        return
    reading = run.read()
    run.keep("reading", "application", reading)
    proven = run.decide(every_member_runs, reading=reading, bounces=plan.rolled)
    if proven.outcome is Outcome.REFUSE:
        raise Refused("; ".join((proven.text, *brought_by(plan.rolled))))
    run.demand(proven)


@step("compares what runs now with the plan; changes nothing")
def verify(run: Run) -> None:
    """Prove that the instances of every side run the plan, and that nothing else changed."""
    if run.dry_run:
        rehearsed(run)
    else:
        prove_sides(run)


def prove_sides(run: Run) -> None:
    """Prove the plan of every side; Refused or Inconclusive if it is not what runs."""
    for side in run.sides:
        prove_side(side)


def prove_side(run: Run, before: ApplicationReading | None = None) -> None:
    """Prove the part of one side; Refused or Inconclusive as above. `before` is in place of the reading of its plan."""
    before = before or planned_from(run)
    left = left_unread(run, before)
    if left.outcome is Outcome.REFUSE:
        raise Refused(f"{left.sentence}; trigger undo for this run: the previous deployment reads them")
    run.demand(left)
    of: dict[str, Any] = {"before": before, "plan": run.plan(), "own": own_changes(run)}
    proven = watch(run, lambda earlier, after: run.decide(change_verified, earlier=earlier, after=after, **of))
    say_restarts(run)
    if not run.application.as_deployed:
        say_dropped(run, proven)
        keep_orphans(run, before, proven)


def left_unread(run: Run, before: ApplicationReading) -> Verdict:
    """Judge the unread records in internal topics that `before` read and the application no longer reads.

    They are counted if offsets are left: a topic that ends in a transaction marker has nothing to read behind its last
    record.
    """
    group_id = run.application.application_id
    topics = dropped_topics(before, run.read(), group_id)
    if isinstance(topics, Missing):
        return run.decide(nothing_left, left=topics)
    with run.reader() as reader:
        left = read_dropped(reader, group_id, topics)
    if not isinstance(left, Missing):
        left = count_once(run.application, run.kafka, left, say=run.say)
    return run.decide(nothing_left, left=left)


def rehearsed(run: Run) -> None:
    """Keep that a dry run is complete."""
    run.keep("verdict", "rehearsed", {"result": encode(Verdict(Outcome.PROCEED, (_REHEARSED,)))})
    run.say("every step was rehearsed, nothing was changed")


def watch(run: Run, judge: Callable[[ApplicationReading, ApplicationReading], Verdict]) -> ApplicationReading:
    """Read repeatedly until `judge` accepts two consecutive readings (the last is returned), or the ceiling ends it.

    If a committed offset does not advance, the records behind it are counted: after the last record of a partition
    markers or aborted records may follow, which an idle task never commits.
    """
    plan = run.plan()
    pause_s = max(plan.limit("gate_interval_s"), plan.limit("commit_interval_s"))
    run.say(f"looks twice, {pause_s:g} s apart: progress is a difference")
    earlier = run.read()
    unread, samples = UnreadRecords(run.application, run.kafka), deque([earlier], maxlen=_TREND)
    pause(pause_s, lambda left: run.say(f"looks again in {left:.0f} s"))

    def look() -> tuple[Verdict, Verdict]:
        nonlocal earlier
        after = run.read()
        verdict = judge(in_records(unread, earlier, after), after)
        samples.append(after)
        earlier = after
        return verdict, verdict

    pace = Pace(pause_s, _LAG_CEILING_S)
    verdict = poll(
        run,
        pace,
        look,
        lambda verdict: verdict.outcome is not Outcome.WAIT,
        trend=lambda: lag_trend(samples, int(plan.limit("max_lag"))),
    )
    if verdict.outcome is Outcome.WAIT and unread.why:
        raise Inconclusive(f"{verdict.text}; {unread.why}")
    run.demand(verdict)
    return earlier


def in_records(unread: UnreadRecords, earlier: ApplicationReading, after: ApplicationReading) -> ApplicationReading:
    """The earlier reading with records for offsets on partitions that have not advanced until `after`."""
    if isinstance(earlier.partitions, Missing) or isinstance(after.partitions, Missing):
        return earlier
    counted = {one.name: one for one in unread.of(rows_standing_still(earlier.partitions, after.partitions))}
    return replace(earlier, partitions=tuple(counted.get(one.name, one) for one in earlier.partitions))
