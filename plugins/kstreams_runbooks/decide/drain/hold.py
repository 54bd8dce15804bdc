"""How long inputs are held for a flush, in parts that a person can check, and whether what waits outlasts it."""

from collections.abc import Iterator

from kstreams_runbooks.decide.drain.hold_limits import hold_limits
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.hold import (
    WHILE_HELD,
    HoldFacts,
    HoldForecast,
    HoldLimit,
    HoldPart,
    HowHeld,
    PlannedHold,
    seconds_text,
)
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict

# Without a measured stop or a limit of the deployer: a stop of a small application takes 3 s (docs/measured.md).
_STOP_S = (1.0, 120.0)
# Members that may not be removed leave after session.timeout.ms, 45 s by default (Kafka documentation).
_EMPTY_S = (1.0, 45.0)
# From the start to the first output, by the size of the machine and its load: up to 55 s (docs/measured.md).
_START_S = (3.0, 60.0)
# Each member joins in a round of its own at worst.
_MEMBER_S = 1.0
# A fifth of what was measured on a small application, where reading a store's changelog is cheapest.
_RESTORE_BYTES_PER_S = 1_000_000
# Airflow between two tasks, 1.5 to 2.0 s on an idle machine (docs/measured.md), and the tasks while inputs are held.
_TASK_S = (1.5, 5.0)
_TASKS = 4
# A person at the keyboard reads a request, does it and answers; a stated default, nothing measures it.
_PERSON_S = (60.0, 900.0)
# max.task.idle.ms of -1: a task never waits.
_NEVER_IDLE = -1


def planned_hold(
    how: HowHeld,
    declared: DeclaredApplication,
    *,
    threads: int,
    stop_timeout_s: float | None,
    task_idle_ms: int | Missing,
    requests: int = 0,
    longest_s: float | None = None,
    number: int = 1,
) -> PlannedHold:
    """What a flush does while inputs are held, by its switch and the limits of the application.

    `requests` are those to a person meanwhile (a manual deployer); the form allows a hold of `longest_s`. `number` is
    that of the hold in the plan.
    """
    limits = dict(declared.limits)
    stops, starts, restores = WHILE_HELD[how]
    return PlannedHold(
        how=how,
        instances=len(declared.instances),
        threads=threads,
        stop_timeout_s=stop_timeout_s,
        gate_good_readings=int(limits["gate_good_readings"]),
        gate_interval_s=limits["gate_interval_s"],
        commit_interval_s=limits["commit_interval_s"],
        task_idle_ms=task_idle_ms,
        stops=stops,
        starts=starts,
        restores=restores,
        requests=requests,
        longest_s=longest_s,
        number=number,
    )


def forecast_hold(facts: HoldFacts, planned: PlannedHold) -> HoldForecast:
    """The forecast with its limits; a part or limit that is not known is named in `unknown` and counted nowhere."""
    parts, limits = (*_parts(facts, planned),), (*hold_limits(facts, planned),)
    return HoldForecast(
        parts=tuple(one for one in parts if isinstance(one, HoldPart)),
        limits=tuple(one for one in limits if isinstance(one, HoldLimit)),
        unknown=tuple(one.missing for one in (*parts, *limits) if isinstance(one, Missing)),
    )


def may_hold(facts: HoldFacts, planned: PlannedHold) -> Verdict:
    """Refuse if the longest forecast exceeds what a limit allows, inconclusive if a part or a limit is not known."""
    hold = forecast_hold(facts, planned)
    longest = hold.seconds[1]
    over = sorted((one for one in hold.limits if longest > one.allowed_s), key=lambda one: one.allowed_s)
    if over:
        reasons = (
            f"inputs would be held for up to {seconds_text(longest)} (limit {one.text}): raise it, or flush while less "
            "is left to read"
            for one in over
        )
        return Verdict(Outcome.REFUSE, (*reasons, hold.sentence))
    if hold.unknown:
        return Verdict(Outcome.INCONCLUSIVE, (*hold.unknown, f"known of the hold: {hold.sentence}"))
    return Verdict(Outcome.PROCEED, (f"inputs held: {hold.sentence}",))


def _parts(facts: HoldFacts, planned: PlannedHold) -> Iterator[HoldPart | Missing]:
    yield _stop(facts, planned)
    yield _times(planned.stops, "group EMPTY", facts.empties_ms, _EMPTY_S, "the default session.timeout.ms")
    if planned.starts:
        yield _start(planned)
    if planned.restores:
        yield from _restore(facts, planned)
    yield from _left(facts)
    yield from _commits(facts, planned)
    yield from _idle(facts, planned)
    readings, interval = planned.gate_good_readings, planned.gate_interval_s
    why = f"gate_good_readings {readings} at gate_interval_s {interval:g}, and one more while records are counted"
    yield HoldPart("certificate", (readings - 1) * interval, (readings + 1) * interval, why)
    yield HoldPart("Airflow", _TASKS * _TASK_S[0], _TASKS * _TASK_S[1], f"{_TASKS} tasks while inputs are held")
    if count := planned.requests:
        low, high = _PERSON_S
        why = f"{count} requests of {low / 60:g} to {high / 60:g} minutes each, a stated default"
        yield HoldPart("a person", count * low, count * high, why)


def _stop(facts: HoldFacts, planned: PlannedHold) -> HoldPart:
    limit = planned.stop_timeout_s
    bound = _STOP_S if limit is None else (min(_STOP_S[0], limit), limit)
    why = "no limit of the deployer is known" if limit is None else "stop_timeout_s of the deployer"
    return _times(planned.stops, "stop", facts.stops_ms, bound, why)


def _times(count: int, what: str, measured_ms: tuple[int, ...], bound_s: tuple[float, float], bound: str) -> HoldPart:
    """A part that comes `count` times: as measured in earlier runs, else within a bound."""
    if not measured_ms:
        return HoldPart(what, count * bound_s[0], count * bound_s[1], f"{count} times, not measured: {bound}")
    low, high = min(measured_ms) / 1000, max(measured_ms) / 1000
    return HoldPart(what, count * low, count * high, f"{count} times, as in {len(measured_ms)} earlier stops")


def _start(planned: PlannedHold) -> HoldPart:
    members = planned.instances * planned.threads
    high = _START_S[1] + members * _MEMBER_S
    why = f"{planned.starts} times until the assignment of {members} members, not measured on this application"
    return HoldPart("start and rebalance", planned.starts * _START_S[0], planned.starts * high, why)


def _restore(facts: HoldFacts, planned: PlannedHold) -> Iterator[HoldPart | Missing]:
    if isinstance(size := facts.changelog_bytes, Missing):
        yield Missing(f"the size of the changelogs that moved tasks restore from: {size.missing}")
        return
    if size:
        high = planned.restores * size / _RESTORE_BYTES_PER_S
        why = f"{planned.restores} times all {size / 1_000_000:,.1f} MB of the changelogs at 1 MB/s, or nothing at all"
        yield HoldPart("restore of moved tasks", 0, high, why)


def _left(facts: HoldFacts) -> Iterator[HoldPart | Missing]:
    if not facts.left:
        yield Missing("what is left to read: no topic is known that the application reads (expected at least one)")
    for one in facts.left:
        if isinstance(one.records, Missing):
            yield Missing(f"unread records on {one.role} topics: {one.records.missing}")
        elif not one.records:
            continue
        elif isinstance(one.per_s, Missing):
            yield Missing(f"pace on {one.role} topics: {one.per_s.missing}")
        elif one.per_s <= 0:
            yield Missing(
                f"{one.role} topics have {one.records:,} unread records and their committed offsets did not move "
                "between two readings (expected progress); look at `kstreams-runbooks lag`"
            )
        else:
            why = f"{one.records:,} records at {one.per_s:,.1f} records/s, its pace now"
            yield HoldPart(f"reading {one.role} topics", 0, one.records / one.per_s, why)


def _commits(facts: HoldFacts, planned: PlannedHold) -> Iterator[HoldPart | Missing]:
    """Results reach the next topic of a chain with a commit, under exactly-once at least."""
    rounds = 1 + len(facts.internal)
    if high := rounds * planned.commit_interval_s:
        yield HoldPart("commits", 0, high, f"{rounds} times commit_interval_s {planned.commit_interval_s:g} at most")


def _idle(facts: HoldFacts, planned: PlannedHold) -> Iterator[HoldPart | Missing]:
    """A task with several inputs waits for the one that is held, before it processes the others."""
    if isinstance(idle_ms := planned.task_idle_ms, Missing):
        yield Missing(f"max.task.idle.ms: {idle_ms.missing}")
    elif idle_ms not in {_NEVER_IDLE, 0}:
        rounds = 1 + len(facts.internal)
        why = f"max.task.idle.ms {idle_ms:,}, {rounds} times at most: a join waits for its held side"
        yield HoldPart("idle tasks", 0, rounds * idle_ms / 1000, why)
