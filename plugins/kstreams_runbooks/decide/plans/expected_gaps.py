"""The expected gaps of a plan, corrected by earlier restarts and compared with the timeouts of the group."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kstreams_runbooks.decide.plans.basis import with_restore
from kstreams_runbooks.decide.releases.consumer_settings import POLL, SESSION
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.plan import InstanceCost, Plan, SidePart
from kstreams_runbooks.model.runs.restarts import EarlierRestart, GroupTimes
from kstreams_runbooks.model.verdicts import Finding

_KIP_345 = "KIP-345: Introduce static membership protocol to reduce consumer rebalances"
_CONSUMER_CONFIG = "ConsumerConfig, max.poll.interval.ms (Apache Kafka)"


def with_expected_gaps(plan: Plan, times: tuple[GroupTimes, ...], earlier: tuple[EarlierRestart, ...]) -> Plan:
    """The plan with gaps as long as the slowest comparable restart of the same application, if that was longer.

    Comparable is a restart with the same membership, alone or all at once as planned, with local state cleared or not
    as planned. Each forecast names its source and the timeouts, and a gap that may exceed one of them is a finding.
    """
    corrected = [_corrected(plan, part, times, earlier) for part in plan.parts]
    first, *others = corrected
    findings = [finding for part in corrected for finding in _findings(plan, part, times)]
    return replace(
        plan,
        costs=first.costs,
        sides=tuple(others),
        findings=(*plan.findings, *findings),
    )


def with_full_restores(
    plan: Plan, defects: Mapping[str, tuple[str, ...]], restored: Mapping[str, tuple[int | Missing, tuple[str, ...]]]
) -> Plan:
    """The plan with a full restore in each gap of the sides (roles) that have `defects` by which a stop costs one.

    `restored` are the bytes that one instance may have to restore, and the topics that have them. An instance whose
    local state is deleted in whole restores it once, and its gap has that already.
    """
    sides = []
    for part in plan.parts:
        costs = part.costs
        if rows := defects.get(part.role):
            own, what = plan.of_side(part.role), f"a full restore that {', '.join(rows)} may cost,"
            costs = tuple(
                cost
                if _clears_all(own, cost.instance)
                else with_restore(cost, restored[part.role][0], what, restored[part.role][1])
                for cost in costs
            )
        sides.append(replace(part, costs=costs))
    first, *others = sides
    return replace(plan, costs=first.costs, sides=tuple(others))


def _clears_all(plan: Plan, instance: str) -> bool:
    cleared = (one.clears for one in plan.bounces if one.takes(instance))
    return any(one is not None and not one.names for one in cleared)


def _corrected(plan: Plan, part: SidePart, times: Sequence[GroupTimes], earlier: Sequence[EarlierRestart]) -> SidePart:
    return replace(part, costs=tuple(_cost(plan, part, cost, times, earlier) for cost in part.costs))


def _cost(
    plan: Plan, part: SidePart, cost: InstanceCost, times: Iterable[GroupTimes], earlier: Iterable[EarlierRestart]
) -> InstanceCost:
    own = next((one for one in times if (one.application, one.instance) == (part.application, cost.instance)), None)
    low, high = cost.gap_s
    why = cost.why
    if seen := [one for one in earlier if _is_comparable(plan, part, cost.instance, one)]:
        slowest = max(seen, key=lambda one: one.restart.gap_s)
        high = max(high, math.ceil(slowest.restart.gap_s))
        of = "the restart before took" if len(seen) == 1 else f"the slowest of {len(seen)} restarts took"
        took = f"{slowest.restart.gap_s:.1f} s until RUNNING ({slowest.restart.instance} in {slowest.run_key})"
        why += f"; here {of} {took}"
    if own is None:
        return replace(cost, gap_s=(low, high), why=why)
    return replace(
        cost,
        gap_s=(low, high),
        why=f"{why}; {_timeouts(own)}",
        session_ms=own.session_ms,
        session_source=own.session_source,
    )


def _is_comparable(plan: Plan, part: SidePart, instance: str, one: EarlierRestart) -> bool:
    restart = one.restart
    own = plan.of_side(part.role)
    clears = any(bounce.clears is not None for bounce in own.bounces if bounce.takes(instance))
    return (restart.application, restart.at_once, restart.cleared, restart.static) == (
        part.application,
        own.start is not None,
        clears,
        part.facts.static_membership,
    )


def _timeouts(own: GroupTimes) -> str:
    """Both timeouts in a few words; with one source if it is the same."""
    if own.session_ms is not None and own.poll_ms is not None and own.session_source == own.poll_source:
        return f"{SESSION} {own.session_ms:,}, {POLL} {own.poll_ms:,} ({own.session_source})"
    session = "is not known" if own.session_ms is None else f"{own.session_ms:,}"
    poll = "is not known" if own.poll_ms is None else f"{own.poll_ms:,}"
    return f"{SESSION} {session} ({own.session_source}), {POLL} {poll} ({own.poll_source})"


def _findings(plan: Plan, part: SidePart, times: Iterable[GroupTimes]) -> Iterator[Finding]:
    """One finding for each timeout that the gap of some instances may exceed; none if all are down together."""
    if plan.of_side(part.role).start is not None:
        return
    gaps = {cost.instance: cost.gap_s[1] for cost in part.costs}
    own = [one for one in times if one.application == part.application and one.instance in gaps]
    if part.facts.static_membership:
        yield from _of_session(part.application, gaps, own)
    if slow := [one for one in own if one.poll_ms is not None and gaps[one.instance] * 1000 > one.poll_ms]:
        most = max(gaps[one.instance] for one in slow)
        yield Finding(
            "restart-outlasts-poll-interval",
            "warning",
            part.application,
            f"{_expected(slow, gaps)}, {POLL} {slow[0].poll_ms:,} ({slow[0].poll_source}); a rebalance waits that long "
            "for a member, and a thread that takes longer between two polls loses its tasks: "
            f"set {POLL} above {most} s",
            _CONSUMER_CONFIG,
        )


def _of_session(application: str, gaps: Mapping[str, int], own: Sequence[GroupTimes]) -> Iterator[Finding]:
    """What a static member loses that is away for longer than its session timeout."""
    if late := [one for one in own if one.session_ms is not None and gaps[one.instance] * 1000 > one.session_ms]:
        most = max(gaps[one.instance] for one in late)
        yield Finding(
            "restart-outlasts-session",
            "warning",
            application,
            f"{_expected(late, gaps)}, {SESSION} {late[0].session_ms:,} ({late[0].session_source}); a static member "
            "that is away for longer leaves the group: its tasks move to the others, are restored there, and move "
            f"back, a rebalance of the whole group; set {SESSION} above {most} s to avoid it",
            _KIP_345,
        )
    if unknown := [one for one in own if one.session_ms is None]:
        yield Finding(
            "session-timeout-unknown",
            "warning",
            application,
            f"{_names(unknown)}: {SESSION} is not known ({unknown[0].session_source}); if a restart takes longer, its "
            "tasks move to the others and back, a rebalance",
            _KIP_345,
        )


def _expected(late: Sequence[GroupTimes], gaps: Mapping[str, int]) -> str:
    return f"{_names(late)}: expected gap up to {max(gaps[one.instance] for one in late)} s"


def _names(instances: Iterable[GroupTimes]) -> str:
    return ", ".join(one.instance for one in instances)
