"""Whether records come too late because processing stops for a while: a backlog is a catch-up.

Live, the partitions of an input advance together. After a stop each task reads its own backlog as fast as it can, and
stream time behind a repartition topic follows the foremost: a window whose end and grace it has passed drops the
records of the others. A store whose tasks each read one partition of one input loses nothing, however long the stop.

Half of the grace is left for what nothing forecasts. A short roll is asked about, never refused: the time without
processing is that of a rebalance or of one crash, which the application has without a run too.

Source: Kafka Streams core concepts, "Out-of-Order Handling"; developer guide, "Windowing" (grace period);
tests/long/test_holds_and_grace.py.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from kstreams_runbooks.decide.catch_up.disorder import SHARE_OF_GRACE, grace_of, is_in_order
from kstreams_runbooks.decide.change.described import Known, side_of
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.plans.basis import restore_s
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.decide.topology.upstream import inputs_of
from kstreams_runbooks.model.copying import BY_TIME, ORDER, PACE
from kstreams_runbooks.model.readings.disorder import LateLoss, LateStore, PartitionOrder, Stop
from kstreams_runbooks.model.readings.hold import HoldForecast, seconds_text
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import StopAll
from kstreams_runbooks.model.times import SECOND_MS
from kstreams_runbooks.model.topology.declaration import DeclaredStore, Described
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.wording import first_of

ACCEPT = "accept_late_loss"
# The finding about a store that may drop records after a stop.
LATE = "late-after-stop"
_ACCEPTS = f"accept the loss: give {ACCEPT} a reason"
# A roll stops the partitions of one instance while the others go on. It is short up to this share of a grace, or up to
# so many seconds if the grace is not known: no longer than an ordinary rebalance.
_OF_A_ROLL, _SHORT_ROLL_S = 0.25, 30.0
_SOURCE = "Kafka Streams developer guide, Windowing (grace period); docs/holding_inputs.md"

# A backlog that comes merged by time is live traffic, only faster: tasks are apart by what the pace lets through in the
# time that polls, commits and repartition topics take, with room above it, and in the five seconds that carry over.
_APART_S = 15.0
_PACE = re.compile(r"\d{1,6}(\.\d{1,3})?")

_STANDBYS, _SEVERAL = "num.standby.replicas", 2

Orders = tuple[PartitionOrder, ...]
Wanted = Callable[[Side, str, Known], bool]


def longest_stop(plan: Plan, held: HoldForecast | None, pace: float | None = None) -> Stop | None:
    """The longest time in which one side's part of a plan processes nothing, None if it stops nothing.

    `held` is the forecast of a hold of its inputs, `pace` how many times as fast as their own time what was held comes
    back, merged by time (`pace_of`). A side that the plan stops as well reads what came meanwhile as fast as it can.
    """
    if held is not None:
        seconds = held.seconds[1]
        if pace is None or plan.bounces or pace * _APART_S >= seconds:
            return Stop(seconds, "its inputs are held")
        merged = f"its inputs come back merged by time, {pace:g} times as fast, so that its tasks may be apart"
        return Stop(pace * _APART_S, merged, waits=seconds)
    if not plan.bounces or not plan.costs:
        return None
    slowest = max(plan.costs, key=lambda cost: cost.gap_s[1])
    longer = next((cost.longer for cost in plan.costs if cost.longer), "")
    if plan.start is not None:
        return Stop(float(slowest.gap_s[1]), "it is stopped", longer=longer)
    clears = any(one.clears is not None for one in plan.bounces)
    return Stop(float(slowest.gap_s[1]), "an instance is restarted", rolls=not clears, longer=longer)


def pace_of(plan: Plan, role: str) -> float | None:
    """At which pace the copiers of each hold of a side let go what was held, merged by time; None if one does not."""
    copiers = {
        stage.side
        for hold in plan.input_holds
        if role in hold.certify.behind
        for stage in hold.pausing
        if isinstance(stage, StopAll)
    }
    parts = [part for part in plan.parts if part.role in copiers]
    # Several instances do not see each other's partitions: the copier refuses to merge them.
    if not parts or any(len(part.facts.at_start) != 1 for part in parts):
        return None
    paces = [_pace(dict(part.facts.at_start[0].settings)) for part in parts]
    known = [pace for pace in paces if pace is not None]
    return max(known) if len(known) == len(paces) else None


def _pace(settings: Mapping[str, str]) -> float | None:
    """Of the shipped copier's settings; None as well for those with which it refuses to start."""
    alone = settings.get("num.stream.threads", "1") == "1" and settings.get("group.protocol", "").lower() != "streams"
    pace = settings.get(PACE, "")
    if not alone or settings.get(ORDER) != BY_TIME or not _PACE.fullmatch(pace) or float(pace) <= 1:
        return None
    return float(pace)


def moves_tasks(plan: Plan) -> bool:
    """Whether a roll gives tasks to other instances, or may: dynamic members, or a session that may end before."""
    if len(plan.facts.instances) < _SEVERAL or not plan.rolled:
        return False
    return not plan.facts.static_membership or any(
        cost.session_ms is None or cost.gap_s[1] * SECOND_MS > cost.session_ms for cost in plan.costs
    )


def with_moved_tasks(stop: Stop, versions: Collection[Described], changelog_bytes: int | Missing) -> Stop:
    """The stop of a roll whose tasks move, which ends for them once the next instance has restored their stores.

    A standby in every version has them already. `changelog_bytes` are those of all topics that restore stores.
    """
    if versions and all(_has_standbys(one) for one in versions):
        return stop
    what = f"{stop.what} and its tasks are restored elsewhere"
    if isinstance(changelog_bytes, Missing):
        return replace(stop, what=what, longer=f"the size of the changelogs is not known: {changelog_bytes.missing}")
    return replace(stop, what=what, seconds=stop.seconds + restore_s(changelog_bytes))


def _has_standbys(version: Described) -> bool:
    standbys = (version.declaration.config or {}).get(_STANDBYS, "")
    return standbys.isdigit() and int(standbys) > 0


def late_stores(versions: Iterable[Described], known: Known) -> tuple[LateStore, ...]:
    """The stores that may drop records because others come first, by name; of several versions the least grace counts.

    Left out are stores behind a single partition: its order stays.
    """
    return _by_name(versions, known, _comes_apart)


def dropping_stores(versions: Iterable[Described], known: Known) -> tuple[LateStore, ...]:
    """Every store that drops late records, by name, also one that drops none because of a stop."""
    return _by_name(versions, known, lambda *_: True)


def _by_name(versions: Iterable[Described], known: Known, wanted: Wanted) -> tuple[LateStore, ...]:
    found: dict[str, LateStore] = {}
    for side in (side_of(parsed(one), known) for one in versions):
        for late in _late_stores(side, known, wanted):
            earlier = found.get(late.store)
            if earlier is None or _grace(late) < _grace(earlier):
                found[late.store] = late
    return tuple(found[name] for name in sorted(found))


def needs_orders(late: Iterable[LateStore]) -> tuple[str, ...]:
    """The inputs whose last records decide whether a stop is too long, sorted."""
    return tuple(sorted({topic for one in late if one.grace_ms != 0 for topic in one.inputs}))


def is_short_roll(late: LateStore, stop: Stop) -> bool:
    """Whether a stop is that of one instance, and short next to the grace of a store."""
    if not stop.rolls or stop.longer:
        return False
    if isinstance(late.grace_ms, Missing):
        return stop.seconds <= _SHORT_ROLL_S
    return stop.seconds * SECOND_MS <= late.grace_ms * _OF_A_ROLL


def may_stop(
    late: tuple[LateStore, ...],
    stop: Stop,
    orders: Orders | Missing,
    accepted: str,
    *,
    asks: bool,
    unread: tuple[str, ...] = (),
) -> Verdict:
    """Refuse a stop after which a store drops records; inconclusive if that is not known.

    `orders` has the last records of each partition of `needs_orders`, `unread` why a version is not described: its
    stores are not among `late`. With a reason (`accepted`), or if the run `asks` in any case, it proceeds: the approval
    has each store, with the most that it may drop. A short roll asks in the same way.
    """
    losses = tuple(late_losses(late, stop, orders))
    standing = tuple(_without_grace(one) for one in late if one.grace_ms == 0)
    open_ = tuple(_of_unread(why, stop) for why in unread)
    if not losses and not open_:
        return Verdict(Outcome.PROCEED, ("no store drops records because of the stop",), standing)
    anyway = bool(accepted) or asks
    of_person = [one for one in losses if anyway or is_short_roll(one.late, stop)]
    is_asked = anyway or (stop.rolls and not stop.longer and stop.seconds <= _SHORT_ROLL_S)
    shown = [*_told(of_person, stop), *(("stores", one) for one in open_ if is_asked)]
    because = f"; accepted with the reason: {accepted}" if accepted else ""
    findings = tuple(Finding(LATE, "danger", of, f"{said}{because}", _SOURCE) for of, said in shown)
    stops = [one for one in losses if one not in of_person]
    unknown = () if is_asked else open_
    if not stops and not unknown:
        return Verdict(
            Outcome.PROCEED, ("records that may come too late are shown to the approver",), standing + findings
        )
    certain = [one for one in stops if _is_known(one)]
    cure = ", ".join(filter(None, (stop.cure, "make the stop shorter", f"or {_ACCEPTS}")))
    stores = tuple(f"store {store} {said}; {cure}" for store, said in _told(certain or stops, stop))
    cause = f"; correct that, or {_ACCEPTS}"
    return Verdict(
        Outcome.REFUSE if certain else Outcome.INCONCLUSIVE,
        (*stores, *(f"{one}{cause}" for one in unknown)),
        standing + findings,
    )


def _told(losses: Iterable[LateLoss], stop: Stop) -> Iterator[tuple[str, str]]:
    """Each store with its sentence; what is not known of several stores is in that of the first."""
    unknown = list[LateLoss]()
    for one in losses:
        if _is_known(one):
            yield one.late.store, _sentence(one, stop)
        else:
            unknown.append(one)
    if unknown:
        others = [one.late.store for one in unknown[1:]]
        same = f"; the same of {first_of(others)}" if others else ""
        yield unknown[0].late.store, f"{_sentence(unknown[0], stop)}{same}"


def _of_unread(why: str, stop: Stop) -> str:
    return (
        f"which stores drop records as late is not known, and {stop.what} for up to {seconds_text(stop.seconds)}"
        f"{_or_longer(stop)}: {why}"
    )


def _or_longer(stop: Stop) -> str:
    return " and the time of a restore" if stop.longer else ""


def late_losses(late: Iterable[LateStore], stop: Stop, orders: Orders | Missing) -> Iterator[LateLoss]:
    """What each store may drop after a stop; one that certainly drops nothing is left out, and one without a grace."""
    for one in late:
        if one.grace_ms == 0:
            continue
        back = _step_back_ms(one, orders)
        stop_ms = stop.seconds * SECOND_MS
        if isinstance(one.grace_ms, Missing):
            allowed: int | Missing = one.grace_ms
        elif isinstance(back, Missing):
            # Too long in any order of the inputs.
            allowed = int(one.grace_ms * SHARE_OF_GRACE) if stop_ms > one.grace_ms * SHARE_OF_GRACE else back
        else:
            allowed = max(0, int(one.grace_ms * SHARE_OF_GRACE) - back)
        if isinstance(allowed, int) and stop_ms <= allowed:
            if not stop.longer:
                continue
            allowed = Missing(stop.longer)
        yield LateLoss(one, back, allowed, *_records(one, stop, orders))


def expected_drops(every: Iterable[LateStore], losses: Iterable[LateLoss]) -> tuple[LateLoss, ...]:
    """The most that each store that drops late records may drop because of a stop: 0 if nothing is forecast of it."""
    forecast = {one.late.store: one for one in losses}
    at_any_time = Missing("its grace is 0: it drops late records at any time")
    return tuple(forecast.get(one.store, LateLoss(one, 0, 0, at_any_time if one.grace_ms == 0 else 0)) for one in every)


def _late_stores(side: Side, known: Known, wanted: Wanted) -> Iterator[LateStore]:
    for name, place in sorted(side.store_places.items()):
        grace = grace_of(side, name)
        if grace is None or not wanted(side, name, known):
            continue
        inputs = inputs_of(side.topology, name, known.partitions)
        yield LateStore(name, place, inputs, grace, _windows(side, name))


def _comes_apart(side: Side, store: str, known: Known) -> bool:
    """Whether records of several partitions meet in a task of the store."""
    inputs = inputs_of(side.topology, store, known.partitions)
    return not is_in_order(side, store) and [known.partitions.get(topic) for topic in inputs] != [1]


def _windows(side: Side, store: str) -> int | None:
    window = side.declared.stores.get(store, DeclaredStore()).window
    if window is None or window.kind == "join":
        return 0
    if window.kind == "hopping" and window.advance_ms:
        return math.ceil(window.size_ms / window.advance_ms)
    return None if window.kind == "sliding" else 1


def _grace(late: LateStore) -> float:
    return -1 if isinstance(late.grace_ms, Missing) else late.grace_ms


def _of(late: LateStore, orders: Orders | Missing) -> Orders | Missing:
    """The last records of each partition of the inputs."""
    if isinstance(orders, Missing):
        return orders
    if not late.inputs:
        return Missing("no topic is known that leads to it")
    for topic in late.inputs:
        if not any(one.topic == topic for one in orders):
            return Missing(f"the last records of {topic} were not read")
    return tuple(one for one in orders if one.topic in late.inputs)


def _step_back_ms(late: LateStore, orders: Orders | Missing) -> int | Missing:
    found = _of(late, orders)
    return found if isinstance(found, Missing) else max((one.step_back_ms for one in found), default=0)


def _records(late: LateStore, stop: Stop, orders: Orders | Missing) -> tuple[int | Missing, str]:
    """What is unread when the stop begins and what the inputs get meanwhile, with the rate of that in words.

    The rate is that of their last records by their own time: a burst has more.
    """
    found = _of(late, orders)
    if stop.longer:
        found = Missing(stop.longer)
    if isinstance(found, Missing):
        return found, ""
    if isinstance(stop.unread, Missing):
        return stop.unread, ""
    per_s = sum(one.records / max(1, one.span_ms) * SECOND_MS for one in found)
    longest_ms = max((one.span_ms for one in found), default=0)
    rate = f"{per_s:,.0f} records a second, that of the last {sum(one.records for one in found):,} ({_s(longest_ms)})"
    before = f"{stop.unread:,} that may be unread before it, and " if stop.unread else ""
    return stop.unread + math.ceil(per_s * max(stop.seconds, stop.waits)), f"{before}{rate}"


def _is_known(loss: LateLoss) -> bool:
    return not isinstance(loss.allowed_ms, Missing)


def _sentence(loss: LateLoss, stop: Stop) -> str:
    late = loss.late
    stops = f"{stop.what} for up to {seconds_text(stop.seconds)}{_or_longer(stop)}"
    if isinstance(late.grace_ms, Missing):
        return f"may drop records as late after {stops}: {late.grace_ms.missing}"
    drops = f"drops records that come more than {_s(late.grace_ms)} late"
    if isinstance(loss.allowed_ms, Missing):
        return f"{drops}, and {stops}; whether that is too long is not known: {loss.allowed_ms.missing}"
    back = (
        ""
        if isinstance(loss.step_back_ms, Missing) or not loss.step_back_ms
        else (f" less the {_s(loss.step_back_ms)} by which records of {first_of(late.inputs)} are out of order")
    )
    return f"{drops}, and {stops} (limit {_s(loss.allowed_ms)}: half of that{back}): {_most(loss)}"


def _most(loss: LateLoss) -> str:
    if isinstance(loss.records, Missing):
        return f"how many it may drop then is not known ({loss.records.missing}), and it drops them"
    windows = loss.late.windows
    within = (
        ""
        if windows == 0
        else ", in an unknown number of windows"
        if windows is None
        else (f" in up to {loss.records * windows:,} windows")
    )
    return f"afterwards it may drop up to {loss.records:,} records{within} at {loss.at}"


def _without_grace(late: LateStore) -> Finding:
    return Finding(
        "grace-of-zero",
        "warning",
        late.store,
        "has a grace of 0: it drops each record that comes after a later one has closed its window, also while nothing "
        "is stopped; after a stop more records come so",
        _SOURCE,
    )


def _s(ms: int) -> str:
    return seconds_text(ms / SECOND_MS)
